/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The shell that brings all others together: events in, one turn, effects out. This is its public
 * face, for bus/ and storpowerd.c. Questions take a const Control and change nothing: they see what
 * the last turn has left. */

#include "base/clock.h"
#include "budget/claim.h"
#include "config/block-config.h"
#include "control/overrun.h"
#include "device/inventory.h"
#include "device/wake-record.h"
#include "journal/journal.h"
#include "loop/loop.h"
#include "meter/meter.h"
#include "plan/plan.h"
#include "sensor/sensor.h"

typedef struct Control Control;

/* How the node's disks may be stopped and started. */
typedef struct SleepConfig {
	const char *wear_path; /* the disks' wear accounts; NULL: kept in memory alone */
	double service_years;  /* over which a disk's rated cycles are spread */
	double cycles_a_day;   /* start/stop cycles of a disk at most */
	unsigned spinups_at_once;
	double spinup_w; /* all spin-ups together may draw; INFINITY: no limit of its own */
} SleepConfig;

typedef struct LimitConfig {
	double guard_w;            /* kept free below every budget; 0 */
	const double *tolerance_s; /* of claims that name none, by class; NULL: none */
	/* What devices were measured to draw at most, of which percentages are; NULL: kept in
	 * memory alone. */
	const char *operating_path;
	const PoolConfig *pools; /* those of which something is said */
	size_t n_pools;
} LimitConfig;

/* What a kWh costs, in money and in CO2e, as configured. */
typedef struct TariffConfig {
	double price_kwh;           /* in the currency; NAN: unknown */
	const char *currency;       /* "EUR" */
	double g_kwh;               /* of CO2e; NAN: unknown */
	bool marginal;              /* of the plant that one kWh more would start; else a mean */
	const char *intensity_path; /* a file of g/kWh over time; NULL: none */
} TariffConfig;

typedef struct LedgerConfig {
	const char *path; /* NULL: nothing is counted */
	TariffConfig tariff;
	const Clock *wall; /* the wall clock; NULL: realtime_us() */
} LedgerConfig;

typedef struct PolicyConfig {
	const char *const *directories;
	const char *name;        /* NULL: nothing is to be planned */
	const char *choice_path; /* the one chosen meanwhile; NULL: not kept */
} PolicyConfig;

/* A service that runs the operator's hooks, asked before a slow step and told after it. */
typedef struct HooksConfig {
	/* ask_service() of base/ask.h; NULL: there are no hooks */
	int (*ask)(const char *path, const char *question, uint64_t within_us, char **ret_answer);
	const char *path;
	uint64_t timeout_us; /* for all hooks together; 0: they are neither asked nor told */
} HooksConfig;

typedef struct ControlConfig {
	const ProfileStore *profiles;
	PolicyConfig policy;
	const char *claims_path; /* standing claims; NULL: not kept */
	const char *journal_path;
	bool bpf;
	LimitConfig limit;
	const SensorConfig *sensors;
	size_t n_sensors;
	const char *sysfs_root; /* of the sensors; NULL: /sys */
	SleepConfig sleep;
	bool insists;      /* what somebody else sets is set again for ever */
	bool advises;      /* at the start limits are advised, not held */
	WakeRecord *wakes; /* of wake tests; the inventory's too */
	LedgerConfig ledger;
	HooksConfig hooks;
} ControlConfig;

/* A change of a limit has reached the devices and the draw. */
typedef struct Settled {
	const uint64_t *cookies; /* of the claims that were made, changed, began or ended */
	size_t n;
	double limit_w; /* now, of what they limit; INFINITY: none is left */
	double took_s;  /* since the first of these changes */
	double drawn_w; /* now, by what they limit */
	bool held;      /* the draw is within the limit; else that is as near as it comes for now */
} Settled;

