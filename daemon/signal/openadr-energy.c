/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/openadr-energy.h"

#include <errno.h>
#include <math.h>

#define BUS_NAME "org.storpower1"

/* The account by sensors, and that by model. */
static const char *const names[] = { "EnergyMeasured", "EnergyModelled" };

struct OpenadrEnergy {
	OpenadrOnEnergy done;
	void *userdata;
	sd_bus *bus;
	sd_bus_slot *call; /* NULL: it is not being asked */
	size_t at;
	double joules;
};

static int ask(OpenadrEnergy *e);

static void stop(OpenadrEnergy *e)
{
	e->call = sd_bus_slot_unref(e->call);
	e->bus = sd_bus_unref(e->bus);
}

static int on_answer(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	OpenadrEnergy *e = userdata;
	double joules;

	(void)error;
	e->call = sd_bus_slot_unref(e->call);
	if (sd_bus_message_is_method_error(reply, NULL) ||
	    sd_bus_message_read(reply, "v", "d", &joules) < 0)
		joules = NAN;
	e->joules += joules;
	if (!isnan(joules) && ++e->at < ELEMENTSOF(names) && ask(e) >= 0)
		return 0;
	if (e->at < ELEMENTSOF(names))
		e->joules = NAN;
	stop(e);
	e->done(e->userdata, e->joules, sd_bus_message_get_sender(reply) ?: "");
	return 0;
}

static int ask(OpenadrEnergy *e)
{
	_cleanup_message_ sd_bus_message *m = NULL;
	int r = sd_bus_message_new_method_call(e->bus, &m, BUS_NAME, "/org/storpower1",
					       "org.freedesktop.DBus.Properties", "Get");

	if (r >= 0)
		r = sd_bus_message_set_auto_start(m, false);
	if (r >= 0)
		r = sd_bus_message_append(m, "ss", BUS_NAME ".Manager", names[e->at]);
	return r < 0 ? r : sd_bus_call_async(e->bus, &e->call, m, on_answer, e, 0);
}

int openadr_energy_new(OpenadrOnEnergy done, void *userdata, OpenadrEnergy **ret)
{
	OpenadrEnergy *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->done = done;
	e->userdata = userdata;
	*ret = e;
	return 0;
}

OpenadrEnergy *openadr_energy_free(OpenadrEnergy *e)
{
	if (!e)
		return NULL;
	stop(e);
	free(e);
	return NULL;
}

int openadr_energy_ask(OpenadrEnergy *e, sd_bus *bus)
{
	int r;

	if (e->call)
		return 0;
	if (!bus)
		return -ENOTCONN;
	e->bus = sd_bus_ref(bus);
	e->at = 0;
	e->joules = 0;
	r = ask(e);
	if (r < 0)
		stop(e);
	return r;
}
