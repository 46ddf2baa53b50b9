/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "sim/sim-feed.h"
#include "sim/sim-node.h"
#include "sim/sim-random.h"
#include "sim/sim-sensor.h"

/* The seed decides these properties of a device. */
enum { DRAW_WATTS = 1, DRAW_SPEED, DRAW_CEILING };

/* Devices keep themselves up to this far below their ceilings. */
#define CEILING_SLACK 0.02

static void device_free(Device *d)
{
	SimDevice *s = d->impl;

	sim_node_unref(s->node);
	free(s->disks);
	free(s);
}

static double drawn_error(const SimNature *n, uint64_t purpose, double largest)
{
	return largest * (2 * sim_uniform(n->seed, purpose) - 1);
}

static void join_burst(SimNature *n, const SimFile *f, const char *name)
{
	const SimBurst *b = &f->burst;
	SimRegisters as_found;

	if (!b->every_us || (b->devices && fnmatch(b->devices, name, 0) != 0))
		return;
	sim_registers_init(&as_found, n->profile->kind);
	n->burst = (SimBurstOf){ .plan = b,
				 .seed = sim_hash(f->seed, sim_hash_text("burst")),
				 .mb_s = b->demand * sim_nature_capacity(n, &as_found) };
}

static void make_nature(SimDevice *s, const SimFile *f, const SimGroup *g, const Profile *p,
			const char *name)
{
	SimNature *n = &s->nature;

	n->profile = p;
	n->workload = sim_file_workload(f, g);
	n->seed = n->load_seed = sim_hash(f->seed, sim_hash_text(name));
	n->family = sim_file_family(f, g);
	n->family.seed = sim_hash(f->seed, sim_hash_text(p->name));
	n->watts_factor = 1 + drawn_error(n, DRAW_WATTS, f->errors.model);
	n->speed_factor = 1 + drawn_error(n, DRAW_SPEED, f->errors.model);
	n->ceiling_factor = 1 - CEILING_SLACK * sim_uniform(n->seed, DRAW_CEILING);
	n->within_rated = f->errors.model <= p->error;
	n->io_longer_us = (double)g->io_longer_us;
	n->io_serial_us = (double)g->io_serial_us;
	n->queues = p->kind == KIND_NVME ? g->queues : 1;
	n->cache_bytes = g->cache ? (double)g->cache_bytes : 0;
	n->cached_reads = g->cached_reads;
	for (size_t i = 0; i < f->n_faults; i++)
		if (streq(f->faults[i].device, name))
			n->faults.plan[n->faults.n++] = &f->faults[i];
	join_burst(n, f, name);
	s->noise = f->sensing.noise;
	s->power_limit = g->power_limit;
}

/* A model string that the profile's first glob matches. */
static char *model_string(const Profile *p)
{
	char *s = strdup(p->models && p->models[0] ? p->models[0] : p->name);
	char *to = s;

	for (const char *from = s; from && *from; from++)
		if (!strchr("*?[]", *from))
			*to++ = *from;
	if (to)
		*to = '\0';
	return s;
}

/* Puts member `index` of the section into its pool. An IO to a pool is an IO to all of it, so the
 * members share their chance. */
static int join_pool(const SimNode *n, const SimGroup *g, unsigned index, SimDevice *s)
{
	char *pool;

	if (!g->pool)
		return 0;
	pool = g->pools ? text_printf("%s%u", g->pool,
				      (unsigned)((uint64_t)index * g->pools / g->count))
			: strdup(g->pool);
	if (!pool)
		return -ENOMEM;
	free(s->device->pool);
	s->device->pool = pool;
	s->nature.load_seed = sim_hash(n->file->seed, sim_hash_text(pool));
	return 0;
}