/* Told of changes, so that bus/ can emit signals. Any may be NULL. */
typedef struct ControlEvents {
	void (*claim_added)(const Claim *c, void *userdata);
	void (*claim_changed)(const Claim *c, void *userdata);
	void (*settled)(const Settled *s, void *userdata); /* once for each change */
	/* The new one is made instead of the old one, whose end is told next. */
	void (*claim_replaced)(uint64_t old, uint64_t new, void *userdata);
	void (*claim_ended)(uint64_t cookie, const char *why, void *userdata);
	void (*plan_applied)(const Plan *p, const char *why, void *userdata);
	void (*overrun)(double measured_w, double budget_w, void *userdata);
	void (*overrun_ended)(const Overrun *o, void *userdata);
	void (*device_changed)(const char *name, bool present, void *userdata);
	void (*changed)(void *userdata); /* some property */
	void *userdata;
} ControlEvents;

/* Takes the inventory and the loop by reference; both must outlive it. */
int control_new(const ControlConfig *config, Loop *loop, Inventory *inventory, Control **ret);
/* Restores everything and frees. Waits for the knobs. */
Control *control_free(Control *c); /* returns NULL */
DEFINE_CLEANUP(Control *, control_free);
void control_set_events(Control *c, const ControlEvents *events);
/* Loads the claims, takes in the devices, puts back what an earlier run left, enforces. Waits a
 * moment for the devices to say what they offer. */
int control_start(Control *c);
/* Readable when eBPF has something to tell; then call control_meter_ready(). -EOPNOTSUPP: never. */
int control_meter_fd(const Control *c);
void control_meter_ready(Control *c);
/* The inventory's descriptor is readable. */
void control_devices_ready(Control *c);
/* storpowerd --restore: replay the journal on the inventory's devices and nothing else. -EIO when
 * something could not be put back, which stays in the journal; -EBADMSG when damaged lines of the
 * journal may have held more. */
int control_restore(const ControlConfig *config, Loop *loop, Inventory *inventory);

/* What was waited for has come, or its time is over. Called once, never by the call that takes it
 * as an argument, and at the latest by control_free(). */
typedef void (*ControlDone)(void *userdata);

/* Who waits for that. */
typedef struct ControlWait {
	ControlDone done;
	void *userdata;
} ControlWait;

/* Claims. On error *ret_error (malloc'd) says what would be right. wait (or NULL) is over when the
 * fast knobs have enforced the claim, after 0.2 s at the latest, in an emergency after 1 s. */
int control_add_claim(Control *c, const Claim *claim, const ControlWait *wait, uint64_t *ret_cookie,
		      char **ret_error);
/* In place: the reply, the plan and the news are of the new limit, and no moment is without one. A
 * change of nothing but the reason or the end makes no plan. -ENOENT, -EINVAL. */
int control_change_claim(Control *c, uint64_t cookie, const ClaimChange *change,
			 const ControlWait *wait, char **ret_error);
int control_release(Control *c, uint64_t cookie, char **ret_error);
size_t control_drop_owner(Control *c, const char *owner);
/* The owner of claims from before the daemon's restart lives on this bus: they hold on. The others
 * end 30 s after control_start() unless they are renewed. Returns how many hold on. */
size_t control_adopt(Control *c, const char *bus, const char *owner);
const Claims *control_claims(const Control *c);
/* The watts that are 100 % of its scope. */
double control_claim_operating_w(const Control *c, const Claim *claim);
/* Is it the lowest of its scope? */
bool control_claim_in_force(const Control *c, const Claim *claim);

/* Somebody looks: the figures are kept fresh for a while, from the next turn on. */
void control_note_asked(Control *c);
/* The same; the wait is over when they are of the last second, after 0.2 s at the latest. -ENOMEM.
 */
int control_refresh(Control *c, const ControlWait *wait);

typedef struct PlanQuery {
	ClaimScope scope;
	const char *target; /* of a group or device; NULL: the node */
	double budget_w;    /* of that; what others are limited to holds beside it */
	unsigned forbidden; /* set of mechanisms */
	const char *policy; /* NULL: the present one */
	/* Of a limit on the node; NAN: of the claim in force, else what is usual for an operator's
	 */
	double tolerance_s;
} PlanQuery;
/* Is the device one of those that the limit is on? */
bool control_plan_covers(const PlanQuery *query, const Device *d);
/* A dry run, in foretell.c. Its devices are those of control_device(), in the same order; its sums
 * are of those that the limit is on. */
