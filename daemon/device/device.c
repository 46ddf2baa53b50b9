/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "device/device.h"

#include <errno.h>
#include <string.h>

#include "base/printable.h"

Device *device_new(const char *id, const char *name, const char *model, DeviceKind kind,
		   const DeviceOps *ops, void *impl)
{
	Device *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	atomic_init(&d->n_ref, 1);
	d->id = strdup(id);
	d->name = strdup(name);
	d->model = printable_copy(model);
	d->group = strdup("");
	d->node = strdup("");
	d->stack = strdup("");
	d->pool = strdup("");
	d->protection = strdup("");
	d->cached_by_it = strdup("");
	d->behind = strdup("");
	d->hba = strdup("");
	d->redirect = strdup("");
	d->kind = kind;
	/* impl is handed over only on success, so ops->free must not see it before */
	if (!d->id || !d->name || !d->model || !d->group || !d->node || !d->stack || !d->pool ||
	    !d->protection || !d->cached_by_it || !d->behind || !d->hba || !d->redirect)
		return device_unref(d);
	d->ops = ops;
	d->impl = impl;
	return d;
}

Device *device_ref(Device *d)
{
	atomic_fetch_add(&d->n_ref, 1);
	return d;
}

Device *device_unref(Device *d)
{
	if (!d || atomic_fetch_sub(&d->n_ref, 1) != 1)
		return NULL;
	if (d->ops && d->ops->free)
		d->ops->free(d);
	profile_free(d->own_profile);
	free(d->id);
	free(d->name);
	free(d->model);
	free(d->group);
	free(d->node);
	free(d->stack);
	free(d->pool);
	free(d->protection);
	free(d->cached_by_it);
	free(d->behind);
	free(d->hba);
	free(d->redirect);
	free(d->keep_awake_why);
	free(d->protected_why);
	free(d->block_why_not);
	free(d->knob_memory);
	free(d);
	return NULL;
}

int device_match_profile(Device *d, const ProfileStore *store, const Descriptor *descriptor)
{
	Descriptor bare = { .kind = d->kind, .model = d->model };
	const Profile *known = store ? profile_store_match(store, d->model) : NULL;
	int r = known || d->own_profile ? 0 : profile_generic(descriptor ?: &bare, &d->own_profile);

	if (r < 0)
		return r;
	d->profile = known ?: d->own_profile;
	return 0;
}
