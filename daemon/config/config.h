/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* storpower.conf and its drop-ins; see storpower.conf(5). */

#include "base/cleanup.h"
#include "budget/claim.h"
#include "config/block-config.h"
#include "config/sensor-config.h"

/* The section [ledger]. */
typedef struct LedgerSection {
	bool keep;
	double price_kwh; /* NAN: not said */
	char *currency;
	double g_kwh;  /* of CO2e; NAN: not said */
	char *g_path;  /* a file that tells it over time; NULL: none */
	bool marginal; /* so it is; else the grid's mean */
} LedgerSection;

/* The section [hooks]. */
typedef struct HooksSection {
	uint64_t timeout_us; /* 0: hooks are neither asked nor told */
	char *socket;
} HooksSection;

typedef struct Config {
	char *policy;          /* name; NULL: the one the simulated node suggests, else balanced */
	char *policy_at;       /* "FILE:LINE" that names it; NULL: none */
	char *simulate;        /* node name or absolute path of a node file; NULL: none given */
	char *bus;             /* "system", "session" or a D-Bus address */
	char *state_directory; /* claims, journal, wear accounts, wake tests, operating powers */
	char *runtime_directory;
	bool bpf;
	bool discover; /* manage controllers and disks that no section names */
	bool insists;  /* what somebody else sets is set again for ever */
	bool advises;  /* limits are advised, not held */
	double guard_w;
	double tolerance_s[_CLASS_MAX]; /* of claims that name none, by their class */
	unsigned spinups_at_once;       /* disks that may spin up at the same time */
	double spinup_w;      /* all that spin up may draw; INFINITY: no limit of its own */
	double cycles_a_day;  /* start/stop cycles of a disk at most; 0: it is never stopped */
	double service_years; /* over which a disk's rated cycles are spread */
	int log_level;        /* LOG_INFO, ... */
	LedgerSection ledger;
	HooksSection hooks;
	BlockConfig *devices; /* in the order of their first mention */
	size_t n_devices;
	PoolConfig *pools;
	size_t n_pools;
	SensorConfig *sensors; /* complete ones only */
	size_t n_sensors;
} Config;

/* Reads the first storpower.conf of the directories (NULL-terminated), then all their
 * storpower.conf.d/NAME.conf in the order of their names; later files override single keys. Absent
 * files leave the defaults. What is unknown or wrong is logged with file:line, ignored and counted
 * in *ret_warnings. Fails only with -ENOMEM. */
int config_read(const char *const *directories, Config **ret, size_t *ret_warnings);
Config *config_free(Config *c); /* returns NULL */
DEFINE_CLEANUP(Config *, config_free);
