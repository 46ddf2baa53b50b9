/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hw/block-device.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/text.h"
#include "hw/ata-identity.h"
#include "hw/block-host.h"
#include "hw/block-nvme.h"
#include "hw/block-real.h"

/* NULL on a host of cgroup v1. */
static char *cgroup_folder(const char *sysfs_root)
{
	_cleanup_free_ char *below = text_printf("%s/cgroup", sysfs_root);
	char *found;

	if (!streq(sysfs_root, "/sys"))
		return TAKE_PTR(below);
	return cgroup_find_root("/proc/self/mountinfo", &found) < 0 ? NULL : found;
}

static RealDevice *real_free(RealDevice *i)
{
	if (!i)
		return NULL;
	nvme_device_free(i->nvme);
	disk_condition_close(i->condition);
	strv_free(i->stats);
	free(i->sysfs_root);
	free(i->folder);
	free(i->block);
	free(i->host);
	free(i->cgroup_root);
	free(i);
	return NULL;
}
DEFINE_CLEANUP(RealDevice *, real_free);

void real_device_free(Device *d)
{
	real_free(d->impl);
}

/* n is the number of its block devices. */
static RealDevice *real_new(const char *sysfs_root, const char *folder, size_t n)
{
	_cleanup_(real_freep) RealDevice *i = calloc(1, sizeof(*i));
	struct stat st;

	if (!i || !folder)
		return NULL;
	i->folder = text_printf("%s/%s", sysfs_root, folder);
	i->cgroup_root = cgroup_folder(sysfs_root);
	i->sysfs_root = strdup(sysfs_root);
	i->stats = calloc(n + 1, sizeof(*i->stats));
	if (!i->sysfs_root || !i->folder || !i->stats)
		return NULL;
	if (stat(i->folder, &st) == 0)
		i->inode = st.st_ino;
	return TAKE_PTR(i);
}

static DeviceKind kind_of_disk(const char *sysfs_root, const char *name)
{
	char rotational[16];

	block_attribute(sysfs_root, name, "queue/rotational", rotational, sizeof(rotational));
	return streq(rotational, "1") ? KIND_HDD : KIND_SATA_SSD;
}

static bool is_scsi(const char *sysfs_root, const char *name)
{
	char type[16];

	return *block_attribute(sysfs_root, name, "device/type", type, sizeof(type));
}

static int set_text(char **to, char *text)
{
	if (!text)
		return -ENOMEM;
	free(*to);
	*to = text;
	return 0;
}

/* A wake test that failed counts more than what the configuration says. */
void real_device_trust(Device *d)
{
	RealDevice *i = d->impl;
	WakeTested known = i->wakes ? wake_record_get(i->wakes, d->hba) : WAKE_UNTESTED;
	bool needs_test, trusted;

	if (!i->condition)
		return;
	needs_test = disk_condition_needs_wake_test(i->condition);
	trusted = known != WAKE_FAILED && (!needs_test || i->wake_tested || known == WAKE_TESTED);
	d->conditions = disk_condition_trust(i->condition, trusted);
	d->wake_untested = !disk_condition_is_trusted(i->condition);
}

static bool open_condition(Device *d)
{
	RealDevice *i = d->impl;
	_cleanup_free_ char *folder = text_printf("%s/device", i->block);
	unsigned conditions;
	int r = folder ? disk_condition_open(d->node, folder, false, &i->condition, &conditions)
		       : -ENOMEM;

	i->condition_due = r == -EAGAIN; /* asleep: any command would wake it */
	if (r >= 0)
		real_device_trust(d);
	else
		log_info("%s: no power conditions: %s", d->name,
			 i->condition_due ? "it is asleep and not woken for it" : strerror(-r));
	return r >= 0;
}

bool block_device_wake_up(Device *d)
{
	RealDevice *i = d->impl;

	return i->condition_due && open_condition(d);
}

int block_device_configure(Device *d, bool wake_tested, const char *redirect)
{
	RealDevice *i = d->impl;
	unsigned before = d->conditions;
	int r = set_text(&d->redirect, strdup(redirect ?: ""));

	if (r < 0)
		return r;
	i->wake_tested = wake_tested;
	real_device_trust(d);
	return d->conditions != before;
}

