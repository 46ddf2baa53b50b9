/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/sim-file.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/keys.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/text.h"
#include "sim/sim-random.h"

#define DEVICES_MAX 4096 /* of one group */
#define FAULTS_MAX  16
#define OUTAGE_US   (5 * USEC_PER_SEC)

static const char *const fault_names[] = {
	[SIM_HEALTHY] = "healthy", [SIM_REFUSE] = "refuse",   [SIM_LIE] = "lie",
	[SIM_IGNORE] = "ignore",   [SIM_VANISH] = "vanish",   [SIM_RESET] = "reset",
	[SIM_SLOW] = "slow",       [SIM_NO_WAKE] = "no-wake", [SIM_RESYNC] = "resync",
	[SIM_HANG] = "hang",
};

char *sim_device_name(const char *prefix, unsigned index)
{
	char letters[8], *p = letters + sizeof(letters) - 1;

	if (!streq(prefix, "sd"))
		return text_printf("%s%u", prefix, index);
	/* bijective base 26, as sd_format_disk_name() of drivers/scsi/sd.c */
	*p = '\0';
	for (unsigned i = index + 1; i; i = (i - 1) / 26)
		*--p = (char)('a' + (i - 1) % 26);
	return text_printf("sd%s", p);
}

static void workload_clear(SimWorkload *w)
{
	free(w->name);
	sim_demand_clear(&w->demand);
}

SimFile *sim_file_free(SimFile *f)
{
	if (!f)
		return NULL;
	for (size_t i = 0; i < f->n_workloads; i++)
		workload_clear(&f->workloads[i]);
	for (size_t i = 0; i < f->n_groups; i++) {
		SimGroup *g = &f->groups[i];

		workload_clear(&g->own);
		free(g->name);
		free(g->profile);
		free(g->prefix);
		free(g->group);
		free(g->workload);
		free(g->pool);
		free(g->hba);
		free(g->cache);
	}
	for (size_t i = 0; i < f->n_faults; i++)
		free(f->faults[i].device);
	for (size_t i = 0; i < f->sensing.n_plans; i++) {
		free(f->sensing.plans[i].name);
		free(f->sensing.plans[i].of.name);
	}
	free(f->sensing.plans);
	free(f->burst.devices);
	free(f->workloads);
	free(f->groups);
	free(f->faults);
	free(f->path);
	free(f->name);
	free(f->policy);
	free(f);
	return NULL;
}

static int sensors_from_list(const char *list, unsigned *ret)
{
	char **words _cleanup_(strv_freep) = strv_split(list);
	unsigned set = 0;

	if (!words)
		return -ENOMEM;
	if (!*words)
		return -EINVAL;
	for (char **w = words; *w; w++) {
		int kind = kind_from_name(*w);

		if (streq(*w, "all"))
			set |= (1U << _KIND_MAX) - 1;
		else if (kind >= 0)
			set |= 1U << kind;
		else if (!streq(*w, "none"))
			return -EINVAL;
	}
	*ret = set;
	return 0;
}

static int fault_from_name(const char *name)
{
	for (int i = SIM_REFUSE; i < (int)ELEMENTSOF(fault_names); i++)
		if (streq(name, fault_names[i]))
			return i;
	return -EINVAL;
}

static int take_seed(const IniLine *l, void *member)
{
	unsigned long seed;
	int r = parse_unsigned(l->value, ULONG_MAX, &seed);

	if (r >= 0)
		*(uint64_t *)member = seed;
	return r;
}

static int take_demand(const IniLine *l, void *member)
{
	return sim_demand_parse(l, member);
}

#define A_NAME      KEY_TEXT, .is_valid = is_plain_name, .expected = PLAIN_NAME
#define IO_SIZE_KIB KEY_BYTES, .min = 512, .max = 64 << 20, .per = 1024
#define SOME_TIME   KEY_DURATION, .min = 1

#define KEYS_OF_FAMILY(S, f)                                                                       \
	{ "family_error", KEY_CUSTOM, KEY_AT(S, f.error), .take = sim_take_error,                  \
	  .expected = SIM_AN_ERROR },                                                              \
	{                                                                                          \
		"drift", KEY_CUSTOM, KEY_AT(S, f.drift), .take = sim_take_drift,                   \
							 .expected = SIM_A_DRIFT                   \
	}

static const Key node_keys[] = {
	{ "name", A_NAME, KEY_AT(SimFile, name) },
	{ "policy", A_NAME, KEY_AT(SimFile, policy) },
	{ "seed", KEY_CUSTOM, KEY_AT(SimFile, seed), .take = take_seed,
	  .expected = "a whole number from 0 to 18446744073709551615" },
	{ "model_error", KEY_SHARE, KEY_AT(SimFile, errors.model) },
	KEYS_OF_FAMILY(SimFile, errors.family),
	{ "noise", KEY_SHARE, KEY_AT(SimFile, sensing.noise) },
	{ "sensors", KEY_SET, KEY_AT(SimFile, sensing.kinds), .from_list = sensors_from_list,
	  .expected = "all, none or a list of nvme, sata-ssd, hdd" },
};

