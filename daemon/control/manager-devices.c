/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "control/manager-internal.h"

/* A disk that sleeps is let sleep: an IO wakes it, and to wake it for nothing costs a cycle and a
 * spin-up. */
static void take_over_sleep(ManagedDevice *md)
{
	Condition c;

	if (md->device->ops->condition_get && md->device->ops->condition_get(md->device, &c) >= 0 &&
	    c > CONDITION_IDLE_B)
		md->actual.condition = c;
}

/* What an earlier run found is the original, whatever stands there now. The knob is only given
 * back: what its probe makes of a capped value may be wrong, and is asked again then. */
static bool take_over(Journal *journal, ManagedDevice *md, ManagedKnob *mk)
{
	const KnobValue *was = journal_original(journal, md->device->id, mk->knob->name);

	if (was && mk->knob->mechanism == MECHANISM_CONDITION && managed_asleep(md)) {
		journal_forget(journal, md->device->id, mk->knob->name);
		return false;
	}
	if (!was)
		return false;
	if (mk->knob->read(md->device, &mk->current) < 0)
		mk->current = (KnobValue){};
	mk->original = *was;
	mk->touched = mk->recorded = mk->offered = md->leftover = true;
	log_notice("%s: %s was left at %s by an earlier run; originally %s", md->device->name,
		   mk->knob->name, mk->current.text, was->text);
	return true;
}

/* Where there is no one block device, that says more than what is missing of it. */
static void explain_block(const Device *d, ManagedKnob *mk)
{
	const unsigned block = MECHANISM_DEPTH | MECHANISM_CHUNK | MECHANISM_PACING;
	char *why =
		d->block_why_not && (mk->knob->mechanism & block) ? strdup(d->block_why_not) : NULL;

	if (!why)
		return;
	free(mk->why_not);
	mk->why_not = why;
}

/* Reads are steered to disks that stay up, and those of its pool do not. */
static int refuse_steering(ManagedDevice *md, const ManagedKnob *mk, char **ret_why_not)
{
	if (mk->knob->mechanism != MECHANISM_REDIRECT || !*md->device->pool ||
	    md->offer.redirects_writes || !md->offer.redirects_reads)
		return 0;
	md->offer.redirects_reads = false;
	md->offer.mechanisms &= ~(unsigned)MECHANISM_REDIRECT;
	*ret_why_not = text_printf("the disks of %s sleep as one: none is left to read from",
				   md->device->pool);
	return -EOPNOTSUPP;
}

static void probe_knob(ManagedDevice *md, ManagedKnob *mk)
{
	int r = mk->knob->probe(md->device, &md->offer, &mk->why_not);

	if (r >= 0)
		r = refuse_steering(md, mk, &mk->why_not);
	if (r < 0)
		explain_block(md->device, mk);
	if (r >= 0) {
		r = mk->knob->read(md->device, &mk->original);
		if (r < 0)
			mk->why_not =
				text_printf("its present value cannot be read: %s", strerror(-r));
	}
	mk->offered = r >= 0;
	mk->current = mk->original;
	if (r >= 0)
		md->offer.mechanisms |= mk->knob->mechanism;
}

static void probe_knobs(Journal *journal, ManagedDevice *md)
{
	md->offer = (Offer){};
	for (size_t i = 0; i < knob_count(); i++) {
		ManagedKnob *mk = &md->knobs[i];

		free(mk->why_not);
		*mk = (ManagedKnob){ .knob = knob_registry[i] };
		if (take_over(journal, md, mk))
			continue;
		if (md->device->protected_why)
			mk->why_not = text_printf("the device is protected: it %s",
						  md->device->protected_why);
		else
			probe_knob(md, mk);
	}
}

bool managed_leftovers_done(Manager *m, ManagedDevice *md)
{
	if (!md->leftover || md->busy)
		return false;
	for (size_t i = 0; i < knob_count(); i++)
		if (md->knobs[i].touched)
			return false;
	md->leftover = false;
	probe_knobs(m->journal, md);
	log_notice("%s: everything that was set on it is put back", md->device->name);
	return true;
}

static ManagedDevice *managed_new(Manager *m, Device *d)
{
	_cleanup_free_ ManagedDevice *md = calloc(1, sizeof(*md));

	if (!md)
		return NULL;
	md->knobs = calloc(knob_count(), sizeof(*md->knobs));
	if (!md->knobs)
		return NULL;
	md->device = device_ref(d);
	md->target = md->actual = SETTING_AS_FOUND;
	md->mix = MIX_UNKNOWN;
	md->demand_mb_s = INFINITY;
	md->measured_w = NAN;
	md->bias = 1;
	md->group_limit_w = INFINITY;
	md->last_io_us = md->last_read_us = md->last_write_us = manager_now_us(m);
	md->estimated_w = d->profile->idle_w;
	take_over_sleep(md);
	managed_open_wear(m, md);
	probe_knobs(m->journal, md);
	managed_take_over_hold(m, md);
	return TAKE_PTR(md);
}

ManagedDevice *managed_free(ManagedDevice *md)
{
	if (!md)
		return NULL;
	for (size_t i = 0; i < knob_count(); i++)
		free(md->knobs[i].why_not);
	free(md->knobs);
	free(md->problem);
	free(md->refused_why);
	device_unref(md->device);
	free(md);
	return NULL;
}

