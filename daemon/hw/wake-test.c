/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hw/wake-test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/text.h"

#define TRIES 3  /* a block that is in the disk's own cache wakes nothing */
#define TAIL  16 /* read in the last 16th, where hardly anybody reads */

typedef struct WakeTest {
	DiskCondition *disk;
	const char *node;
	int fd;
	uint64_t size_bytes;
	unsigned block_bytes;
	double seconds; /* of the read that brought it back */
	char *text;
} WakeTest;

static int conclude(WakeTest *t, int r, const char *format, ...) _printf_(3, 4);
static int conclude(WakeTest *t, int r, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&t->text, format, ap) < 0)
		t->text = NULL;
	va_end(ap);
	return r;
}

static uint64_t random_offset(const WakeTest *t)
{
	uint64_t blocks = t->size_bytes / t->block_bytes, tail = MAX(blocks / TAIL, 1UL), n = 0;

	if (getrandom(&n, sizeof(n), GRND_NONBLOCK) < 0)
		n = clock_now_us(&clock_boottime);
	return (blocks - 1 - n % tail) * t->block_bytes;
}

/* The read goes as anybody's does, through the block layer, but not to the page cache. */
static int read_block(const WakeTest *t)
{
	_cleanup_free_ void *buffer = aligned_alloc(t->block_bytes, t->block_bytes);
	ssize_t n;

	if (!buffer)
		return -ENOMEM;
	n = pread(t->fd, buffer, t->block_bytes, (off_t)random_offset(t));
	return n < 0 ? -errno : n == (ssize_t)t->block_bytes ? 0 : -EIO;
}

static int put_to_standby(WakeTest *t)
{
	unsigned all = disk_condition_trust(t->disk, true);
	Condition deepest =
		all >> CONDITION_STANDBY_Z & 1 ? CONDITION_STANDBY_Z : CONDITION_STANDBY_Y;
	Condition now;
	int r;

	if (!(all >> deepest & 1))
		return conclude(t, -EOPNOTSUPP, "the disk has no standby");
	r = disk_condition_set(t->disk, deepest);
	if (r >= 0)
		r = disk_condition_get(t->disk, &now);
	if (r < 0)
		return conclude(t, r == -EREMOTEIO ? -EIO : r, "it does not go to standby: %s",
				strerror(-r));
	if (now < CONDITION_STANDBY_Y)
		return conclude(t, -EBUSY,
				"it accepted standby and is in %s: its firmware does not obey, or "
				"something used it meanwhile",
				condition_name(now));
	return 0;
}

/* A test that failed must not leave the disk asleep. */
static int wake_by_command(WakeTest *t, const char *what)
{
	Condition now = CONDITION_STANDBY_Z;
	int r = disk_condition_set(t->disk, CONDITION_ACTIVE);

	if (r >= 0)
		r = disk_condition_get(t->disk, &now);
	if (r >= 0 && now < CONDITION_STANDBY_Y)
		return conclude(t, -EREMOTEIO, "%s; a command woke it", what);
	return conclude(t, -EREMOTEIO,
			"%s, and no command wakes it: %s. Cut its power, or the node's", what,
			r < 0 ? strerror(-r) : condition_name(now));
}

/* 0: the disk is awake. 1: the read was served, but the disk sleeps on. */
static int read_once(WakeTest *t)
{
	uint64_t since_us = clock_now_us(&clock_boottime);
	_cleanup_free_ char *what = NULL;
	Condition now;
	int r = read_block(t);

	t->seconds = (double)(clock_now_us(&clock_boottime) - since_us) / USEC_PER_SEC;
	if (r == -ENOMEM)
		return r;
	if (r >= 0)
		r = disk_condition_get(t->disk, &now);
	if (r >= 0)
		return now >= CONDITION_STANDBY_Y;
	what = text_printf("reading from it in standby failed after %.1f s: %s", t->seconds,
			   strerror(-r));
	return what ? wake_by_command(t, what) : -ENOMEM;
}

static int wake_by_reading(WakeTest *t)
{
	int r = 1;

	for (unsigned i = 0; i < TRIES && r == 1; i++)
		r = read_once(t);
	if (r == 1) {
		disk_condition_set(t->disk, CONDITION_ACTIVE);
		return conclude(
			t, -EAGAIN,
			"it served %d reads in standby, from its own cache: nothing is learned; "
			"try again",
			TRIES);
	}
	if (r < 0)
		return r;
	disk_condition_set(t->disk, CONDITION_ACTIVE); /* its own timers rule again */
	return conclude(t, 0, "a read brought it back after %.1f s", t->seconds);
}

int disk_wake_test(DiskCondition *c, const char *node, uint64_t size_bytes, unsigned block_bytes,
		   double *ret_seconds, char **ret_text)
{
	/* it is opened before the disk sleeps: opening may wake it */
	_cleanup_close_ int fd = open(node, O_RDONLY | O_DIRECT | O_CLOEXEC);
	WakeTest t = { .disk = c,
		       .node = node,
		       .fd = fd,
		       .size_bytes = size_bytes,
		       .block_bytes = block_bytes };
	bool trusted = disk_condition_is_trusted(c);
	int r;

	if (fd < 0)
		r = conclude(&t, errno == ENXIO ? -ENODEV : -errno, "%s: %s", node,
			     strerror(errno));
	else if (!block_bytes || size_bytes < block_bytes)
		r = conclude(&t, -EINVAL, "%s has no block to read", node);
	else
		r = put_to_standby(&t);
	if (r >= 0)
		r = wake_by_reading(&t);
	disk_condition_trust(c, trusted);
	*ret_text = t.text;
	if (r >= 0)
		*ret_seconds = t.seconds;
	return r;
}
