/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The rig of real drives: fio does the IO, storpowerd sets the power state and tells the watts. */

#include "ctl/calibrate-fio.h"
#include "ctl/calibrate.h"

/* calibrate-watts.c. Where a device's watts come from, as the daemon tells: from the sensor nearest
 * to it, less what others behind the sensor draw. */
typedef struct CalibrateMeter {
	char device[CALIBRATE_TEXT]; /* as the daemon calls it */
	char sensor[CALIBRATE_TEXT];
	bool shared; /* the sensor measures others as well */
} CalibrateMeter;

/* False: no sensor covers the device. */
bool calibrate_find_meter(json_object *device, CalibrateMeter *ret);
/* NAN: the sensor tells none now. */
double calibrate_read_meter(const CalibrateMeter *m, json_object *devices);
double calibrate_meter_error(const CalibrateMeter *m, json_object *devices); /* relative */

/* calibrate-pin.c. Keeps the device in this NVMe power state for as long as this process is on the
 * bus; *cookie: what is held already, 0: nothing. -1: gives it back as it was found. An exit
 * status, errors printed. */
int calibrate_pin(Ctl *c, const char *device, int power_state, uint64_t *cookie);

/* Somebody limits something: what is measured then is not what the drive would draw. Claims that
 * pin a power state limit nothing. own: that of this process, which must be in force; 0: none. */
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
