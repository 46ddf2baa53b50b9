/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What can be set on a device, by which mechanism, and how exactly. All other rooms use these
 * types. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Disk power conditions, shallow to deep (T10 SPC-6 power condition, ATA ACS-5 EPC). */
typedef enum Condition {
	CONDITION_ACTIVE,
	CONDITION_IDLE_A,
	CONDITION_IDLE_B,
	CONDITION_IDLE_C,
	CONDITION_STANDBY_Y,
	CONDITION_STANDBY_Z,
	_CONDITION_MAX,
} Condition;

/* What a setting is made of; bits, so that a policy can forbid a set of them. */
typedef enum Mechanism {
	MECHANISM_POWER_STATE = 1 << 0, /* NVMe feature 02h */
	MECHANISM_POWER_LIMIT = 1 << 1, /* NVMe 2.3 feature 23h */
	MECHANISM_CONDITION = 1 << 2,   /* ATA/SCSI idle_a-c, standby */
	MECHANISM_LINK = 1 << 3,        /* SATA link power management; APST's latency of NVMe */
	MECHANISM_DEPTH = 1 << 4,       /* IOs outstanding at the device */
	MECHANISM_CHUNK = 1 << 5,       /* largest IO, KiB */
	MECHANISM_PACING = 1 << 6,      /* io.cost priced in joules */
	MECHANISM_REDIRECT = 1 << 7,    /* a cache above the disk holds its writes back */
	MECHANISM_ALL = (1 << 8) - 1,
} Mechanism;

/* How well a mechanism keeps to its value. */
typedef enum Exactness {
	EXACT,    /* the device or kernel never exceeds it */
	MEAN,     /* holds on average over a second */
	ADVISORY, /* usually; nothing enforces it */
} Exactness;

typedef enum LinkPower {
	LINK_AS_FOUND,
	LINK_MEDIUM_DIPM, /* med_power_with_dipm: the deepest ever used */
} LinkPower;

/* What a component above the disk (bcache, dm-writecache, mergerfs, ...) does with its IO. It
 * changes no watts by itself: it lets the disk stay asleep. */
typedef enum Redirect {
	REDIRECT_AS_FOUND,
	REDIRECT_HOLD,  /* keeps what it can off the disk */
	REDIRECT_DRAIN, /* writes back what it holds, as fast as it can */
} Redirect;

/* All knob values of one device. A field "as found" means: the value the device had before
 * storpower touched it. */
typedef struct Setting {
	int power_state;     /* NVMe power state number; -1 as found */
	double limit_w;      /* NVMe power limit; 0 as found */
	Condition condition; /* CONDITION_ACTIVE also is as found */
	LinkPower link;
	/* An idle NVMe drive enters no state by itself (APST) that takes longer to leave, in us;
	 * 0 as found. */
	unsigned idle_latency_us;
	Redirect redirect;
	unsigned depth;     /* IOs; 0 as found */
	unsigned chunk_kib; /* 0 as found */
	double pace_w;      /* watts that IO may add above idle; 0 as found */
} Setting;

#define SETTING_AS_FOUND ((Setting){ .power_state = -1 })

/* What the knobs of one device can do; filled in by each knob's probe. */
typedef struct Offer {
	unsigned mechanisms;    /* Mechanism bits that work on this device now */
	uint32_t power_states;  /* bit n: power state n may be set */
	unsigned conditions;    /* bit c: Condition c may be set */
	bool depth_one;         /* depth 1 can be enforced exactly */
	unsigned depth_min;     /* smallest depth besides 1; 0 none */
	unsigned depth_max;     /* the depth as found */
	unsigned chunk_min_kib; /* inclusive range of chunk */
	unsigned chunk_max_kib;
	double pace_min_w;               /* smallest pace_w the kernel can express */
	double limit_min_w, limit_max_w; /* NVMe power limit range */
	bool redirects_writes;           /* MECHANISM_REDIRECT keeps writes off the disk */
	bool redirects_reads;            /* and reads, as far as others can serve them */
} Offer;

/* Kernel names: "active", "idle_a", ... "standby_z"; "power-state", ...; "exact", "mean",
 * "advisory". The *_from_name functions return -EINVAL for an unknown name. */
const char *condition_name(Condition c);
int condition_from_name(const char *name);
const char *mechanism_name(Mechanism m);
int mechanism_from_name(const char *name);
/* A list of names, blanks or commas between, into a set. */
int mechanisms_from_list(const char *list, unsigned *ret_mechanisms);
const char *exactness_name(Exactness e);

/* The mechanisms that make `to` out of SETTING_AS_FOUND. */
unsigned setting_mechanisms(const Setting *s);
/* Copies the mechanism's part of `from`. */
void setting_take(Setting *to, const Setting *from, Mechanism m);
bool setting_equal(const Setting *a, const Setting *b);
bool offer_equal(const Offer *a, const Offer *b);
/* The worst exactness among the mechanisms used, as far as watts go; EXACT when nothing is set. */
Exactness setting_exactness(const Setting *s);
/* In words: "power state 1, depth 4, chunk 64 KiB, IO held to 3.20 W above idle" or "as found". */
char *setting_text(char *buf, size_t size, const Setting *s);
