/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The only part that knows all others: reacts to an event (claim, device, overrun, timer), runs
 * budget -> plan -> knobs, and remembers why. This is its public face, for bus/ and storpowerd.c.
 */

#include "budget/claim.h"
#include "device/inventory.h"
#include "device/wake-record.h"
#include "journal/journal.h"
#include "loop/loop.h"
#include "meter/meter.h"
#include "plan/plan.h"
#include "sensor/sensor.h"

typedef struct Manager Manager;

typedef struct ManagerConfig {
	const ProfileStore *profiles;
	const char *const *policy_directories;
	const char *policy;      /* name */
	const char *claims_path; /* standing claims; NULL: not kept */
	const char *journal_path;
	bool bpf;
	double guard_w; /* kept free below every budget; 0 */
	const SensorConfig *sensors;
	size_t n_sensors;
	const char *sysfs_root; /* of the sensors; NULL: /sys */
	const char *wear_path;  /* the disks' wear accounts; NULL: kept in memory alone */
	double service_years;   /* over which a disk's rated cycles are spread */
	double cycles_a_day;    /* start/stop cycles of a disk at most */
	unsigned spinups_at_once;
	double spinup_w;   /* all spin-ups together may draw; INFINITY: no limit of its own */
	WakeRecord *wakes; /* of wake tests; the inventory's too */
} ManagerConfig;

/* Told of changes, so that bus/ can emit signals. Any may be NULL. */
typedef struct ManagerEvents {
	void (*claim_added)(const Claim *c, void *userdata);
	void (*claim_ended)(uint64_t cookie, const char *why, void *userdata);
	void (*plan_applied)(const Plan *p, const char *why, void *userdata);
	void (*overrun)(double measured_w, double budget_w, void *userdata);
	void (*device_changed)(const char *name, bool present, void *userdata);
	void (*changed)(void *userdata); /* some property */
	void *userdata;
} ManagerEvents;

/* Takes the inventory and the loop by reference; both must outlive the manager. */
int manager_new(const ManagerConfig *config, Loop *loop, Inventory *inventory, Manager **ret);
/* Restores everything and frees. Waits for the knobs. */
Manager *manager_free(Manager *m);
DEFINE_CLEANUP(Manager *, manager_free);
/* Readable when eBPF has something to tell; then call manager_meter_ready(). -EOPNOTSUPP: never. */
int manager_meter_fd(const Manager *m);
void manager_meter_ready(Manager *m);
void manager_set_events(Manager *m, const ManagerEvents *events);
/* Replays the journal, loads the claims, takes in the devices, enforces. */
int manager_start(Manager *m);
/* storpowerd --restore: replay the journal on the inventory's devices and nothing else. -EIO when
 * something could not be put back; it stays in the journal. */
int manager_restore(const ManagerConfig *config, Loop *loop, Inventory *inventory);

/* Claims. On error *ret_error (malloc'd) says what would be right. */
int manager_add_claim(Manager *m, const Claim *c, uint64_t *ret_cookie, char **ret_error);
int manager_release(Manager *m, uint64_t cookie, char **ret_error);
size_t manager_drop_owner(Manager *m, const char *owner);
const Claims *manager_claims(const Manager *m);

/* A dry run. only/forbidden: sets of mechanisms, 0 for no restriction; policy NULL: the present
 * one. `budget_w` in watts. Names of devices are those of manager_device(), in the same order. */
int manager_plan(Manager *m, double budget_w, unsigned forbidden, const char *policy, Plan **ret,
		 char **ret_error);
int manager_set_policy(Manager *m, const char *name, char **ret_error);
const char *manager_policy(const Manager *m);
int manager_reload(Manager *m, char **ret_error); /* profiles are not reread; policies are */

typedef struct ManagerState {
	double budget_w;        /* effective; INFINITY: none */
	const Claim *effective; /* NULL: none */
	double rated_w, floor_w;
	double estimated_w; /* model and counters */
	double measured_w;  /* sensors; NAN where not all devices have one */
	double cap_w;       /* sum of what the settings can draw */
	double mb_s, demand_mb_s;
	double expected_mb_s; /* of the plan in force */
	bool enforcing;
	bool degraded;
	double shortfall_w;
	uint64_t last_enforce_us; /* from the event to the last fast knob of the last plan */
	size_t n_devices;
	const char *meter;         /* "ebpf", ... */
	const char *meter_why_not; /* NULL when eBPF runs */
} ManagerState;
void manager_state(Manager *m, ManagerState *ret);
double manager_rated_w(const Manager *m);