int control_plan(const Control *c, const PlanQuery *query, Plan **ret, char **ret_error);
/* by: who chooses it, for people to read. */
int control_set_policy(Control *c, const char *name, const char *by, char **ret_error);
const char *control_policy(const Control *c);
/* Why it is that one. */
typedef struct PolicyOrigin {
	const char *configured;
	const char *chosen_by; /* "": it is the configured one */
	uint64_t chosen_us;    /* wall clock */
	const char *unsaved;   /* why the choice would not outlive the daemon; "": it would */
} PolicyOrigin;
void control_policy_origin(const Control *c, PolicyOrigin *ret);
/* What a kWh costs, as a service tells it for a while. NAN: as configured. */
typedef struct FedTariff {
	double price_kwh, g_kwh;
	bool marginal;
	double for_s;
} FedTariff;
void control_feed_tariff(Control *c, const FedTariff *fed);
/* An application tells that it has served so many requests since it last did. */
void control_count_requests(Control *c, uint64_t n);
/* Advised limits are planned for, logged and counted, and nothing is touched: what is in force is
 * given back as if all claims were released, but they stay. Held again, they are enforced at once.
 * Until the daemon restarts. */
void control_set_mode(Control *c, bool advises);
/* Goes by another configuration from now on, and by the policy's file as it is now; the devices are
 * the inventory's concern. Paths, eBPF and whether there is a ledger stay those of control_new().
 * Claims stay, and so does what is set until the next plan, which is made at once. On error nothing
 * has changed. */
int control_reread(Control *c, const ControlConfig *now, char **ret_error);

typedef struct NodeWatts {
	double rated_w, floor_w;
	double operating_w; /* 100 %: drawn at most in operation, by model or as measured */
	double estimated_w; /* model and counters */
	double measured_w;  /* sensors; NAN where not all devices have one */
	double cap_w;       /* sum of what the settings can draw */
	double error_w;     /* what is drawn may be so much more or less: by the sensors where
			     * measured_w is known, else by the profiles */
} NodeWatts;

/* The draw beside the budget. NAN: no budget is in force, or nothing is known. */
typedef struct NodeHeld {
	double for_s;     /* within the budget for so long; NAN: it is exceeded */
	double highest_w; /* since the draw was first within it */
	double missing_w; /* > 0: it cannot be brought within it; 0 where there is none */
} NodeHeld;

typedef struct NodeLoad {
	double mb_s, demand_mb_s;
	double expected_mb_s; /* of the plan in force */
} NodeLoad;

/* What is advised and not done. The watts now and the sums since the mode was entered are against
 * what the devices draw by model and counters. */
typedef struct AdviceState {
	bool advises;       /* the mode: limits are advised, not held */
	const Claim *claim; /* the lowest on the node; NULL: none */
	double budget_w;    /* its watts; INFINITY: none */
	double cap_w;       /* the devices could draw at most */
	double shortfall_w; /* > 0: the limit is below what they can be brought down to */
	size_t n_devices;   /* would be set otherwise than they are */
	double saved_w;     /* now, as expected */
	double least_w;     /* now, at the least: by caps */
	double lost_mb_s;   /* now */
	double joules;      /* saved so far, as expected */
	double lost_mb;     /* not done so far, in 10^6 bytes */
	double seconds;     /* so long a limit has been advised */
	uint64_t changes;   /* settings that would have been made so far */
	uint64_t stops;     /* of them: disks stopped */
} AdviceState;

/* Seconds. */
typedef struct NodeOverload {
	double tolerance_s; /* of the effective claim; 0: none */
	double spent_s;     /* of that, and not regained */
	double react_s;     /* from an overrun to the last fast knob, at most, of late */
} NodeOverload;

