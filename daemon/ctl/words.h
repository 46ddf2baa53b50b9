/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the tables and the screens say in words. */

#include "ctl/ctl.h"

#define WORDS_SIZE   320
#define WORDS_NARROW 72 /* columns: tables leave out one of theirs on a narrower terminal */

/* Of standard output: a terminal's, else 80. Ask before a pager is opened. */
size_t words_terminal_width(void);
/* What the locale can show: UTF-8, or plain ASCII. */
bool words_utf8(void);
const char *words_ellipsis(void);
/* Who runs this, or whoever called sudo; "unknown": nobody knows. */
const char *ctl_user(void);
const char *words_plus_minus(void);

/* "3.10 ms"; "-" for NAN and 0. */
char *words_latency(char *buf, size_t size, double us);
/* "19 %" of a whole; "-" where there is none. */
char *words_share(char *buf, size_t size, double part, double whole);
/* "17:34", with the date when that is not today; so many seconds from now. */
char *words_hour(char *buf, size_t size, double from_now_s);
/* "2min40s", in whole seconds; "never" for NAN. */
char *words_span(char *buf, size_t size, double s);

/* The setting, what it means for the IO, and why, but for a mere share: "IO held to 0.22 W above
 * idle, about 6 MB/s". d has Setting, Reason and Problem; pace_w and mb_s are what is shown; NAN:
 * not shown. */
char *words_setting(char buf[WORDS_SIZE], json_object *d, double pace_w, double mb_s);

/* The same with each reason, that it is its share, too. */
char *words_explained(char buf[WORDS_SIZE], json_object *d, double pace_w, double mb_s);
/* It is held, but asks for nothing. */
bool words_idle(json_object *d);

/* Devices alike that follow each other, as one: those from `first` on that `alike` says are. */
typedef struct Fold {
	json_object *devices;
	size_t first, n;
} Fold;
typedef bool (*FoldAlike)(json_object *first, json_object *next);
/* Of one kind and model, set alike for the same reason, and at most a tenth apart in watts. */
bool fold_alike(json_object *first, json_object *next);
/* At most a tenth apart, or both unknown. */
bool fold_near(double a, double b);
/* The next fold after *f, which is empty at first; false: there is none. */
bool fold_next(Fold *f, FoldAlike alike);
json_object *fold_first(const Fold *f);
double fold_mean(const Fold *f, const char *key);
/* "sdk...sdp (6)", or the name alone; key: where the name is. */
char *fold_name(char *buf, size_t size, const Fold *f, const char *key);
/* What the figures of a fold are, below the table. */
void fold_explain(const Ctl *c);
/* Sorts devices as people count: sdz before sdaa, nvme9 before nvme10. */
void fold_sort(json_object *devices);

/* Prints text in lines of that width, the first behind a label of label_width, the others below it.
 */
void print_wrapped(const char *label, size_t label_width, const char *text, size_t width);
/* A line for each setting at which the device serves otherwise than its profile says. */
void print_learned(json_object *d);
/* Columns on a terminal, near enough: one a code point of UTF-8. */
size_t text_width(const char *s);
/* How many bytes of s go into a line of that width: up to a blank, or all that fit. */
size_t text_break(const char *s, size_t width);
