/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "knob/knob.h"

#include <errno.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/failpoint.h"
#include "base/text.h"

bool knob_fulfils(const Knob *k, const Device *d, const KnobValue *wanted, const KnobValue *found)
{
	return k->fulfils ? k->fulfils(d, wanted, found) : streq(wanted->text, found->text);
}

int knob_want(const Knob *k, const Device *d, const Setting *s, const Mix *mix,
	      const KnobValue *original, KnobValue *ret)
{
	return k->want(d, s, mix, original, ret);
}

static int write_and_read_back(const Knob *k, Device *d, const KnobValue *value, KnobValue *ret)
{
	int r;

	failpoint("knob-before-write");
	r = k->write(d, value);
	failpoint("knob-after-write");
	return r < 0 ? r : k->read(d, ret);
}

int knob_apply(const Knob *k, Device *d, const KnobValue *value, KnobValue *ret_found)
{
	static const long pauses_ms[] = { 1, 4, 16 };
	KnobValue found;
	int r = write_and_read_back(k, d, value, &found);

	for (size_t i = 0; (r == -EAGAIN || r == -EBUSY) && i < ELEMENTSOF(pauses_ms); i++) {
		nanosleep(&(struct timespec){ .tv_nsec = pauses_ms[i] * 1000000 }, NULL);
		r = write_and_read_back(k, d, value, &found);
	}
	if (r < 0)
		return r;
	if (ret_found)
		*ret_found = found;
	return knob_fulfils(k, d, value, &found) ? 0 : -EREMOTEIO;
}
