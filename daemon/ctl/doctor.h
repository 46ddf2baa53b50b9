/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* storpowerctl doctor: what this node offers storpower, what is missing, and who else sets what it
 * sets. */

#include "ctl/ctl.h"

/* Of a finding, the harmless first. The worst one is the exit status. */
typedef enum Grade {
	GRADE_OK,
	GRADE_NOTE,    /* all well, and yet good to know */
	GRADE_MISSING, /* the node could hold its limits better */
	GRADE_RIVAL,   /* another program sets what storpower sets */
	GRADE_DOWN,    /* storpowerd does not run */
	_GRADE_MAX,
} Grade;

typedef struct Doctor {
	Ctl *ctl;
	const char *root;      /* "", or a tree that a test has made up instead of / */
	json_object *findings; /* each: Topic, Grade, Text, Fix (a command; "": none) */
	json_object *drives;   /* each: Name, Model, Kind, Profile, From, Error, Mechanisms */
	json_object *state, *devices; /* NULL: the daemon does not answer */
} Doctor;

const char *grade_name(Grade g); /* "ok", "note", "missing", "rival", "down" */
/* Adds a finding. fix: a command; NULL: nothing has to be done, or no command does it. */
void doctor_find(Doctor *d, Grade grade, const char *topic, const char *fix, const char *format,
		 ...) _printf_(5, 6);

/* doctor-files.c, below root. Every file that a glob of the list matches, for strv_free(). */
char **doctor_files(const char *root, const char *globs);
bool doctor_exists(const char *root, const char *globs);
/* The first line of the file that matches `line` and not `but`, extended regular expressions; but
 * NULL: none. malloc'd; NULL: there is none. */
char *doctor_line(const char *path, const char *line, const char *but);

/* doctor-units.c. Whether a unit of systemd runs or will at the next start. */
typedef enum UnitUse { UNIT_OFF, UNIT_ENABLED, UNIT_RUNS } UnitUse;
/* systemd is asked where bus leads to it; NULL: the files below root tell. */
UnitUse doctor_unit(sd_bus *bus, const char *root, const char *unit);
/* NULL: systemd is not on the bus, or a test has made up a tree. */
sd_bus *doctor_systemd(Doctor *d);

void doctor_look_for_rivals(Doctor *d); /* doctor-rivals.c */
void doctor_look_at_daemon(Doctor *d);  /* doctor-daemon.c */
void doctor_look_at_host(Doctor *d);    /* doctor-host.c */
void doctor_look_at_hooks(Doctor *d);   /* doctor-hooks.c */
/* doctor-drives.c. An exit status: the profiles may be unreadable. */
int doctor_look_at_drives(Doctor *d);
void doctor_print_drives(const Doctor *d);
