/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/figures.h"

#include <errno.h>
#include <stdlib.h>

#define BUS_NAME "org.storpower1"
#define MOST     4

struct Figures {
	const char *const *names;
	OnFigures done;
	void *userdata;
	sd_bus *bus;
	sd_bus_slot *call; /* NULL: it is not being asked */
	size_t at;
	double values[MOST];
};

static int ask(Figures *f);

static void stop(Figures *f)
{
	f->call = sd_bus_slot_unref(f->call);
	f->bus = sd_bus_unref(f->bus);
}

static int on_answer(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	Figures *f = userdata;
	bool answered;

	(void)error;
	f->call = sd_bus_slot_unref(f->call);
	answered = !sd_bus_message_is_method_error(reply, NULL) &&
		   sd_bus_message_read(reply, "v", "d", &f->values[f->at]) >= 0;
	if (answered && f->names[++f->at]) {
		if (ask(f) >= 0)
			return 0;
		answered = false;
	}
	stop(f);
	f->done(f->userdata, answered ? f->values : NULL, sd_bus_message_get_sender(reply) ?: "");
	return 0;
}

static int ask(Figures *f)
{
	_cleanup_message_ sd_bus_message *m = NULL;
	int r = sd_bus_message_new_method_call(f->bus, &m, BUS_NAME, "/org/storpower1",
					       "org.freedesktop.DBus.Properties", "Get");

	if (r >= 0)
		r = sd_bus_message_set_auto_start(m, false);
	if (r >= 0)
		r = sd_bus_message_append(m, "ss", BUS_NAME ".Manager", f->names[f->at]);
	return r < 0 ? r : sd_bus_call_async(f->bus, &f->call, m, on_answer, f, 0);
}

int figures_new(const char *const *names, OnFigures done, void *userdata, Figures **ret)
{
	Figures *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->names = names;
	f->done = done;
	f->userdata = userdata;
	*ret = f;
	return 0;
}

Figures *figures_free(Figures *f)
{
	if (!f)
		return NULL;
	stop(f);
	free(f);
	return NULL;
}

int figures_ask(Figures *f, sd_bus *bus)
{
	int r;

	if (f->call)
		return 0;
	if (!bus)
		return -ENOTCONN;
	f->bus = sd_bus_ref(bus);
	f->at = 0;
	r = ask(f);
	if (r < 0)
		stop(f);
	return r;
}
