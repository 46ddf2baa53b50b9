/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The rig of real drives: fio does the IO, storpowerd sets the power state and tells the watts. */

#include "ctl/calibrate-fio.h"
#include "ctl/calibrate.h"

/* calibrate-watts.c. Where a device's watts come from. */
typedef struct CalibrateMeter {
	char device[CALIBRATE_TEXT]; /* as the daemon calls it */
	char group[CALIBRATE_TEXT];  /* behind whose sensor it is; "": the device's own, or the
					node's */
	bool shared; /* the sensor measures others as well: their model is taken off */
	char sensor[CALIBRATE_TEXT];
} CalibrateMeter;

/* Of the daemon's state and its devices. False: no sensor covers the device. */
bool calibrate_find_meter(json_object *state, json_object *devices, json_object *device,
			  CalibrateMeter *ret);
/* NAN: the sensor tells none now. */
double calibrate_read_meter(const CalibrateMeter *m, json_object *state, json_object *devices);
/* Relative, as the daemon takes it to be; of what the sensor measures beside the device as well. */
double calibrate_meter_error(const CalibrateMeter *m, json_object *state, json_object *devices);

/* calibrate-pin.c. Keeps the device in this NVMe power state for as long as this process is on the
 * bus; *cookie: what is held already, 0: nothing. -1: gives it back as it was found. An exit
 * status, errors printed. */
int calibrate_pin(Ctl *c, const char *device, int power_state, uint64_t *cookie);

/* Somebody limits something: what is measured then is not what the drive would draw. own: a claim
 * that is this process's own; 0: none. */
bool calibrate_is_limited(json_object *state, uint64_t own);

typedef struct RealRig {
	Ctl *ctl;
	CalibrateMeter meter;
	FioJob job; /* but for the point */
	FioRun *fio;
	uint64_t cookie;
	int signals; /* a descriptor of signalfd(2): what ends the run */
	bool idle;
	size_t silent; /* rounds in a row of which the sensor has told nothing */
} RealRig;

Rig calibrate_real_rig(RealRig *r);
void calibrate_real_rig_done(RealRig *r);

/* calibrate-files.c. Exit statuses, errors printed. Writes the profile and, if it is asked for, the
 * record, and says what they hold. */
int calibrate_write(const Ctl *c, const Calibration *calibration, const char *path);
int calibrate_import_file(const Ctl *c); /* --import */
