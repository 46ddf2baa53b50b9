/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "ctl/ctl-model.h"
#include "ctl/node-file.h"
#include "ctl/table.h"
#include "ctl/words.h"
#include "model/response.h"

/* What is predicted of: rows as JSON, so that they fold. */
typedef struct Forecast {
	Ctl *c;
	ProfileStore *store;
	Mix mix; /* of those that have none of their own */
	json_object *rows;
} Forecast;

static int put_response(json_object *o, const Profile *p, const Mix *mix, const Setting *s)
{
	Response io;
	int r = response_predict(p, mix, s, &io);

	if (r < 0)
		return complain(STATUS_FAILURE, "%s: response times cannot be predicted: %s",
				p->name, strerror(-r));
	json_put_number(o, "MeanResponse", io.mean_us);
	json_put_number(o, "P50", io.p50_us);
	json_put_number(o, "P99", io.p99_us);
	json_put_flag(o, "P99Measured", io.p99_measured);
	json_put_flag(o, "Estimated", io.estimated);
	return STATUS_OK;
}

static json_object *row_new(const char *name, const char *profile, unsigned count)
{
	json_object *o = json_object_new_object();

	json_put_text(o, "Name", name);
	json_put_text(o, "Profile", profile);
	json_put_count(o, "Count", count);
	return o;
}

/* All figures are those of one device. */
static int add_prediction(Forecast *f, const char *name, const Profile *p, unsigned count,
			  const Mix *mix)
{
	const Setting s = { .power_state = -1, .depth = (unsigned)f->c->model.depth };
	json_object *o = row_new(name, p->name, count);
	Prediction at;

	predict(p, mix, &s, &at);
	model_put_mix(o, mix);
	json_put_number(o, "Throughput", at.mb_s);
	json_put_number(o, "IOPS", at.iops);
	json_put_number(o, "Power", at.watts);
	json_put_number(o, "Error", at.error);
	json_object_array_add(f->rows, o);
	return put_response(o, p, mix, &s);
}

static int add_profile(Forecast *f, const char *name, const char *profile, unsigned count)
{
	const Profile *p = profile_store_get(f->store, profile);

	if (!p)
		return model_no_profile(name, profile);
	for (size_t i = 0; i < json_count(f->rows); i++) {
		json_object *o = json_object_array_get_idx(f->rows, i);

		if (streq(json_text(o, "Profile"), profile)) {
			json_put_count(o, "Count", (uint64_t)json_number(o, "Count") + count);
			return STATUS_OK;
		}
	}
	return add_prediction(f, p->name, p, count, &f->mix);
}

static int add_node(Forecast *f, const char *path)
{
	_cleanup_(node_file_freep) NodeFile *node = NULL;
	int r = node_file_read(path, &node), status = STATUS_OK;

	if (r < 0)
		return complain(STATUS_FAILURE,
				r == -EINVAL || r == -EBADMSG
					? "%s cannot be used: what is wrong stands above"
					: "%s: name a node file that can be read",
				path);
	for (size_t i = 0; i < node->n && !status; i++)
		status = add_profile(f, path, node->devices[i].profile, node->devices[i].count);
	return status;
}

static int add_counted(Forecast *f, const char *text)
{
	unsigned count;
	const Profile *p = model_counted(f->store, text, &count);

	return p ? add_profile(f, text, p->name, count) : STATUS_REFUSED;
}

static int add_argument(Forecast *f, const char *text)
{
	const char *dot = strrchr(text, '.');

	return dot && streq(dot, ".node") ? add_node(f, text) : add_counted(f, text);
}

/* The daemon's own prediction of the device as found, where it alone has the profile. Little's law
 * gives the mean. */
static void add_foreign(Forecast *f, json_object *d, json_object *as_found, const Mix *mix)
{
	json_object *o = row_new(json_text(d, "Name"), json_text(d, "Profile"), 1);
	double iops = json_number(as_found, "IOPS");

	model_put_mix(o, mix);
	json_put_number(o, "Throughput", json_number(as_found, "Throughput"));
	json_put_number(o, "IOPS", iops);
	json_put_number(o, "Power", json_number(as_found, "ExpectedPower"));
	json_put_number(o, "Error", json_number(as_found, "Error"));
	json_put_number(o, "MeanResponse", 1e6 * mix->depth / iops);
	json_put_number(o, "P50", NAN);
	json_put_number(o, "P99", NAN);
	json_put_flag(o, "P99Measured", false);
	json_put_flag(o, "Estimated", true);
	json_object_array_add(f->rows, o);
}

