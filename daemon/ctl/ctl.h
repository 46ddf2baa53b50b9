/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* storpowerctl: what its verbs share. A verb prints its own errors and returns the exit status. */

#include <json.h>
#include <systemd/sd-bus.h>

#include "base/bus-connect.h"
#include "base/cleanup.h"
#include "base/text.h"

#define BUS_NAME    "org.storpower1"
#define BUS_PATH    "/org/storpower1"
#define BUS_MANAGER "org.storpower1.Manager"
#define BUS_DEVICE  "org.storpower1.Device"

enum {
	STATUS_OK = 0,
	STATUS_FAILURE = 1,
	STATUS_USAGE = 2,
	STATUS_NO_DAEMON = 3,
	STATUS_REFUSED = 4,
	STATUS_DIFFERENT = 5,
	STATUS_DEGRADED = 6,
	STATUS_NOT_HELD = 125,   /* as timeout(1): the failure is not the command's */
	STATUS_CANNOT_RUN = 126, /* as env(1) and nohup(1) */
	STATUS_NOT_FOUND = 127,
};

/* What "model" is told besides. */
typedef struct ModelOptions {
	const char *workload, *plot;
	const char *profiles; /* a directory; NULL: those in force */
	unsigned long depth;  /* of a limit; 0: none */
} ModelOptions;

/* What "calibrate" is told besides. */
typedef struct CalibrateOptions {
	const char *destructive, *export, *import; /* NULL: not given */
	const char *depths, *chunks;               /* likewise: "1,4,16", "4K,64K" */
	double goal;                               /* 0: not given */
	unsigned long runs;                        /* likewise */
	bool resume;
} CalibrateOptions;

/* What "carbon", "efficiency" and "report" are told besides, in the order of the table in
 * carbon-options.c. */
typedef enum CarbonOption {
	CARBON_SSD,
	CARBON_HDD,
	CARBON_SSD_ENERGY,
	CARBON_HDD_ENERGY,
	CARBON_SSD_EMBODIED,
	CARBON_HDD_EMBODIED,
	CARBON_SIZE,
	CARBON_RATE,
	CARBON_HDD_RATE,
	CARBON_SCALING,
	CARBON_LIFE,
	CARBON_INTENSITY,
	CARBON_PRICE,
	CARBON_PROTECTION,
	CARBON_FILL,
	_CARBON_OPTION_MAX,
} CarbonOption;

typedef struct CarbonOptions {
	const char *text[_CARBON_OPTION_MAX]; /* NULL: not given */
} CarbonOptions;

/* What "report" is told besides; NULL: not given. */
typedef struct ReportOptions {
	const char *since, *until, *by, *html, *claim, *ledger;
	bool csv;
} ReportOptions;

typedef struct Ctl {
	const char *address; /* "system", "session" or a bus address */
	sd_bus *bus;
	bool wide; /* every column, a line each */
	bool json, json_pretty, pager, legend, all, claims, wakeups, once, wake, witness, replace,
		yes, dry_run, help, version;
	const char *reason, *class, *device, *group, *policy, *forbid, *only;
	const char *output, *format;  /* NULL: not given */
	double tolerance_s;           /* NAN: not given */
	uint64_t for_us, start_in_us; /* 0: not given */
	unsigned long lines;          /* likewise */
	uint64_t patience_us;         /* with the daemon; 0: what is usual on the bus */
	bool terminal;                /* standard output is one */
	bool escapes, bold;           /* it obeys escapes; words may be marked by them */
	size_t width;                 /* of it */
	char **args;                  /* after the verb */
	int n_args;
	ModelOptions model;
	CalibrateOptions calibrate;
	CarbonOptions carbon;
	ReportOptions report;
} Ctl;

int verb_status(Ctl *c);
int verb_set(Ctl *c);
int verb_clear(Ctl *c);
int verb_list(Ctl *c);
int verb_show(Ctl *c);
int verb_top(Ctl *c);
int verb_plan(Ctl *c);
int verb_explain(Ctl *c);
int verb_verify(Ctl *c);
int verb_doctor(Ctl *c);
int verb_monitor(Ctl *c);
int verb_hold(Ctl *c);
int verb_policy(Ctl *c);
int verb_mode(Ctl *c);
int verb_version(Ctl *c);
int verb_wake(Ctl *c);
int verb_wake_test(Ctl *c);
int verb_model(Ctl *c);
int verb_calibrate(Ctl *c);
int verb_carbon(Ctl *c);
int verb_efficiency(Ctl *c);
int verb_report(Ctl *c);
int verb_metrics(Ctl *c);

int ctl_complete(Ctl *c, json_object *verbs); /* ctl-complete.c */

/* ctl-help.c */
void ctl_help(const Ctl *c);
void ctl_help_verb(const Ctl *c, const char *verb, const char *usage);
/* What it says of a verb and of an option, "group", in one line; NULL: nothing. verb: what takes
 * the option; NULL: whichever. */
char *ctl_help_about_verb(const char *verb);
char *ctl_help_about_option(const char *option, const char *verb);

/* Prints "storpowerctl: ..." on standard error and returns status. */
int complain(int status, const char *format, ...) _printf_(2, 3);

/* ctl-bus.c. Quietly; 0 or -errno. */
int ctl_connect(Ctl *c);
void ctl_disconnect(Ctl *c);
/* Quietly, and without starting it. */
bool ctl_daemon_runs(Ctl *c);
/* Without starting it, too; an exit status, errors printed. */
int ctl_need_running(Ctl *c);
/* Connects on first use. All return an exit status, errors printed. */
int ctl_new_call(Ctl *c, const char *member, sd_bus_message **ret);
int ctl_call(Ctl *c, sd_bus_message *call, sd_bus_message **ret_reply);
/* Does the answer say that nobody will answer the next call either, or that its target is unknown?
 */
