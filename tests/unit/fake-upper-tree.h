/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A disk sda of a made-up /sys, with what stack/upper.h finds above it there. */

#include "test-hw-block.h"

#include "fake-upper.h"
#include "stack/upper.h"

typedef struct TreeDisk {
	Upper *upper;
	const char *root;
	int error; /* of every writing */
	unsigned writes;
	/* does as the kernel: what reads back once the value was written */
	void (*settle)(const char *root, const char *what, const char *before, const char *value);
} TreeDisk;

static inline int tree_read(Device *d, const char *component, const char *what, char *buf,
			    size_t size)
{
	TreeDisk *t = d->impl;

	return upper_read(t->upper, component, what, buf, size);
}

static inline int tree_write(Device *d, const char *component, const char *what, const char *value)
{
	TreeDisk *t = d->impl;
	char before[256];
	int r;

	t->writes++;
	if (t->error)
		return t->error;
	r = upper_read(t->upper, component, what, before, sizeof(before));
	if (r >= 0)
		r = upper_write(t->upper, component, what, value);
	if (r >= 0)
		t->settle(t->root, what, before, value);
	return r;
}

static inline void tree_free(Device *d)
{
	TreeDisk *t = d->impl;

	upper_close(t->upper);
}

static inline Device *tree_device(TreeDisk *t, const char *root, const char *declared)
{
	static const DeviceOps ops = { .upper_read = tree_read,
				       .upper_write = tree_write,
				       .free = tree_free };
	Device *d = device_new("fake:sda", "sda", "", KIND_HDD, &ops, t);

	assert_non_null(d);
	free(d->redirect);
	d->redirect = strdup(declared);
	assert_non_null(d->redirect);
	t->root = root;
	assert_int_equal(upper_open(root, "sda", &t->upper), 0);
	return d;
}

static inline void expect_found(const char *knob, Device *d, const char *text)
{
	KnobValue v;

	assert_int_equal(knob_find(knob)->read(d, &v), 0);
	assert_string_equal(v.text, text);
}

static inline KnobValue found_by(const char *knob, Device *d)
{
	KnobValue v;

	assert_int_equal(knob_find(knob)->read(d, &v), 0);
	return v;
}

static inline Offer probe_offered(const char *knob, Device *d)
{
	_cleanup_free_ char *why = NULL;
	Offer offer = {};

	if (knob_find(knob)->probe(d, &offer, &why) != 0)
		fail_msg("%s: %s", knob, why ?: "");
	assert_int_equal(offer.mechanisms, MECHANISM_REDIRECT);
	return offer;
}

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
