/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/sim-node.h"

#include <errno.h>

#include "base/log.h"
#include "base/text.h"

SimNode *sim_node_unref(SimNode *n)
{
	if (!n || atomic_fetch_sub(&n->n_ref, 1) != 1)
		return NULL;
	sim_memory_close(&n->memory);
	sim_file_free(n->file);
	free(n->devices);
	free(n->sensors);
	free(n);
	return NULL;
}

static void report(SimNode *n, SimDevice *s, DeviceEvent event)
{
	if (n->inventory.handler)
		n->inventory.handler(s->device, event, n->inventory.userdata);
}

/* Reports what has become of the device since the last look. It holds no lock, because the handler
 * may operate on the device. */
static void look(SimNode *n, SimDevice *s)
{
	const SimTruth *t = &s->record->truth;
	bool gone, left, reset;

	sim_device_advance_locked(s);
	gone = t->gone;
	left = t->n_departures != s->seen_departures;
	reset = t->n_resets != s->seen_resets;
	s->seen_departures = t->n_departures;
	s->seen_resets = t->n_resets;
	sim_record_unlock(s->record);

	if (s->present && (gone || left)) {
		s->present = false;
		report(n, s, DEVICE_REMOVED);
	}
	if (!s->present && !gone) {
		s->present = true;
		report(n, s, DEVICE_ADDED);
	} else if (s->present && reset) {
		report(n, s, DEVICE_RESET);
	}
}

static int node_process(Inventory *i)
{
	SimNode *n = sim_node_of(i);

	for (size_t k = 0; k < n->n_devices; k++)
		look(n, n->devices[k]);
	return 0;
}

static int node_start(Inventory *i)
{
	SimNode *n = sim_node_of(i);

	for (size_t k = 0; k < n->n_devices; k++)
		n->devices[k]->present = false;
	return node_process(i);
}

static int node_fd(Inventory *i)
{
	(void)i;
	return -1;
}

/* All that the node has is managed: what is away comes back. */
static int node_find(Inventory *i, const char *id)
{
	const SimNode *n = sim_node_of(i);

	for (size_t k = 0; k < n->n_devices; k++)
		if (streq(n->devices[k]->device->id, id))
			return -EBUSY;
	return -ENODEV;
}

static void node_free(Inventory *i)
{
	SimNode *n = sim_node_of(i);
	size_t n_devices = n->n_devices;

	n->n_devices = 0;
	for (size_t k = 0; k < n_devices; k++)
		device_unref(n->devices[k]->device);
	sim_node_unref(n);
}

static const InventoryOps node_ops = {
	.start = node_start,
	.process = node_process,
	.fd = node_fd,
	.find = node_find,
	.free = node_free,
};

int sim_node_open(const char *node_path, const char *registers_path, const ProfileStore *profiles,
		  const Clock *clock, Inventory **ret)
{
	_cleanup_(inventory_freep) Inventory *i = NULL;
	SimNode *n = calloc(1, sizeof(*n));
	int r;

	if (!n)
		return -ENOMEM;
	atomic_init(&n->n_ref, 1);
	n->inventory.ops = &node_ops;
	n->memory.fd = -EBADF;
	n->clock = clock;
	i = &n->inventory;
	r = sim_file_read(node_path, &n->file);
	if (r >= 0)
		r = sim_node_build(n, profiles, registers_path);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(i);
	return 0;
}

static void reread_one(const SimNode *n, Device *d, const ProfileStore *profiles)
{
	const Profile *was = d->profile, *now = profile_store_get(profiles, was->name);

	if (!now || now->kind != d->kind)
		log_warning("%s: there is no profile \"%s\" of its kind any more: it goes by the "
			    "one of before",
			    d->name, was->name);
	else if (now != was) {
		d->profile = now;
		n->inventory.handler(d, DEVICE_DESCRIBED, n->inventory.userdata);
	}
}

void sim_node_reread(Inventory *node, const ProfileStore *profiles)
{
	const SimNode *n = sim_node_of(node);

	for (size_t k = 0; k < n->n_devices; k++)
		reread_one(n, n->devices[k]->device, profiles);
}

size_t sim_node_size(Inventory *node)
{
	return sim_node_of(node)->n_devices;
}

const Device *sim_node_device(Inventory *node, size_t index)
{
	return sim_node_of(node)->devices[index]->device;
}

const char *sim_node_policy(Inventory *node)
{
	return sim_node_of(node)->file->policy;
}

int sim_node_inject(Inventory *node, const char *device, SimFault fault)
{
	SimDevice *s = sim_node_find(sim_node_of(node), device);

	if (!s)
		return -ENOENT;
	sim_device_advance_locked(s);
	sim_truth_fault(&s->record->truth, &s->nature, fault);
	sim_record_unlock(s->record);
	return 0;
}
