/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Some questions are put to the devices: they are answered when the devices have answered. */

#include <errno.h>

#include "base/printable.h"
#include "bus/bus-internal.h"

static int append_differences(sd_bus_message *m, const VerifyResult *v)
{
	int r = sd_bus_message_open_container(m, 'a', "(ssss)");

	for (size_t i = 0; i < v->n && r >= 0; i++) {
		const VerifyDifference *d = &v->differences[i];
		KnobValue wanted = d->wanted, found = d->found;

		r = sd_bus_message_append(m, "(ssss)", d->device, d->knob,
					  make_printable(wanted.text), make_printable(found.text));
	}
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int answer_verify(sd_bus_message *call, const VerifyResult *v)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r = sd_bus_message_new_method_return(call, &m);

	if (r >= 0)
		r = append_differences(m, v);
	if (r >= 0)
		r = sd_bus_message_append(m, "u", v->checked);
	return r < 0 ? r : sd_bus_send(NULL, m, NULL);
}

static void on_verified(const VerifyResult *v, void *userdata)
{
	_cleanup_(bus_call_freep) Call *c = userdata;

	if (c->bus)
		bus_call_note_sent(answer_verify(c->message, v), "what differs");
}

/* It reads from every touched device, and sets what differs again. */
int bus_verify(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	static const BusPermit permit = { ACTION_SET_BUDGET, bus_verify };
	_cleanup_(bus_call_freep) Call *call = NULL;
	Bus *b = userdata;
	int r = bus_authorize(b, m, &permit, error);

	if (r != 0)
		return r;
	call = bus_call_new(b, m);
	r = call ? control_verify(b->control, on_verified, call) : -ENOMEM;
	if (r < 0)
		return r;
	TAKE_PTR(call);
	return 1;
}

static void on_fresh(void *userdata)
{
	_cleanup_(bus_call_freep) Call *c = userdata;

	if (c->bus)
		bus_call_note_sent(sd_bus_reply_method_return(c->message, NULL),
				   "that the figures are fresh");
}

int bus_when_fresh(Bus *b, sd_bus_message *m, void (*then)(void *call))
{
	_cleanup_(bus_call_freep) Call *call = bus_call_new(b, m);
	int r = call ? control_refresh(b->control, &(ControlWait){ then, call }) : -ENOMEM;

	if (r < 0)
		return r;
	TAKE_PTR(call);
	return 1;
}

int bus_refresh(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	static const BusPermit permit = { ACTION_INSPECT, bus_refresh, COST_OF_QUESTION };
	int r = bus_authorize(userdata, m, &permit, error);

	return r ?: bus_when_fresh(userdata, m, on_fresh);
}