static int add_device(Forecast *f, json_object *d)
{
	const Profile *p = profile_store_get(f->store, json_text(d, "Profile"));
	_cleanup_message_ sd_bus_message *reply = NULL;
	_cleanup_json_ json_object *present = NULL, *candidates = NULL;
	int status = ctl_simple_call(f->c, &reply, "GetFrontier", "s", json_text(d, "Name"));
	Mix mix;

	if (status)
		return status;
	present = json_from_message(reply);
	candidates = json_from_message(reply);
	mix = f->c->model.workload ? f->mix : model_mix_from_json(present);
	mix.depth = fmax(mix.depth, 1);
	if (p)
		return add_prediction(f, json_text(d, "Name"), p, 1, &mix);
	add_foreign(f, d, json_object_array_get_idx(candidates, json_count(candidates) - 1), &mix);
	return STATUS_OK;
}

static int add_live(Forecast *f)
{
	_cleanup_json_ json_object *devices = NULL;
	int status = ctl_get_devices(f->c, &devices);

	if (status)
		return status;
	fold_sort(devices);
	for (size_t i = 0; i < json_count(devices) && !status; i++)
		status = add_device(f, json_object_array_get_idx(devices, i));
	return status;
}

/* The error of a profile is that of all its devices, and adds up; those of two profiles do not. */
static double error_w(json_object *rows)
{
	double squares = 0;

	for (size_t i = 0; i < json_count(rows); i++) {
		const char *profile = json_text(json_object_array_get_idx(rows, i), "Profile");
		double sum = 0;
		bool first = true;

		for (size_t k = 0; k < json_count(rows); k++) {
			json_object *o = json_object_array_get_idx(rows, k);

			if (!streq(json_text(o, "Profile"), profile))
				continue;
			first &= k >= i;
			sum += json_number(o, "Count") * json_number(o, "Power") *
			       json_number(o, "Error");
		}
		squares += first ? sum * sum : 0;
	}
	return sqrt(squares);
}

static json_object *total_of(json_object *rows)
{
	static const char *const keys[] = { "Throughput", "IOPS", "Power" };
	json_object *total = json_object_new_object();
	double devices = 0, flow = 0;

	for (size_t k = 0; k < ELEMENTSOF(keys); k++) {
		double sum = 0;

		for (size_t i = 0; i < json_count(rows); i++) {
			json_object *o = json_object_array_get_idx(rows, i);

			sum += json_number(o, "Count") * json_number(o, keys[k]);
		}
		json_put_number(total, keys[k], sum);
	}
	for (size_t i = 0; i < json_count(rows); i++) {
		json_object *o = json_object_array_get_idx(rows, i);

		devices += json_number(o, "Count");
		flow += json_number(o, "Count") * json_number(o, "IOPS") *
			json_number(o, "MeanResponse");
	}
	json_put_number(total, "Count", devices);
	json_put_number(total, "MeanResponse", flow / json_number(total, "IOPS"));
	json_put_number(total, "ErrorPower", error_w(rows));
	return total;
}

static bool alike(json_object *first, json_object *next)
{
	return streq(json_text(first, "Profile"), json_text(next, "Profile")) &&
	       !streq(json_text(first, "Name"), json_text(first, "Profile")) &&
	       *json_text(first, "Name") == *json_text(next, "Name") &&
	       fold_near(json_number(first, "Throughput"), json_number(next, "Throughput")) &&
	       fold_near(json_number(first, "Power"), json_number(next, "Power")) &&
	       fold_near(json_number(first, "P99"), json_number(next, "P99"));
}

static void name_of(char *buf, size_t size, const Fold *f)
{
	json_object *o = fold_first(f);

	if (json_number(o, "Count") > 1)
		snprintf(buf, size, "%.0f %s", json_number(o, "Count"), json_text(o, "Name"));
	else
		fold_name(buf, size, f, "Name");
}

static void add_row(Table *t, const Fold *f)
{
	json_object *o = fold_first(f);
	char name[128], mb_s[32], iops[32], mean[32], p50[32], p99[32], watts[32], error[32];

	name_of(name, sizeof(name), f);
	snprintf(
		error, sizeof(error), "%s%s", words_plus_minus(),
		format_number(watts, sizeof(watts), fold_mean(f, "Power") * fold_mean(f, "Error")));
	table_row(t, name, format_number(mb_s, sizeof(mb_s), fold_mean(f, "Throughput")),
		  format_number(iops, sizeof(iops), fold_mean(f, "IOPS")),
		  format_wait(mean, sizeof(mean), fold_mean(f, "MeanResponse")),
		  format_wait(p50, sizeof(p50), fold_mean(f, "P50")),
		  format_wait(p99, sizeof(p99), fold_mean(f, "P99")),
		  format_watts(watts, sizeof(watts), fold_mean(f, "Power")), error,
		  json_true(o, "P99Measured") ? "p99 measured"
					      : model_mark(json_true(o, "Estimated")));
}

