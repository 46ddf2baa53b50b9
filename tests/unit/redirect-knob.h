/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A made-up disk, and its knobs that redirect IO: probed, read and turned. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "redirect/knob-registry.h"

/* declared: the component that the operator names, or "". */
static inline Device *fake_disk(const DeviceOps *ops, void *impl, const char *declared)
{
	Device *d = device_new("fake:sda", "sda", "", KIND_HDD, ops, impl);

	assert_non_null(d);
	free(d->redirect);
	d->redirect = strdup(declared);
	assert_non_null(d->redirect);
	return d;
}

static inline Setting redirect(Redirect r)
{
	Setting s = SETTING_AS_FOUND;

	s.redirect = r;
	return s;
}

/* Turns the knob, as the daemon does: what is so already is not written. */
static inline int turn_to(const char *knob, Device *d, Redirect to, const KnobValue *original)
{
	const Knob *k = knob_find(knob);
	Setting s = redirect(to);
	KnobValue wanted, found;

	assert_int_equal(knob_want(k, d, &s, &MIX_UNKNOWN, original, &wanted), 0);
	assert_int_equal(k->read(d, &found), 0);
	return knob_fulfils(k, d, &wanted, &found) ? 0 : knob_apply(k, d, &wanted, NULL);
}

static inline KnobValue found_by(const char *knob, Device *d)
{
	KnobValue v;

	assert_int_equal(knob_find(knob)->read(d, &v), 0);
	return v;
}

static inline void expect_found(const char *knob, Device *d, const char *text)
{
	assert_string_equal(found_by(knob, d).text, text);
}

static inline Offer probe_offered(const char *knob, Device *d)
{
	_cleanup_free_ char *why = NULL;
	Offer offer = {};

	if (knob_find(knob)->probe(d, &offer, &why) != 0)
		fail_msg("%s: %s", knob, why ?: "");
	assert_null(why);
	assert_int_equal(offer.mechanisms, MECHANISM_REDIRECT);
	return offer;
}

/* It is not offered, and says why, with those words. */
static inline void probe_refused(const char *knob, Device *d, const char *words)
{
	_cleanup_free_ char *why = NULL;
	Offer offer = {};

	assert_int_equal(knob_find(knob)->probe(d, &offer, &why), -EOPNOTSUPP);
	if (!why || !strstr(why, words))
		fail_msg("\"%s\" does not say \"%s\"", why ?: "", words);
	assert_int_equal(offer.mechanisms, 0);
	assert_false(offer.redirects_reads || offer.redirects_writes);
}
