/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Values that are a list of things that come and go: "md0/dev-sda1=balanced md1/dev-sda2=balanced",
 * or "none". */

#include "knob/knob.h"

#define VALUE_NONE "none"

/* Appends "KEY=WORD"; -ENOBUFS. */
int value_add_word(KnobValue *v, const char *key, const char *word);

/* Calls it for each "KEY=WORD" until one fails. */
typedef int (*ValueVisit)(void *userdata, const char *key, const char *word);
int value_each_word(const KnobValue *v, ValueVisit visit, void *userdata);

/* As Knob.want, to hold: `add` puts each word of the original, or another in its place, into its
 * userdata, a KnobValue. A value without words stays as it is. */
int value_hold_words(const KnobValue *original, ValueVisit add, KnobValue *ret);

/* As Knob.fulfils: is each thing that is still there as its word says? */
bool value_words_fulfil(const Device *d, const KnobValue *wanted, const KnobValue *found);
