/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hw/block.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "hw/block-slot.h"

static BlockInventory *block_inventory(Inventory *i)
{
	return (BlockInventory *)i;
}

static bool has_slot(const BlockInventory *b, const char *name)
{
	for (size_t i = 0; i < b->n_slots; i++)
		if (streq(b->slots[i].name, name))
			return true;
	return false;
}

static int compare_slots(const void *a, const void *b)
{
	return strverscmp(((const BlockSlot *)a)->name, ((const BlockSlot *)b)->name);
}

/* A slot for everything in a class of sysfs that has none yet. */
static int add_slots(BlockInventory *b, const char *class)
{
	_cleanup_free_ char *path = text_printf("%s/%s", b->sysfs_root, class);
	_cleanup_closedir_ DIR *dir = path ? opendir(path) : NULL;
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		BlockSlot *s;

		/* the namespaces are their subsystem's */
		if (*e->d_name == '.' || is_nvme_namespace(e->d_name) || has_slot(b, e->d_name))
			continue;
		s = ARRAY_GROW(b->slots, b->n_slots);
		if (!s)
			return -ENOMEM;
		s->name = strdup(e->d_name);
		if (!s->name) {
			b->n_slots--;
			return -ENOMEM;
		}
	}
	return 0;
}

static void drop_empty_slots(BlockInventory *b)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->n_slots; i++) {
		if (b->slots[i].identity)
			b->slots[kept++] = b->slots[i];
		else
			block_slot_done(&b->slots[i]);
	}
	b->n_slots = kept;
}

static int each_slot(BlockInventory *b, int (*f)(BlockInventory *b, BlockSlot *s))
{
	int first = topology_read(b->sysfs_root, &b->topology);

	for (size_t i = 0; first >= 0 && i < b->n_slots; i++) {
		int r = f(b, &b->slots[i]);

		first = first ?: r;
	}
	b->topology = topology_free(b->topology);
	return first;
}

static int add_all_slots(BlockInventory *b)
{
	int r = add_slots(b, "class/nvme");

	return r < 0 ? r : add_slots(b, "block");
}

static int look_at_all(BlockInventory *b)
{
	int r = add_all_slots(b);

	if (r < 0)
		return r;
	if (b->n_slots)
		qsort(b->slots, b->n_slots, sizeof(*b->slots), compare_slots);
	r = each_slot(b, block_slot_look);
	drop_empty_slots(b);
	return r;
}

static int review_if_there(BlockInventory *b, BlockSlot *s)
{
	return s->device && !s->device->departing ? block_slot_review(b, s) : 0;
}

static void explain_absence(const BlockInventory *b, const char *name)
{
	_cleanup_free_ char *partition =
		text_printf("%s/class/block/%s/partition", b->sysfs_root, name);

	if (partition && access(partition, F_OK) == 0)
		log_warning("%s is a partition and not managed; name its disk", name);
	else
		log_notice("%s: not there yet; waiting for it", name);
}

static void explain_all_absences(const BlockInventory *b)
{
	for (size_t n = 0; n < b->options.n_configs; n++)
		if (!b->found[n] && !b->configs[n].unmanaged)
			explain_absence(b, b->configs[n].name);
}

static int block_start(Inventory *i)
{
	BlockInventory *b = block_inventory(i);
	int r = look_at_all(b);

	explain_all_absences(b);
	for (size_t n = 0; n < b->n_slots; n++)
		if (b->slots[n].device)
			return r;
	log_notice("There is no storage to manage here: %s; waiting for some to be plugged in. See "
		   "storpower.conf(5) for how to name other block devices or simulate a node",
		   b->options.discover ? "no NVMe controller, SATA or SAS disk"
				       : "discover=no, and none of the devices named is there");
	return r;
}

static bool was_reset(const BlockSlot *s, char *const *reset)
{
	for (; reset && *reset; reset++)
		if (streq(s->name, *reset) || nvme_subsystem_has(&s->subsystem, *reset))
			return true;
	return false;
}

/* Marks the slots that were reset. Only controllers known before count, because the first
 * connection of a new one is no reset. */
static void mark_resets(BlockInventory *b, const BlockNews *news)
{
	for (size_t i = 0; i < b->n_slots; i++) {
		BlockSlot *s = &b->slots[i];
		bool lost = news->missed && is_nvme_controller(s->name);

		s->reset = s->device && (news->resumed || lost || was_reset(s, news->reset));
	}
}

static void tell_resets(BlockInventory *b)
{
	for (size_t i = 0; i < b->n_slots; i++) {
		BlockSlot *s = &b->slots[i];

		if (s->reset && s->device)
			block_tell(b, s->device, DEVICE_RESET);
		s->reset = false;
	}
}

/* The monitor only says that something happened. What is there is read from sysfs, so that lost
 * events and events that overtake each other do no harm. */
static int block_process(Inventory *i)
{
	BlockInventory *b = block_inventory(i);
	BlockNews news;
	int r;

	if (!b->monitor)
		return look_at_all(b);
	block_monitor_read(b->monitor, &news);
	mark_resets(b, &news);
	tell_resets(b); /* these come first: looking around takes its time, and they have lost their
			   caps */
	r = news.devices || news.resumed ? look_at_all(b) : each_slot(b, review_if_there);
	strv_free(news.reset);
	return r;
}

