/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Work on devices, off the loop: on copies of its input, with a result that comes back as an event.
 * Nothing else of control/ calls the operations of a device or the callbacks of a knob. */

#include "control/knob-set.h"
#include "control/ledger-desk.h"
#include "control/queue.h"
#include "loop/loop.h"

typedef enum JobKind {
	JOB_PROBE,     /* what a device offers, and what an earlier run left on it */
	JOB_STEP,      /* one knob is turned */
	JOB_REREAD,    /* what its knobs say now */
	JOB_WAKE_TEST, /* does IO alone bring it back from standby? */
	JOB_LOOK,      /* counters, of one device or of several */
	JOB_POWER,     /* what a drive says that it draws */
	JOB_CACHE,     /* how full the cache above it is */
	JOB_READS,     /* how many reads a cache has served in its place */
	JOB_SENSOR,    /* what a sensor beside the drives says */
	JOB_LEDGER,    /* what was counted is written */
	JOB_HOOK,      /* the operator's hooks are asked, or told */
} JobKind;

typedef enum RereadReason {
	REREAD_DRIFTING, /* others may have changed it */
	REREAD_VERIFY,   /* somebody asked whether they did */
	REREAD_SUSPECT,  /* a command was sent to it while it slept */
	REREAD_RESET,
} RereadReason;

/* What an earlier run has recorded of a knob. */
typedef struct RecordedKnob {
	bool recorded;
	KnobValue original;
} RecordedKnob;

typedef struct ProbeJob {
	bool redirects;                             /* only the knobs that redirect */
	char *pool, *protected_why, *block_why_not; /* copies of the device's */
	RecordedKnob *recorded;                     /* in registry order */
	ProbeFound *found;
} ProbeJob;

typedef struct StepJob {
	size_t index; /* in the registry */
	bool first_touch, raises;
	bool asks_pool; /* those that it serves have the last word */
	Setting before, target;
	KnobValue value, was, found; /* found: "" when it could not be read */
	bool io_meanwhile;           /* or nobody can tell */
	bool wears, was_charged;     /* a cycle is on the disk's account for it; for one before */
	char *refused_why;           /* -EBUSY: those it serves need it awake */
} StepJob;

typedef struct RereadJob {
	RereadReason why;
	bool *asked;      /* of each knob, in registry order */
	KnobValue *found; /* "" where it could not be read */
} RereadJob;

typedef struct WakeTestJob {
	WakeTestDone done;
	void *userdata;
	bool refused; /* by those that the disk serves, before anything was done */
	double seconds;
	char *text;
} WakeTestJob;

typedef struct LookJob {
	Managed **mds; /* for the loop alone */
	Device **devices;
	DeviceCounters *counters;
	int *results;
	size_t n;
	bool peeks;    /* only whether IO waits */
	bool together; /* of all that answer promptly */
} LookJob;

typedef struct ReadsJob {
	char *behind; /* a copy of the device's */
	CacheReads found;
} ReadsJob;

typedef struct HookJob {
	HookStep step;
	bool asks;       /* the step waits for the answer; else they are told */
	unsigned number; /* of the question */
	bool vetoable;
	int (*ask)(const char *path, const char *question, uint64_t within_us, char **ret_answer);
	char *path; /* a copy */
	uint64_t timeout_us;
	char *question, *answer;
} HookJob;

typedef struct Job {
	Event event; /* first; Work next */
	Work work;
	struct Job *next; /* in the outbox */
	JobKind kind;
	Managed *md;    /* NULL: of no one device. The worker leaves it alone. */
	Device *device; /* a reference; NULL likewise */
	EventQueue *queue;
	bool counted; /* an emergency waits for it */
	int result;
	bool refused; /* it has not been run at all */
	union {
		ProbeJob probe;
		StepJob step;
		RereadJob reread;
		WakeTestJob wake_test;
		LookJob look;
		LedgerJob ledger;
		double watts; /* JOB_POWER, JOB_SENSOR */
		CacheState cache;
		ReadsJob reads;
		HookJob hook;
	};
	const Knob *knob; /* JOB_STEP, JOB_CACHE */
	Sensor *sensor;   /* JOB_SENSOR */
} Job;

/* Jobs that are to be handed to the loop at the end of the turn. */
typedef struct Outbox {
	Job *first, **last;
	unsigned counted_out; /* of those that an emergency waits for, here and with the workers */
} Outbox;

Job *job_new_probe(Managed *md, const Journal *j, bool redirects);
Job *job_new_step(Managed *md, size_t knob, bool raises);
Job *job_new_reread(Managed *md, RereadReason why);
Job *job_new_wake_test(Managed *md, WakeTestDone done, void *userdata);
Job *job_new_look(size_t room, bool peeks);
void job_look_at(Job *j, Managed *md); /* at most `room` of them */
Job *job_new_power(Managed *md);
Job *job_new_cache(Managed *md);
Job *job_new_reads(Managed *md);
Job *job_new_sensor(Sensor *s);
Job *job_new_ledger(LedgerDesk *desk);
/* Takes the question over. NULL when out of memory. */
Job *job_new_hook(Managed *md, const HooksConfig *config, char *question);
Job *job_free(Job *j); /* returns NULL */
DEFINE_CLEANUP(Job *, job_free);

/* Off the loop: does the work, and returns what is to be its result. */
int job_run(Job *j);

void outbox_put(Outbox *o, Job *j);
/* It comes back as an event without having been sent. */
void outbox_fail(Outbox *o, Job *j, int error, EventQueue *q);
/* It has come back. */
void outbox_take_back(Outbox *o, const Job *j);
/* Hands all to the loop; what it does not take comes back as an event, failed. */
void outbox_send(Outbox *o, Loop *l, EventQueue *q);

/* What a device has operations for; these do not block. */
bool job_can_wake_test(const Device *d);
bool job_can_read_power(const Device *d);
bool job_can_count_reads(const Device *d);
/* A test on its HBA has passed: true when standby is no longer withheld from it. */
bool job_apply_wake_test(Device *d);
