/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* storpowerctl model: what its sub-verbs share. Each prints its own errors and returns the exit
 * status; c->args are those after the sub-verb. */

#include "ctl/ctl.h"
#include "model/predict.h"

int model_list(Ctl *c);
int model_show(Ctl *c);
int model_frontier(Ctl *c);
int model_predict(Ctl *c);
int model_compare(Ctl *c);
int model_validate(Ctl *c);
int model_drift(Ctl *c);

const char *model_subverb(size_t index); /* "list"; NULL: there are no more */

/* model-find.c: the profiles that the daemon would find. */
int model_read_store(const Ctl *c, ProfileStore **ret);

/* What an argument names: a file of a profile, a profile of the store, or a device. */
typedef struct ModelFound {
	const Profile *profile; /* of the device, too; NULL: the daemon alone has it */
	Profile *own;           /* where it was read from a file */
	json_object *device;    /* its properties; NULL: it is none */
} ModelFound;
void model_found_done(ModelFound *f);
int model_no_profile(const char *where, const char *name); /* complains */
/* "samsung-pm9a3x6": six of them, unless that is a profile's name. NULL: there is none, which is
 * complained of by the second. */
const Profile *model_look_up(const ProfileStore *s, const char *text, unsigned *ret_count);
const Profile *model_counted(const ProfileStore *s, const char *text, unsigned *ret_count);
int model_find(Ctl *c, const ProfileStore *s, const char *name, ModelFound *ret);
/* STATUS_REFUSED where only the daemon has it. */
int model_need_profile(const ModelFound *f, const char *name);

/* model-workload.c: --workload, else a workload that nobody has seen. */
int model_workload(const Ctl *c, Mix *ret);
/* "70 % reads, all random, 16.0 KiB, 32 at a time" */
char *model_workload_text(char *buf, size_t size, const Mix *mix);
Mix model_mix_from_json(json_object *o);
void model_put_mix(json_object *o, const Mix *mix);

/* model-frontier.c: does the plan in force hold the device back? What it expected of one that it
 * does not may be from long ago: without a limit no plan is made anew. */
bool model_is_held_back(json_object *present);

/* model-hybrid.c: "samsung-pm9a3:90%+seagate-exos-7e2000x4:10%". */
int model_hybrid(Ctl *c, const ProfileStore *store, const Mix *mix, const char *text);

/* model-json.c */
json_object *model_profile_json(const Profile *p); /* what "list" says of it */
json_object *model_point_json(const Point *p);
size_t model_estimated_points(const Profile *p);
const char *model_io_name(const Point *p); /* "write random", "mixed random" */
char *model_percent(char *buf, size_t size, double share);
char *model_joules(char *buf, size_t size, double joules); /* "2.87 uJ", "15.9 mJ" */
const char *model_mark(bool estimated);                    /* in a column of its own */
