/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Shared by the files of bus/ alone. */

#include <systemd/sd-bus.h>

#include "bus/buckets.h"
#include "bus/bus.h"

#define BUS_NAME          "org.storpower1"
#define BUS_PATH          "/org/storpower1"
#define BUS_DEVICE_PREFIX "/org/storpower1/device"
#define BUS_MANAGER       "org.storpower1.Manager"
#define BUS_DEVICE        "org.storpower1.Device"

#define BUS_ERROR_INVALID_LIMIT   "org.storpower1.Error.InvalidLimit"
#define BUS_ERROR_INVALID_OPTION  "org.storpower1.Error.InvalidOption"
#define BUS_ERROR_UNKNOWN_DEVICE  "org.storpower1.Error.UnknownDevice"
#define BUS_ERROR_UNKNOWN_GROUP   "org.storpower1.Error.UnknownGroup"
#define BUS_ERROR_UNKNOWN_POLICY  "org.storpower1.Error.UnknownPolicy"
#define BUS_ERROR_UNKNOWN_CLAIM   "org.storpower1.Error.UnknownClaim"
#define BUS_ERROR_TOO_MANY_CLAIMS "org.storpower1.Error.TooManyClaims"
#define BUS_ERROR_NOT_AUTHORIZED  "org.storpower1.Error.NotAuthorized"
#define BUS_ERROR_TOO_OFTEN       "org.storpower1.Error.TooOften"
#define BUS_ERROR_REFUSED         "org.storpower1.Error.Refused"
#define BUS_ERROR_FAILED          "org.storpower1.Error.Failed"

/* One match for all whose leaving matters, because a bus bears only so many a connection
 * (dbus-daemon: 512). It lets through the names that vanish, and is there while one may. */
#define BUS_NAME_VANISHED                                                                          \
	"type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"                \
	"interface='org.freedesktop.DBus',member='NameOwnerChanged',arg2=''"

typedef struct Turns Turns;
typedef struct Authority Authority;

/* A method call that is answered later. */
typedef struct Call {
	Bus *bus; /* NULL: it has been closed meanwhile */
	sd_bus_message *message;
	uint64_t cookie; /* of the claim that it has made */
	struct Call *next;
} Call;

struct Bus {
	sd_bus *bus;
	sd_event *event;
	Control *control;
	BusConfig config;
	ControlEvents events;
	char *id; /* of the bus: unique names mean nothing on another one; NULL: unknown */
	sd_bus_slot *owners_match; /* tells of names that vanish; NULL: no claim has an owner */
	Turns *turns;
	Authority *authority;
	Buckets buckets;    /* what users may ask for yet that is costly */
	struct Call *calls; /* to be answered later */
	bool testing;       /* a wake test is under way */

	LedgerState ledger;    /* filled with the next */
	ControlState state;    /* filled afresh for every request, see bus_find_manager() */
	DeviceState device;    /* filled likewise, see bus-device.c */
	DeviceReading reading; /* of the same device */
	EnergySum energy;      /* likewise */

	/* what listeners were last told, see bus-signals.c */
	sd_event_source *emit;
	ControlState told;
	char *told_policy;
	char **told_devices;
	size_t n_told_devices;
	bool claims_changed;
};

/* bus-owner.c: the claims of an owner that leaves the bus end. */
int bus_owner_watch(Bus *b, const char *name); /* -ENXIO: it has left already */
void bus_owners_prune(Bus *b);                 /* stops to listen when no claim has an owner */
int bus_read_id(sd_bus *bus, char **ret);

/* bus-manager.c, bus-manager-properties.c, bus-device.c */
int bus_manager_register(Bus *b);
extern const sd_bus_vtable bus_manager_properties[];
int bus_find_methods(sd_bus *bus, const char *path, const char *interface, void *userdata,
		     void **ret_found, sd_bus_error *error);
int bus_find_manager(sd_bus *bus, const char *path, const char *interface, void *userdata,
		     void **ret_found, sd_bus_error *error);
int bus_device_register(Bus *b);
int bus_device_path(const char *name, char **ret_path);
int bus_get_bool(sd_bus *bus, const char *path, const char *interface, const char *property,
		 sd_bus_message *reply, void *userdata, sd_bus_error *error);

/* bus-append.c: the dictionaries of the contract. */
int bus_append_claim(Bus *b, sd_bus_message *m, const Claim *c);
int bus_append_plan(sd_bus_message *m, const Plan *p);
const char *bus_redirect_name(Redirect r);
/* How a device would be set, and why; "" while nothing is advised. Returns buf. */
const char *bus_advised_text(char *buf, size_t size, const DeviceState *d);
int bus_append_planned_device(sd_bus_message *m, const char *name, const PlannedDevice *d);

/* bus-signals.c */
int bus_signals_register(Bus *b);
void bus_signals_free(Bus *b);

#define BUS_SECONDS_MAX (366.0 * 86400) /* of a claim */

/* bus-options.c, bus-arguments.c: what callers send, checked. Negative with a named error set. */
typedef struct BusOptions {
	const char *reason, *class, *source, *device, *group, *policy;
	double for_seconds, start_in_seconds;
	double tolerance_seconds; /* NAN: not given */
	int standing, replace;
	int power_state;       /* -1: not given */
	unsigned forbid, only; /* sets of mechanisms */
} BusOptions;

