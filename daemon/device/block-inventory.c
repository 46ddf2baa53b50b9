/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "device/block.h"

#include <errno.h>
#include <libudev.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "device/block-attr.h"
#include "device/block-protect.h"

/* A device named in the configuration, there or not. */
typedef struct BlockSlot {
	char *name, *profile, *group;
	Device *device;
	bool refused; /* said once; until it goes */
} BlockSlot;

typedef struct BlockInventory {
	Inventory inventory; /* first */
	char *sysfs_root;
	const ProfileStore *profiles;
	BlockSlot *slots;
	size_t n_slots;
	struct udev *udev;
	struct udev_monitor *monitor; /* NULL below a fake root */
} BlockInventory;

static BlockInventory *block_inventory(Inventory *i)
{
	return (BlockInventory *)i;
}

/* The profile the configuration names says what the device is like, and so of which kind. */
static int give_profile(BlockInventory *b, const BlockSlot *s, Device *d)
{
	const Profile *p =
		s->profile && b->profiles ? profile_store_get(b->profiles, s->profile) : NULL;

	if (s->profile && !p)
		log_warning("%s: no profile is named %s; going by its model \"%s\"", s->name,
			    s->profile, d->model);
	if (!p)
		return device_match_profile(d, b->profiles, NULL);
	d->profile = p;
	d->kind = p->kind;
	return 0;
}

static int give_group(const BlockSlot *s, Device *d)
{
	char *group = strdup(s->group ?: "");

	if (!group)
		return -ENOMEM;
	free(d->group);
	d->group = group;
	return 0;
}

/* Two loop devices over one file, or a cloned disk: the journal must tell them apart. */
static int make_id_unique(BlockInventory *b, Device *d)
{
	for (size_t i = 0; i < b->n_slots; i++) {
		char *id;

		if (!b->slots[i].device || !streq(b->slots[i].device->id, d->id))
			continue;
		log_warning("%s and %s are both %s; telling them apart by name", d->name,
			    b->slots[i].name, d->id);
		id = text_printf("%s:%s", d->id, d->name);
		if (!id)
			return -ENOMEM;
		free(d->id);
		d->id = id;
		break;
	}
	return 0;
}

static int make_device(BlockInventory *b, const BlockSlot *s, Device **ret)
{
	_cleanup_(device_unrefp) Device *d = NULL;
	int r = block_device_new(b->sysfs_root, s->name, &d);

	if (r >= 0)
		r = make_id_unique(b, d);
	if (r >= 0)
		r = give_group(s, d);
	if (r >= 0)
		r = give_profile(b, s, d);
	if (r >= 0)
		r = block_protected(b->sysfs_root, s->name, &d->protected_why);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(d);
	return 0;
}

static int slot_add(BlockInventory *b, BlockSlot *s)
{
	const char *why = block_refused(b->sysfs_root, s->name);
	int r;

	if (why) {
		if (!s->refused)
			log_warning("%s: not managed, because %s", s->name, why);
		s->refused = true;
		return 0;
	}
	s->refused = false;
	r = make_device(b, s, &s->device);
	if (r < 0)
		return log_error_errno(r, "%s: cannot be managed", s->name);
	if (s->device->protected_why)
		log_notice("%s: %s; it is watched and never touched", s->name,
			   s->device->protected_why);
	b->inventory.handler(s->device, DEVICE_ADDED, b->inventory.userdata);
	return 0;
}

static void slot_remove(BlockInventory *b, BlockSlot *s)
{
	_cleanup_(device_unrefp) Device *d = TAKE_PTR(s->device);

	b->inventory.handler(d, DEVICE_REMOVED, b->inventory.userdata);
}

/* The id of a device that had to be told apart has its name at the end. */
static bool is_same(const Device *d, const char *id)
{
	size_t n = strlen(id);

	return strncmp(d->id, id, n) == 0 &&
	       (!d->id[n] || (d->id[n] == ':' && streq(d->id + n + 1, d->name)));
}

static int slot_look(BlockInventory *b, BlockSlot *s)
{
	_cleanup_free_ char *id = block_device_id(b->sysfs_root, s->name);

	if (s->device && (!id || !is_same(s->device, id)))
		slot_remove(b, s);
	if (!id)
		s->refused = false;
	return id && !s->device ? slot_add(b, s) : 0;
}