/* A workload may stand in a section of its own or in that of the devices that have it. */
#define KEYS_OF_WORKLOAD(S, w)                                                                     \
	{ "read", KEY_SHARE, KEY_AT(S, w mix.read_share) },                                        \
		{ "random", KEY_SHARE, KEY_AT(S, w mix.random_share) },                            \
		{ "read_size", IO_SIZE_KIB, KEY_AT(S, w mix.read_kib) },                           \
		{ "write_size", IO_SIZE_KIB, KEY_AT(S, w mix.write_kib) },                         \
		{ "depth", KEY_UNSIGNED, KEY_AT(S, w mix.depth), .min = 1, .max = 65536 },         \
		{ "demand", KEY_CUSTOM, KEY_AT(S, w demand), .take = take_demand },                \
		{ "repeat", SOME_TIME, KEY_AT(S, w demand.repeat_us) },

static const Key workload_keys[] = { KEYS_OF_WORKLOAD(SimWorkload, ) };

static const Key devices_keys[] = {
	{ "count", KEY_UNSIGNED, KEY_AT(SimGroup, count), .min = 1, .max = DEVICES_MAX },
	{ "profile", A_NAME, KEY_AT(SimGroup, profile) },
	{ "group", A_NAME, KEY_AT(SimGroup, group) },
	{ "prefix", A_NAME, KEY_AT(SimGroup, prefix) },
	{ "queues", KEY_UNSIGNED, KEY_AT(SimGroup, queues), .min = 1, .max = 1024 },
	{ "power_limit", KEY_BOOL, KEY_AT(SimGroup, power_limit) },
	{ "pool", A_NAME, KEY_AT(SimGroup, pool) },
	{ "pools", KEY_UNSIGNED, KEY_AT(SimGroup, pools), .min = 1, .max = DEVICES_MAX },
	{ "hba", KEY_TEXT, KEY_AT(SimGroup, hba) },
	{ "cache", KEY_TEXT, KEY_AT(SimGroup, cache) },
	{ "cache_size", KEY_BYTES, KEY_AT(SimGroup, cache_bytes), .min = 1 << 30, .max = 0x1p50 },
	{ "cached_reads", KEY_SHARE, KEY_AT(SimGroup, cached_reads) },
	{ "workload", KEY_TEXT, KEY_AT(SimGroup, workload) },
	{ "io_longer", KEY_DURATION, KEY_AT(SimGroup, io_longer_us), .max = USEC_PER_SEC },
	{ "io_serial", KEY_DURATION, KEY_AT(SimGroup, io_serial_us), .max = USEC_PER_SEC },
	KEYS_OF_FAMILY(SimGroup, family),
	KEYS_OF_WORKLOAD(SimGroup, own.)
};

static const Key fault_keys[] = {
	{ "device", KEY_TEXT, KEY_AT(SimFaultPlan, device) },
	{ "at", SOME_TIME, KEY_AT(SimFaultPlan, at_us) },
	{ "kind", KEY_NAME, KEY_AT(SimFaultPlan, kind), .from_name = fault_from_name,
	  .expected = "refuse, lie, ignore, vanish, reset, slow, hang, no-wake or resync" },
	{ "for", SOME_TIME, KEY_AT(SimFaultPlan, for_us) },
};

static const Key burst_keys[] = {
	{ "every", SOME_TIME, KEY_AT(SimFile, burst.every_us) },
	{ "for", SOME_TIME, KEY_AT(SimFile, burst.for_us) },
	{ "demand", KEY_SHARE, KEY_AT(SimFile, burst.demand) },
	{ "devices", KEY_TEXT, KEY_AT(SimFile, burst.devices) },
};

static int take_of(const IniLine *l, void *member)
{
	int r = sensor_target_parse(l->value, member);

	return r >= 0 && ((SensorTarget *)member)->scope == SENSOR_OF_HOST ? -EINVAL : r;
}

static const Key sensor_keys[] = {
	{ "of", KEY_CUSTOM, KEY_AT(SimSensorPlan, of), .take = take_of,
	  .expected = "node, group NAME or device NAME" },
	{ "noise", KEY_SHARE, KEY_AT(SimSensorPlan, noise) },
	{ "bias", KEY_CUSTOM, KEY_AT(SimSensorPlan, bias), .take = sim_take_error,
	  .expected = SIM_AN_ERROR },
	{ "delay", KEY_DURATION, KEY_AT(SimSensorPlan, delay_us), .max = 600e6 },
	{ "dropout", KEY_SHARE, KEY_AT(SimSensorPlan, dropout) },
	{ "outage", KEY_DURATION, KEY_AT(SimSensorPlan, outage_us), .min = 1e5, .max = 3600e6 },
};

static int complain_of_name(const IniLine *l, const char *name)
{
	return ini_complain_of_heading(l, "[%s]: expected %s, but \"%s\" is something else",
				       l->section, PLAIN_NAME, name);
}