static int new_device(SimNode *n, const SimGroup *g, const Profile *p, const char *name,
		      SimDevice **ret)
{
	_cleanup_free_ char *id = text_printf("sim:%s:%s", n->file->name, name);
	_cleanup_free_ char *model = model_string(p), *group = strdup(g->group ?: "");
	_cleanup_free_ char *hba = strdup(g->hba ?: "");
	_cleanup_free_ SimDevice *s = calloc(1, sizeof(*s));

	if (!id || !model || !group || !hba || !s)
		return -ENOMEM;
	make_nature(s, n->file, g, p, name);
	sim_device_init_ops(s, n->file->sensing.kinds >> p->kind & 1);
	s->ops.free = device_free;
	s->clock = n->clock;
	s->device = device_new(id, name, model, p->kind, &s->ops, s);
	if (!s->device)
		return -ENOMEM;
	s->node = n;
	atomic_fetch_add(&n->n_ref, 1);
	free(s->device->group);
	s->device->group = TAKE_PTR(group);
	free(s->device->hba);
	s->device->hba = TAKE_PTR(hba);
	s->device->profile = p;
	s->device->power_states = sim_device_power_states(p);
	s->device->conditions = sim_device_conditions(p);
	s->device->link_sleeps = p->link_saving_w > 0;
	*ret = TAKE_PTR(s);
	return 0;
}

SimDevice *sim_node_find(const SimNode *n, const char *name)
{
	for (size_t i = 0; i < n->n_devices; i++)
		if (streq(n->devices[i]->device->name, name))
			return n->devices[i];
	return NULL;
}

/* Numbered over all groups of a prefix. */
static int next_name(const SimNode *n, const char *prefix, char **ret)
{
	_cleanup_free_ char *name = NULL;
	unsigned index = 0;

	for (size_t i = 0; i < n->n_devices; i++)
		index += streq(n->devices[i]->prefix, prefix);
	name = sim_device_name(prefix, index);
	if (!name)
		return -ENOMEM;
	if (strlen(name) >= sizeof(n->memory.records->name) || sim_node_find(n, name))
		return -EEXIST;
	*ret = TAKE_PTR(name);
	return 0;
}

static int add_device(SimNode *n, const SimGroup *g, const Profile *p, unsigned index)
{
	const char *prefix = g->prefix ?: p->kind == KIND_NVME ? "nvme" : "sd";
	_cleanup_free_ char *name = NULL;
	SimDevice *s, **slot;
	int r = next_name(n, prefix, &name);

	if (r >= 0)
		r = new_device(n, g, p, name, &s);
	if (r < 0)
		return r;
	s->prefix = prefix;
	s->group = g;
	r = join_pool(n, g, index, s);
	slot = r < 0 ? NULL : ARRAY_GROW(n->devices, n->n_devices);
	if (!slot) {
		device_unref(s->device);
		return -ENOMEM;
	}
	*slot = s;
	return 0;
}

static int add_group(SimNode *n, const SimGroup *g, const ProfileStore *profiles)
{
	const Profile *p = profile_store_get(profiles, g->profile);
	IniLine l = { .path = n->file->path, .line = g->line };

	if (!p)
		return ini_complain(&l,
				    "[devices %s]: no profile \"%s\" in policies/profiles or "
				    "/etc/storpower/profiles",
				    g->name, g->profile);
	for (unsigned i = 0; i < g->count; i++) {
		int r = add_device(n, g, p, i);

		if (r == -EEXIST)
			return ini_complain(&l,
					    "[devices %s]: names of prefix \"%s\" are taken or too "
					    "long",
					    g->name, g->prefix);
		if (r < 0)
			return r;
	}
	return 0;
}

static SimDevice *nth_of(const SimNode *n, const SimGroup *g, size_t index)
{
	for (size_t i = 0; i < n->n_devices; i++)
		if (n->devices[i]->group == g && index-- == 0)
			return n->devices[i];
	return NULL;
}

static int keep_awake(SimDevice *cache)
{
	char *why = text_printf("it is the cache of %s and %zu more", cache->disks[0]->device->name,
				cache->n_disks - 1);

	if (!why)
		return -ENOMEM;
	free(cache->device->keep_awake_why);
	cache->device->keep_awake_why = why;
	return 0;
}

/* Of each disk with a cache something goes by its name: all that lies on it. */
static int name_tier(SimDevice *cache, const SimDevice *disk)
{
	const char *name = disk->device->name;
	int r = text_add_words(&disk->device->behind, name);

	return r < 0 ? r : text_add_words(&cache->device->cached_by_it, name);
}

