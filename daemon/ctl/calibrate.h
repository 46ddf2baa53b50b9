/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* storpowerctl calibrate: measures what a drive gives for what watts, and writes its profile. */

#include "ctl/ctl.h"
#include "model/design.h"

#define CALIBRATE_TEXT    96
#define CALIBRATE_REPEATS 3 /* points that are measured a second time */

/* What is measured, with what and by whom. */
typedef struct CalibrateSubject {
	char name[CALIBRATE_TEXT]; /* "nvme0n1" */
	char model[CALIBRATE_TEXT], firmware[CALIBRATE_TEXT], serial[CALIBRATE_TEXT];
	char who[CALIBRATE_TEXT]; /* "alice at node7"; empty: not told */
	char kernel[CALIBRATE_TEXT], fio[CALIBRATE_TEXT], sensor[CALIBRATE_TEXT];
	double sensor_error;   /* relative */
	double capacity_bytes; /* 0: not known */
	DeviceKind kind;
	PowerState states[PROFILE_STATES_MAX]; /* as the drive describes them; none of others */
	unsigned n_states;
} CalibrateSubject;

typedef struct CalibratePlan {
	DesignGrid grid;
	DesignGoal goal;
	uint64_t seed;
	unsigned warm_up; /* rounds that do not count, of about a second each */
	unsigned most;    /* rounds of a point */
	double sure;      /* a point may end when its means are known to so much, relative */
} CalibratePlan;

typedef struct CalibratePoint {
	Point at; /* its error is of the watts, by the rounds and the sensor */
	double p50_us, mb_s_error;
	unsigned rounds;
	bool settled;
} CalibratePoint;

typedef struct Calibration {
	CalibrateSubject subject;
	CalibratePlan plan;
	double idle_w, idle_error; /* NAN: not measured yet */
	CalibratePoint *points;
	size_t n_points;
	CalibratePoint repeats[CALIBRATE_REPEATS]; /* second runs of some of them */
	size_t n_repeats;
	double watts_spread, mb_s_spread; /* from run to run, relative, 95 times in 100; 0: as the
					   * rounds say */
	Design *design;
	const Profile
		*known; /* of this model so far: what fio cannot measure is taken over; NULL */
	double mb_s_left_out, watts_left_out; /* cross-validated, relative; NAN: not known */
} Calibration;

void calibration_done(Calibration *c);

/* What was done and drawn in about a second. */
typedef struct RigRound {
	double mb_s, iops, watts;
} RigRound;

/* What measures: fio and the daemon, or a drive that is simulated. All return 0 or -errno; -EINTR:
 * somebody wants it to end. */
typedef struct Rig {
	void *userdata;
	int (*set_state)(void *userdata, int power_state);                  /* -1: as found */
	int (*start)(void *userdata, const Point *p, unsigned most_rounds); /* NULL: no IO */
	int (*round)(void *userdata, RigRound *ret); /* -ENODATA: it has ended by itself */
	/* Percentiles of the IOs after the first `from` rounds; NAN: none. */
	int (*stop)(void *userdata, size_t from, double *ret_p50_us, double *ret_p99_us);
} Rig;

/* calibrate-point.c. The plan's warm-up, and then rounds until all has settled and is known well
 * enough, or there are too many. -EIO: nothing was done. */
int calibrate_point(const Rig *rig, const Calibration *c, const Point *p, CalibratePoint *ret);
int calibrate_idle(const Rig *rig, Calibration *c);

/* calibrate-emerald.c */
void calibrate_emerald(const Calibration *c, Emerald *ret);
void calibrate_print_emerald(FILE *f, const Calibration *c); /* the section of a profile */

/* calibrate-repeat.c. How many of so many runs are repeats. */
size_t calibrate_repeats_of(size_t runs);
/* The point at that place; NULL: none. */
CalibratePoint *calibrate_first_of(const Calibration *c, const Point *at);
/* The point to be measured again; NULL: none. */
const CalibratePoint *calibrate_repeat_next(const Calibration *c);
/* Once, when all is measured: puts what the repeats say into the points and their errors. */
void calibrate_take_repeats(Calibration *c);

/* calibrate-state.c: a line of JSON for the run, and one for each finished point. */
int calibrate_state_begin(const Calibration *c, const char *path);
int calibrate_state_add(const char *path, const CalibratePoint *p);
/* Points, their repeats and idle watts. -ESTALE: it is of another drive, firmware, grid or seed. A
 * last line that was not finished is dropped. */
int calibrate_state_read(Calibration *c, const char *path);

typedef struct CalibrateProgress {
	size_t done, most;
	double left_s;               /* NAN: not known yet */
	double distance;             /* of the goal, as of design_distance() */
	const CalibratePoint *point; /* that was just finished; NULL: idling was */
} CalibrateProgress;

/* calibrate-run.c. Goes on from what c holds already; state: NULL: nothing is kept. Puts the power
 * state back, whatever happens. */
int calibrate_run(const Rig *rig, Calibration *c, const char *state,
		  void (*tell)(const CalibrateProgress *p, void *userdata), void *userdata);

/* calibrate-profile.c. The text of a profile; when: seconds since the epoch. */
int calibrate_profile(const Calibration *c, int64_t when_s, char **ret);
