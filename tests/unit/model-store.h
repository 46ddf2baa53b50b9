/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Every profile there is, for the tests of the model: the shipped ones and a generic one of each
 * kind of device. */

#include <string.h>

#include "base/text.h"
#include "model/profile.h"

static ProfileStore *store;

static int set_up(void **state)
{
	static const char *const directories[] = { "policies/profiles", NULL };

	(void)state;
	if (profile_store_read(directories, &store) < 0)
		return -1;
	for (DeviceKind k = 0; k < _KIND_MAX; k++) {
		Profile **slot = ARRAY_GROW(store->profiles, store->n);

		if (!slot || profile_generic(&(Descriptor){ .kind = k }, slot) < 0)
			return -1;
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	store = profile_store_free(store);
	return 0;
}