typedef enum BusOptionSet {
	OPTIONS_OF_SET_BUDGET,
	OPTIONS_OF_UPDATE,
	OPTIONS_OF_PLAN
} BusOptionSet;

/* Reads a{sv}; what is not given keeps its value in *options. */
int bus_read_options(sd_bus_message *m, BusOptionSet set, BusOptions *options, sd_bus_error *error);
/* Reads "ds": a number and its unit. */
int bus_read_limit(sd_bus_message *m, double *ret_value, LimitUnit *ret_unit, sd_bus_error *error);
/* The same; with the unit "" the limit stays as it is. */
int bus_read_new_limit(sd_bus_message *m, ClaimChange *ret, sd_bus_error *error);
int bus_check_class(const char *name, int *ret, sd_bus_error *error);
/* What is limited. The claim borrows the options' strings. */
int bus_target_from_options(Bus *b, const BusOptions *options, Claim *claim, sd_bus_error *error);
/* Class, target and lease. The claim borrows the options' strings. */
int bus_claim_from_options(Bus *b, const BusOptions *options, Claim *claim, sd_bus_error *error);
int bus_check_device(Bus *b, const char *name, DeviceState *ret, sd_bus_error *error);
int bus_check_policy_name(const char *name, sd_bus_error *error);

/* bus-turns.c: in which order calls are answered. */
int bus_turns_begin(Bus *b);
Turns *bus_turns_end(Turns *t); /* returns NULL */
/* Whose call it is that is being answered; (uid_t)-1 when the bus would not say. */
uid_t bus_turns_uid(Turns *t, sd_bus_message *m);

/* bus-authority.c: who may call what. */
typedef enum BusAction {
	ACTION_SET_BUDGET,
	ACTION_RELEASE_OTHER,
	ACTION_POLICY,
	ACTION_INSPECT,
	ACTION_CALIBRATE,
	ACTION_WAKE,
} BusAction;

/* Tokens, see buckets.h. A plan of a thousand drives that do different things takes a quarter of a
 * second, in which nothing else happens. */
#define COST_OF_PLAN     10.0
#define COST_OF_QUESTION 1.0

/* What a call takes of those who may not change everything. It lives as long as the program. */
typedef struct BusPermit {
	BusAction action;                 /* of polkit */
	sd_bus_message_handler_t handler; /* of the call; its userdata is the Bus */
	double tokens; /* of a call that everybody may make; 0 where polkit lets in whom it trusts
			*/
} BusPermit;

int bus_authority_begin(Bus *b);
void bus_authority_end(Bus *b);
bool bus_may_change(uid_t uid);
/* May this be done for the caller? 0: yes. 1: polkit is asked, and the handler returns 1; once
 * polkit allows it the handler is called again with the message. Negative, with a named error set:
 * no. */
int bus_authorize(Bus *b, sd_bus_message *m, const BusPermit *permit, sd_bus_error *error);
/* (uid_t)-1 when the bus would not say. */
uid_t bus_caller(Bus *b, sd_bus_message *m);

/* bus-errors.c */
/* Gives an error of control's its name; `invalid` and `missing` name -EINVAL and -ENOENT. */
int bus_manager_error(sd_bus_error *error, int r, const char *text, const char *invalid,
		      const char *missing);

/* bus-claims.c */
int bus_caller_text(Bus *b, sd_bus_message *m, char **ret); /* "storpowerctl (root)" */
int bus_set_budget(sd_bus_message *m, void *userdata, sd_bus_error *error);
int bus_update(sd_bus_message *m, void *userdata, sd_bus_error *error);
int bus_renew(sd_bus_message *m, void *userdata, sd_bus_error *error);
int bus_release(sd_bus_message *m, void *userdata, sd_bus_error *error);

/* bus-consumers.c */
int bus_list_consumers(sd_bus_message *call, void *userdata, sd_bus_error *error);
int bus_get_waiting(sd_bus_message *call, void *userdata, sd_bus_error *error);

/* bus-frontier.c */
int bus_get_frontier(sd_bus_message *call, void *userdata, sd_bus_error *error);

/* bus-drift.c */
int bus_get_drift(sd_bus_message *call, void *userdata, sd_bus_error *error);

/* bus-ledger.c */
int bus_set_tariff(sd_bus_message *m, void *userdata, sd_bus_error *error);
int bus_count_requests(sd_bus_message *m, void *userdata, sd_bus_error *error);

/* bus-wake.c */
int bus_wake(sd_bus_message *m, void *userdata, sd_bus_error *error);
int bus_wake_test(sd_bus_message *m, void *userdata, sd_bus_error *error);
int bus_list_wakeups(sd_bus_message *call, void *userdata, sd_bus_error *error);

/* bus-call.c */
Call *bus_call_new(Bus *b, sd_bus_message *m); /* NULL: out of memory */
Call *bus_call_free(Call *c);                  /* returns NULL */
DEFINE_CLEANUP(Call *, bus_call_free);
void bus_call_note_sent(int r, const char *what); /* logs a failure */
void bus_calls_abandon(Bus *b);

/* bus-verify.c */
int bus_verify(sd_bus_message *m, void *userdata, sd_bus_error *error);
/* Calls then(call) once the figures are of the last second; the Call is then's to free. */
int bus_when_fresh(Bus *b, sd_bus_message *m, void (*then)(void *call));
int bus_refresh(sd_bus_message *m, void *userdata, sd_bus_error *error);
