/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A manager on a simulated node on virtual time, in a temporary folder of its own. */

#include <math.h>

#include "control/control.h"
#include "sim/simulated.h"
#include "virtual-loop.h"

/* What ControlConfig must say of sleep, as the daemon's configuration has it by default. */
#define SLEEP_DEFAULTS                                                                             \
	.sleep = {                                                                                 \
		.service_years = 5, .cycles_a_day = 10, .spinups_at_once = 2, .spinup_w = INFINITY \
	}

typedef struct Fixture {
	char dir[64];
	char *journal, *claims, *registers, *wear, *operating;
	char *ledger;      /* malloc'd; NULL: nothing is counted */
	const Clock *wall; /* its clock; NULL: the loop's */
	WakeRecord *wakes; /* in memory alone */
	Loop *loop;
	ProfileStore *profiles;
	Inventory *node;
	Control *control;
	bool real_time; /* the loop is one of threads: claims are not waited for */
	/* as ControlConfig's; to be set before fixture_start() */
	const SensorConfig *sensors; /* besides the node's own */
	size_t n_sensors;
	const char *sysfs_root;
	HooksConfig hooks;
	SensorConfig *node_sensors; /* those of the node file */
	size_t n_node_sensors;
	SensorConfig *all_sensors; /* both, shallow */
} Fixture;

/* All of these end the test program with a message when the machine cannot do it. */
void fixture_open(Fixture *f, const char *node_path);
/* The same, of a node file's text. */
void fixture_open_text(Fixture *f, const char *node);
/* The same in a given folder, which outlives the fixture: what a killed daemon left is found again.
 */
void fixture_open_in(Fixture *f, const char *node_path, const char *dir);
void fixture_start(Fixture *f);
void fixture_stop(Fixture *f);  /* the manager only; the node stays as it is */
void fixture_close(Fixture *f); /* all, and the folder unless it was given */

void fixture_run(Fixture *f, double seconds);
uint64_t fixture_claim(Fixture *f, const Claim *c);
uint64_t fixture_set(Fixture *f, const char *limit); /* node, operator, standing, until released */
void fixture_release(Fixture *f, uint64_t cookie);
double fixture_rated_w(Fixture *f);
double fixture_operating_w(Fixture *f); /* 100 % */
char *fixture_dump(Fixture *f);         /* registers; free() */
