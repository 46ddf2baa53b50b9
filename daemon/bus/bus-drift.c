/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "bus/bus-internal.h"
#include "control/drift-report.h"

static int append_figure(sd_bus_message *m, const DriftFigure *f)
{
	return sd_bus_message_append(m, "a{sv}", 5, "Name", "s", f->name, "ProfileValue", "d",
				     f->profile, "FittedValue", "d", f->fitted, "Error", "d",
				     f->error, "Determined", "b", (int)f->determined);
}

static int append_figures(sd_bus_message *m, const DriftState *s)
{
	int r = sd_bus_message_open_container(m, 'e', "sv");

	if (r >= 0)
		r = sd_bus_message_append(m, "s", "Figures");
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'v', "aa{sv}");
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "a{sv}");
	for (size_t i = 0; i < DRIFT_FIGURES && r >= 0; i++)
		r = append_figure(m, &s->figures[i]);
	for (int containers = 0; containers < 3 && r >= 0; containers++)
		r = sd_bus_message_close_container(m);
	return r;
}

static int append_drift(sd_bus_message *m, const DriftState *s)
{
	int r = sd_bus_message_open_container(m, 'a', "{sv}");

	if (r >= 0)
		r = sd_bus_message_append(m, "{sv}{sv}{sv}{sv}{sv}{sv}", "Profile", "s", s->profile,
					  "Sensor", "s", s->sensor, "Devices", "u",
					  (uint32_t)s->n_devices, "Observations", "d",
					  s->observations, "ProfileError", "d", s->profile_error,
					  "WhyNot", "s", s->why_not);
	if (r >= 0)
		r = append_figures(m, s);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

/* Who asks wants it to be found out: the node is looked at for a while from now on. */
int bus_get_drift(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	Bus *b = userdata;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	_cleanup_free_ DriftState *states = NULL;
	size_t n = 0;
	int r = control_drift(b->control, &states, &n);

	(void)error;
	control_note_asked(b->control);
	if (r >= 0)
		r = sd_bus_message_new_method_return(call, &m);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "a{sv}");
	for (size_t i = 0; i < n && r >= 0; i++)
		r = append_drift(m, &states[i]);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_send(NULL, m, NULL);
}