/* One device as people want to see it. Strings live until the manager runs again. */
typedef struct DeviceState {
	const Device *device;
	Setting setting; /* in force */
	PlannedDevice planned;
	double rated_w, idle_w, cap_w, estimated_w, measured_w;
	double mb_s, iops, depth, mean_kib, read_share, random_share, latency_us;
	double demand_mb_s; /* INFINITY: saturated */
	Exactness exactness;
	const char *meter;
	const char *reason;  /* why it is set so */
	const char *problem; /* NULL, or what is wrong: "nvme-power-state refused: ..." */
	bool asleep, changing;
	const char *awake_why; /* why it may not be put to sleep now; "" when it may, or sleeps */
	double starts_left, starts_a_day, loads_left, loads_a_day; /* the wear account */
	uint64_t starts_used;                                      /* ever, on that account */
	Redirect redirect;
	bool has_cache; /* something above it holds writes back, and the next two are known */
	uint64_t cache_dirty_bytes, cache_room_bytes;
} DeviceState;
size_t manager_device_count(const Manager *m);
int manager_device(Manager *m, size_t index, DeviceState *ret);
int manager_device_by_name(Manager *m, const char *name, DeviceState *ret); /* -ENOENT */

/* The knobs of a device, for show and verify. */
typedef struct KnobState {
	const char *name;
	Mechanism mechanism;
	Exactness exactness;
	bool offered;
	const char *why_not;  /* when not offered */
	const char *original; /* "" when never read */
	const char *wanted;   /* what is being held; "" when untouched */
	const char *found;    /* manager_verify(): what the device says now */
	bool differs;
} KnobState;
/* Reads every touched knob back from the device. `ret` is malloc'd, *ret_n entries. */
int manager_verify_device(Manager *m, size_t index, KnobState **ret, size_t *ret_n);
int manager_knobs(Manager *m, size_t index, KnobState **ret, size_t *ret_n);

/* The sensors of the configuration. */
typedef struct SensorState {
	const char *name, *type;
	const char *of, *target; /* "group", "shelf0" */
	double watts;            /* of storage; NAN: none believed */
	const char *why_aside;   /* "": it is believed */
} SensorState;
size_t manager_sensor_count(const Manager *m);
void manager_sensor(const Manager *m, size_t index, SensorState *ret);

/* Disks that woke, and by whom. Oldest first; as many as DECISIONS_KEPT. */
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
size_t manager_wakeup_count(const Manager *m);
const Wakeup *manager_wakeup(const Manager *m, size_t index); /* NULL past the end */

/* Wakes the disk, or with "" all that sleep: in turn, as far as spin-ups are allowed at once and
 * the budget bears them. Returns at once. -ENODEV: no such device. */
int manager_wake_device(Manager *m, const char *name, char **ret_error);

/* Puts the disk to standby and reads one block of it: does that alone bring it back? What comes of
 * it is recorded for its HBA. Refused, -EBUSY or -EPERM, for a disk that is protected, kept awake,
 * busy or of a pool that must stay up; after 0, done is called exactly once, at the latest by
 * manager_free(). Its result: -EREMOTEIO, the disk did not come back by itself; another error, it
 * could not be tested. text: what happened, in words. */
typedef void (*WakeTestDone)(int result, double seconds, const char *text, void *userdata);
int manager_wake_test(Manager *m, const char *name, WakeTestDone done, void *userdata,
		      char **ret_error);

/* The last decisions, oldest first. */
typedef struct Decision {
	uint64_t realtime_us;
	char *device; /* "" : the node */
	char *what;   /* "power state 0 -> 1" */
	char *why;    /* "share of 240 W: claim 3 by operator" */
} Decision;
size_t manager_decision_count(const Manager *m);
const Decision *manager_decision(const Manager *m, size_t index);
