/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/fleet.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "control/cache-watch.h"
#include "control/caps.h"
#include "control/consent.h"
#include "control/errands.h"
#include "control/obedience.h"
#include "control/pools.h"
#include "control/rest.h"
#include "control/served.h"
#include "control/trust.h"
#include "control/waking.h"
#include "control/wear-account.h"
#include "control/workload.h"

static Managed *managed_free(Managed *md)
{
	knob_set_done(md);
	obedience_done(md);
	consent_done(md);
	rest_done(md);
	device_unref(md->device);
	free(md);
	return NULL;
}

static Managed *managed_new(Device *d, Tools *t)
{
	Managed *md = calloc(1, sizeof(*md));

	if (!md)
		return NULL;
	*md = (Managed){ .device = device_ref(d),
			 .caps = { .now_w = d->profile->rated_w },
			 .planned = { .group_limit_w = INFINITY } };
	workload_init(md, t->now_us);
	trust_init(md, t->operating);
	rest_init(md);
	wear_account_open(md, t);
	if (knob_set_init(md) < 0 || obedience_init(md) < 0)
		return managed_free(md);
	errands_ask(md, ERRAND_PROBE);
	return md;
}

Managed *fleet_add(Fleet *f, Device *d, Tools *t)
{
	Managed *md = managed_new(d, t);
	Managed **slot = md ? ARRAY_GROW(f->devices, f->n) : NULL;

	if (!slot) {
		log_oom();
		return md ? managed_free(md) : NULL;
	}
	*slot = md;
	meter_add(t->meter, d);
	log_info("%s: %s, profile %s, rated %.1f W%s%s", d->name, d->model, d->profile->name,
		 d->profile->rated_w, d->protected_why ? "; left alone, it " : "",
		 d->protected_why ?: "");
	return md;
}

static void take_out(Managed **list, size_t *n, const Managed *md)
{
	for (size_t i = 0; i < *n; i++)
		if (list[i] == md) {
			memmove(&list[i], &list[i + 1], (--*n - i) * sizeof(*list));
			return;
		}
}

void fleet_remove(Fleet *f, Managed *md, Tools *t)
{
	Managed **slot;

	take_out(f->devices, &f->n, md);
	pools_find(f, t->config);
	meter_remove(t->meter, md->device);
	diary_decide(t->diary, md->device->name, "it is gone", "removed");
	errands_note_gone(md);
	if (!md->errands.n_out) {
		managed_free(md);
		return;
	}
	slot = ARRAY_GROW(f->leaving, f->n_leaving);
	if (slot)
		*slot = md;
}

void fleet_forget(Fleet *f, Managed *md)
{
	if (md->errands.n_out)
		return;
	take_out(f->leaving, &f->n_leaving, md);
	managed_free(md);
}

Managed *fleet_find_id(const Fleet *f, const char *id)
{
	for_each_device(Managed, md, f) if (streq(md->device->id, id)) return md;
	return NULL;
}

Managed *fleet_find(const Fleet *f, const Device *d)
{
	for_each_device(Managed, md, f) if (md->device == d) return md;
	return NULL;
}

Managed *fleet_find_name(const Fleet *f, const char *name)
{
	for_each_device(Managed, md, f) if (streq(md->device->name, name)) return md;
	return NULL;
}

Managed *fleet_find_devnum(const Fleet *f, dev_t devnum)
{
	for_each_device(Managed, md, f) if (devnum && md->device->devnum == devnum) return md;
	return NULL;
}

void fleet_done(Fleet *f)
{
	for_each_device(Managed, md, f) managed_free(md);
	free(f->devices);
	free(f->leaving);
	pools_done(f);
}

Need fleet_give_back(Managed *md, Tools *t)
{
	WakeReason why = cache_watch_holds(md) ? WAKE_TO_DRAIN : WAKE_TO_GIVE_BACK;
	Need n = knob_set_may_sleep_on(md) ? NOTHING_NEEDED : waking_want(md, why);

	knob_set_aim_as_found(md, t);
	return n;
}

Need fleet_reconsider(Managed *md, Tools *t)
{
	Need n;

	knob_set_start_over(md);
	n = fleet_give_back(md, t);
	diary_decide(t->diary, md->device->name, md->device->protected_why ?: "it may be set",
		     "given back, then asked anew");
	errands_ask(md, ERRAND_PROBE);
	return need_more(need(NEED_TOLD_PLAN, CAUSE_CHANGED), n);
}

Need fleet_redescribe(Managed *md, Tools *t)
{
	const Profile *p = md->device->profile;
	bool watched = md->waking.watched;

	trust_init(md, t->operating);
	served_forget(md);
	caps_forget(md);
	meter_remove(t->meter, md->device);
	meter_add(t->meter, md->device);
	if (watched)
		waking_watch(md, t);
	workload_forget_counters(md);
	knob_set_aim_again(md, t);
	errands_ask(md, ERRAND_PROBE);
	diary_decide(t->diary, md->device->name, "it was read again", "profile %s", p->name);
	log_notice("%s: it goes by profile %s as it is now, rated %.1f W", md->device->name,
		   p->name, p->rated_w);
	return need(NEED_TOLD_PLAN, CAUSE_DESCRIBED);
}
