/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The latency tolerance of an NVMe controller, with an attribute that takes what Linux takes
 * (drivers/base/power/sysfs.c). */

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "own-knobs.h"

#define ATTR "host/power/pm_qos_latency_tolerance_us"

typedef struct FakeTolerance {
	const char *text; /* NULL: there is none */
	int error;        /* of reading */
	bool ignores;     /* takes what is written and keeps what it had */
	unsigned writes;
	char room[16];
} FakeTolerance;

static int attr_read(Device *d, const char *attr, char *buf, size_t size)
{
	const FakeTolerance *f = d->impl;

	assert_string_equal(attr, ATTR);
	if (f->error)
		return f->error;
	if (!f->text)
		return -ENOENT;
	snprintf(buf, size, "%s", f->text);
	return 0;
}

static int attr_write(Device *d, const char *attr, const char *value)
{
	FakeTolerance *f = d->impl;
	unsigned long us;

	assert_string_equal(attr, ATTR);
	if (!streq(value, "any") && !streq(value, "auto") &&
	    parse_unsigned(value, INT_MAX, &us) < 0)
		return -EINVAL;
	f->writes++;
	snprintf(f->room, sizeof(f->room), "%s", f->ignores ? f->text : value);
	f->text = f->room;
	return 0;
}

static int feature_get(Device *d, uint8_t feature, uint32_t *ret)
{
	(void)d, (void)feature, (void)ret;
	return -EOPNOTSUPP;
}

static const DeviceOps ops = { .attr_read = attr_read,
			       .attr_write = attr_write,
			       .feature_get = feature_get };

static Device *drive(FakeTolerance *f)
{
	Device *d = device_new("id", "nvme0", "fake", KIND_NVME, &ops, f);

	assert_non_null(d);
	return d;
}

static int turn(Device *d, const KnobValue *original, unsigned latency_us)
{
	Setting s = { .power_state = -1, .idle_latency_us = latency_us };
	KnobValue wanted, found;
	const Knob *k = &knob_idle_latency;

	assert_int_equal(knob_want(k, d, &s, &MIX_UNKNOWN, original, &wanted), 0);
	assert_int_equal(k->read(d, &found), 0);
	return knob_fulfils(k, d, &wanted, &found) ? 0 : knob_apply(k, d, &wanted, NULL);
}

static void the_tolerance_is_only_lowered_and_goes_back_as_it_was(void **state)
{
	static const struct {
		const char *found;
		unsigned latency_us;
		const char *set;
	} cases[] = { { "100000", 5000, "5000" },     { "100000", 1, "1" },
		      { "100000", 100000, "100000" }, { "100000", 200000, "100000" },
		      { "2000", 5000, "2000" },       { "any", 5000, "5000" },
		      { "auto", 5000, "5000" },       { "any", 3000000000, "any" },
		      { "auto", 3000000000, "auto" }, { "0", 5000, "0" } };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		FakeTolerance f = { .text = cases[i].found };
		_cleanup_(device_unrefp) Device *d = drive(&f);
		bool same = streq(cases[i].found, cases[i].set);
		KnobValue original;

		assert_int_equal(knob_idle_latency.read(d, &original), 0);
		assert_int_equal(turn(d, &original, cases[i].latency_us), 0);
		assert_string_equal(f.text, cases[i].set);
		assert_int_equal(turn(d, &original, 0), 0);
		assert_string_equal(f.text, cases[i].found);
		assert_int_equal(f.writes, same ? 0 : 2);
	}
}

static void a_tolerance_that_does_not_take_is_found_by_reading_back(void **state)
{
	FakeTolerance f = { .text = "100000", .ignores = true };
	_cleanup_(device_unrefp) Device *d = drive(&f);
	KnobValue original = { "100000" };

	(void)state;
	assert_int_equal(turn(d, &original, 5000), -EREMOTEIO);
}

static void it_is_offered_only_where_the_drive_idles_by_itself(void **state)
{
	static const struct {
		const char *found;
		int error;
		DeviceKind kind;
		const char *why;
	} cases[] = {
		{ "100000", 0, KIND_NVME, NULL },
		{ "any", 0, KIND_NVME, NULL },
		{ "auto", 0, KIND_NVME, NULL },
		{ NULL, 0, KIND_NVME, "enters no idle states by itself (APST)" },
		{ "0", 0, KIND_NVME, "switched off already" },
		{ "soon", 0, KIND_NVME, "reads soon" },
		{ NULL, -EOPNOTSUPP, KIND_NVME, "several controllers" },
		{ "100000", 0, KIND_SATA_SSD, "no NVMe drive" },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		FakeTolerance f = { .text = cases[i].found, .error = cases[i].error };
		_cleanup_(device_unrefp) Device *d = drive(&f);
		_cleanup_free_ char *why = NULL;
		Offer offer = {};
		int r;

		d->kind = cases[i].kind;
		r = knob_idle_latency.probe(d, &offer, &why);
		assert_int_equal(r, cases[i].why ? -EOPNOTSUPP : 0);
		assert_int_equal(offer.mechanisms, cases[i].why ? 0 : MECHANISM_LINK);
		assert_true(cases[i].why ? !!strstr(why, cases[i].why) : !why);
		assert_int_equal(f.writes, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tolerance_is_only_lowered_and_goes_back_as_it_was),
		cmocka_unit_test(a_tolerance_that_does_not_take_is_found_by_reading_back),
		cmocka_unit_test(it_is_offered_only_where_the_drive_idles_by_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
