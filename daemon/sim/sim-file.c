/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/sim-file.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "sim/sim-random.h"

#define DEVICES_MAX 4096 /* of one group */
#define FAULTS_MAX  16

static const char *const fault_names[] = {
	[SIM_HEALTHY] = "healthy", [SIM_REFUSE] = "refuse",   [SIM_LIE] = "lie",
	[SIM_IGNORE] = "ignore",   [SIM_VANISH] = "vanish",   [SIM_RESET] = "reset",
	[SIM_SLOW] = "slow",       [SIM_NO_WAKE] = "no-wake", [SIM_RESYNC] = "resync",
};

const char *sim_fault_name(SimFault fault)
{
	return fault_names[fault];
}

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
	free(f->workloads);
	free(f->groups);
	free(f->faults);
	free(f->path);
	free(f->name);
	free(f->policy);
	free(f);
	return NULL;
}

static int set_text(const IniLine *l, const char *value, char **field)
{
	if (*field)
		return ini_complain(l, "[%s] has %s twice: is a section repeated?", l->section,
				    l->key);
	*field = strdup(value);
	return *field ? 0 : -ENOMEM;
}

static int set_share(const IniLine *l, double *ret)
{
	double v;
	LimitUnit unit;

	if (parse_limit(l->value, &v, &unit) < 0 || unit != LIMIT_PERCENT)
		return ini_complain(l, "%s = \"%s\" is not a share such as 70%%", l->key, l->value);
	*ret = v / 100;
	return 0;
}

static int set_kib(const IniLine *l, double *ret)
{
	uint64_t bytes;

	if (parse_bytes(l->value, &bytes) < 0 || bytes < 512 || bytes > 64 << 20)
		return ini_complain(l, "%s = \"%s\" is not an IO size from 512 to 64M", l->key,
				    l->value);
	*ret = (double)bytes / 1024;
	return 0;
}

static int set_number(const IniLine *l, unsigned long min, unsigned long max, unsigned long *ret)
{
	unsigned long v;

	if (parse_unsigned(l->value, max, &v) < 0 || v < min)
		return ini_complain(l, "%s = \"%s\" is not a whole number from %lu to %lu", l->key,
				    l->value, min, max);
	*ret = v;
	return 0;
}

static int set_unsigned(const IniLine *l, unsigned long min, unsigned long max, unsigned *ret)
{
	unsigned long v = 0;
	int r = set_number(l, min, max, &v);

	if (r >= 0)
		*ret = (unsigned)v;
	return r;
}

static int set_depth(const IniLine *l, double *ret)
{
	unsigned long v = 0;
	int r = set_number(l, 1, 65536, &v);

	if (r >= 0)
		*ret = (double)v;
	return r;
}

static int set_time(const IniLine *l, uint64_t *ret_us)
{
	if (parse_duration_us(l->value, ret_us) < 0)
		return ini_complain(l, "%s = \"%s\" is not a time such as 5s or 1h", l->key,
				    l->value);
	return 0;
}

static int set_sensors(const IniLine *l, unsigned *ret)
{
	char **words _cleanup_(strv_freep) = strv_split(l->value);
	unsigned set = 0;

	if (!words)
		return -ENOMEM;
	for (char **w = words; *w; w++) {
		int kind = kind_from_name(*w);

		if (streq(*w, "all"))
			set |= (1U << _KIND_MAX) - 1;
		else if (kind >= 0)
			set |= 1U << kind;
		else if (!streq(*w, "none"))
			return ini_complain(l,
					    "sensors = \"%s\": not all, none or kinds (nvme, "
					    "sata-ssd, hdd)",
					    l->value);
	}
	*ret = set;
	return 0;
}

static int unknown_key(const IniLine *l, const char *keys)
{
	return ini_complain(l, "[%s] has no key \"%s\"; it has: %s", l->section, l->key, keys);
}

static int node_line(const IniLine *l, SimFile *f)
{
	unsigned long seed = 0;
	int r;

	if (streq(l->key, "name"))
		return set_text(l, l->value, &f->name);
	if (streq(l->key, "policy"))
		return set_text(l, l->value, &f->policy);
	if (streq(l->key, "model_error"))
		return set_share(l, &f->model_error);
	if (streq(l->key, "noise"))
		return set_share(l, &f->noise);
	if (streq(l->key, "sensors"))
		return set_sensors(l, &f->sensors);
	if (!streq(l->key, "seed"))
		return unknown_key(l, "name, policy, seed, model_error, noise, sensors");
	r = set_number(l, 0, ~0UL, &seed);
	if (r >= 0)
		f->seed = seed;
	return r;
}