static int block_find(Inventory *i, const char *id)
{
	BlockInventory *b = block_inventory(i);
	int r = add_all_slots(b), found = -ENODEV;

	for (size_t n = 0; n < b->n_slots && r >= 0 && found == -ENODEV; n++)
		found = b->slots[n].device && streq(b->slots[n].device->id, id)
				? 0
				: block_slot_adopt(b, &b->slots[n], id);
	drop_empty_slots(b);
	return r < 0 ? r : found;
}

static int block_departed(Inventory *i, const Device *d)
{
	BlockInventory *b = block_inventory(i);

	for (size_t n = 0; n < b->n_slots; n++) {
		BlockSlot *s = &b->slots[n];

		if (s->device != d)
			continue;
		s->device = device_unref(s->device);
		free(s->identity);
		s->identity = NULL;
		return look_at_all(b);
	}
	return 0; /* it went, and its slot with it */
}

static int block_fd(Inventory *i)
{
	BlockInventory *b = block_inventory(i);

	return b->monitor ? block_monitor_fd(b->monitor) : -1;
}

static void drop_options(BlockInventory *b)
{
	for (size_t n = 0; n < b->options.n_configs; n++) {
		free(b->configs[n].name);
		free(b->configs[n].profile);
		free(b->configs[n].group);
		free(b->configs[n].pool);
		free(b->configs[n].redirect);
	}
	free(b->configs);
	free(b->found);
}

static void block_inventory_free(Inventory *i)
{
	BlockInventory *b = block_inventory(i);

	for (size_t n = 0; n < b->n_slots; n++)
		block_slot_done(&b->slots[n]);
	drop_options(b);
	free(b->slots);
	free(b->sysfs_root);
	block_monitor_close(b->monitor);
	free(b);
}

static const InventoryOps block_inventory_ops = {
	.start = block_start,
	.process = block_process,
	.fd = block_fd,
	.find = block_find,
	.departed = block_departed,
	.free = block_inventory_free,
};

static int copy_config(BlockConfig *to, const BlockConfig *c)
{
	to->name = strdup(c->name);
	to->profile = c->profile ? strdup(c->profile) : NULL;
	to->group = c->group ? strdup(c->group) : NULL;
	to->pool = c->pool ? strdup(c->pool) : NULL;
	to->redirect = c->redirect ? strdup(c->redirect) : NULL;
	to->unmanaged = c->unmanaged;
	to->wake_tested = c->wake_tested;
	to->keep_awake = c->keep_awake;
	return to->name && !to->profile == !c->profile && !to->group == !c->group &&
			       !to->pool == !c->pool && !to->redirect == !c->redirect
		       ? 0
		       : -ENOMEM;
}

static int copy_options(BlockInventory *b, const BlockOptions *o)
{
	int r = 0;

	b->options = *o;
	b->options.n_configs = 0;
	b->configs = calloc(o->n_configs + 1, sizeof(*b->configs));
	b->found = calloc(o->n_configs + 1, sizeof(*b->found));
	if (!b->configs || !b->found)
		return -ENOMEM;
	for (size_t i = 0; i < o->n_configs && r >= 0; i++) {
		const BlockConfig *c = &o->configs[i];

		if (!*c->name || *c->name == '.' || strchr(c->name, '/'))
			log_error("[device %s]: neither a kernel name such as sda or nvme0 nor an "
				  "id; ignoring",
				  c->name);
		else
			r = copy_config(&b->configs[b->options.n_configs++], c);
	}
	return r;
}

int block_inventory_open(const char *sysfs_root, const BlockOptions *options, Inventory **ret)
{
	BlockInventory *b = calloc(1, sizeof(*b));
	int r = -ENOMEM;

	if (!b)
		return -ENOMEM;
	b->inventory.ops = &block_inventory_ops;
	b->sysfs_root = strdup(sysfs_root);
	if (b->sysfs_root)
		r = copy_options(b, options);
	if (r >= 0 && streq(sysfs_root, "/sys")) {
		r = block_monitor_open(&b->monitor);
		if (r < 0)
			log_error_errno(r, "Cannot listen for devices that come and go");
	}
	if (r < 0) {
		block_inventory_free(&b->inventory);
		return r;
	}
	*ret = &b->inventory;
	return 0;
}

int block_inventory_configure(Inventory *i, const BlockOptions *options)
{
	BlockInventory *b = block_inventory(i), now = {};
	int r = copy_options(&now, options);

	if (r < 0) {
		drop_options(&now);
		return r;
	}
	drop_options(b);
	b->options = now.options;
	b->configs = now.configs;
	b->found = now.found;
	for (size_t n = 0; n < b->n_slots; n++)
		b->slots[n].config = NULL; /* until the look finds it */
	b->configured = true;
	r = look_at_all(b);
	b->configured = false;
	explain_all_absences(b);
	return r;
}
