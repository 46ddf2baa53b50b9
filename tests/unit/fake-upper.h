/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A component above a disk as a table of what can be read and written of it. */

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "redirect/knob-registry.h"

typedef struct FakeWhat {
	const char *what;
	char text[256];
} FakeWhat;

typedef struct FakeUpper {
	const char *component;
	const char *redirect; /* what the operator names; NULL: nothing */
	FakeWhat whats[20];
	int error;  /* of every reading and writing */
	int refuse; /* so many writes are answered EBUSY */
	bool ignore;
	unsigned writes;
	char last[256]; /* what was written last */
	/* what a write makes of a text; NULL: it is read back as it is */
	void (*taken)(struct FakeUpper *u, const char *what, const char *value);
} FakeUpper;

static inline char *fake_what(FakeUpper *u, const char *what)
{
	for (size_t i = 0; i < ELEMENTSOF(u->whats) && u->whats[i].what; i++)
		if (streq(u->whats[i].what, what))
			return u->whats[i].text;
	return NULL;
}

static inline void fake_put(FakeUpper *u, const char *what, const char *text)
{
	char *to = fake_what(u, what);

	assert_non_null(to);
	snprintf(to, sizeof(u->whats[0].text), "%s", text);
}

/* All that begins so is there no longer. */
static inline void fake_drop(FakeUpper *u, const char *prefix)
{
	for (size_t i = 0; i < ELEMENTSOF(u->whats) && u->whats[i].what; i++)
		if (strncmp(u->whats[i].what, prefix, strlen(prefix)) == 0)
			u->whats[i].what = "";
}

static inline int fake_upper_read(Device *d, const char *component, const char *what, char *buf,
				  size_t size)
{
	FakeUpper *u = d->impl;
	const char *text = streq(component, u->component) ? fake_what(u, what) : NULL;

	if (u->error)
		return u->error;
	if (!text)
		return -ENOENT;
	return (size_t)snprintf(buf, size, "%s", text) < size ? 0 : -ENOBUFS;
}

static inline int fake_upper_write(Device *d, const char *component, const char *what,
				   const char *value)
{
	FakeUpper *u = d->impl;

	if (u->error)
		return u->error;
	if (!streq(component, u->component) || !fake_what(u, what))
		return -ENOENT;
	u->writes++;
	snprintf(u->last, sizeof(u->last), "%s", value);
	if (u->refuse && u->refuse--)
		return -EBUSY;
	if (u->ignore)
		return 0;
	if (u->taken)
		u->taken(u, what, value);
	else
		fake_put(u, what, value);
	return 0;
}

static inline Device *fake_upper_device(FakeUpper *u)
{
	static const DeviceOps ops = { .upper_read = fake_upper_read,
				       .upper_write = fake_upper_write };
	Device *d = device_new("fake:sda", "sda", "", KIND_HDD, &ops, u);

	assert_non_null(d);
	free(d->redirect);
	d->redirect = strdup(u->redirect ?: "");
	assert_non_null(d->redirect);
	return d;
}

static inline Setting redirect(Redirect r)
{
	Setting s = SETTING_AS_FOUND;

	s.redirect = r;
	return s;
}

/* Is it offered, and if not, does it say why, with those words? */
static inline void expect_refused(const char *knob, FakeUpper *u, const char *words)
{
	_cleanup_(device_unrefp) Device *d = fake_upper_device(u);
	_cleanup_free_ char *why = NULL;
	Offer offer = {};

	assert_int_equal(knob_find(knob)->probe(d, &offer, &why), -EOPNOTSUPP);
	assert_non_null(why);
	if (!strstr(why, words))
		fail_msg("\"%s\" does not say \"%s\"", why, words);
	assert_int_equal(offer.mechanisms, 0);
}

static inline void expect_offered(const char *knob, FakeUpper *u)
{
	_cleanup_(device_unrefp) Device *d = fake_upper_device(u);
	_cleanup_free_ char *why = NULL;
	Offer offer = {};

	assert_int_equal(knob_find(knob)->probe(d, &offer, &why), 0);
	assert_null(why);
	assert_int_equal(offer.mechanisms, MECHANISM_REDIRECT);
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
