/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hw/block-slot.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "hw/block-device.h"
#include "hw/block-place.h"
#include "stack/protect.h"

#define DESCRIPTOR_MARGIN 1.05 /* watts in descriptors are rounded up */

void block_tell(BlockInventory *b, Device *d, DeviceEvent event)
{
	b->inventory.handler(d, event, b->inventory.userdata);
}

/* A drive that may draw more in a state than its profile believes would break a budget. */
static void compare_with_drive(const Device *d, const Descriptor *drive)
{
	const Profile *p = d->profile;

	for (unsigned i = 0; i < MIN(p->n_states, drive->n_states); i++) {
		double says_w = drive->states[i].max_w, believed_w = p->states[i].max_w;

		if (drive->states[i].operational && p->states[i].present &&
		    says_w > believed_w * DESCRIPTOR_MARGIN)
			log_warning("%s: in power state %u it may draw %.1f W by its own word, "
				    "%.1f W by profile %s: a cap there may not hold; correct the "
				    "profile, or name another for this device",
				    d->name, i, says_w, believed_w, p->name);
	}
}

static const Profile *named_profile(const BlockInventory *b, const BlockConfig *c)
{
	const ProfileStore *store = b->options.profiles;

	return c && c->profile && store ? profile_store_get(store, c->profile) : NULL;
}

/* The profile the configuration names says what the device is like, and so of which kind. */
static int give_profile(const BlockInventory *b, const BlockConfig *c, Device *d)
{
	const ProfileStore *store = b->options.profiles;
	const char *name = c ? c->profile : NULL;
	const Profile *p = named_profile(b, c);
	Descriptor descriptor;
	int r = 0;

	if (name && !p)
		log_warning("%s: no profile is named %s; going by its model \"%s\"", d->name, name,
			    d->model);
	block_device_describe(d, &descriptor);
	if (p) {
		d->profile = p;
		d->kind = p->kind;
	} else {
		r = device_match_profile(d, store, &descriptor);
	}
	if (r >= 0)
		compare_with_drive(d, &descriptor);
	return r;
}

static int give_group(const BlockConfig *c, Device *d)
{
	char *group = strdup(c && c->group ? c->group : "");

	if (!group)
		return -ENOMEM;
	free(d->group);
	d->group = group;
	return 0;
}

/* Two loop devices over one file, or two cloned disks, have one id. The journal must tell them
 * apart. */
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

static int give_place(const BlockInventory *b, const BlockSlot *s, Device *d)
{
	_cleanup_(block_place_done) BlockPlace p = {};
	int r = block_place_find(b, s, &p);

	if (r >= 0)
		block_place_swap(&p, d);
	return r;
}

static int make_device(BlockInventory *b, const BlockSlot *s, Device **ret)
{
	const BlockDeviceOptions options = {
		.wake_tested = s->config && s->config->wake_tested,
		.wakes = b->options.wakes,
		.redirect = s->config ? s->config->redirect : NULL,
	};
	_cleanup_(device_unrefp) Device *d = NULL;
	int r = block_device_new(b->sysfs_root, s->name, &options, &d);

	if (r >= 0)
		r = make_id_unique(b, d);
	if (r >= 0)
		r = give_group(s->config, d);
	if (r >= 0)
		r = give_profile(b, s->config, d);
	if (r >= 0)
		r = give_place(b, s, d);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(d);
	return 0;
}

static int mark_departing(Device *d, const char *why)
{
	char *text = strdup(why);

	if (!text)
		return -ENOMEM;
	free(d->protected_why);
	d->protected_why = text;
	d->departing = true;
	return 0;
}

static bool is_at(const BlockInventory *b, const BlockSlot *s, const char *id)
{
	_cleanup_free_ char *own = block_hardware_id(b->sysfs_root, s->name);
	_cleanup_free_ char *told_apart = own ? text_printf("%s:%s", own, s->name) : NULL;

	return own && (streq(own, id) || (told_apart && streq(told_apart, id)));
}

int block_slot_adopt(BlockInventory *b, BlockSlot *s, const char *id)
{
	const BlockDeviceOptions options = { .wakes = b->options.wakes, .departing = true };
	_cleanup_(device_unrefp) Device *d = NULL;
	int r;

	if (s->device || !is_at(b, s, id))
		return -ENODEV;
	r = block_device_new(b->sysfs_root, s->name, &options, &d);
	if (r >= 0)
		r = give_profile(b, NULL, d);
	if (r >= 0)
		r = mark_departing(d, "is not managed any more");
	if (r < 0)
		return r == -ENODEV ? -EBUSY : r;
	free(d->id);
	d->id = strdup(id);
	s->identity = strdup(id);
	if (!d->id || !s->identity)
		return -ENOMEM;
	s->device = TAKE_PTR(d);
	block_tell(b, s->device, DEVICE_ADDED);
	return 0;
}