const char *block_device_queue(const Device *d)
{
	const RealDevice *i = d->impl;

	return i->block ? base_name(i->block) : NULL;
}

char *block_hardware_id(const char *sysfs_root, const char *name)
{
	if (is_nvme_controller(name))
		return nvme_controller_id(sysfs_root, name);
	return is_loop_name(name) ? text_printf("name:%s", name)
				  : block_device_id(sysfs_root, name);
}

static bool is_loop_without_file(const char *sysfs_root, const char *name)
{
	_cleanup_free_ char *id = NULL;

	if (!is_loop_name(name))
		return false;
	id = block_device_id(sysfs_root, name);
	return !id;
}

/* INQUIRY has room for the first 16 characters of a SATA disk's model. */
static void name_model(const char *sysfs_root, const char *name, const AtaIdentity *ata,
		       char ret[static BLOCK_ATTR_MAX])
{
	if (*ata->model)
		snprintf(ret, BLOCK_ATTR_MAX, "%s", ata->model);
	else if (!*block_attribute(sysfs_root, name, "device/model", ret, BLOCK_ATTR_MAX))
		snprintf(ret, BLOCK_ATTR_MAX, "%s", is_loop_name(name) ? "loop" : name);
}

static int new_disk(const char *sysfs_root, const char *name, const BlockDeviceOptions *options,
		    Device **ret)
{
	_cleanup_free_ char *id = block_hardware_id(sysfs_root, name);
	_cleanup_free_ char *folder = text_printf("block/%s", name);
	_cleanup_(real_freep) RealDevice *i = real_new(sysfs_root, folder, 1);
	_cleanup_(device_unrefp) Device *d = NULL;
	char model[BLOCK_ATTR_MAX];
	AtaIdentity ata = {};

	if (!id || (!options->departing && is_loop_without_file(sysfs_root, name)))
		return -ENODEV;
	if (!i)
		return -ENOMEM;
	i->wake_tested = options->wake_tested;
	i->wakes = options->wakes;
	i->block = strdup(i->folder);
	i->host = block_scsi_host(sysfs_root, name);
	i->stats[0] = text_printf("%s/stat", i->folder);
	if (!i->block || !i->stats[0])
		return -ENOMEM;
	ata_identity_read(sysfs_root, name, &ata); /* of no SATA disk: nothing */
	name_model(sysfs_root, name, &ata, model);
	d = device_new(id, name, model, kind_of_disk(sysfs_root, name),
		       is_scsi(sysfs_root, name) ? &disk_ops : &block_ops, i);
	if (!d)
		return -ENOMEM;
	i = NULL; /* the device's own now */
	d->link_sleeps = ata.link_sleeps;
	d->devnum = sysfs_devnum(sysfs_root, folder);
	if (!d->devnum) /* it went while it was looked at, or is hidden */
		return -ENODEV;
	if (set_text(&d->node, text_printf("/dev/%s", name)) < 0 ||
	    set_text(&d->hba, block_hba(sysfs_root, name)) < 0 ||
	    set_text(&d->redirect, strdup(options->redirect ?: "")) < 0)
		return -ENOMEM;
	for (char *c = d->node + strlen("/dev/"); *c; c++)
		*c = *c == '!' ? '/' : *c; /* as the kernel names cciss!c0d0 in sysfs */
	if (streq(sysfs_root, "/sys") && d->ops == &disk_ops)
		open_condition(d);
	*ret = TAKE_PTR(d);
	return 0;
}

static char *why_not_shaped(const Device *d, const NvmeSubsystem *s)
{
	if (!s->n_heads)
		return text_printf("%s has no namespace", d->name);
	if (s->n_heads > 1)
		return text_printf("%s has %zu namespaces, and IO can be shaped only where there "
				   "is one",
				   d->name, s->n_heads);
	return text_printf("%zu controllers lead to %s, each with queues of its own: only power "
			   "states and io.max hold for all of them",
			   s->n_paths, s->paths[0].head);
}