/* The disks of all sections go round the devices of the section that caches them. */
static int add_caches(SimNode *n)
{
	int r = 0;

	for (size_t g = 0; g < n->file->n_groups; g++) {
		const SimGroup *of = &n->file->groups[g];
		size_t next = 0;

		for (size_t i = 0; i < n->n_devices && r >= 0; i++) {
			const SimGroup *own = n->devices[i]->group;
			SimDevice *cache;

			if (!own->cache || !streq(own->cache, of->name))
				continue;
			cache = nth_of(n, of, next++ % of->count);
			r = sim_feed_add(cache, n->devices[i]);
			if (r == -E2BIG)
				return ini_complain(
					&(IniLine){ .path = n->file->path, .line = own->line },
					"[devices %s]: a device is the cache of "
					"%d others at most",
					own->name, SIM_FEEDS_MAX);
			if (r >= 0)
				r = name_tier(cache, n->devices[i]);
			if (r >= 0)
				r = keep_awake(cache);
		}
	}
	return r;
}

static int check_faults(const SimNode *n)
{
	for (size_t i = 0; i < n->file->n_faults; i++) {
		const SimFaultPlan *f = &n->file->faults[i];
		IniLine l = { .path = n->file->path, .line = f->line };

		if (!sim_node_find(n, f->device))
			return ini_complain(&l, "[fault]: the node has no device \"%s\"",
					    f->device);
	}
	return 0;
}

/* The time of an earlier run may lie ahead of this one's, because its clock was virtual or the
 * machine was booted since. Then the hardware has had all the time it needed. */
static void take_over(SimDevice *s, uint64_t now_us)
{
	SimTruth *t = &s->record->truth;

	if (!sim_truth_valid(t)) {
		log_warning("%s: its registers file holds rubbish: switching it on anew",
			    s->device->name);
		sim_truth_init(t, &s->nature, now_us);
	}
	memset(s->record->feeds, 0, sizeof(s->record->feeds));
	if (t->t_us <= now_us)
		return;
	sim_truth_settle(t, &s->nature);
	t->t_us = now_us;
	if (s->nature.epoch_us == now_us)
		t->faults_begun = t->faults_ended = 0;
	s->record->history.n = 0;
}

static void attach(SimNode *n, SimDevice *s, SimRecord *record, uint64_t now_us)
{
	s->record = record;
	s->nature.epoch_us = n->memory.header->epoch_us;
	if (n->memory.fresh) {
		snprintf(record->name, sizeof(record->name), "%s", s->device->name);
		sim_truth_init(&record->truth, &s->nature, now_us);
	} else if (n->memory.alone) {
		take_over(s, now_us);
	}
}

/* Begins when all devices have their records, because a cache looks at its disks. */
static void begin(SimDevice *s)
{
	sim_device_advance_locked(s);
	s->joules_at_open = s->record->truth.joules;
	s->seen_resets = s->record->truth.n_resets;
	s->seen_departures = s->record->truth.n_departures;
	sim_record_unlock(s->record);
}

int sim_node_build(SimNode *n, const ProfileStore *profiles, const char *registers_path)
{
	uint64_t now_us = clock_now_us(n->clock);
	int r = 0;

	for (size_t i = 0; i < n->file->n_groups && r >= 0; i++)
		r = add_group(n, &n->file->groups[i], profiles);
	if (r >= 0)
		r = add_caches(n);
	if (r >= 0)
		r = check_faults(n);
	if (r >= 0)
		r = sim_sensors_build(n);
	if (r >= 0)
		r = sim_memory_open(registers_path, n->file->hash, n->n_devices, &n->memory);
	if (r < 0)
		return r;
	if (n->memory.fresh || (n->memory.alone && n->memory.header->epoch_us > now_us))
		n->memory.header->epoch_us = now_us;
	n->memory.header->hash = n->file->hash;
	for (size_t i = 0; i < n->n_devices; i++)
		attach(n, n->devices[i], &n->memory.records[i], now_us);
	for (size_t i = 0; i < n->n_devices; i++)
		begin(n->devices[i]);
	sim_node_watch(n);
	return sim_memory_ready(&n->memory);
}
