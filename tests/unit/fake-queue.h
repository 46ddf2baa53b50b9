/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A request queue as a table of attributes that clamps, refuses and drags along like Linux 6.18. */

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "device/device.h"

typedef struct FakeAttr {
	const char *name;
	char text[64];
	const char *of; /* exists under this scheduler only; NULL: always */
} FakeAttr;

typedef struct FakeQueue {
	FakeAttr attrs[20];
	const char *scheduler, *schedulers[5];
	unsigned queues;
	int busy; /* so many writes answer EBUSY */
	bool ignore;
	const char *fixed; /* NULL, or an attribute that its driver lets nobody change */
	unsigned writes;
} FakeQueue;

static FakeAttr *find(FakeQueue *q, const char *name)
{
	for (size_t i = 0; i < ELEMENTSOF(q->attrs) && q->attrs[i].name; i++)
		if (streq(q->attrs[i].name, name) &&
		    (!q->attrs[i].of || streq(q->attrs[i].of, q->scheduler)))
			return &q->attrs[i];
	return NULL;
}

static void put(FakeQueue *q, const char *name, const char *text)
{
	FakeAttr *a = find(q, name);

	assert_non_null(a);
	snprintf(a->text, sizeof(a->text), "%s", text);
}

static const char *get(FakeQueue *q, const char *name)
{
	FakeAttr *a = find(q, name);

	assert_non_null(a);
	return a->text;
}

static void elevator_defaults(FakeQueue *q)
{
	static const char *const deadline[][2] = {
		{ "queue/iosched/async_depth", "256" },
		{ "queue/iosched/fifo_batch", "16" },
		{ "queue/iosched/front_merges", "1" },
		{ "queue/iosched/read_expire", "500" },
		{ "queue/iosched/write_expire", "5000" },
		{ "queue/iosched/writes_starved", "2" },
		{ "queue/iosched/prio_aging_expire", "10000" },
	};

	put(q, "queue/nr_requests", streq(q->scheduler, "none") ? "128" : "256");
	put(q, "queue/wbt_lat_usec", streq(q->scheduler, "bfq") ? "0" : "2000");
	if (streq(q->scheduler, "bfq")) {
		put(q, "queue/iosched/strict_guarantees", "0");
		put(q, "queue/iosched/slice_idle_us", "8000");
	}
	if (streq(q->scheduler, "mq-deadline"))
		for (size_t i = 0; i < ELEMENTSOF(deadline); i++)
			put(q, deadline[i][0], deadline[i][1]);
}

static int switch_scheduler(FakeQueue *q, const char *to)
{
	for (const char **s = q->schedulers; *s; s++)
		if (streq(*s, to)) {
			q->scheduler = *s;
			elevator_defaults(q);
			return 0;
		}
	return -EINVAL;
}

static int set_nr_requests(FakeQueue *q, unsigned n)
{
	char text[16];

	if (n > 128 && streq(q->scheduler, "none"))
		return -EINVAL;
	snprintf(text, sizeof(text), "%u", MAX(n, 4U));
	put(q, "queue/nr_requests", text);
	if (find(q, "queue/iosched/async_depth"))
		put(q, "queue/iosched/async_depth", text);
	return 0;
}

static int fake_write(Device *d, const char *attr, const char *value)
{
	FakeQueue *q = d->impl;

	q->writes++;
	if (q->busy && q->busy--)
		return -EBUSY;
	if (q->ignore)
		return 0;
	if (streq(attr, "queue/scheduler"))
		return switch_scheduler(q, value);
	if (!find(q, attr))
		return -ENOENT;
	if (streq(attr, "queue/nr_requests"))
		return set_nr_requests(q, (unsigned)atoi(value));
	if (streq(attr, "queue/max_sectors_kb")) {
		if (atoi(value) < 4)
			return -EINVAL;
		put(q, "queue/read_ahead_kb", "128");
	}
	if (streq(attr, "queue/iosched/strict_guarantees") && streq(value, "1"))
		put(q, "queue/iosched/slice_idle_us", "8000");
	put(q, attr, value);
	return 0;
}

static int print_schedulers(FakeQueue *q, char *buf, size_t size)
{
	size_t n = 0;

	for (const char **s = q->schedulers; *s; s++)
		n += (size_t)snprintf(buf + n, size - n, streq(*s, q->scheduler) ? "[%s] " : "%s ",
				      *s);
	return 0;
}

static int fake_read(Device *d, const char *attr, char *buf, size_t size)
{
	FakeQueue *q = d->impl;
	unsigned queue;
	FakeAttr *a;

	if (streq(attr, "queue/scheduler"))
		return print_schedulers(q, buf, size);
	if (sscanf(attr, "mq/%u/nr_tags", &queue) == 1) {
		snprintf(buf, size, "128");
		return queue < q->queues ? 0 : -ENOENT;
	}
	a = find(q, attr);
	if (!a)
		return -ENOENT;
	snprintf(buf, size, "%s", a->text);
	return 0;
}

static int fake_writable(Device *d, const char *attr)
{
	const FakeQueue *q = d->impl;

	return q->fixed && streq(attr, q->fixed) ? -EACCES : 0;
}

static const DeviceOps fake_ops = { .attr_read = fake_read,
				    .attr_write = fake_write,
				    .attr_writable = fake_writable };

static const FakeQueue plain_queue = {
	.attrs = { { "queue/nr_requests", "128", NULL },
		   { "queue/max_sectors_kb", "1280", NULL },
		   { "queue/read_ahead_kb", "64", NULL },
		   { "queue/wbt_lat_usec", "2000", NULL },
		   { "queue/iosched/strict_guarantees", "0", "bfq" },
		   { "queue/iosched/slice_idle_us", "8000", "bfq" },
		   { "queue/iosched/async_depth", "256", "mq-deadline" },
		   { "queue/iosched/fifo_batch", "16", "mq-deadline" },
		   { "queue/iosched/front_merges", "1", "mq-deadline" },
		   { "queue/iosched/read_expire", "500", "mq-deadline" },
		   { "queue/iosched/write_expire", "5000", "mq-deadline" },
		   { "queue/iosched/writes_starved", "2", "mq-deadline" },
		   { "queue/iosched/prio_aging_expire", "10000", "mq-deadline" } },
	.schedulers = { "none", "mq-deadline", "kyber", "bfq" },
	.scheduler = "none",
	.queues = 1,
};

static void add(FakeQueue *q, const char *name, const char *text)
{
	for (size_t i = 0; i < ELEMENTSOF(q->attrs); i++)
		if (!q->attrs[i].name) {
			q->attrs[i].name = name;
			put(q, name, text);
			return;
		}
	fail();
}

static Device *fake_device(FakeQueue *q)
{
	Device *d = device_new("id", "fake0", "fake", KIND_SATA_SSD, &fake_ops, q);

	assert_non_null(d);
	return d;
}
