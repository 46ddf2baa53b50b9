/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a knob is set to: the journal keeps it and the knobs understand it. */

#define KNOB_VALUE_MAX 256

/* A value as text: what sysfs and cgroupfs speak, what the journal keeps and what people read. */
typedef struct KnobValue {
	char text[KNOB_VALUE_MAX];
} KnobValue;
