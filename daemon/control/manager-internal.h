/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The manager's own state, for manager*.c alone.
 *
 * Enforcement is one rule. Every managed device has a `target` (the plan's setting) and an `actual`
 * (what its knobs have been verified to hold). A step that lowers what the device can draw is taken
 * at once; a step that raises it only when the sum of what all devices can draw, with it, stays
 * within the limit. So savings come before spendings, a failed saving keeps others from spending
 * it, and the sum of the enforced caps never exceeds the budget once it has come under it. */

#include "budget/wear.h"
#include "control/manager.h"
#include "journal/wear-file.h"
#include "redirect/knob-registry.h"

#define FREEZE_US      USEC_PER_SEC /* between writes that stop a queue, for more throughput */
#define OVERDUE_US     USEC_PER_SEC /* a step out for longer: the others make room */
#define DECISIONS_KEPT 512
#define LOOK_US        USEC_PER_SEC
#define AVERAGED_US    (2 * USEC_PER_SEC)    /* sensors tell a second's mean, and of a look ago */
#define PEEK_US        (200 * USEC_PER_MSEC) /* at sleeping disks: has IO woken one? */
#define WATCHED_US     (10 * USEC_PER_SEC)   /* keep looking so long after someone asked */

typedef struct ManagedDevice ManagedDevice;

/* What a drive says that it draws, being read. */
typedef struct PowerReading {
	Job job; /* first */
	Manager *manager;
	ManagedDevice *md;
	SensorHealth health;
	bool busy;
	bool never; /* it does not measure itself */
	int result;
	double watts;
} PowerReading;

/* How full the cache above a disk is, being read. */
typedef struct CacheReading {
	Job job; /* first */
	Manager *manager;
	ManagedDevice *md;
	const Knob *knob;
	bool busy;
	int result;
	CacheState state;
} CacheReading;

/* What a disk may be put to now; see PlanDevice. */
typedef struct SleepLimits {
	Condition deepest, needed, rest;
} SleepLimits;

typedef struct ManagedSensor {
	Job job; /* first */
	Manager *manager;
	Sensor *sensor;
	const SensorConfig *config;
	SensorHealth health;
	bool busy;
	int result;
	uint64_t begun_us;      /* the reading under way */
	double guard_w;         /* of a group: kept free below its limit because it was exceeded */
	double planned_guard_w; /* as of the plan in force */
	double read_w;          /* as the sensor said */
	double watts;           /* of storage, believed; NAN: set aside or not read yet */
} ManagedSensor;

typedef struct ManagedKnob {
	const Knob *knob;
	bool offered;
	char *why_not;
	bool touched;   /* to be written in this run, not yet given back */
	bool recorded;  /* `original` is in the journal, and that is on disk */
	bool pending;   /* `wanted` differs from `current` */
	bool fulfilled; /* touched, and it does not */
	KnobValue original, current, wanted;
	unsigned failures;    /* in a row */
	uint64_t retry_at_us; /* after a failure; 0: none */
} ManagedKnob;

/* One knob write on its way. */
typedef struct Step {
	Job job;
	Manager *manager;
	ManagedDevice *md;
	ManagedKnob *mk;
	bool first_touch;
	bool raises; /* what the device can draw */
	Setting before, target;
	bool io_meanwhile;           /* or nobody can tell */
	bool wears, was_charged;     /* a cycle is on the disk's account for it; for one before */
	char *refused_why;           /* -EBUSY: those it serves need it awake */
	KnobValue value, found, was; /* found: empty when it could not be read */
	int result;
} Step;

struct ManagedDevice {
	Device *device;
	Offer offer;
	ManagedKnob *knobs; /* in registry order */
	Setting target, actual;
	PlannedDevice planned;
	double group_limit_w; /* as of the plan; INFINITY: none */
	double cap_w;         /* can draw now: actual, bias, and whatever transition is under way */

	bool busy;     /* a step is on its way */
	bool gone;     /* removed; freed when no longer busy */
	bool leftover; /* what was set is being put back, and nothing else is done */
	bool waits;    /* while busy: with a step of the same device before it came back */
	bool reset;    /* while busy: what the step did is lost */
	uint64_t step_began_us;
	Mechanism stepping; /* what the step, or the one before, is about */
	bool step_raises;
	char *problem;
	uint64_t transition_end_us; /* waking until then... */
	bool unanswered;            /* ...and longer, until it has shown that it is awake */
	double transition_w;        /* drawing so much meanwhile */
	uint64_t tightened_us;      /* last lowering, for dwell */
	uint64_t woke_us, last_io_us, last_read_us, last_write_us;
	uint64_t own_io_until_us; /* until then a knob of ours writes to the disk itself */

	SleepLimits sleep, planned_sleep;
	char awake_why[160]; /* why it may not be stopped now; "" when it may */
	WearAccount *wear;   /* the book's; NULL: nothing of it wears */
	bool charged;        /* the cycle that it is in */
	char *refused_why;   /* those it serves needed it awake, when it was last to be stopped */
	uint64_t refused_until_us;
	const char *wake_why;  /* it is to be woken as soon as it may spin up; NULL: it is not */
	const char *wake_next; /* the same, once it has got to where it is on its way to */
	bool io_wakes;         /* it is waking by IO that has not been served yet */
	bool will_not_wake;
	bool awaits_sleep; /* what comes before takes a while: it draws until then */
	bool watched;      /* by eBPF, for who wakes it */
	bool testing;      /* whether it wakes */
	MeterWake waker;   /* as eBPF saw it */
	bool has_waker;

	uint64_t held_us; /* since when the cache above holds writes back; 0: it does not */
	bool draining;
	CacheReading cache;
	CacheState cache_state;
	bool has_cache;
	uint64_t cache_us;
	double fill_bytes_s; /* of late, into the cache */

	uint64_t reread_us;
	uint64_t froze_us; /* its queue, by a knob, last */

	DeviceCounters counters;
	bool has_counters;
	MeterRates rates;
	Mix mix;
	bool has_mix;         /* seen, not assumed */
	double offered_depth; /* most outstanding IO seen lately */
	double demand_mb_s, planned_demand_mb_s;
	Mix planned_mix;
	double planned_bias;
	double measured_w, estimated_w, bias;
	PowerReading power;
	double watched_pace_w;          /* what eBPF was told; 0: nothing yet */
	uint64_t uncontrolled_until_us; /* pacing does not hold it */
};

struct Manager {
	ManagerConfig config;
	Loop *loop;
	Inventory *inventory;
	ManagerEvents events;
	Claims *claims;
	Journal *journal;
	Meter *meter;
	char *meter_why_not;
	Policy *policy, *emergency_policy;

	ManagedDevice **devices;
	size_t n_devices;
	ManagedDevice **leaving; /* gone but busy */
	size_t n_leaving;
	ManagedSensor *sensors;
	size_t n_sensors;
	double cap_w;        /* sum over devices */
	unsigned fast_steps; /* on their way */

	double budget_w;  /* effective, of claims */
	double awaited_w; /* the same when disks were last found to await sleep */
	uint64_t effective_cookie;
	double guard_w;         /* kept free below the budget because measurements exceeded it */
	double planned_guard_w; /* as of the plan in force */
	Plan *plan;             /* in force */
	char why[192];          /* of the plan in force */
	uint64_t event_us;      /* what is being enforced began then; 0: done */
	uint64_t enforced_us;   /* when that was done, last */
	uint64_t last_enforce_us;
	uint64_t looked_us, watched_until_us;
	double measured_w;
	bool overrun;
	bool woken;             /* a disk, by IO, since the last plan */
	bool news;              /* since the last plan: what it should know */
	bool unsafe;            /* since the last plan: what it relied on does not hold */
	uint64_t claims_due_us; /* when a claim begins or expires; 0: not known */
	double floor_w;
	uint64_t floor_at_us; /* of which look the floor is */
	bool stopping;
	WearBook *wear;
	bool wear_unsaved;           /* and that has been said */
	uint64_t realtime_offset_us; /* of the wall clock from the loop's, at start */

	Decision decisions[DECISIONS_KEPT];
	size_t n_decisions; /* ever */
	Wakeup wakeups[DECISIONS_KEPT];
	size_t n_wakeups; /* ever */
};

static inline uint64_t manager_now_us(const Manager *m)
{
	return clock_now_us(&m->loop->clock);
}

/* Do they sleep and wake together? */
static inline bool managed_in_one_pool(const ManagedDevice *a, const ManagedDevice *b)
{
	return *a->device->pool && streq(a->device->pool, b->device->pool);
}

/* manager.c */
void manager_tell_changed(Manager *m);
/* True: what was waited for has come to a device, or its time is over. */
bool manager_clear_due(Manager *m, uint64_t now);
void manager_react(Manager *m, const char *why); /* budget -> plan -> knobs, at once */
void manager_arm(Manager *m);                    /* sets the timer for whatever is next */
bool manager_enforcing(const Manager *m);        /* is any claim active? */
double manager_spendable_w(const Manager *m);    /* the budget less what is kept free */

/* manager-aside.c */
/* A file of another version, or a damaged one: without it rather than without a daemon, but nothing
 * is lost. now: what goes on without it, for the log. */
int manager_set_aside(const char *path, const char *now);

/* manager-claims.c */
int manager_load_claims(Manager *m);
void manager_save_claims(const Manager *m);
bool manager_expire_claims(Manager *m); /* true: some did, and that has been reacted to */

/* manager-devices.c */
void manager_on_device(Device *d, DeviceEvent event, void *userdata);
ManagedDevice *managed_free(ManagedDevice *md);
void manager_forget_gone(Manager *m, ManagedDevice *md);
/* True: the last leftover is put back, and the device is there to be planned for. */
bool managed_leftovers_done(Manager *m, ManagedDevice *md);
/* A cache may have come to lie on it, or have gone. */
void managed_probe_redirects(ManagedDevice *md);

/* manager-end.c */
/* Gives everything back, waiting for spindles too. What fails stays in the journal, for
 * storpowerd --restore and the next start. */
void manager_give_all_back(Manager *m);

/* manager-reread.c */
/* Believes what the device's knobs say now, and has set anew what is lost; then plans, saying why.
 */
void managed_reread(Manager *m, ManagedDevice *md, const char *why);
/* The same after a reset: until it has been read, what lives in the device counts as lost. */
void managed_reset(Manager *m, ManagedDevice *md);
/* The same now and then, where a knob may lose its hold by itself. */
void managed_reread_drifting(Manager *m, ManagedDevice *md);

/* manager-sleep.c */
void managed_judge_sleep(const Manager *m, ManagedDevice *md, const Policy *p);
/* Its step into a sleeping condition has to wait: until when, 0: it need not. */
uint64_t managed_settles_us(const Manager *m, const ManagedDevice *md);
/* A cache that holds back what it can may not hold back enough. */
void managed_watch_settling(Manager *m, ManagedDevice *md);
/* Which disks are still to be put to sleep once what comes before is done? */
void manager_await_sleep(Manager *m);
/* Those of them that no longer are can be planned for again. */
void manager_await_no_more(Manager *m);
/* Those it serves need it: not asked again for a while. */
void managed_refuse_sleep(Manager *m, ManagedDevice *md, const char *why);

/* manager-wear.c */
int manager_open_wear(Manager *m);
int manager_save_wear(Manager *m); /* says once that it cannot */
void managed_open_wear(Manager *m, ManagedDevice *md);
WearTerms managed_wear_terms(const Manager *m, const ManagedDevice *md);
void managed_refill_wear(const Manager *m, ManagedDevice *md);
void managed_charge(ManagedDevice *md, Condition c);
void managed_refund(ManagedDevice *md, Condition c);

/* manager-wake.c */
void managed_want_awake(Manager *m, ManagedDevice *md, const char *why);
void managed_wake_next(Manager *m, ManagedDevice *md); /* if it was wanted while it was stopped */
void managed_fell_asleep(Manager *m, ManagedDevice *md);
void managed_watch_sleep(Manager *m, ManagedDevice *md);  /* from now, by eBPF: who wakes it? */
void managed_begin_waking(Manager *m, ManagedDevice *md); /* its spin-up counts from now */
bool managed_waking(const Manager *m, const ManagedDevice *md);
uint64_t managed_waking_ends_us(const Manager *m, const ManagedDevice *md); /* at the latest */
void managed_notice_waking(Manager *m, ManagedDevice *md);                  /* by IO */
void managed_notice_serving(Manager *m, ManagedDevice *md);                 /* IO was done */
void managed_take_waking(Manager *m, ManagedDevice *md);  /* or leaving its rest */
void managed_watch_waking(Manager *m, ManagedDevice *md); /* does it? */
void managed_mark_stuck(Manager *m, ManagedDevice *md);
bool manager_hba_stuck(const Manager *m, const Device *d);
void manager_peek(Manager *m); /* at sleeping disks only; sets woken */
/* Something was sent to it while it slept that need not have woken it. */
bool managed_suspect(const ManagedDevice *md);
void managed_clear_suspicion(Manager *m, ManagedDevice *md);
bool manager_any_suspect(const Manager *m);
bool manager_any_to_peek_at(const Manager *m);
void manager_on_woken(const MeterWake *w, void *userdata);
/* What a plan must leave for the spin-ups to come next; group NULL: of all. */
double manager_wake_reserve_w(const Manager *m, const char *group);
bool manager_may_spin_up(const Manager *m, double wake_w, double sum_w);

/* manager-wake-test.c */
/* A test on its HBA has passed: standby is no longer withheld. */
void managed_take_wake_test(Manager *m, ManagedDevice *md);

/* manager-wakeups.c */
void manager_note_wakeup(Manager *m, const ManagedDevice *md, const char *why);
void manager_forget_wakeups(Manager *m);

/* manager-redirect.c */
const ManagedKnob *managed_redirect(const ManagedDevice *md); /* NULL: none is offered */
/* Sets out to read its cache, and acts on what was read last. */
void managed_look_at_cache(Manager *m, ManagedDevice *md);
bool managed_holds(const ManagedDevice *md); /* writes back that have to reach it */
/* What an earlier run had its cache hold. */
void managed_take_over_hold(const Manager *m, ManagedDevice *md);
/* All such caches are drained, for no budget is in force. */
void manager_drain_held(Manager *m);
bool managed_has_room(const ManagedDevice *md, uint64_t asleep_us);
bool manager_draining(const Manager *m);

/* manager-observe.c */
void manager_look(Manager *m); /* sets news, woken */
void managed_distrust(Manager *m, ManagedDevice *md,
		      double over); /* it draws so many times what it may */

/* manager-overrun.c */
void manager_hear_meter(Manager *m); /* what eBPF has to tell; sets news, woken */
void managed_watch_pace(const Manager *m, ManagedDevice *md); /* eBPF is told what is in force */
void managed_observe_control(Manager *m, ManagedDevice *md);  /* may set news */
bool managed_uncontrolled(const Manager *m, const ManagedDevice *md);

/* manager-sensors.c */
int manager_open_sensors(Manager *m);
void manager_close_sensors(Manager *m);
void manager_read_sensors(Manager *m); /* begins to; what was read meanwhile is there */
/* md NULL: any of that scope. NULL: none. */
const ManagedSensor *manager_sensor_of(const Manager *m, SensorScope scope,
				       const ManagedDevice *md);
double manager_measure(const Manager *m); /* of all devices; NAN: not all are measured */

/* manager-plan.c */
int manager_make_plan(Manager *m, double budget_w, unsigned forbidden, const Policy *policy,
		      Plan **ret);
const Policy *manager_policy_now(const Manager *m);
double manager_group_limit_w(const Manager *m, const char *group); /* INFINITY: none */
double managed_cap_w(const Manager *m, const ManagedDevice *md, const Setting *s);
bool managed_asleep(const ManagedDevice *md);

/* manager-enforce.c */
void manager_set_targets(Manager *m, const Plan *plan);
/* Another plan is not worth the change: what the one in force gives is expected by it all the same.
 */
void manager_keep_targets(Manager *m, const Plan *next);
void manager_pump(Manager *m);
void managed_update_cap(Manager *m, ManagedDevice *md);
void managed_set_target(Manager *m, ManagedDevice *md, const Setting *target);
void managed_give_back(Manager *m, ManagedDevice *md);
/* Where it sleeps, nothing of that is left to be put back. */
void managed_let_sleep_on(Manager *m, ManagedDevice *md);
bool managed_held(const Manager *m, const ManagedDevice *md);
bool managed_overdue(const Manager *m, const ManagedDevice *md);
uint64_t managed_thawed_us(const ManagedDevice *md); /* when its queue may be stopped again */

/* manager-step.c */
Step *step_new(Manager *m, ManagedDevice *md, ManagedKnob *mk, bool raises);
/* Takes the step's result in and frees it; true: the plan should know. */
bool step_finish(Step *s);

/* manager-state.c */
void manager_freshen(Manager *m); /* figures of the last second, now and for a while */

/* manager-explain.c */
void manager_decide(Manager *m, const char *device, const char *why, const char *format, ...)
	_printf_(4, 5);
void manager_forget_decisions(Manager *m);
