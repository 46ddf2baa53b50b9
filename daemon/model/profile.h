/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A device family's measured powers and speeds, as read from policies/profiles. */

#include "base/cleanup.h"
#include "model/emerald.h"
#include "model/interface.h"
#include "model/setting.h"

#define PROFILE_STATES_MAX 32 /* NVMe base specification: 32 power state descriptors */

typedef enum DeviceKind { KIND_NVME, KIND_SATA_SSD, KIND_HDD, _KIND_MAX } DeviceKind;
typedef enum Direction { READ_IO, WRITE_IO, _DIRECTION_MAX } Direction;
typedef enum Pattern { RANDOM_IO, SEQUENTIAL_IO, _PATTERN_MAX } Pattern;

typedef struct PowerState {
	bool present;
	bool operational; /* false: any IO leaves it */
	bool estimated;
	double max_w;
	uint32_t entry_us, exit_us;
} PowerState;

typedef struct ConditionPower {
	bool present;
	bool estimated;
	double watts;
	double enter_s;    /* from the command until the watts are saved */
	double recovery_s; /* from an IO's arrival until it is served */
	double wake_w;     /* drawn while recovering (spin-up) */
	double wake_s;     /* for so long */
} ConditionPower;

/* One measured (or estimated) operating point. */
typedef struct Point {
	int power_state; /* 0 where the device has one only */
	unsigned depth;
	unsigned chunk_kib;
	double read_share;   /* of IOs: 1 or 0, but for a mix */
	Direction direction; /* of no meaning in a mix */
	Pattern pattern;
	double watts, mb_s, iops, p99_us;
	double error; /* fraction: 0.05 is +-5 % of the watts */
	bool estimated;
} Point;

/* A mix of reads and writes that was measured. What its parts give when they run alone does not
 * tell what they give together (27 % and 19 % less at 256 KiB in Nibler and Ropars). */
typedef struct MixPoint {
	Point at;
	double mb_s_part, watts_part; /* of the time-weighted mean of its parts; above idle */
} MixPoint;

/* Energy above idle, the currency of pacing: an IO of n 4-KiB pages costs io_j + n * page_j. */
typedef struct Energy {
	double io_j, page_j;
} Energy;

/* What the vendor promises. Nothing is planned with it: a point above it is a fault of the profile.
 */
typedef struct Sheet {
	Interface interface;
	double mb_s[_DIRECTION_MAX]; /* 0: not given */
	double iops[_DIRECTION_MAX]; /* at random, of 4 KiB */
} Sheet;

/* Figures of a profile that no source gives, as a set. */
typedef enum Figure {
	FIGURE_RATED = 1 << 0,
	FIGURE_IDLE = 1 << 1,
	FIGURE_LINK_SAVING = 1 << 2,
} Figure;

typedef struct Profile {
	char *name;    /* file name without .profile */
	char *path;    /* where it was read; NULL for a generic one */
	uint64_t mark; /* of the file's text: another text has another one; 0 for a generic one */
	char **models; /* globs over the model string */
	DeviceKind kind;
	double rated_w; /* the ceiling: it never draws more, often as a descriptor says */
	double idle_w;  /* awake, no IO */
	double error;   /* default relative error of the watts */
	bool estimated; /* generic: derived from a descriptor, not measured */
	unsigned estimated_figures;
	Sheet sheet;
	PowerState states[PROFILE_STATES_MAX];
	unsigned n_states;
	ConditionPower conditions[_CONDITION_MAX];
	double link_saving_w;   /* saved at idle by LINK_MEDIUM_DIPM */
	double link_recovery_s; /* that an IO waits for the link then */
	Point *points;          /* of reads or writes alone */
	size_t n_points;
	MixPoint *mixes;
	size_t n_mixes;
	Emerald emerald;
	Energy energy[_DIRECTION_MAX][_PATTERN_MAX];
	double energy_error;       /* relative, of the energies */
	double rated_cycles_start; /* spin-down rating; 0 unknown */
} Profile;

const char *kind_name(DeviceKind k); /* "nvme", "sata-ssd", "hdd" */
int kind_from_name(const char *name);
/* Of a set of Figure: each name with blanks between, "idle link_saving"; returns buf. */
const char *figures_text(char *buf, size_t size, unsigned figures);
int figures_from_list(const char *list, unsigned *ret_figures);
/* What the profile's interface carries one way; where it names none, what the fastest of its kind
 * does. */
double profile_ceiling_mb_s(const Profile *p);
Interface profile_interface(const Profile *p);

/* Reads and checks one profile file. Every complaint is logged with file:line; -EINVAL when the
 * profile cannot be used. Energies not given are fitted from the points. */
int profile_read(const char *path, Profile **ret);
Profile *profile_free(Profile *p); /* returns NULL */
DEFINE_CLEANUP(Profile *, profile_free);

/* What a device says of itself, for a profile of a drive nobody has measured. */
typedef struct Descriptor {
	DeviceKind kind;
	const char *model;
	PowerState states[PROFILE_STATES_MAX]; /* from NVMe Identify; n_states 0 for others */
	unsigned n_states;
} Descriptor;

/* A profile from descriptors alone, by the rules stated in profile-generic.c; all estimated, with
 * the wider error. Never fails but for -ENOMEM. */
int profile_generic(const Descriptor *d, Profile **ret);

/* Where profiles are looked for, the user's own first, for strv_free(). NULL: /etc/storpower, and
 * where they were installed. */
int profile_store_directories(const char *config_directory, const char *data_directory,
			      char ***ret);

/* All profiles of a list of directories, user's own first. */
typedef struct ProfileStore {
	Profile **profiles;
	size_t n;
	size_t left_out; /* files that are unusable */
	Profile **old;   /* in use before this store was read: somebody may still look at one */
	size_t n_old;
} ProfileStore;

/* Unusable files are logged and left out; the others still load. */
int profile_store_read(const char *const *directories, ProfileStore **ret);
/* A store that was read anew takes over from the one in force: what has not changed stays the same
 * Profile, and what has is kept. The old one is freed. -ENOMEM: nothing has happened. */
int profile_store_succeed(ProfileStore *s, ProfileStore *before);
ProfileStore *profile_store_free(ProfileStore *s);
DEFINE_CLEANUP(ProfileStore *, profile_store_free);
const Profile *profile_store_match(const ProfileStore *s, const char *model);
const Profile *profile_store_get(const ProfileStore *s, const char *name);