static int slot_add(BlockInventory *b, BlockSlot *s)
{
	const char *why = stack_why_refused(s->name);
	int r;

	if (why) {
		if (!s->refused)
			log_warning("%s: not managed, because %s", s->name, why);
		s->refused = true;
		return 0;
	}
	s->refused = false;
	r = make_device(b, s, &s->device);
	if (r == -EAGAIN || r == -ENODEV)
		return 0; /* an event will tell when it is there */
	if (r < 0)
		return log_error_errno(r, "%s: cannot be managed", s->name);
	if (s->device->protected_why)
		log_notice("%s: %s; it is watched and never touched", s->name,
			   s->device->protected_why);
	block_tell(b, s->device, DEVICE_ADDED);
	return 0;
}

static void slot_remove(BlockInventory *b, BlockSlot *s)
{
	_cleanup_(device_unrefp) Device *d = TAKE_PTR(s->device);

	block_tell(b, d, DEVICE_REMOVED);
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? streq(a, b) : a == b;
}

static void log_protection(const Device *d, const char *was)
{
	if (d->protected_why)
		log_notice("%s: %s now; it is given back and not touched again", d->name,
			   d->protected_why);
	else
		log_notice("%s: no longer %s", d->name, was);
}

/* Mounts, swap, volumes and caches come and go on a device that stays. */
int block_slot_review(BlockInventory *b, BlockSlot *s)
{
	_cleanup_(block_place_done) BlockPlace was = {};
	Device *d = s->device;
	bool more, vital;
	int r = block_place_find(b, s, &was);

	if (r < 0)
		return r;
	block_place_swap(&was, d);
	vital = !same_text(was.protected_why, d->protected_why);
	if (vital)
		log_protection(d, was.protected_why);
	more = block_device_wake_up(d);
	if (more || vital)
		block_tell(b, d, DEVICE_CHANGED);
	else if (!streq(was.pool, d->pool) || !streq(was.stack, d->stack) ||
		 !same_text(was.keep_awake_why, d->keep_awake_why))
		block_tell(b, d, DEVICE_MOVED);
	return 0;
}

/* By another kind it would be driven otherwise. */
static bool is_of_another_kind(const BlockInventory *b, const BlockSlot *s)
{
	const Device *d = s->device;
	const Profile *named = named_profile(b, s->config);
	const Profile *p = named ? named
			   : b->options.profiles
				   ? profile_store_match(b->options.profiles, d->model)
				   : NULL;

	p = p ?: d->own_profile;
	return !p || p->kind != d->kind;
}

/* The configuration or the profiles were read again, and the device stays. */
static int slot_configure(BlockInventory *b, BlockSlot *s)
{
	const BlockConfig *c = s->config;
	_cleanup_free_ char *group = strdup(s->device->group);
	_cleanup_free_ char *redirect = strdup(s->device->redirect);
	Device *d = s->device;
	const Profile *was = d->profile;
	int r = group && redirect ? give_group(c, d) : -ENOMEM, conditions;

	if (r >= 0)
		r = give_profile(b, c, d);
	if (r < 0)
		return r;
	conditions = block_device_configure(d, c && c->wake_tested, c ? c->redirect : NULL);
	if (was != d->profile)
		block_tell(b, d, DEVICE_DESCRIBED);
	if (conditions > 0)
		block_tell(b, d, DEVICE_CHANGED);
	else if (!streq(group, d->group) || !streq(redirect, d->redirect))
		block_tell(b, d, DEVICE_MOVED);
	return MIN(conditions, 0);
}

/* Does the configuration mean this slot by that name? It may be the kernel's name or the id, of the
 * device or of a namespace. */
static bool goes_by(const BlockInventory *b, const BlockSlot *s, const char *id, const char *name)
{
	_cleanup_free_ char *own = block_hardware_id(b->sysfs_root, s->name);

	if (streq(s->name, name) || streq(id, name) || (own && streq(own, name)) ||
	    nvme_subsystem_has(&s->subsystem, name))
		return true;
	for (size_t i = 0; i < s->subsystem.n_paths; i++) {
		_cleanup_free_ char *other =
			block_device_id(b->sysfs_root, s->subsystem.paths[i].head);

		if (other && streq(other, name))
			return true;
	}
	return false;
}

static const BlockConfig *config_of(BlockInventory *b, const BlockSlot *s, const char *id)
{
	const BlockConfig *first = NULL;

	for (size_t i = 0; i < b->options.n_configs; i++) {
		const BlockConfig *c = &b->configs[i];

		if (!goes_by(b, s, id, c->name))
			continue;
		if (first && !b->found[i])
			log_warning("[device %s] and [device %s] are both %s: ignoring the second",
				    first->name, c->name, s->name);
		b->found[i] = true;
		first = first ?: c;
	}
	return first;
}

