/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Tells which devices there are, and which come, go or lose their settings. */

#include "device/device.h"

typedef enum DeviceEvent {
	DEVICE_ADDED,
	DEVICE_REMOVED,
	DEVICE_RESET,     /* still there, but its settings are the power-on ones again */
	DEVICE_CHANGED,   /* it became protected or no longer is (protected_why), or has more to
			   * offer: all is given back, then its knobs are asked anew */
	DEVICE_DESCRIBED, /* its profile is another: nothing is given back */
	DEVICE_MOVED, /* its pool, its group, its stack or keep_awake_why has changed: a component
		       * that keeps IO off it may have come or gone; nothing is given back */
} DeviceEvent;

/* Called from inventory_start() and inventory_process(). */
typedef void (*InventoryHandler)(Device *d, DeviceEvent event, void *userdata);

/* A source of devices, opened by sim_node_open() or block_inventory_open(). */
typedef struct Inventory Inventory;
typedef struct InventoryOps {
	int (*start)(Inventory *i);   /* reports what is there as DEVICE_ADDED */
	int (*process)(Inventory *i); /* reports what has happened since; never blocks */
	int (*fd)(Inventory *i); /* becomes readable when process has news; -1: ask each second */
	/* Looks for hardware of that id that is there without being managed: it is reported as
	 * DEVICE_ADDED and departing, so that what was set on it can be given back. -ENODEV: it is
	 * nowhere; another error: it is there, or will be again, but not to be used now. */
	int (*find)(Inventory *i, const char *id);
	/* A departing device has been given back: what is there in its place now is reported.
	 * NULL: nothing ever departs. */
	int (*departed)(Inventory *i, const Device *d);
	void (*free)(Inventory *i);
} InventoryOps;
struct Inventory {
	const InventoryOps *ops;
	InventoryHandler handler;
	void *userdata;
};

static inline int inventory_start(Inventory *i, InventoryHandler handler, void *userdata)
{
	i->handler = handler;
	i->userdata = userdata;
	return i->ops->start(i);
}

static inline int inventory_fd(Inventory *i)
{
	return i->ops->fd(i);
}

static inline int inventory_process(Inventory *i)
{
	return i->ops->process(i);
}

static inline int inventory_find(Inventory *i, const char *id)
{
	return i->ops->find(i, id);
}

static inline int inventory_departed(Inventory *i, const Device *d)
{
	return i->ops->departed ? i->ops->departed(i, d) : 0;
}

static inline Inventory *inventory_free(Inventory *i)
{
	if (i)
		i->ops->free(i);
	return NULL;
}
DEFINE_CLEANUP(Inventory *, inventory_free);
