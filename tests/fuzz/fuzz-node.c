/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz-ini.h"
#include "sim/sim-file.h"

static void on_device(Device *d, DeviceEvent event, void *userdata)
{
	(void)event;
	(void)userdata;
	fuzz_check(d->id && d->name && d->model);
}

static void put_demand(FuzzReport *r, const SimDemand *d)
{
	fputs("demand=", r->stream);
	switch (d->kind) {
	case SIM_IDLE: fputs("idle", r->stream); break;
	case SIM_SATURATE: fputs("saturate", r->stream); break;
	case SIM_STEPS:
		for (size_t i = 0; i < d->n_steps; i++) {
			fprintf(r->stream, d->steps[i].at_us ? "%s%lluus" : "%s0", i ? " " : "",
				(unsigned long long)d->steps[i].at_us);
			fuzz_put_number(r, ":", d->steps[i].mb_s, "");
		}
		break;
	case SIM_SINE:
		fuzz_put_number(r, "sine mean=", d->mean_mb_s, " ");
		fuzz_put_number(r, "swing=", d->swing_mb_s, " ");
		fprintf(r->stream, d->peak_us ? "period=%lluus peak=%lluus" : "period=%lluus",
			(unsigned long long)d->period_us, (unsigned long long)d->peak_us);
		break;
	case SIM_BURST:
		fuzz_put_number(r, "burst high=", d->high_mb_s, " ");
		fuzz_put_number(r, "low=", d->low_mb_s, " ");
		fprintf(r->stream, "on=%lluus off=%lluus", (unsigned long long)d->on_us,
			(unsigned long long)d->off_us);
		break;
	}
	fputs("\n", r->stream);
	if (d->repeat_us)
		fuzz_put_us(r, "repeat", (double)d->repeat_us);
}

static void put_workload(FuzzReport *r, const SimWorkload *w)
{
	fuzz_put_percent(r, "read", w->mix.read_share);
	fuzz_put_percent(r, "random", w->mix.random_share);
	fprintf(r->stream, "read_size=%.0f\n", w->mix.read_kib * 1024);
	fprintf(r->stream, "write_size=%.0f\n", w->mix.write_kib * 1024);
	fprintf(r->stream, "depth=%.0f\n", w->mix.depth);
	put_demand(r, &w->demand);
}

static void put_family(FuzzReport *r, const SimFamily *f)
{
	if (!isnan(f->error))
		fuzz_put_percent(r, "family_error", f->error);
	if (isnan(f->drift.most) || !f->drift.period_us)
		return;
	fuzz_put_number(r, "drift=", f->drift.most * 100, "%/");
	fprintf(r->stream, "%lluus\n", (unsigned long long)f->drift.period_us);
}

static void put_burst(FuzzReport *r, const SimBurst *b)
{
	if (!b->line)
		return;
	fputs("[burst]\n", r->stream);
	fuzz_put_us(r, "every", (double)b->every_us);
	fuzz_put_us(r, "for", (double)b->for_us);
	fuzz_put_percent(r, "demand", b->demand);
	fuzz_put_text(r, "devices", b->devices);
}

static void put_sensor(FuzzReport *r, const SimSensorPlan *p)
{
	static const char *const scopes[] = { [SENSOR_OF_NODE] = "node",
					      [SENSOR_OF_GROUP] = "group ",
					      [SENSOR_OF_DEVICE] = "device " };

	fprintf(r->stream, "[sensor %s]\nof=%s%s\n", p->name, scopes[p->of.scope], p->of.name);
	fuzz_put_percent(r, "noise", p->noise);
	fuzz_put_percent(r, "bias", p->bias);
	fuzz_put_us(r, "delay", (double)p->delay_us);
	fuzz_put_percent(r, "dropout", p->dropout);
	fuzz_put_us(r, "outage", (double)p->outage_us);
}

static void put_group(FuzzReport *r, const SimGroup *g)
{
	fprintf(r->stream, "[devices %s]\ncount=%u\nqueues=%u\n", g->name, g->count, g->queues);
	fuzz_put_text(r, "profile", g->profile);
	fuzz_put_text(r, "group", g->group);
	fuzz_put_text(r, "prefix", g->prefix);
	fuzz_put_bool(r, "power_limit", g->power_limit);
	fuzz_put_text(r, "pool", g->pool);
	if (g->pools)
		fprintf(r->stream, "pools=%u\n", g->pools);
	fuzz_put_text(r, "hba", g->hba);
	fuzz_put_text(r, "cache", g->cache);
	fprintf(r->stream, "cache_size=%llu\n", (unsigned long long)g->cache_bytes);
	fuzz_put_percent(r, "cached_reads", g->cached_reads);
	put_family(r, &g->family);
	fuzz_put_text(r, "workload", g->workload);
	if (g->own_used)
		put_workload(r, &g->own);
}