static int open_workload(const IniLine *l, const char *name, void *userdata, void **ret)
{
	SimFile *f = userdata;
	SimWorkload *w = NULL;

	if (!is_plain_name(name))
		return complain_of_name(l, name);
	for (size_t i = 0; i < f->n_workloads; i++)
		if (streq(f->workloads[i].name, name))
			w = &f->workloads[i];
	if (!w) {
		w = ARRAY_GROW(f->workloads, f->n_workloads);
		if (!w)
			return -ENOMEM;
		w->mix = MIX_UNKNOWN;
		w->name = strdup(name);
	}
	*ret = w;
	return w->name ? 0 : -ENOMEM;
}

static SimGroup *group_named(SimFile *f, const IniLine *l, const char *name)
{
	SimGroup *g;

	for (size_t i = 0; i < f->n_groups; i++)
		if (streq(f->groups[i].name, name))
			return &f->groups[i];
	g = ARRAY_GROW(f->groups, f->n_groups);
	if (!g)
		return NULL;
	g->line = l->line;
	g->count = 1;
	g->queues = 1;
	g->cache_bytes = 200ULL << 30;
	g->own.mix = MIX_UNKNOWN;
	g->family = (SimFamily){ .error = NAN, .drift.most = NAN };
	g->name = strdup(name);
	return g->name ? g : NULL;
}

static int open_devices(const IniLine *l, const char *name, void *userdata, void **ret)
{
	SimGroup *g;

	if (!is_plain_name(name))
		return complain_of_name(l, name);
	g = group_named(userdata, l, name);
	if (!g)
		return -ENOMEM;
	if (l->key && keys_have(workload_keys, ELEMENTSOF(workload_keys), l->key))
		g->own_used = true;
	*ret = g;
	return 0;
}

static int open_burst(const IniLine *l, const char *rest, void *userdata, void **ret)
{
	SimFile *f = userdata;

	(void)rest;
	f->burst.line = l->section_line;
	*ret = f;
	return 0;
}

static int open_sensor(const IniLine *l, const char *name, void *userdata, void **ret)
{
	SimSensing *s = &((SimFile *)userdata)->sensing;
	SimSensorPlan *p = NULL;

	if (!is_plain_name(name))
		return complain_of_name(l, name);
	for (size_t i = 0; i < s->n_plans; i++)
		if (streq(s->plans[i].name, name))
			p = &s->plans[i];
	if (!p) {
		p = ARRAY_GROW(s->plans, s->n_plans);
		if (!p)
			return -ENOMEM;
		p->line = l->line;
		p->outage_us = OUTAGE_US;
		p->name = strdup(name);
	}
	*ret = p;
	return p->name ? 0 : -ENOMEM;
}

static int open_fault(const IniLine *l, const char *rest, void *userdata, void **ret)
{
	SimFile *f = userdata;
	SimFaultPlan *p = l->key ? &f->faults[f->n_faults - 1] : NULL;

	(void)rest;
	if (!l->key && f->n_faults == FAULTS_MAX)
		return ini_complain(l, "more than %d faults", FAULTS_MAX);
	if (!l->key)
		p = ARRAY_GROW(f->faults, f->n_faults);
	if (!p)
		return -ENOMEM;
	p->line = l->section_line;
	*ret = p;
	return 0;
}

static const KeySection sections[] = {
	{ "node", NULL, KEY_LIST(node_keys) },
	{ "workload", "NAME", KEY_LIST(workload_keys), .open = open_workload },
	{ "devices", "NAME", KEY_LIST(devices_keys), .open = open_devices },
	{ "burst", NULL, KEY_LIST(burst_keys), .open = open_burst },
	{ "sensor", "NAME", KEY_LIST(sensor_keys), .open = open_sensor },
	{ "fault", NULL, KEY_LIST(fault_keys), .many = true, .open = open_fault },
};

static int on_line(const IniLine *l, void *userdata)
{
	int r = keys_apply(sections, ELEMENTSOF(sections), l, userdata);

	return r == -ENOENT ? -EINVAL : r;
}

const SimWorkload *sim_file_workload(const SimFile *f, const SimGroup *g)
{
	if (!g->workload)
		return &g->own;
	for (size_t i = 0; i < f->n_workloads; i++)
		if (streq(f->workloads[i].name, g->workload))
			return &f->workloads[i];
	return NULL;
}

SimFamily sim_file_family(const SimFile *f, const SimGroup *g)
{
	SimFamily family = f->errors.family;

	if (!isnan(g->family.error))
		family.error = g->family.error;
	if (!isnan(g->family.drift.most))
		family.drift = g->family.drift;
	return family;
}

int sim_file_read(const char *path, SimFile **ret)
{
	_cleanup_(sim_file_freep) SimFile *f = calloc(1, sizeof(*f));
	_cleanup_free_ char *text = NULL;
	int r;

	if (!f)
		return -ENOMEM;
	r = ini_load(path, &text);
	if (r < 0)
		return log_error_errno(r, "Cannot read node file %s", path);
	f->burst.demand = 1;
	f->hash = sim_hash_text(text);
	f->path = strdup(path);
	if (!f->path)
		return -ENOMEM;
	r = ini_read_text(path, text, on_line, f);
	if (r < 0)
		return r;
	r = sim_file_check(f);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(f);
	return 0;
}