typedef struct ControlState {
	double budget_w;        /* effective; INFINITY: none */
	const Claim *effective; /* NULL: none */
	NodeWatts watts;
	NodeHeld held;
	NodeLoad load;
	bool enforcing;
	bool degraded;
	double shortfall_w;       /* of the limit that misses most */
	uint64_t last_enforce_us; /* from the event to the last fast knob of the last plan */
	NodeOverload overload;
	size_t n_devices;
	const char *meter;          /* "ebpf", ... */
	const char *meter_why_not;  /* NULL when eBPF runs */
	const char *claims_unsaved; /* why the claims' file cannot be written; "": it was */
	AdviceState advice;
} ControlState;
void control_state(const Control *c, ControlState *ret);

/* Since the daemon's start, as far as it is counted. */
typedef struct EnergySum {
	double measured_j, modelled_j;
	double limited_s, above_s; /* of the node alone */
	uint64_t bytes[_DIRECTION_MAX], ios[_DIRECTION_MAX];
} EnergySum;

typedef struct LedgerState {
	const char *path;    /* "": nothing is counted */
	const char *problem; /* why it cannot be written now; "": it is */
	uint64_t written_us; /* wall clock of the last write; 0: none yet */
	EnergySum sum;
	double price_kwh, g_kwh; /* now; NAN: unknown */
	bool marginal;
} LedgerState;

void control_ledger(const Control *c, LedgerState *ret);
/* The watts that are 100 % of the node. */
double control_operating_w(const Control *c);

typedef struct DeviceWatts {
	double rated_w, operating_w, idle_w, cap_w, estimated_w, measured_w;
} DeviceWatts;

/* By the sensor that is nearest to it: its own, else its group's, else the node's less what the
 * others behind that one draw, by their own sensors or by model and counters. */
typedef struct DeviceReading {
	const char *sensor; /* name; "(drive)": the drive measures itself; "": there is none */
	const char *of;     /* "device", "group", "node"; "" */
	double watts;       /* NAN: none */
	double error_w;     /* it may be so much more or less */
} DeviceReading;

typedef struct DeviceLoad {
	double mb_s, iops, depth, mean_kib, read_share, random_share, latency_us;
	/* from submission on, whatever holds the IO up; before: when the device was last not
	 * limited; NAN: unknown, and before also while it is not limited */
	double wait_p50_us, wait_p99_us, wait_p50_before_us, wait_p99_before_us;
	double demand_mb_s; /* INFINITY: saturated */
} DeviceLoad;

typedef struct DeviceSleep {
	bool asleep;
	const char *awake_why; /* why it may not be put to sleep now; "" when it may, or sleeps */
	double may_in_s; /* seconds until it may, if it stays idle; INFINITY: not by waiting */
	double starts_left, starts_a_day, loads_left, loads_a_day; /* the wear account */
	uint64_t starts_used;                                      /* ever, on that account */
} DeviceSleep;

typedef struct DeviceCache {
	Redirect redirect;
	bool known; /* something above it holds writes back, and the next two are known */
	uint64_t dirty_bytes, room_bytes;
	double missed; /* the share of the reads behind a cache that reach it, of late; NAN: unknown
			*/
} DeviceCache;

/* One device as people want to see it. Strings live until the next turn. */
typedef struct DeviceState {
	const Device *device;
	Setting setting; /* in force */
	PlannedDevice planned;
	const PlannedDevice *advised; /* not done; NULL: nothing is advised */
	DeviceWatts watts;
	DeviceLoad load;
	DeviceSleep sleep;
	DeviceCache cache;
	Exactness exactness;
	const char *meter;
	char reason[160];  /* why it is set so */
	char problem[256]; /* "", or what is wrong: "nvme-power-state refused: ..." */
	bool changing;
} DeviceState;
size_t control_device_count(const Control *c);
int control_device(const Control *c, size_t index, DeviceState *ret);
int control_device_by_name(const Control *c, const char *name, DeviceState *ret); /* -ENOENT */
/* What it has drawn and moved; all 0 while nothing is counted. -ENOENT. */
int control_energy(const Control *c, const char *device, EnergySum *ret);
/* Looks at every device behind the sensor. -ENOENT. */
int control_reading(const Control *c, const char *device, DeviceReading *ret);
const Device *control_device_at(const Control *c, size_t index); /* NULL past the end */

