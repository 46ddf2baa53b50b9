/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* storpowerctl model predict A:90%+B:10%: devices that share a workload. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "ctl/ctl-model.h"
#include "ctl/table.h"
#include "ctl/words.h"
#include "model/hybrid.h"

typedef struct Members {
	HybridMember list[TIER_STATIONS_MAX];
	size_t n;
} Members;

/* "samsung-pm9a3x2:90%" */
static int parse_member(const ProfileStore *store, const char *text, HybridMember *ret)
{
	const char *colon = strrchr(text, ':'), *unit = "";
	_cleanup_free_ char *name = colon ? strndup(text, (size_t)(colon - text)) : NULL;
	double percent;

	if (!name || parse_quantity(colon + 1, &percent, &unit) < 0 || !streq(unit, "%") ||
	    !(percent > 0) || percent > 100) {
		complain(STATUS_USAGE,
			 "\"%s\" needs its share of the IOs, as in %s:90%%; those of all together "
			 "are 100 %%",
			 text, name ?: text);
		return STATUS_USAGE;
	}
	ret->share = percent / 100;
	ret->profile = model_counted(store, name, &ret->devices);
	return ret->profile ? STATUS_OK : STATUS_REFUSED;
}

static int parse_members(const ProfileStore *store, const char *text, Members *ret)
{
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy, *one;
	int status = copy ? STATUS_OK : complain(STATUS_FAILURE, "Out of memory");

	*ret = (Members){};
	while (!status && (one = strsep(&rest, "+"))) {
		if (ret->n == TIER_STATIONS_MAX)
			return complain(STATUS_USAGE, "%s: no more than %d devices can be told",
					text, TIER_STATIONS_MAX);
		status = parse_member(store, one, &ret->list[ret->n++]);
	}
	return status;
}

static json_object *member_json(const HybridMember *m, const HybridPart *part)
{
	json_object *o = json_object_new_object();

	json_put_text(o, "Name", m->profile->name);
	json_put_text(o, "Profile", m->profile->name);
	json_put_count(o, "Count", m->devices);
	json_put_number(o, "Share", m->share);
	json_put_number(o, "Throughput", part->mb_s);
	json_put_number(o, "IOPS", part->iops);
	json_put_number(o, "Depth", part->depth);
	json_put_number(o, "Busy", part->busy);
	json_put_number(o, "MeanResponse", 1e6 * part->depth / part->iops);
	json_put_number(o, "Power", part->watts);
	json_put_number(o, "Error", part->error);
	return o;
}

static json_object *hybrid_json(const Members *m, const HybridPrediction *p)
{
	json_object *all = json_object_new_object(), *rows = json_object_new_array(),
		    *total = json_object_new_object();
	unsigned devices = 0;

	for (size_t i = 0; i < m->n; i++) {
		json_object_array_add(rows, member_json(&m->list[i], &p->of[i]));
		devices += m->list[i].devices;
	}
	json_put_count(total, "Count", devices);
	json_put_number(total, "Throughput", p->mb_s);
	json_put_number(total, "IOPS", p->iops);
	json_put_number(total, "Power", p->watts);
	json_put_number(total, "ErrorPower", p->error_w);
	json_put_number(total, "MeanResponse", p->mean_us);
	json_put_number(total, "P50", p->p50_us);
	json_put_number(total, "P99", p->p99_us);
	json_put_number(total, "ErrorResponse", p->half);
	json_put_flag(total, "Estimated", p->estimated);
	json_object_object_add(all, "Devices", rows);
	json_object_object_add(all, "Total", total);
	return all;
}

static void add_row(Table *t, json_object *o)
{
	char name[128], share[32], mb_s[32], iops[32], mean[32], busy[32], depth[32], watts[32];
	double count = json_number(o, "Count");

	if (count > 1)
		snprintf(name, sizeof(name), "%.0f %s", count, json_text(o, "Name"));
	else
		snprintf(name, sizeof(name), "%s", json_text(o, "Name"));
	table_row(t, name, model_percent(share, sizeof(share), json_number(o, "Share") / count),
		  format_number(mb_s, sizeof(mb_s), json_number(o, "Throughput")),
		  format_number(iops, sizeof(iops), json_number(o, "IOPS")),
		  format_wait(mean, sizeof(mean), json_number(o, "MeanResponse")),
		  format_number(depth, sizeof(depth), json_number(o, "Depth")),
		  model_percent(busy, sizeof(busy), json_number(o, "Busy")),
		  format_watts(watts, sizeof(watts), json_number(o, "Power")));
}

static void print_rows(const Ctl *c, json_object *rows)
{
	static const char *const columns[] = { "EACH",   ">SHARE", ">MB/S",  ">IOPS", ">MEAN",
					       ">DEPTH", ">BUSY",  ">DRAWS", NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);

	for (size_t i = 0; i < json_count(rows); i++)
		add_row(t, json_object_array_get_idx(rows, i));
	table_may_drop(t, c, "2 5 6");
	table_print(t, c);
}

static void print_total(const Ctl *c, const HybridPrediction *p)
{
	char mb_s[32], iops[32], mean[32], p50[32], p99[32], watts[32], error[32], text[384];

	snprintf(text, sizeof(text),
		 "Together %s MB/s, %s IO/s; %s in the mean, %s in the median, %s at the 99th "
		 "percentile%s; %s %s%s W",
		 format_number(mb_s, sizeof(mb_s), p->mb_s),
		 format_number(iops, sizeof(iops), p->iops),
		 format_wait(mean, sizeof(mean), p->mean_us),
		 format_wait(p50, sizeof(p50), p->p50_us), format_wait(p99, sizeof(p99), p->p99_us),
		 p->estimated ? " (est.)" : "", format_watts(watts, sizeof(watts), p->watts),
		 words_plus_minus(), format_number(error, sizeof(error), p->error_w));
	putchar('\n');
	print_wrapped("", 0, text, c->width);
}

static void print_hybrid(const Ctl *c, const Mix *mix, const HybridPrediction *p, json_object *rows)
{
	char workload[256], text[384];

	pager_open(c);
	model_workload_text(workload, sizeof(workload), mix);
	snprintf(text, sizeof(text), "%s at all devices together", workload);
	print_wrapped("Workload  ", 10, text, c->width);
	putchar('\n');
	print_rows(c, rows);
	print_total(c, p);
}

int model_hybrid(Ctl *c, const ProfileStore *store, const Mix *mix, const char *text)
{
	_cleanup_json_ json_object *all = NULL;
	HybridPrediction p;
	Members m;
	int status = parse_members(store, text, &m), r;

	if (status)
		return status;
	r = hybrid_predict(m.list, m.n, mix, &p);
	if (r == -EINVAL)
		return complain(STATUS_USAGE,
				"%s: the shares are 100 %% together, of %d devices at most, and "
				"depth= is %d at most",
				text, TIER_STATIONS_MAX, HYBRID_DEPTH_MAX);
	if (r < 0)
		return complain(STATUS_FAILURE, "%s cannot be predicted: %s", text, strerror(-r));
	all = hybrid_json(&m, &p);
	if (c->json)
		json_print(c, all);
	else
		print_hybrid(c, mix, &p, json_member(all, "Devices"));
	return STATUS_OK;
}
