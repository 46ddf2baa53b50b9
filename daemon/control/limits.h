/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The claims, what they come to, and what is to be told and saved of them. */

#include "budget/claim-lowest.h"
#include "control/claims-store.h"
#include "control/settling.h"
#include "control/tools.h"

/* So long after a start of the daemon a claim from before it may be renewed, and is kept for that
 * while its owner is away. */
#define CLAIM_GRACE_US (30 * USEC_PER_SEC)

typedef enum ClaimNewsKind {
	CLAIM_ADDED,
	CLAIM_CHANGED,
	CLAIM_REPLACED,
	CLAIM_ENDED
} ClaimNewsKind;

/* What has happened to a claim. */
typedef struct ClaimNews {
	ClaimNewsKind kind;
	uint64_t cookie;
	uint64_t by;           /* the claim that has replaced it */
	const char *ended_why; /* of one that has ended */
} ClaimNews;

/* What the claims come to, whether it is held or only advised. */
typedef struct Claimed {
	bool advised;    /* the mode: nothing of it is held */
	bool active;     /* any claim is, on whatever */
	double budget_w; /* of the node; INFINITY: none */
	uint64_t cookie; /* whose that is; 0: nobody's */
} Claimed;

/* Since when saving has failed, and why. */
typedef struct Unsaved {
	int error; /* errno; 0: the last save succeeded */
	uint64_t since_us;
} Unsaved;

typedef struct Limits {
	Claims *claims;
	LowestClaims lowest; /* of them, by the last turn */
	bool lowest_is_old;  /* a claim has come or ended since */
	Claimed claimed;
	double budget_w;      /* held, of the node; INFINITY: none */
	bool enforcing;       /* any claim is active, on whatever, and is held */
	bool damaged;         /* so the file was found, and it is not kept yet */
	uint64_t save_due_us; /* USEC_NEVER: all is saved */
	Unsaved unsaved;
	uint64_t started_us; /* when the claims were loaded; 0: there were none */
	ClaimsStore store;   /* the file */
	uint64_t due_us;     /* when a claim begins or expires */
	Settling settling;   /* what has changed and has not reached the draw yet */
	ClaimNews *news;
	size_t n_news;
} Limits;

int limits_init(Limits *l);
void limits_done(Limits *l);
/* limits-file.c */
int limits_load(Limits *l, const Tools *t);
/* If anything has changed, or could not be saved before and is to be tried again. True: whether it
 * can be saved has changed. */
bool limits_save(Limits *l, const Tools *t);
const char *limits_why_unsaved(const Limits *l); /* "": the file holds what is in force */
int limits_add(Limits *l, const Claim *claim, const Tools *t, uint64_t *ret_cookie,
	       char **ret_error);
int limits_release(Limits *l, uint64_t cookie, char **ret_error);
/* In place, so that no moment is without the one limit or the other. -ENOENT, -EINVAL: nothing has
 * changed. */
int limits_change(Limits *l, uint64_t cookie, const ClaimChange *change, const Tools *t,
		  char **ret_error);
/* limits-end.c. Ends those that this claim was made instead of, and the one from before the
 * daemon's restart that it renews. */
void limits_end_predecessors(Limits *l, uint64_t cookie, uint64_t now_us);
/* The owner of claims that an earlier run of the daemon left is still there. Returns how many. */
size_t limits_adopt(Limits *l, const char *bus, const char *owner, uint64_t now_us);
size_t limits_drop_owner(Limits *l, const char *owner);
/* Those whose time has come or is over. */
Need limits_take_due(Limits *l, uint64_t now_us);
/* Of limits.c and limits-end.c alone. */
void limits_add_news(Limits *l, const ClaimNews *news);
void limits_note_end(Limits *l, const Claim *c, const char *why);
ClaimNews *limits_take_news(Limits *l, size_t *ret_n); /* free() */
/* Finds the lowest ones, after everything that happened to them and before anybody asks. */
void limits_find_lowest(Limits *l, uint64_t now_us);
/* What they come to now; says in the diary who asked for it. */
void limits_update(Limits *l, Tools *t);
void limits_say_why(const Limits *l, Diary *d);
/* From the next update on they are advised alone, and nobody holds them; or they are held. */
void limits_set_advised(Limits *l, bool advised);
/* As they would be if they were held; it borrows everything. */
Limits limits_as_if_held(const Limits *l);
void limits_lift(Limits *l);                    /* the daemon ends: nothing is enforced */
const Claim *limits_effective(const Limits *l); /* held or advised; NULL: none */

/* Of claims of that class that name none, in seconds. */
double limits_tolerance_s(const Tools *t, ClaimClass class);
double limits_rated_w(const Fleet *f);
/* The watts that are 100 %: of a group, NULL: of all. */
double limits_operating_w(const Fleet *f, const char *group);
double limits_of_group_w(const Limits *l, const Fleet *f, const char *group);
double limits_of_device_w(const Limits *l, const Managed *md);
/* Is the device one of those that the claim limits? */
bool limits_claim_covers(const Claim *claim, const Managed *md);
/* The watts that are 100 % of the claim's scope. */
double limits_claim_operating_w(const Fleet *f, const Claim *claim);
/* Is it the lowest of its scope, by the last turn? */
bool limits_claim_in_force(const Limits *l, const Fleet *f, const Claim *claim);

/* The active claim that pins the device's power state. *ret_waits: a limit comes first, or limits
 * are only advised, and nothing is set then. NULL: there is none. */
const Claim *limits_pin_of(const Limits *l, const Fleet *f, const Managed *md, bool *ret_waits);
/* limits-pin.c: may the claim pin the power state of its device? -EINVAL: the device does not have
 * that state; -EBUSY: another claim pins one already; -EPERM: the device is never touched. */
int limits_check_pin(const Limits *l, const Claim *claim, const Tools *t, char **ret_error);
