/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The concerns of which a Managed is made. */

#include "base/clock.h"
#include "base/text.h"
#include "budget/wear.h"
#include "control/correction.h"
#include "device/device.h"
#include "journal/wear-file.h"
#include "meter/meter.h"
#include "plan/plan.h"
#include "redirect/knob-registry.h"
#include "sensor/sensor.h"

#define LOOK_US     USEC_PER_SEC       /* how often the node is looked at */
#define OVERDUE_US  USEC_PER_SEC       /* a job out for longer: the others make room */
#define AVERAGED_US (2 * USEC_PER_SEC) /* a sensor tells a second's mean, and of a look ago */

/* One knob of one device. */
typedef struct HeldKnob {
	const Knob *knob;
	bool offered;
	char *why_not;
	bool touched;   /* to be written in this run, not yet given back */
	bool recorded;  /* `original` is in the journal, and that is on disk */
	bool pending;   /* `wanted` differs from `current` */
	bool fulfilled; /* touched, and it does not */
	KnobValue original, current, wanted;
} HeldKnob;

/* How one knob has obeyed. */
typedef struct Obedience {
	unsigned failures;    /* in a row */
	uint64_t retry_at_us; /* after a failure; 0: none */
	bool disobeys;        /* the device itself refused or did not do it, last */
	unsigned taken;       /* how often somebody else has set it */
	char *withdrawn_why;  /* NULL, or why it is not used any more, once it is given back */
} Obedience;

typedef struct KnobSet {
	HeldKnob *knobs; /* in registry order */
	Offer offer;
	bool probed;    /* what it offers is known; until then it counts at its rated watts */
	bool leftover;  /* what was set is being put back, and nothing else is done */
	Setting target; /* what it ought to be */
	Setting actual; /* what it has been verified to be, or is being raised to */
	char *problem;  /* NULL, or which knob failed and how */
	uint64_t tightened_us; /* last lowering, for dwell */
	uint64_t deepened_us;  /* last raise of depth or chunk under a limit; 0: none since the last
				  lowering */
	unsigned vain;         /* so often in a row that was soon lowered again */
	bool exchanges;    /* the target allows no more than what was in force when it was set */
	uint64_t froze_us; /* its queue was stopped by a knob, last */
} KnobSet;

/* When it was last not held back. */
typedef struct Unheld {
	double mb_s;       /* what it asked for; INFINITY: unknown */
	uint64_t until_us; /* so long that and its depth are believed while it is held back */
	double wait_p50_us, wait_p99_us; /* when it was last not limited; NAN: unknown */
	bool now;                        /* nothing did at the last look */
	bool outgrown;  /* held back, it has got more than that since: it asks for more by now */
	unsigned looks; /* at which nothing did, in a row */
} Unheld;

/* When it was last judged. */
typedef struct Judged {
	Setting at;  /* what held it back, or nothing did */
	bool waking; /* it was on its way back */
} Judged;

typedef struct Workload {
	DeviceCounters counters;
	bool has_counters;
	MeterRates rates;
	Mix mix;
	bool has_mix;         /* seen, not assumed */
	double offered_depth; /* most outstanding IO seen lately; 0: unknown */
	double demand_mb_s;   /* INFINITY: as much as it can get */
	Unheld unheld;
	Judged judged;
	double waiting;      /* IOs in the device when it was last looked at */
	uint64_t waiting_us; /* when that was */
	uint64_t last_io_us, last_read_us, last_write_us;
	uint64_t own_io_until_us; /* until then a knob of ours writes to the disk itself */
} Workload;

/* Its pool, as of the last look. */
typedef struct PoolPlace {
	size_t number; /* pools.h; 0: none */
	size_t next;   /* one more than the index of the next member; 0: it is the last */
	bool held;     /* it serves, and is held back */
} PoolPlace;

typedef struct Trust {
	double bias; /* measured over modelled watts; 1 at least */
	double measured_w, estimated_w;
	double fixed_w, dynamic_w; /* as the planner has it: without IO, and above that */
	Correction own;            /* by its own reading, or a sensor beside it */
	double correction;         /* by all sensors that measure it; of what it draws above idle */
	bool is_measured;          /* by one of them, now */
	uint64_t uncontrolled_until_us; /* until then pacing does not hold it */
	double watched_pace_w;          /* what eBPF was told; 0: nothing yet */
	SensorHealth health;            /* of the drive's own reading */
	bool measures_not;              /* it has no reading of its own */
	double operating_w;      /* 100 %: what it draws at most in operation; it never falls */
	double above_w;          /* the least measured since above_since_us */
	uint64_t above_since_us; /* measured above operating_w since then; 0: it is not */
} Trust;