static void print_rows(const Ctl *c, json_object *rows)
{
	static const char *const columns[] = { "EACH", ">MB/S",  ">IOPS", ">MEAN", ">P50",
					       ">P99", ">DRAWS", "",      "",      NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);
	Fold f = { .devices = rows };

	while (fold_next(&f, alike))
		add_row(t, &f);
	table_may_drop(t, c, "4 2 3 8");
	table_print(t, c);
}

static void print_total(const Ctl *c, json_object *total)
{
	char mb_s[32], iops[32], mean[32], watts[32], error[32], text[256];

	snprintf(text, sizeof(text), "Together %s MB/s, %s IO/s, %s in the mean; %s %s%s W",
		 format_number(mb_s, sizeof(mb_s), json_number(total, "Throughput")),
		 format_number(iops, sizeof(iops), json_number(total, "IOPS")),
		 format_wait(mean, sizeof(mean), json_number(total, "MeanResponse")),
		 format_watts(watts, sizeof(watts), json_number(total, "Power")),
		 words_plus_minus(),
		 format_number(error, sizeof(error), json_number(total, "ErrorPower")));
	putchar('\n');
	print_wrapped("", 0, text, c->width);
}

static void print_workload(const Forecast *f)
{
	char workload[256], text[384];
	bool own = f->c->n_args == 0 && !f->c->model.workload;

	model_workload_text(workload, sizeof(workload), &f->mix);
	snprintf(text, sizeof(text), "%s, and asks for all it can get",
		 own ? "what each device was seen to do" : workload);
	print_wrapped("Workload  ", 10, text, f->c->width);
	if (f->c->model.depth)
		printf("   Limit  depth %lu\n", f->c->model.depth);
	putchar('\n');
}

static void print_notes(const Ctl *c, json_object *rows)
{
	for (size_t i = 0; i < json_count(rows); i++)
		if (json_true(json_object_array_get_idx(rows, i), "Estimated")) {
			print_wrapped("", 0,
				      "est.: the profile's points are estimates, or the device is "
				      "flash, whose IOs are assumed to take times that differ by "
				      "half of their mean.",
				      c->width);
			return;
		}
}

static void print_forecast(const Forecast *f, json_object *total)
{
	pager_open(f->c);
	print_workload(f);
	print_rows(f->c, f->rows);
	print_total(f->c, total);
	print_notes(f->c, f->rows);
}

static int forecast(Forecast *f)
{
	int status = STATUS_OK;

	if (f->c->n_args == 0)
		status = add_live(f);
	for (int i = 0; i < f->c->n_args && !status; i++)
		status = add_argument(f, f->c->args[i]);
	return status;
}

/* "A:90%+B:10%" */
static bool is_hybrid(const Ctl *c)
{
	for (int i = 0; i < c->n_args; i++)
		if (strchr(c->args[i], '+') && !strchr(c->args[i], '/'))
			return true;
	return false;
}

static int forecast_hybrid(const Forecast *f)
{
	Ctl *c = f->c;

	if (c->n_args > 1)
		return complain(STATUS_USAGE, "Devices that share a workload are predicted by "
					      "themselves: name no others");
	if (c->model.depth)
		return complain(STATUS_USAGE, "--depth= limits each device: of devices that share "
					      "a workload, write depth= into --workload=");
	return model_hybrid(c, f->store, &f->mix, c->args[0]);
}

int model_predict(Ctl *c)
{
	_cleanup_json_ json_object *all = json_object_new_object();
	Forecast f = { .c = c, .rows = json_object_new_array() };
	int status = model_workload(c, &f.mix) ?: model_read_store(c, &f.store);
	bool hybrid = is_hybrid(c);

	json_object_object_add(all, "Devices", f.rows);
	if (!status)
		status = hybrid ? forecast_hybrid(&f) : forecast(&f);
	if (!status && !hybrid) {
		json_object_object_add(all, "Total", total_of(f.rows));
		if (c->json)
			json_print(c, all);
		else
			print_forecast(&f, json_member(all, "Total"));
	}
	profile_store_free(f.store);
	return status;
}
