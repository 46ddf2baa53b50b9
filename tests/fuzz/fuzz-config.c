/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/clock.h"
#include "config/config.h"
#include "fuzz-ini.h"

static const char *level_name(int level)
{
	static const char *const names[] = { [LOG_ERR] = "error",
					     [LOG_WARNING] = "warning",
					     [LOG_NOTICE] = "notice",
					     [LOG_INFO] = "info",
					     [LOG_DEBUG] = "debug" };

	return names[level];
}

static void put_daemon(FuzzReport *r, const Config *c)
{
	fputs("[storpower]\n", r->stream);
	fuzz_put_text(r, "policy", c->policy ?: "");
	fuzz_put_text(r, "mode", c->advises ? "advise" : "enforce");
	fuzz_put_text(r, "simulate", c->simulate ?: "");
	fuzz_put_text(r, "bus", c->bus);
	fuzz_put_text(r, "state_directory", c->state_directory);
	fuzz_put_text(r, "runtime_directory", c->runtime_directory);
	fuzz_put_bool(r, "bpf", c->bpf);
	fuzz_put_bool(r, "discover", c->discover);
	fuzz_put_text(r, "on_conflict", c->insists ? "insist" : "yield");
	fuzz_put_fixed(r, "guard", c->guard_w, "W");
	fprintf(r->stream, "spinups_at_once=%u\n", c->spinups_at_once);
	if (isinf(c->spinup_w))
		fuzz_put_text(r, "spinup_power", "none");
	else
		fuzz_put_fixed(r, "spinup_power", c->spinup_w, "W");
	fuzz_put_number(r, "cycles_a_day=", c->cycles_a_day, "\n");
	fuzz_put_number(r, "service_years=", c->service_years, "\n");
	fuzz_put_text(r, "log_level", level_name(c->log_level));
}

static void put_tolerances(FuzzReport *r, const Config *c)
{
	fputs("[tolerance]\n", r->stream);
	for (ClaimClass k = 0; k < _CLASS_MAX; k++) {
		double us = c->tolerance_s[k] * USEC_PER_SEC;

		fuzz_check(us >= 0 && us <= CLAIM_TOLERANCE_MAX_S * USEC_PER_SEC);
		if (us > 0)
			fprintf(r->stream, "%s=%.0fus\n", claim_class_name(k), us);
		else
			fprintf(r->stream, "%s=none\n", claim_class_name(k));
	}
}

static void put_device(FuzzReport *r, const BlockConfig *d)
{
	fuzz_check(*d->name && !strchr(d->name, '/'));
	fprintf(r->stream, "[device %s]\n", d->name);
	fuzz_put_bool(r, "manage", !d->unmanaged);
	fuzz_put_text(r, "profile", d->profile ?: "");
	fuzz_put_text(r, "group", d->group ?: "");
	fuzz_put_text(r, "pool", d->pool ?: "");
	fuzz_put_bool(r, "wake_tested", d->wake_tested);
	fuzz_put_bool(r, "keep_awake", d->keep_awake);
	fuzz_put_text(r, "redirect", d->redirect ?: "");
}

static void put_pool(FuzzReport *r, const PoolConfig *p)
{
	fprintf(r->stream, "[pool %s]\n", p->name);
	fuzz_put_text(r, "spread", p->spreads ? "any" : "common");
}

static void put_sensor(FuzzReport *r, const SensorConfig *s)
{
	static const char *const scopes[] = { [SENSOR_OF_NODE] = "node",
					      [SENSOR_OF_GROUP] = "group",
					      [SENSOR_OF_DEVICE] = "device",
					      [SENSOR_OF_HOST] = "host" };

	fprintf(r->stream, "[sensor %s]\n", s->name);
	fuzz_put_text(r, "type", sensor_type_name(s->type));
	fuzz_put_text(r, "chip", s->chip);
	fuzz_put_text(r, "input", s->input);
	fprintf(r->stream, "of=%s %s\n", scopes[s->scope], s->target);
	fuzz_put_text(r, "less", s->less ?: "");
	fuzz_put_fixed(r, "subtract", s->subtract_w, "W");
}

/* Whatever stands in storpower.conf, there is a usable configuration. */
static char *report(const char *path, bool *ret_complaints)
{
	const char *const directories[] = { fuzz_folder.folder, NULL };
	_cleanup_(config_freep) Config *c = NULL;
	FuzzReport r;
	size_t warnings;

	(void)path;
	fuzz_check(config_read(directories, &c, &warnings) == 0);
	fuzz_check(c->bus && c->state_directory && c->runtime_directory && c->guard_w >= 0);
	fuzz_check(c->spinups_at_once >= 1 && c->spinup_w > 0);
	fuzz_check(c->cycles_a_day >= 0 && c->service_years > 0);
	*ret_complaints = warnings > 0;
	fuzz_report_begin(&r);
	put_daemon(&r, c);
	put_tolerances(&r, c);
	for (size_t i = 0; i < c->n_devices; i++)
		put_device(&r, &c->devices[i]);
	for (size_t i = 0; i < c->n_pools; i++)
		put_pool(&r, &c->pools[i]);
	for (size_t i = 0; i < c->n_sensors; i++)
		put_sensor(&r, &c->sensors[i]);
	return fuzz_report_end(&r);
}

static const FuzzIni ini = {
	.name = "storpower.conf",
	.report = report,
	.free = (const char *const[]){ "policy", "simulate", "bus", "profile", "group", "pool",
				       "chip", "input", "of", "less", NULL },
	.defaults =
		(const char *const[][2]){
			{ "storpower policy", "" },
			{ "storpower mode", "enforce" },
			{ "storpower simulate", "" },
			{ "storpower bus", "system" },
			{ "storpower state_directory", "/var/lib/storpower" },
			{ "storpower runtime_directory", "/run/storpower" },
			{ "storpower bpf", "yes" },
			{ "storpower discover", "yes" },
			{ "storpower on_conflict", "yield" },
			{ "storpower guard", "0W" },
			{ "tolerance schedule", "3s" },
			{ "tolerance signal", "3s" },
			{ "tolerance operator", "3s" },
			{ "tolerance emergency", "none" },
			{ "storpower spinups_at_once", "2" },
			{ "storpower spinup_power", "none" },
			{ "storpower cycles_a_day", "10" },
			{ "storpower service_years", "5" },
			{ "storpower log_level", "info" },
			{ "device manage", "yes" },
			{ "device profile", "" },
			{ "device group", "" },
			{ "device pool", "" },
			{ "device wake_tested", "no" },
			{ "device keep_awake", "no" },
			{ "device redirect", "" },
			{ "pool spread", "common" },
			{ "sensor type", "hwmon" },
			{ "sensor less", "" },
			{ "sensor subtract", "0W" },
			{ NULL },
		},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_ini(&ini, data, size);
	return 0;
}