/* How a pool uses its members. */
typedef struct PaceUse {
	double mb_s; /* this member's, over some seconds */
	/* In the first of them, for all: */
	double left;        /* a part of their paces, which is planned with... */
	double mean;        /* ...and as these looks in a row have it */
	unsigned looks;     /* at an almost equal use */
	double looked_at_w; /* the sum of the paces at the last look */
} PaceUse;

/* Of what is learned of one setting. */
typedef struct ServedNote {
	uint64_t measured_us;
	double told; /* the factor of which the plan was told last */
	double mb_s, model_mb_s;
} ServedNote;

/* What it serves at a setting that holds it back. */
typedef struct Served {
	Learned learned; /* the planner's view of the notes, one for each */
	ServedNote notes[LEARNED_MAX];
	Mix mix;              /* of which all that is learned */
	Setting setting;      /* that is looked at */
	unsigned looks;       /* at it in a row */
	double factor;        /* served over predicted in these looks */
	bool outpaced;        /* nothing being set, it serves less than its profile says */
	bool asks;            /* for a better plan */
	uint64_t asked_us;    /* when it last did */
	uint64_t patience_us; /* the least time from then until it asks again */
	PaceUse in_pool;      /* pace-use.c */
} Served;

/* What a disk may be put to now; see PlanDevice. */
typedef struct SleepLimits {
	Condition deepest, needed, rest;
} SleepLimits;

#define REST_WHY_SIZE 160

/* A step of which the operator's hooks are asked. */
typedef enum HookStep { HOOK_SPIN_DOWN, HOOK_REDIRECT, _HOOK_STEP_MAX } HookStep;

typedef enum ConsentState {
	CONSENT_NONE,
	CONSENT_ASKED, /* the step waits for the answer */
	CONSENT_GIVEN, /* it may go, and they are told what comes of it */
} ConsentState;

/* A limit as it was at a time: another one, or the same after a change, is asked for anew. */
typedef struct ClaimMark {
	uint64_t cookie; /* 0: there was none */
	uint64_t changed_us;
} ClaimMark;

typedef struct Consent {
	ConsentState state;
	ClaimMark asked_for;
	unsigned number; /* of the last question: an answer to an earlier one says nothing */
	uint64_t given_us;
	char *told; /* what the step is, in their words, but for what happens to it */
} Consent;

/* What the hooks have said, and what they are yet to be told. */
typedef struct Consents {
	Consent of[_HOOK_STEP_MAX];
	struct Job *first, *last; /* in order: one at a time */
	bool out;
} Consents;

typedef struct Rest {
	SleepLimits limits;
	char awake_why[REST_WHY_SIZE]; /* why it may not be stopped now; "" when it may */
	uint64_t needed_us, paid_us;   /* when an idle disk may be, where the budget needs it and
					* where it pays; USEC_NEVER: it may, or waiting is no help */
	char *refused_why; /* those it serves needed it awake, when it was last to be stopped */
	uint64_t refused_until_us;
	bool vetoed; /* it is a hook that refused */
	ClaimMark vetoed_for;
	Consents consents; /* consent.c */
	bool awaits;       /* what comes before it may sleep takes a while: it draws until then */
} Rest;

typedef enum WakeReason {
	WAKE_UNSAID,
	WAKE_BY_IO,
	WAKE_WITH_POOL,
	WAKE_TO_DRAIN,
	WAKE_TO_GIVE_BACK,
	WAKE_WAS_DEEPER,
	WAKE_ONCE_MORE,
	WAKE_ASKED,
	WAKE_NO_LONGER_KEPT,
	_WAKE_REASON_MAX,
} WakeReason;

