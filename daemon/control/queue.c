/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/queue.h"

#include <errno.h>

void queue_init(EventQueue *q)
{
	q->first = NULL;
	q->last = &q->first;
	q->need = q->held = NOTHING_NEEDED;
}

void queue_add(EventQueue *q, Event *e)
{
	e->next = NULL;
	*q->last = e;
	q->last = &e->next;
}

void queue_add_need(EventQueue *q, Need n)
{
	q->need = need_more(q->need, n);
}

void queue_hold_need(EventQueue *q, Need n)
{
	q->held = need_more(q->held, n);
}

int queue_add_device(EventQueue *q, Device *d, DeviceEvent what)
{
	DeviceChange *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	*c = (DeviceChange){ .event.kind = EVENT_DEVICE, .device = device_ref(d), .what = what };
	queue_add(q, &c->event);
	return 0;
}

Event *queue_take(EventQueue *q)
{
	Event *e = q->first;

	if (!e)
		return NULL;
	q->first = e->next;
	if (!q->first)
		q->last = &q->first;
	return e;
}

Need queue_take_need(EventQueue *q)
{
	Need n = need_more(q->need, q->held);

	q->need = q->held = NOTHING_NEEDED;
	return n;
}

bool queue_is_empty(const EventQueue *q)
{
	return !q->first && q->need.level == NEED_NOTHING;
}

void device_change_free(DeviceChange *c)
{
	device_unref(c->device);
	free(c);
}