/* A step is still out on the same device as it was before it went and came back. */
static bool has_predecessor(const Manager *m, const ManagedDevice *md)
{
	for (size_t i = 0; i < m->n_leaving; i++)
		if (m->leaving[i]->busy && streq(m->leaving[i]->device->id, md->device->id))
			return true;
	return false;
}

static void wait_for_predecessor(Manager *m, ManagedDevice *md)
{
	md->waits = md->busy = has_predecessor(m, md);
	md->step_began_us = manager_now_us(m);
}

static void add_device(Manager *m, Device *d)
{
	ManagedDevice **slot, *md;

	md = managed_new(m, d);
	slot = md ? ARRAY_GROW(m->devices, m->n_devices) : NULL;
	if (!slot) {
		managed_free(md);
		log_oom();
		return;
	}
	*slot = md;
	wait_for_predecessor(m, md);
	meter_add(m->meter, d);
	if (managed_asleep(md))
		managed_fell_asleep(m, md);
	managed_give_back(m, md);
	managed_leftovers_done(m, md);
	log_info("%s: %s, profile %s, rated %.1f W%s%s", d->name, d->model, d->profile->name,
		 d->profile->rated_w, d->protected_why ? "; left alone, it " : "",
		 d->protected_why ?: "");
}

static size_t index_of(const Manager *m, const Device *d)
{
	size_t i = 0;

	while (i < m->n_devices && m->devices[i]->device != d)
		i++;
	return i;
}

static void remove_device(Manager *m, size_t index)
{
	ManagedDevice *md = m->devices[index], **slot;

	memmove(&m->devices[index], &m->devices[index + 1],
		(m->n_devices - index - 1) * sizeof(*m->devices));
	m->n_devices--;
	m->cap_w -= md->cap_w;
	meter_remove(m->meter, md->device);
	manager_decide(m, md->device->name, "it is gone", "removed");
	md->gone = true;
	if (md->waits) /* no job of its own is out */
		md->waits = md->busy = false;
	if (!md->busy && !md->power.busy && !md->cache.busy) {
		managed_free(md);
		return;
	}
	slot = ARRAY_GROW(m->leaving, m->n_leaving);
	if (slot)
		*slot = md;
}

/* What that step did is there now. */
static void succeed_gone(Manager *m)
{
	for (size_t i = 0; i < m->n_devices; i++) {
		ManagedDevice *md = m->devices[i];

		if (!md->waits || has_predecessor(m, md))
			continue;
		md->waits = md->busy = false;
		managed_reread(m, md, "a device went and came back while it was being set");
	}
}

void manager_forget_gone(Manager *m, ManagedDevice *md)
{
	if (md->busy || md->power.busy || md->cache.busy)
		return;
	for (size_t i = 0; i < m->n_leaving; i++)
		if (m->leaving[i] == md)
			m->leaving[i] = m->leaving[--m->n_leaving];
	managed_free(md);
	succeed_gone(m);
}

void managed_probe_redirects(ManagedDevice *md)
{
	if (md->leftover || md->device->protected_why || md->actual.redirect != REDIRECT_AS_FOUND)
		return;
	md->offer.redirects_writes = md->offer.redirects_reads = false;
	for (size_t i = 0; i < knob_count(); i++) {
		ManagedKnob *mk = &md->knobs[i];

		if (mk->knob->mechanism != MECHANISM_REDIRECT || mk->touched)
			continue;
		free(mk->why_not);
		mk->why_not = NULL;
		probe_knob(md, mk);
	}
	md->has_cache = false;
}

/* Something vital has come to lie on it or no longer does, or it offers more than before. All is
 * given back before anything else; it may draw all it can from now on, and the others make room. */
static void reconsider_device(Manager *m, ManagedDevice *md)
{
	Condition c = md->actual.condition;

	md->leftover = true;
	md->actual = SETTING_AS_FOUND;
	md->actual.condition = c;
	managed_give_back(m, md);
	manager_decide(m, md->device->name, md->device->protected_why ?: "it may be set",
		       "given back, then asked anew");
	managed_leftovers_done(m, md);
}

static const char *event_text(DeviceEvent event)
{
	return event == DEVICE_ADDED     ? "a device was added"
	       : event == DEVICE_REMOVED ? "a device was removed"
	       : event == DEVICE_CHANGED ? "a device has changed"
	       : event == DEVICE_MOVED   ? "a device's place has changed"
					 : "a device was reset";
}

void manager_on_device(Device *d, DeviceEvent event, void *userdata)
{
	Manager *m = userdata;
	size_t i = index_of(m, d);
	bool known = i < m->n_devices, started = m->plan != NULL;

	if (event == DEVICE_ADDED && !known)
		add_device(m, d);
	else if (event == DEVICE_REMOVED && known)
		remove_device(m, i);
	else if (event == DEVICE_RESET && known)
		managed_reset(m, m->devices[i]);
	else if (event == DEVICE_CHANGED && known)
		reconsider_device(m, m->devices[i]);
	else if (event == DEVICE_MOVED && known)
		managed_probe_redirects(m->devices[i]);
	else
		return;
	if (event == DEVICE_RESET)
		return; /* the reaction follows the reading */
	if (m->events.device_changed && (event == DEVICE_ADDED || event == DEVICE_REMOVED))
		m->events.device_changed(d->name, event == DEVICE_ADDED, m->events.userdata);
	if (!started)
		return; /* manager_start() reacts once for all */
	m->event_us = manager_now_us(m);
	manager_react(m, event_text(event));
}