static int look_at_all(BlockInventory *b)
{
	int first = 0;

	for (size_t i = 0; i < b->n_slots; i++) {
		int r = slot_look(b, &b->slots[i]);

		first = first ?: r;
	}
	return first;
}

static void explain_absence(BlockInventory *b, const BlockSlot *s)
{
	_cleanup_free_ char *partition =
		text_printf("%s/class/block/%s/partition", b->sysfs_root, s->name);

	if (partition && access(partition, F_OK) == 0)
		log_warning("%s is a partition and not managed; name its disk", s->name);
	else
		log_notice("%s: not there yet; waiting for it", s->name);
}

static int block_start(Inventory *i)
{
	BlockInventory *b = block_inventory(i);
	int r = look_at_all(b);

	for (size_t n = 0; n < b->n_slots; n++)
		if (!b->slots[n].device && !b->slots[n].refused)
			explain_absence(b, &b->slots[n]);
	return r;
}

/* The monitor is only a doorbell: what is there is read from sysfs, so that lost events (ENOBUFS)
 * and events of one device that overtake each other do no harm. */
static int block_process(Inventory *i)
{
	BlockInventory *b = block_inventory(i);
	bool rung = !b->monitor;

	for (;;) {
		struct udev_device *event;

		errno = 0;
		event = b->monitor ? udev_monitor_receive_device(b->monitor) : NULL;
		rung = rung || event || errno == ENOBUFS;
		if (!event && errno != ENOBUFS)
			break;
		udev_device_unref(event);
	}
	return rung ? look_at_all(b) : 0;
}

static int block_fd(Inventory *i)
{
	BlockInventory *b = block_inventory(i);

	return b->monitor ? udev_monitor_get_fd(b->monitor) : -1;
}

static void block_inventory_free(Inventory *i)
{
	BlockInventory *b = block_inventory(i);

	for (size_t n = 0; n < b->n_slots; n++) {
		device_unref(b->slots[n].device);
		free(b->slots[n].name);
		free(b->slots[n].profile);
		free(b->slots[n].group);
	}
	free(b->slots);
	free(b->sysfs_root);
	udev_monitor_unref(b->monitor);
	udev_unref(b->udev);
	free(b);
}

static const InventoryOps block_inventory_ops = {
	.start = block_start,
	.process = block_process,
	.fd = block_fd,
	.free = block_inventory_free,
};

/* After udev's rules, which may choose the scheduler that we are to find as the original; straight
 * from the kernel where no udev runs, as its events would then never come. */
static int open_monitor(BlockInventory *b)
{
	const char *source = access("/run/udev/control", F_OK) == 0 ? "udev" : "kernel";

	b->udev = udev_new();
	if (!b->udev)
		return -ENOMEM;
	b->monitor = udev_monitor_new_from_netlink(b->udev, source);
	if (!b->monitor)
		return -errno;
	udev_monitor_filter_add_match_subsystem_devtype(b->monitor, "block", "disk");
	return udev_monitor_enable_receiving(b->monitor);
}

static int copy_config(BlockSlot *s, const BlockConfig *c)
{
	s->name = strdup(c->name);
	s->profile = c->profile ? strdup(c->profile) : NULL;
	s->group = c->group ? strdup(c->group) : NULL;
	return s->name && !s->profile == !c->profile && !s->group == !c->group ? 0 : -ENOMEM;
}

static int copy_configs(BlockInventory *b, const BlockConfig *configs, size_t n)
{
	b->slots = calloc(n + 1, sizeof(*b->slots));
	if (!b->slots)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!*configs[i].name || *configs[i].name == '.' || strchr(configs[i].name, '/')) {
			log_error("[device %s]: not a kernel name such as sda or nvme0n1; ignoring",
				  configs[i].name);
			continue;
		}
		if (copy_config(&b->slots[b->n_slots++], &configs[i]) < 0)
			return -ENOMEM;
	}
	return 0;
}

int block_inventory_open(const char *sysfs_root, const BlockConfig *configs, size_t n_configs,
			 const ProfileStore *profiles, Inventory **ret)
{
	BlockInventory *b = calloc(1, sizeof(*b));
	int r = -ENOMEM;

	if (!b)
		return -ENOMEM;
	b->inventory.ops = &block_inventory_ops;
	b->profiles = profiles;
	b->sysfs_root = strdup(sysfs_root);
	if (b->sysfs_root)
		r = copy_configs(b, configs, n_configs);
	if (r >= 0 && streq(sysfs_root, "/sys")) {
		r = open_monitor(b);
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