/* What a device was found to serve at a setting that held it back. */
typedef struct LearnedState {
	Setting setting;
	double mb_s, model_mb_s;
} LearnedState;
/* index from 0; -ENOENT past the end, or without that device. */
int control_learned(const Control *c, const char *device, size_t index, LearnedState *ret);

/* The knobs of a device, for show. */
typedef struct KnobState {
	const char *name;
	Mechanism mechanism;
	Exactness exactness;
	bool offered;
	const char *why_not;  /* when not offered */
	const char *original; /* "" when never read */
	const char *wanted;   /* what is being held; "" when untouched */
} KnobState;
/* `ret` is malloc'd, *ret_n entries. -ENOENT. */
int control_knobs(const Control *c, const char *device, KnobState **ret, size_t *ret_n);

/* A setting that somebody else has changed; it is set again. */
typedef struct VerifyDifference {
	char device[64], knob[64]; /* knob "": the device does not answer */
	KnobValue wanted, found;
} VerifyDifference;
typedef struct VerifyResult {
	VerifyDifference *differences;
	size_t n;
	uint32_t checked; /* settings */
} VerifyResult;
typedef void (*VerifyDone)(const VerifyResult *result, void *userdata);
/* Reads every touched knob back from its device. done is called once, never by this call: when all
 * have answered, after 10 s at the latest, or by control_free(). -ENOMEM. */
int control_verify(Control *c, VerifyDone done, void *userdata);

/* The sensors of the configuration. */
typedef struct SensorState {
	const char *name, *type;
	const char *of, *target; /* "group", "shelf0" */
	double watts;            /* of storage; NAN: none believed */
	const char *why_aside;   /* "": it is believed */
} SensorState;
size_t control_sensor_count(const Control *c);
void control_sensor(const Control *c, size_t index, SensorState *ret);

/* Disks that woke, and by whom. Oldest first; the last 512. */
typedef struct Wakeup {
	uint64_t realtime_us;
	char *device;
	const char *why; /* "IO", "its pool wakes", "its cache is drained", "asked for", ... */
	char *cgroup;    /* "system.slice/db.service"; "" where nobody knows */
	char process[16];
	int pid;             /* 0: nobody knows */
	bool passed_through; /* a command of its own rather than IO */
	Direction direction;
	uint64_t bytes;
} Wakeup;
const Wakeup *control_wakeup(const Control *c, size_t index); /* NULL past the end */

/* Wakes the disk, or with "" all that sleep: in turn, as far as spin-ups are allowed at once and
 * the budget bears them. Returns at once. -ENODEV: no such device. */
int control_wake_device(Control *c, const char *name, char **ret_error);

/* Puts the disk to standby and reads one block of it: does that alone bring it back? What comes of
 * it is recorded for its HBA. Refused, -EBUSY or -EPERM, for a disk that is protected, kept awake,
 * busy or of a pool that must stay up; after 0, done is called exactly once, at the latest by
 * control_free(). Its result: -EREMOTEIO, the disk did not come back by itself; another error, it
 * could not be tested. text: what happened, in words. */
typedef void (*WakeTestDone)(int result, double seconds, const char *text, void *userdata);
int control_wake_test(Control *c, const char *name, WakeTestDone done, void *userdata,
		      char **ret_error);

/* The last decisions, oldest first. */
typedef struct Decision {
	uint64_t realtime_us;
	char *device; /* "" : the node */
	char *what;   /* "power state 0 -> 1" */
	char *why;    /* "share of 240 W: claim 3 by operator" */
} Decision;
size_t control_decision_count(const Control *c);
const Decision *control_decision(const Control *c, size_t index);