static bool is_wanted(const BlockInventory *b, const BlockSlot *s)
{
	if (s->config)
		return !s->config->unmanaged;
	if (!b->options.discover)
		return false;
	return is_nvme_controller(s->name) ? !nvme_controller_is_remote(b->sysfs_root, s->name)
					   : !stack_why_ignored(b->sysfs_root, s->name);
}

static void append_word(char **text, const char *word)
{
	_cleanup_free_ char *before = *text;

	*text = before ? text_printf("%s %s", before, word) : NULL;
}

/* Returns a text that changes when another device has got the name, or when a subsystem has got
 * other controllers or namespaces. */
static char *identity_of(const BlockSlot *s, const char *id)
{
	char *text = strdup(id);

	for (char **c = s->subsystem.controllers; c && *c; c++)
		append_word(&text, *c);
	for (size_t i = 0; i < s->subsystem.n_paths; i++)
		append_word(&text, s->subsystem.paths[i].queue);
	return text;
}

/* A subsystem goes by the name of its first controller. */
static bool is_another_path(const BlockSlot *s)
{
	return s->subsystem.controllers && !streq(s->subsystem.controllers[0], s->name);
}

/* *ret is NULL when nothing is there that is to be managed. A controller that is being reset counts
 * as the same as before. */
static int identify_slot(BlockInventory *b, BlockSlot *s, char **ret)
{
	bool controller = is_nvme_controller(s->name);
	_cleanup_free_ char *id = controller ? nvme_controller_id(b->sysfs_root, s->name)
					     : block_device_id(b->sysfs_root, s->name);
	int r = 0;

	nvme_subsystem_done(&s->subsystem);
	s->config = NULL;
	*ret = NULL;
	if (!id || (controller && !s->device && !nvme_controller_live(b->sysfs_root, s->name)))
		return 0;
	if (controller)
		r = nvme_subsystem_read(b->sysfs_root, s->name, &s->subsystem);
	if (r < 0 || is_another_path(s))
		return r;
	s->config = config_of(b, s, id);
	if (!is_wanted(b, s))
		return 0;
	*ret = identity_of(s, id);
	return *ret ? 0 : -ENOMEM;
}

/* A loop device keeps what was set on it when its file is detached. */
static bool is_detached(const BlockInventory *b, const BlockSlot *s)
{
	_cleanup_free_ char *folder = text_printf("block/%s", s->name);

	return is_loop_name(s->name) && !s->identity && folder &&
	       sysfs_devnum(b->sysfs_root, folder) == s->device->devnum;
}

/* Where a controller has got another namespace, what was set on the first one's queue is there yet,
 * and only the device as it was knows where. */
static bool has_old_queue(const BlockSlot *s)
{
	const char *queue = block_device_queue(s->device);

	return s->identity && queue && nvme_subsystem_has(&s->subsystem, queue);
}

/* It is there, and the configuration leaves it alone from now on. */
static bool is_dismissed(const BlockInventory *b, const BlockSlot *s)
{
	_cleanup_free_ char *file =
		is_loop_name(s->name) ? block_device_id(b->sysfs_root, s->name) : NULL;

	return !s->identity && !is_wanted(b, s) && is_at(b, s, s->device->id) &&
	       (file || !is_loop_name(s->name));
}

static const char *why_departing(const BlockInventory *b, const BlockSlot *s)
{
	if (is_dismissed(b, s))
		return "is not managed any more";
	if (is_detached(b, s))
		return "has no backing file any more";
	return has_old_queue(s) ? "has other namespaces than before" : NULL;
}

/* True: the device stays until what was set on it is given back. */
static bool stays(BlockInventory *b, BlockSlot *s)
{
	const char *why;

	if (s->device->departing)
		return (!s->identity && is_at(b, s, s->device->id)) || has_old_queue(s);
	why = why_departing(b, s);
	if (!why || mark_departing(s->device, why) < 0)
		return false;
	log_notice("%s: it %s; what was set on it is given back", s->name,
		   s->device->protected_why);
	block_tell(b, s->device, DEVICE_CHANGED);
	return true;
}

int block_slot_look(BlockInventory *b, BlockSlot *s)
{
	_cleanup_free_ char *was = TAKE_PTR(s->identity);
	int r = identify_slot(b, s, &s->identity);

	if (r < 0)
		return r;
	if (s->device && (s->device->departing || !same_text(was, s->identity))) {
		if (stays(b, s)) {
			free(s->identity);
			s->identity = TAKE_PTR(was);
			return 0;
		}
		slot_remove(b, s);
	}
	if (b->configured && s->device && is_of_another_kind(b, s))
		slot_remove(b, s);
	if (!s->identity) {
		s->refused = false;
		return 0;
	}
	if (!s->device)
		return slot_add(b, s);
	r = b->configured ? slot_configure(b, s) : 0;
	return r < 0 ? r : block_slot_review(b, s);
}

void block_slot_done(BlockSlot *s)
{
	device_unref(s->device);
	nvme_subsystem_done(&s->subsystem);
	free(s->identity);
	free(s->name);
}