bool ctl_is_hopeless(const sd_bus_error *error);
/* new_call, append, call */
int ctl_simple_call(Ctl *c, sd_bus_message **ret_reply, const char *member, const char *types, ...);
/* All properties of the manager; all devices, an array of property objects. */
int ctl_get_state(Ctl *c, json_object **ret);
/* The same as was known last, without waiting for fresh figures. */
int ctl_get_known_state(Ctl *c, json_object **ret);
int ctl_get_devices(Ctl *c, json_object **ret);
/* NameOwnerChanged of the daemon. 0 or -errno. */
int ctl_match_daemon(Ctl *c, sd_bus_message_handler_t handler, void *userdata);

/* ctl-plan.c: a dry run, of the device or group of the command line where it names one. Quietly: a
 * daemon may not know it. 0 or -errno. The plan has its devices as Devices. */
typedef struct PlanAsked {
	double value;
	const char *unit;   /* "W" or "%" */
	const char *forbid; /* instead of the command line's; NULL */
} PlanAsked;
int ctl_plan(Ctl *c, json_object **ret); /* of the command line; prints errors */
double plan_loss(json_object *plan);     /* of its throughput: 0 to 1 */
void plan_print_motor(const Ctl *c, json_object *plan);
/* Kind, Model, Group and Pool of its devices, which a plan does not tell. */
void ctl_describe_planned(Ctl *c, json_object *planned);
/* ret_error: NULL, or to be freed. */
int ctl_try_plan(Ctl *c, const PlanAsked *asked, sd_bus_error *ret_error, json_object **ret);

/* ctl-set.c: SetBudget with the options of the command line. */
int ctl_new_claim(Ctl *c, const char *limit, bool standing, sd_bus_message **ret_call);
int ctl_append_tolerance(const Ctl *c, sd_bus_message *m); /* --tolerance, if it was given */
json_object *ctl_find_claim(json_object *claims, uint64_t cookie); /* NULL */
uint64_t ctl_cookie_of(json_object *claim);
int ctl_check_target(const Ctl *c); /* --device or --group, not both */
int ctl_parse_budget(const char *text, double *ret_value, const char **ret_unit);

/* ctl-set-foresee.c: what the limit would cost. Prints it, and asks where it costs much and
 * somebody sits at a terminal; STATUS_REFUSED: the answer was no. */
int ctl_foresee(Ctl *c);
int ctl_foretell(Ctl *c); /* prints it alone */

/* ctl-set-print.c. The claims that this one has replaced, as they were. */
json_object *ctl_replaced_claims(json_object *before, json_object *after, uint64_t cookie);
void print_set(json_object *state, uint64_t cookie, json_object *replaced);

/* output-json.c. Non-finite numbers become null. */
json_object *json_from_message(sd_bus_message *m); /* the next value */
json_object *json_from_double(double d);
void json_put_number(json_object *o, const char *key, double v);
void json_put_text(json_object *o, const char *key, const char *text); /* NULL: null */
void json_put_count(json_object *o, const char *key, uint64_t n);
void json_put_flag(json_object *o, const char *key, bool yes);
/* An array of arrays as an array of objects with these keys; takes the array. */
json_object *json_with_keys(json_object *rows, const char *const *keys);
void json_print(const Ctl *c, json_object *o);
const char *json_text(json_object *o, const char *key); /* "" when absent */
double json_number(json_object *o, const char *key);    /* NAN when absent or null */
bool json_true(json_object *o, const char *key);
json_object *json_member(json_object *o, const char *key); /* NULL when absent */
size_t json_count(json_object *array);                     /* 0 when it is no array */
static inline void json_putp(json_object **o)
{
	json_object_put(*o);
}
#define _cleanup_json_ _cleanup_(json_putp)

/* ctl-devices.c: by its name or its id; NULL. */
json_object *ctl_find_device(json_object *devices, const char *name);
/* Says what there is then, and returns STATUS_REFUSED. */
int ctl_need_device(json_object *devices, const char *name, json_object **ret);

/* ctl-suggest.c. Says what was probably meant by a name that no device or group has, and by one
 * that the daemon has refused by this error. */
void ctl_suggest_device(json_object *devices, const char *word, const char *key);
void ctl_suggest_name(Ctl *c, const char *error);
char **ctl_policy_names(void); /* of the files that are there; strv_free() */

/* ctl-waiting.c. What GetWaiting() returns; NULL: the daemon does not know it. */
json_object *ctl_get_waiting(Ctl *c);
/* "; some task in system.slice waited for IO in 12 % of the last 10 s", or "" */
char *format_pressure(char *buf, size_t size, json_object *waiting);
void print_wait(Ctl *c, json_object *device); /* a line of show */

/* ctl-wake.c */
int ctl_list_wakeups(Ctl *c);
/* Wakes one, or with "" all that sleep. */
int ctl_wake(Ctl *c, const char *device);
/* "/dev/sda" as "sda" */
const char *ctl_device_name(const char *name);

/* ctl-status.c */
void print_claims(const Ctl *c, json_object *claims);
void format_claim_limit(char *buf, size_t size, json_object *claim); /* "80 % (46.4 W)" */
void print_degraded(json_object *state);

/* ctl-advice.c */
bool ctl_is_advised(json_object *state); /* limits are advised, not held */
/* What would be done and saved, each line so far from the left. */
void print_advice(const Ctl *c, json_object *state, size_t indent);

/* pager.c: standard output goes through $PAGER until pager_close(). */
void pager_open(const Ctl *c);
void pager_close(void);