static void put_fault(FuzzReport *r, const SimFaultPlan *p)
{
	static const char *const names[] = {
		[SIM_REFUSE] = "refuse", [SIM_LIE] = "lie",         [SIM_IGNORE] = "ignore",
		[SIM_VANISH] = "vanish", [SIM_RESET] = "reset",     [SIM_SLOW] = "slow",
		[SIM_HANG] = "hang",     [SIM_NO_WAKE] = "no-wake", [SIM_RESYNC] = "resync",
	};

	fprintf(r->stream, "[fault]\ndevice=%s\nkind=%s\n", p->device, names[p->kind]);
	if (p->at_us)
		fuzz_put_us(r, "at", (double)p->at_us);
	if (p->for_us)
		fuzz_put_us(r, "for", (double)p->for_us);
}

static char *put_file(const SimFile *f)
{
	static const char *const kinds[] = { "nvme", "sata-ssd", "hdd" };
	FuzzReport r;

	fuzz_report_begin(&r);
	fprintf(r.stream, "[node]\nname=%s\nseed=%llu\n", f->name, (unsigned long long)f->seed);
	fuzz_put_text(&r, "policy", f->policy);
	fuzz_put_percent(&r, "model_error", f->errors.model);
	put_family(&r, &f->errors.family);
	fuzz_put_percent(&r, "noise", f->sensing.noise);
	fputs(f->sensing.kinds ? "sensors=" : "sensors=none", r.stream);
	for (unsigned kind = 0; kind < ELEMENTSOF(kinds); kind++)
		if (f->sensing.kinds >> kind & 1)
			fprintf(r.stream, "%s ", kinds[kind]);
	fputs("\n", r.stream);
	for (size_t i = 0; i < f->n_workloads; i++) {
		fprintf(r.stream, "[workload %s]\n", f->workloads[i].name);
		put_workload(&r, &f->workloads[i]);
	}
	for (size_t i = 0; i < f->n_groups; i++)
		put_group(&r, &f->groups[i]);
	put_burst(&r, &f->burst);
	for (size_t i = 0; i < f->sensing.n_plans; i++)
		put_sensor(&r, &f->sensing.plans[i]);
	for (size_t i = 0; i < f->n_faults; i++)
		put_fault(&r, &f->faults[i]);
	return fuzz_report_end(&r);
}

static char *report(const char *path, bool *ret_complaints)
{
	_cleanup_(sim_file_freep) SimFile *f = NULL;

	(void)ret_complaints;
	return sim_file_read(path, &f) < 0 ? NULL : put_file(f);
}

/* A node that opens starts, and its nature can be asked. Large ones take long. */
static void check_node(const char *path)
{
	const char *const directories[] = { "policies/profiles", NULL };
	static ProfileStore *profiles; /* read once a process */
	_cleanup_(inventory_freep) Inventory *node = NULL;
	_cleanup_(sim_file_freep) SimFile *f = NULL;
	_cleanup_free_ char *dump = NULL;
	size_t n = 0;

	if (!profiles)
		fuzz_check(profile_store_read(directories, &profiles) == 0 && profiles->n > 0);
	if (sim_file_read(path, &f) < 0)
		return;
	for (size_t i = 0; i < f->n_groups; i++)
		n += f->groups[i].count;
	if (n > 64 || sim_node_open(path, NULL, profiles, &clock_boottime, &node) < 0)
		return;
	fuzz_check(inventory_start(node, on_device, NULL) == 0);
	fuzz_check(sim_node_true_watts(node) >= 0);
	fuzz_check(sim_node_true_mb_s(node) >= 0);
	fuzz_check(sim_node_dump(node, &dump) == 0);
}

static const FuzzIni ini = {
	.name = "fuzz.node",
	.report = report,
	.many = "fault",
	.free = (const char *const[]){ "name", "policy", "profile", "group", "prefix", "pool",
				       "hba", "cache", "workload", "device", "devices", "drift",
				       "of", NULL },
	.defaults =
		(const char *const[][2]){
			{ "node seed", "0" },
			{ "node model_error", "0%" },
			{ "node family_error", "0%" },
			{ "node noise", "0%" },
			{ "node sensors", "none" },
			{ "workload read", "70%" },
			{ "workload random", "100%" },
			{ "workload depth", "32" },
			{ "workload read_size", "16K" },
			{ "workload demand", "idle" },
			{ "workload write_size", "16K" },
			{ "devices count", "1" },
			{ "devices queues", "1" },
			{ "devices read", "70%" },
			{ "devices random", "100%" },
			{ "devices depth", "32" },
			{ "devices read_size", "16K" },
			{ "devices demand", "idle" },
			{ "devices write_size", "16K" },
			{ "devices power_limit", "no" },
			{ "devices cache_size", "200G" },
			{ "devices cached_reads", "0%" },
			{ "burst demand", "100%" },
			{ "sensor noise", "0%" },
			{ "sensor bias", "0%" },
			{ "sensor delay", "0" },
			{ "sensor dropout", "0%" },
			{ "sensor outage", "5s" },
			{ NULL },
		},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *first = NULL;
	bool complaints;

	fuzz_ini(&ini, data, size);
	if (fuzz_chance(data, size) % 8) /* that takes long */
		return 0;
	first = fuzz_report(&ini, (const char *)data, size, &complaints);
	if (first)
		check_node(fuzz_folder.path);
	return 0;
}