/* 1 when the key belongs to a workload. */
static int workload_key(const IniLine *l, SimWorkload *w)
{
	int r;

	if (streq(l->key, "read"))
		r = set_share(l, &w->mix.read_share);
	else if (streq(l->key, "random"))
		r = set_share(l, &w->mix.random_share);
	else if (streq(l->key, "read_size"))
		r = set_kib(l, &w->mix.read_kib);
	else if (streq(l->key, "write_size"))
		r = set_kib(l, &w->mix.write_kib);
	else if (streq(l->key, "depth"))
		r = set_depth(l, &w->mix.depth);
	else if (streq(l->key, "demand"))
		r = sim_demand_parse(l, &w->demand);
	else if (streq(l->key, "repeat"))
		r = set_time(l, &w->demand.repeat_us);
	else
		return 0;
	return r < 0 ? r : 1;
}

#define WORKLOAD_KEYS "read, random, read_size, write_size, depth, demand, repeat"

static int workload_line(const IniLine *l, const char *name, SimFile *f)
{
	SimWorkload *w = NULL;
	int r;

	for (size_t i = 0; i < f->n_workloads; i++)
		if (streq(f->workloads[i].name, name))
			w = &f->workloads[i];
	if (!w) {
		w = ARRAY_GROW(f->workloads, f->n_workloads);
		if (!w)
			return -ENOMEM;
		w->mix = MIX_UNKNOWN;
		if (set_text(l, name, &w->name) < 0)
			return -ENOMEM;
	}
	r = workload_key(l, w);
	return r == 0 ? unknown_key(l, WORKLOAD_KEYS) : MIN(r, 0);
}

static SimGroup *group_get(SimFile *f, const IniLine *l, const char *name)
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
	return set_text(l, name, &g->name) < 0 ? NULL : g;
}

static int set_flag(const IniLine *l, bool *ret)
{
	if (parse_bool(l->value, ret) < 0)
		return ini_complain(l, "%s = \"%s\" is not yes or no", l->key, l->value);
	return 0;
}

static int set_cache_size(const IniLine *l, uint64_t *ret)
{
	if (parse_bytes(l->value, ret) < 0 || *ret < 1 << 30 || *ret > 1ULL << 50)
		return ini_complain(l, "%s = \"%s\" is not a size from 1G to 1024T", l->key,
				    l->value);
	return 0;
}

/* 1 when the key says what a disk hangs on, sleeps with or has above it. */
static int sleep_key(const IniLine *l, SimGroup *g)
{
	int r;

	if (streq(l->key, "pool"))
		r = set_text(l, l->value, &g->pool);
	else if (streq(l->key, "pools"))
		r = set_unsigned(l, 1, DEVICES_MAX, &g->pools);
	else if (streq(l->key, "hba"))
		r = set_text(l, l->value, &g->hba);
	else if (streq(l->key, "cache"))
		r = set_text(l, l->value, &g->cache);
	else if (streq(l->key, "cache_size"))
		r = set_cache_size(l, &g->cache_bytes);
	else if (streq(l->key, "cached_reads"))
		r = set_share(l, &g->cached_reads);
	else
		return 0;
	return r < 0 ? r : 1;
}

static int devices_line(const IniLine *l, const char *name, SimFile *f)
{
	SimGroup *g = group_get(f, l, name);
	int r;

	if (!g)
		return -ENOMEM;
	if (streq(l->key, "count"))
		return set_unsigned(l, 1, DEVICES_MAX, &g->count);
	if (streq(l->key, "queues"))
		return set_unsigned(l, 1, 1024, &g->queues);
	if (streq(l->key, "power_limit"))
		return set_flag(l, &g->power_limit);
	if (streq(l->key, "profile"))
		return set_text(l, l->value, &g->profile);
	if (streq(l->key, "group"))
		return set_text(l, l->value, &g->group);
	if (streq(l->key, "prefix"))
		return set_text(l, l->value, &g->prefix);
	if (streq(l->key, "workload"))
		return set_text(l, l->value, &g->workload);
	r = sleep_key(l, g);
	if (r != 0)
		return MIN(r, 0);
	r = workload_key(l, &g->own);
	if (r == 0)
		return unknown_key(l, "count, profile, group, prefix, queues, power_limit, pool, "
				      "pools, hba, cache, cache_size, cached_reads, "
				      "workload, " WORKLOAD_KEYS);
	g->own_used = true;
	return MIN(r, 0);
}

static int set_fault_kind(const IniLine *l, SimFault *ret)
{
	for (size_t i = SIM_REFUSE; i < ELEMENTSOF(fault_names); i++)
		if (streq(l->value, fault_names[i])) {
			*ret = (SimFault)i;
			return 0;
		}
	return ini_complain(l,
			    "kind = \"%s\" is not refuse, lie, ignore, vanish, reset, slow, "
			    "no-wake or resync",
			    l->value);
}

