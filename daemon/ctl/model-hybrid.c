/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* storpowerctl model predict A:90%+B:10%, or nvme0+sda: devices that share a workload. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "ctl/ctl-model.h"
#include "ctl/table.h"
#include "ctl/words.h"
#include "model/hybrid.h"

typedef struct Members {
	HybridMember list[TIER_STATIONS_MAX];
	char name[TIER_STATIONS_MAX][64];
	size_t n;
	/* Of devices whose shares are what each serves now: all that they do. */
	double iops[TIER_STATIONS_MAX];
	Mix mix;
} Members;

/* The member i as a device of this node, which is as `ret_device` says. Its profile is the store's.
 */
static int find_device(Ctl *c, const ProfileStore *store, const char *name, Members *m, size_t i,
		       json_object **ret_device)
{
	_cleanup_(model_found_done) ModelFound f = {};
	int status = model_find(c, store, name, &f);

	if (!status && !f.device)
		return complain(STATUS_USAGE, "%s is no device: write its share, as in %s:90%%",
				name, name);
	if (!status)
		status = model_need_profile(&f, name);
	if (status)
		return status;
	m->list[i].profile = f.profile;
	m->list[i].devices = 1;
	snprintf(m->name[i], sizeof(m->name[i]), "%s", json_text(f.device, "Name"));
	*ret_device = json_object_get(f.device);
	return STATUS_OK;
}

static int find_member(Ctl *c, const ProfileStore *store, const char *name, Members *m, size_t i)
{
	_cleanup_json_ json_object *device = NULL;

	m->list[i].profile = model_look_up(store, name, &m->list[i].devices);
	return m->list[i].profile ? STATUS_OK : find_device(c, store, name, m, i, &device);
}

/* "samsung-pm9a3x2:90%", "nvme0:90%" */
static int parse_member(Ctl *c, const ProfileStore *store, const char *text, Members *m)
{
	const char *colon = strrchr(text, ':'), *unit = "";
	_cleanup_free_ char *name = colon ? strndup(text, (size_t)(colon - text)) : NULL;
	size_t i = m->n++;
	double percent;

	if (!name || parse_quantity(colon + 1, &percent, &unit) < 0 || !streq(unit, "%") ||
	    !(percent > 0) || percent > 100) {
		complain(STATUS_USAGE,
			 "\"%s\" needs its share of the IOs, as in %s:90%%; those of all together "
			 "are 100 %%",
			 text, name ?: text);
		return STATUS_USAGE;
	}
	m->list[i].share = percent / 100;
	return find_member(c, store, name, m, i);
}

/* Sums, by how many of the IOs are the device's; read_kib and write_kib by how many are of them. */
static void add_mix(Members *m, const Mix *one, double iops)
{
	m->mix.read_share += iops * one->read_share;
	m->mix.random_share += iops * one->random_share;
	m->mix.read_kib += iops * one->read_share * one->read_kib;
	m->mix.write_kib += iops * (1 - one->read_share) * one->write_kib;
	m->mix.depth += one->depth;
}

static void divide_mix(Members *m)
{
	double iops = 0, reads = m->mix.read_share;

	for (size_t i = 0; i < m->n; i++)
		iops += m->iops[i];
	for (size_t i = 0; i < m->n; i++)
		m->list[i].share = m->iops[i] / iops;
	m->mix.read_kib = reads > 0 ? m->mix.read_kib / reads : 0;
	m->mix.write_kib = iops > reads ? m->mix.write_kib / (iops - reads) : 0;
	m->mix.read_share = fmin(reads / iops, 1);
	m->mix.random_share = fmin(m->mix.random_share / iops, 1);
	m->mix.depth = fmax(m->mix.depth, 1);
}

/* A device as it works now: its part of what all of them serve, and of their mix. */
static int add_working(Ctl *c, const ProfileStore *store, const char *name, Members *m)
{
	_cleanup_message_ sd_bus_message *reply = NULL;
	_cleanup_json_ json_object *device = NULL, *present = NULL;
	size_t i = m->n++;
	int status = find_device(c, store, name, m, i, &device);
	Mix mix;

	if (!status)
		status = ctl_simple_call(c, &reply, "GetFrontier", "s", json_text(device, "Name"));
	if (status)
		return status;
	present = json_from_message(reply);
	mix = model_mix_from_json(present);
	m->iops[i] = json_number(device, "IOPS");
	if (!(m->iops[i] > 0))
		return complain(STATUS_REFUSED,
				"%s serves nothing now, which tells no share: write one, as in "
				"%s:90%%",
				name, name);
	add_mix(m, &mix, m->iops[i]);
	return STATUS_OK;
}

static int parse_members(Ctl *c, const ProfileStore *store, const char *text, Members *ret)
{
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy, *one;
	bool working = !strchr(text, ':');
	int status = copy ? STATUS_OK : complain(STATUS_FAILURE, "Out of memory");

	*ret = (Members){};
	while (!status && (one = strsep(&rest, "+"))) {
		if (ret->n == TIER_STATIONS_MAX)
			return complain(STATUS_USAGE, "%s: no more than %d devices can be told",
					text, TIER_STATIONS_MAX);
		status = working ? add_working(c, store, one, ret)
				 : parse_member(c, store, one, ret);
	}
	if (!status && working)
		divide_mix(ret);
	return status;
}

static json_object *member_json(const HybridMember *m, const char *name, const HybridPart *part)
{
	json_object *o = json_object_new_object();

	json_put_text(o, "Name", *name ? name : m->profile->name);
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
		json_object_array_add(rows, member_json(&m->list[i], m->name[i], &p->of[i]));
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
	int status = parse_members(c, store, text, &m), r;

	if (status)
		return status;
	if (m.mix.depth > 0 && !c->model.workload)
		mix = &m.mix;
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
