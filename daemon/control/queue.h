/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Everything that has happened and has not been taken yet, in order. */

#include "control/need.h"
#include "device/inventory.h"

typedef enum EventKind { EVENT_JOB_DONE, EVENT_DEVICE } EventKind;

typedef struct Event {
	struct Event *next;
	EventKind kind;
} Event;

/* A device has come, gone or changed. */
typedef struct DeviceChange {
	Event event;    /* first */
	Device *device; /* a reference */
	DeviceEvent what;
} DeviceChange;

typedef struct EventQueue {
	Event *first, **last;
	Need need; /* of commands, which have changed what they concern already */
	Need held; /* to be taken with whatever comes next, but not before */
} EventQueue;

void queue_init(EventQueue *q);
void queue_add(EventQueue *q, Event *e);
void queue_add_need(EventQueue *q, Need n);
int queue_add_device(EventQueue *q, Device *d, DeviceEvent what);
void queue_hold_need(EventQueue *q, Need n);
Event *queue_take(EventQueue *q); /* NULL: none is left */
Need queue_take_need(EventQueue *q);
bool queue_is_empty(const EventQueue *q);
void device_change_free(DeviceChange *c);
