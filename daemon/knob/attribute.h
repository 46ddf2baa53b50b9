/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the sysfs knobs share: values of the form "HEAD key=value key=value", where the head is the
 * attribute a knob writes and the keys are its companions, the attributes the kernel changes along
 * with it. */

#include "knob/knob.h"

typedef struct Companion {
	const char *key;
	const char *attr;
	bool keep; /* write it back even after a value that does not name it */
} Companion;

typedef struct AttributeGroup {
	const char *attr;
	bool choice; /* reads "a [b] c", b being chosen */
	const Companion *companions;
	size_t n_companions;
} AttributeGroup;

/* Reads the head and those companions that this device has. */
int attribute_group_read(Device *d, const AttributeGroup *g, KnobValue *ret);
/* Writes the head unless it is so already, then every companion that the value names or that is
 * kept. */
int attribute_group_write(Device *d, const AttributeGroup *g, const KnobValue *value);

/* -EOPNOTSUPP where the device has no attributes. */
int attribute_read(Device *d, const char *attr, char *buf, size_t size);
int attribute_read_unsigned(Device *d, const char *attr, unsigned *ret);
/* Does its driver let it be changed? */
bool attribute_is_writable(Device *d, const char *attr);
/* Is it a SATA or SAS disk whose command queue can be limited? */
#define DISK_DEPTH_ATTR "device/queue_depth"
bool attribute_has_disk_depth(Device *d);
/* "a [b] c" into "b"; text without brackets stays. */
void attribute_take_choice(char *text);
/* Does blk-mq serve it? A queue that has no scheduler to choose (bio-based device mapper) takes
 * none of the queue's limits but the size of an IO. */
bool attribute_has_scheduler(Device *d, const char *name);
bool attribute_is_multiqueue_block(Device *d);

int value_print(KnobValue *ret, const char *format, ...) _printf_(2, 3); /* -ENOBUFS */
char *value_head(const KnobValue *v, char *buf, size_t size);
int value_head_unsigned(const KnobValue *v, unsigned *ret);
bool value_word(const KnobValue *v, const char *key, char *buf, size_t size);
void value_drop_word(KnobValue *v, const char *key);
bool value_same_head(const Device *d, const KnobValue *wanted, const KnobValue *found);

/* Says why a knob is not offered; returns -EOPNOTSUPP (or -ENOMEM). */
int not_offered(char **ret_why_not, const char *format, ...) _printf_(2, 3);
