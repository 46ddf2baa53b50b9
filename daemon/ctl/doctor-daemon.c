/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "ctl/doctor.h"
#include "ctl/words.h"

#define SERVICE "storpowerd.service"

static void look_at_service(Doctor *d)
{
	if (!*json_text(d->state, "Simulated") &&
	    doctor_unit(doctor_systemd(d), d->root, SERVICE) == UNIT_OFF)
		doctor_find(d, GRADE_NOTE, "Daemon", "systemctl enable storpowerd",
			    "it is not a service that starts with the node");
}

static void look_at_mode(Doctor *d)
{
	doctor_find(d, GRADE_OK, "Daemon", NULL, "storpowerd %s runs, with policy %s",
		    json_text(d->state, "Version"), json_text(d->state, "Policy"));
	if (ctl_is_advised(d->state))
		doctor_find(d, GRADE_NOTE, "Daemon", "storpowerctl mode enforce",
			    "it advises: no limit is held");
	if (*json_text(d->state, "Simulated"))
		doctor_find(d, GRADE_NOTE, "Daemon", NULL,
			    "its devices are simulated, by %s: what it says is not of this node",
			    json_text(d->state, "Simulated"));
}

static void look_at_meter(Doctor *d)
{
	const char *why = json_text(d->state, "MeterWhyNot");

	if (!*why)
		doctor_find(d, GRADE_OK, "Node", NULL, "eBPF: it counts every IO");
	else
		doctor_find(d, *json_text(d->state, "Simulated") ? GRADE_NOTE : GRADE_MISSING,
			    "Node", NULL, "eBPF: it does not count (%s); %s serve instead", why,
			    json_text(d->state, "Meter"));
}

static void look_at_sensors(Doctor *d)
{
	json_object *sensors = json_member(d->state, "Sensors");

	for (size_t i = 0; i < json_count(sensors); i++) {
		json_object *s = json_object_array_get_idx(sensors, i);
		const char *name = json_object_get_string(json_object_array_get_idx(s, 0));
		const char *of = json_object_get_string(json_object_array_get_idx(s, 2));
		const char *why = json_object_get_string(json_object_array_get_idx(s, 5));

		if (*why)
			doctor_find(d, GRADE_MISSING, "Node", NULL,
				    "sensors: %s, of the %s, is set aside: %s", name, of, why);
		else
			doctor_find(d, GRADE_OK, "Node", NULL, "sensors: %s measures the %s", name,
				    of);
	}
}

/* The disks of a pool are told from the first of them on. */
static void look_at_pools(Doctor *d)
{
	char text[WORDS_SIZE] = "";
	size_t n = 0;

	for (size_t i = 0; i < json_count(d->devices); i++) {
		json_object *o = json_object_array_get_idx(d->devices, i);
		const char *pool = json_text(o, "Pool");
		bool told = !*pool;

		for (size_t k = 0; k < i && !told; k++)
			told = streq(json_text(json_object_array_get_idx(d->devices, k), "Pool"),
				     pool);
		if (told)
			continue;
		n++;
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
			 *text ? ", " : "", pool);
	}
	doctor_find(d, GRADE_OK, "Node", NULL, n ? "pools: %s" : "pools: none%s", text);
}

static void look_at_files(Doctor *d)
{
	const char *ledger = json_text(d->state, "LedgerPath");
	const char *problem = json_text(d->state, "LedgerProblem");
	const char *unsaved = json_text(d->state, "ClaimsUnsaved");

	if (*problem)
		doctor_find(d, GRADE_MISSING, "Node", NULL, "ledger: %s cannot be written: %s",
			    ledger, problem);
	else if (*ledger)
		doctor_find(d, GRADE_OK, "Node", NULL, "ledger: %s", ledger);
	else
		doctor_find(d, GRADE_NOTE, "Node", NULL, "ledger: none is kept, as configured");
	if (*unsaved)
		doctor_find(d, GRADE_MISSING, "Daemon", NULL,
			    "claims are not saved (%s): a restart would lose them", unsaved);
}

static void look_at_problems(Doctor *d)
{
	for (size_t i = 0; i < json_count(d->devices); i++) {
		json_object *o = json_object_array_get_idx(d->devices, i);

		if (*json_text(o, "Problem"))
			doctor_find(d, GRADE_MISSING, "Drives", NULL, "%s: %s",
				    json_text(o, "Name"), json_text(o, "Problem"));
	}
}

/* Asked for quietly: that it does not run is a finding, and no error. */
static void ask(Doctor *d)
{
	if (!ctl_daemon_runs(d->ctl))
		return;
	if (ctl_get_state(d->ctl, &d->state) || ctl_get_devices(d->ctl, &d->devices)) {
		json_object_put(TAKE_PTR(d->state));
		json_object_put(TAKE_PTR(d->devices));
	}
}

void doctor_look_at_daemon(Doctor *d)
{
	ask(d);
	if (!d->state) {
		doctor_find(d, GRADE_DOWN, "Daemon", "systemctl enable --now storpowerd",
			    "storpowerd does not answer on the bus \"%s\": no limit is held",
			    d->ctl->address);
		return;
	}
	look_at_mode(d);
	look_at_service(d);
	look_at_meter(d);
	look_at_sensors(d);
	look_at_pools(d);
	look_at_files(d);
	look_at_problems(d);
}