typedef enum WakingState {
	WAKING_SETTLED,     /* awake or asleep, as its condition says */
	WAKING_WANTED,      /* asleep, and to be woken as soon as it may spin up */
	WAKING_SPINNING_UP, /* for as long as its profile says: until deadline_us */
	WAKING_UNCONFIRMED, /* for longer than that, without having shown that it is awake */
} WakingState;

typedef struct Waking {
	WakingState state;
	WakeReason reason;
	WakeReason next; /* it is to be woken once it has got to where it is on its way to */
	uint64_t deadline_us;
	double watts; /* drawn meanwhile */
	uint64_t woke_us;
	bool answered; /* spinning up, and it has shown that it serves */
	bool by_io;    /* it is waking by IO that has not been served yet */
	bool stuck;    /* it did not wake; that is believed until a command or a test woke it */
	bool watched;  /* by eBPF, for who wakes it */
	bool has_waker;
	MeterWake waker; /* as eBPF saw it */
} Waking;

/* Of what lies behind a cache. */
typedef struct CacheHits {
	bool counting; /* `last` has been counted */
	CacheReads last;
	uint64_t read_us;
	double hits, misses; /* of late */
	double planned;      /* the share of misses that was told last; NAN: unknown */
} CacheHits;

typedef struct CacheWatch {
	bool known; /* something above holds writes back, and its state has been read */
	CacheState state;
	uint64_t read_us, held_us; /* since when it holds writes back; 0: it does not */
	bool draining;
	double fill_bytes_s; /* of late */
	CacheHits hits;      /* cache-hits.c */
} CacheWatch;

typedef struct Wear {
	WearAccount *account; /* the book's; NULL: nothing of it wears */
	bool charged;         /* for the cycle that it is in */
} Wear;

/* As of the plan in force: what it gives, and what it was made from. */
typedef struct Planned {
	PlannedDevice device;
	double group_limit_w; /* INFINITY: none */
	double alarm_w; /* above idle: from there on the node may exceed its budget; INFINITY: never
			 */
	double demand_mb_s, bias, correction;
	double pace_left;
	bool was_measured;
	uint64_t waiting_pin; /* the claim that pins its power state, and a limit came first */
	Mix mix;
	SleepLimits limits;
} Planned;

/* What the plan would set that is advised while limits are not held. */
typedef struct Advised {
	bool known;
	PlannedDevice device;
	uint64_t since_us; /* its setting is advised */
} Advised;

/* What a setting allows, remembered: it is asked in every turn, and seldom changes. */
typedef struct Cap {
	bool known;
	Setting setting;
	double bias;
	bool uncontrolled;
	double watts;
} Cap;

/* The least that it can be brought down to, remembered likewise. */
typedef struct Floor {
	bool known;
	Offer offer;
	unsigned forbidden; /* by the policy */
	Condition condition;
	Mix mix;
	double watts;
} Floor;

typedef struct Caps {
	double now_w; /* whatever is under way */
	Cap cap;      /* what the setting in force allows */
	Floor floor;  /* what it can be brought down to */
} Caps;

/* What an exclusive job that is over leaves to be done. */
typedef enum Errand {
	ERRAND_NONE = 0,
	ERRAND_PROBE = 1 << 0,     /* all that it offers */
	ERRAND_REDIRECTS = 1 << 1, /* what lies above it */
	ERRAND_REREAD = 1 << 2,    /* what its knobs say */
	ERRAND_RESET = 1 << 3,     /* the same, and what lives in the device counts as lost */
} Errand;

/* How its own counters are read. */
typedef struct Looks {
	bool together; /* with those of others, now */
	bool alone;    /* apart from them, now */
	bool late;     /* that took long: from now on alone */
} Looks;

typedef struct Errands {
	unsigned n_out; /* jobs of any kind; a device that is gone is freed with the last */
	bool gone;
	bool busy;           /* an exclusive job is out: a step, a probe, a reread, a wake test */
	bool overdue_told;   /* and the others have made room, because it takes so long */
	bool refused;        /* it could not be sent: the next one goes a while later */
	uint64_t began_us;   /* the exclusive one, or the one before */
	Mechanism mechanism; /* that it is about; 0: none */
	bool raises;
	bool testing;  /* whether the disk wakes */
	unsigned next; /* set of Errand */
	bool reading_power, reading_cache, counting_reads;
	Looks looks;
	uint64_t reread_us;
} Errands;