/* The block layer's part of a subsystem is that of its one namespace. */
static int take_namespaces(Device *d, const NvmeSubsystem *s)
{
	RealDevice *i = d->impl;
	const NvmePath *first = s->paths;

	for (size_t n = 0; n < s->n_paths; n++) {
		i->stats[n] = text_printf("%s/block/%s/stat", i->sysfs_root, s->paths[n].queue);
		if (!i->stats[n])
			return -ENOMEM;
	}
	if (s->n_heads == 1) {
		_cleanup_free_ char *folder = text_printf("block/%s", first->head);

		d->devnum = folder ? sysfs_devnum(i->sysfs_root, folder) : 0;
		d->above_queue = !streq(first->head, first->queue);
	}
	if (s->n_paths == 1)
		i->block = text_printf("%s/block/%s", i->sysfs_root, first->queue);
	else
		d->block_why_not = why_not_shaped(d, s);
	return i->block || d->block_why_not ? 0 : -ENOMEM;
}

/* An attribute of one controller tells nothing of another that leads to the same drive. */
static int take_controller(Device *d, const NvmeSubsystem *s)
{
	RealDevice *i = d->impl;

	if (strv_length(s->controllers) == 1)
		i->host = strdup(i->folder);
	return i->host || strv_length(s->controllers) > 1 ? 0 : -ENOMEM;
}

/* Where the controller does not answer, the block layer's part still works. */
static int attach_nvme(Device *d, char *const *controllers)
{
	RealDevice *i = d->impl;
	int r = nvme_device_open(controllers, &i->nvme);

	if (r == -ENODEV || r == -EAGAIN || r == -ENOMEM)
		return r;
	if (r < 0)
		log_warning_errno(r,
				  "%s: the controller does not answer; its power states cannot "
				  "be used",
				  d->node);
	else
		d->power_states = nvme_device_power_states(i->nvme);
	return 0;
}

static int new_controller(const char *sysfs_root, const char *name, Device **ret)
{
	_cleanup_free_ char *id = nvme_controller_id(sysfs_root, name);
	_cleanup_free_ char *folder = text_printf("class/nvme/%s", name);
	_cleanup_(nvme_subsystem_done) NvmeSubsystem subsystem = {};
	_cleanup_(real_freep) RealDevice *i = NULL;
	_cleanup_(device_unrefp) Device *d = NULL;
	char model[BLOCK_ATTR_MAX];
	int r;

	if (!id)
		return -ENODEV;
	r = nvme_subsystem_read(sysfs_root, name, &subsystem);
	if (r < 0)
		return r;
	i = real_new(sysfs_root, folder, subsystem.n_paths);
	if (!i)
		return -ENOMEM;
	if (!*sysfs_attribute(sysfs_root, folder, "model", model, sizeof(model)))
		snprintf(model, sizeof(model), "%s", name);
	d = device_new(id, name, model, KIND_NVME, &nvme_ops, i);
	if (!d)
		return -ENOMEM;
	i = NULL; /* the device's own now */
	r = take_controller(d, &subsystem);
	if (r >= 0)
		r = take_namespaces(d, &subsystem);
	if (r >= 0)
		r = set_text(&d->node, text_printf("/dev/%s", name));
	if (r >= 0 && streq(sysfs_root, "/sys"))
		r = attach_nvme(d, subsystem.controllers);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(d);
	return 0;
}

int block_device_new(const char *sysfs_root, const char *name, const BlockDeviceOptions *options,
		     Device **ret)
{
	static const BlockDeviceOptions none = {};

	return is_nvme_controller(name) ? new_controller(sysfs_root, name, ret)
					: new_disk(sysfs_root, name, options ?: &none, ret);
}

void block_device_describe(const Device *d, Descriptor *ret)
{
	const RealDevice *i = d->impl;

	*ret = (Descriptor){ .kind = d->kind, .model = d->model };
	if (i->nvme)
		nvme_device_describe(i->nvme, ret);
}