static int fault_line(const IniLine *l, SimFile *f)
{
	SimFaultPlan *p = f->n_faults ? &f->faults[f->n_faults - 1] : NULL;

	/* ini sections of one name run together: device= is what begins a new fault */
	if (streq(l->key, "device")) {
		if (f->n_faults == FAULTS_MAX)
			return ini_complain(l, "more than %d faults", FAULTS_MAX);
		p = ARRAY_GROW(f->faults, f->n_faults);
		if (!p)
			return -ENOMEM;
		p->line = l->line;
		return set_text(l, l->value, &p->device);
	}
	if (!p)
		return ini_complain(l, "[fault] must begin with device=");
	if (streq(l->key, "at"))
		return set_time(l, &p->at_us);
	if (streq(l->key, "for"))
		return set_time(l, &p->for_us);
	if (streq(l->key, "kind"))
		return set_fault_kind(l, &p->kind);
	return unknown_key(l, "device, at, kind, for");
}

static int on_line(const IniLine *l, void *userdata)
{
	SimFile *f = userdata;

	if (streq(l->section, "node"))
		return node_line(l, f);
	if (!strncmp(l->section, "workload ", 9))
		return workload_line(l, l->section + 9, f);
	if (!strncmp(l->section, "devices ", 8))
		return devices_line(l, l->section + 8, f);
	if (streq(l->section, "fault"))
		return fault_line(l, f);
	return ini_complain(l,
			    "no section \"%s\" in a node file; there are: [node], [workload NAME], "
			    "[devices NAME], [fault]",
			    l->section);
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

static int check_steps(const SimFile *f, const SimWorkload *w, const char *name, unsigned line)
{
	const SimDemand *d = &w->demand;
	IniLine l = { .path = f->path, .line = line };

	if (d->repeat_us && (d->kind != SIM_STEPS || d->repeat_us < USEC_PER_SEC ||
			     d->steps[d->n_steps - 1].at_us >= d->repeat_us))
		return ini_complain(&l,
				    "%s: repeat needs at least 1s and a demand in steps, all "
				    "before it",
				    name);
	return 0;
}

const SimGroup *sim_file_group(const SimFile *f, const char *name)
{
	for (size_t i = 0; i < f->n_groups; i++)
		if (streq(f->groups[i].name, name))
			return &f->groups[i];
	return NULL;
}

/* What has no end cannot be held. */
static int check_cache(const SimFile *f, const SimGroup *g, const SimWorkload *w)
{
	const SimGroup *cache = g->cache ? sim_file_group(f, g->cache) : NULL;
	IniLine l = { .path = f->path, .line = g->line };

	if (g->pools && (!g->pool || g->pools > g->count))
		return ini_complain(&l, "[devices %s]: pools needs pool= and a device for each",
				    g->name);
	if (g->cache && (!cache || cache == g || cache->cache))
		return ini_complain(&l,
				    "[devices %s]: cache = %s is no other section without a cache "
				    "of its own",
				    g->name, g->cache);
	if (g->cache && w->demand.kind == SIM_SATURATE)
		return ini_complain(&l, "[devices %s]: a workload that saturates fills any cache",
				    g->name);
	return 0;
}

static int check_group(const SimFile *f, const SimGroup *g)
{
	const SimWorkload *w = sim_file_workload(f, g);
	IniLine l = { .path = f->path, .line = g->line };

	if (!g->profile)
		return ini_complain(&l, "[devices %s] names no profile", g->name);
	if (!w)
		return ini_complain(&l, "[devices %s]: there is no [workload %s]", g->name,
				    g->workload);
	if (g->workload && g->own_used)
		return ini_complain(&l, "[devices %s] has both workload= and a workload of its own",
				    g->name);
	return check_cache(f, g, w) ?: check_steps(f, w, g->name, g->line);
}

static int check_file(const SimFile *f)
{
	IniLine l = { .path = f->path };
	int r = 0;

	if (!f->name)
		r = ini_complain(&l, "[node] has no name");
	if (f->n_groups == 0)
		r = ini_complain(&l, "no [devices NAME] section: a node needs at least one device");
	for (size_t i = 0; i < f->n_groups; i++)
		r = check_group(f, &f->groups[i]) ?: r;
	for (size_t i = 0; i < f->n_faults; i++)
		if (f->faults[i].kind == SIM_HEALTHY) {
			l.line = f->faults[i].line;
			r = ini_complain(&l, "[fault] of %s has no kind", f->faults[i].device);
		}
	return r;
}

int sim_file_read(const char *path, SimFile **ret)
{
	_cleanup_(sim_file_freep) SimFile *f = calloc(1, sizeof(*f));
	_cleanup_free_ char *text = NULL;
	int r;

	if (!f)
		return -ENOMEM;
	r = read_file(path, &text);
	if (r < 0)
		return log_error_errno(r, "Cannot read node file %s", path);
	f->hash = sim_hash_text(text);
	f->path = strdup(path);
	if (!f->path)
		return -ENOMEM;
	r = ini_read_text(path, text, on_line, f);
	if (r < 0)
		return r;
	r = check_file(f);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(f);
	return 0;
}
