/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* dm-writecache in front of a disk (LVM's --type writecache): its watermarks decide when it writes
 * back (Linux drivers/md/dm-writecache.c, 6.1 to 6.12): from where no more than 100 -
 * high_watermark percent of its blocks are free until 100 - low_watermark percent are.
 *
 * The value is the target's options: "writecache high_watermark=70 low_watermark=60 fua". To hold
 * is to raise both watermarks, and to let no block become too old (max_age). To drain is to set
 * both to 0: all is written back in the background, and what is written next, too. (The message
 * "flush" writes back in the order of the disk, which is faster after random writes; but its sender
 * waits for minutes, and who replaces the table meanwhile has all IO wait as long.) The devices,
 * and where on the cache device the cache starts, are no part of the value: what is put back after
 * a volume was made anew must not name others'.
 *
 * What cannot be helped: a flush is handed on to a disk that has a volatile write cache. */

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "knob/attribute.h"
#include "knob/value-words.h"
#include "redirect/component.h"
#include "redirect/knob-registry.h"
#include "redirect/writecache-host.h"
#include "stack/dm-table.h"

#define HIGH     "high_watermark"
#define LOW      "low_watermark"
#define MAX_AGE  "max_age"
#define START    "start_sector"
#define WORD_MAX 64

/* HIGH_WATERMARK and LOW_WATERMARK of the kernel; ours. */
#define HIGH_DEFAULT 50U
#define LOW_DEFAULT  45U
#define HIGH_HELD    95U
#define LOW_HELD     90U

/* A table is replaced while the device is suspended, and that waits for what is being written back,
 * down to the low watermark. IO stands still so long; this much is a second or so of a disk. */
#define STALL_MAX_BYTES (16 << 20)
#define LOOKS_MAX       20
#define LOOK_MS         100

/* "s 8:0 252:1 4096 2 high_watermark 70": up to the count it says what is mapped to what. */
typedef struct Table {
	dev_t devnum;
	DmTable active;
	char devices[WORD_MAX * 2];
	unsigned block_size;
	char options[sizeof(((DmTable *)NULL)->parameters)]; /* " high_watermark 70" */
	char start[WORD_MAX];                                /* " start_sector 2048", or "" */
} Table;

typedef struct Status {
	unsigned long long total, free, in_flight; /* blocks; those being written back */
} Status;

/* Takes " start_sector 2048" out of the options. */
static void split_start(Table *t)
{
	char *at = strstr(t->options, " " START " ");
	size_t n = at ? strlen(" " START " ") : 0;

	if (!at)
		return;
	n += strcspn(at + n, " ");
	snprintf(t->start, sizeof(t->start), "%.*s", (int)n, at);
	memmove(at, at + n, strlen(at + n) + 1);
}

static int read_table(Device *d, Table *ret)
{
	int devices_end = 0, count_end = 0, r;
	Table t = {};

	r = writecache_find(d, &t.devnum);
	if (r >= 0)
		r = dm_table_read(t.devnum, DM_ACTIVE, &t.active);
	if (r < 0)
		return r;
	if (sscanf(t.active.parameters, "%*s %*s %*s %u%n %*u%n", &t.block_size, &devices_end,
		   &count_end) != 1 ||
	    !count_end || devices_end >= (int)sizeof(t.devices))
		return -EBADMSG;
	memcpy(t.devices, t.active.parameters, (size_t)devices_end);
	snprintf(t.options, sizeof(t.options), "%s", t.active.parameters + count_end);
	split_start(&t);
	*ret = t;
	return 0;
}

static int read_status(const Table *t, Status *ret)
{
	DmTable text;
	Status s;
	int error, r = dm_table_read(t->devnum, DM_STATUS, &text);

	if (r < 0)
		return r;
	if (sscanf(text.parameters, "%d %llu %llu %llu", &error, &s.total, &s.free, &s.in_flight) !=
		    4 ||
	    s.free > s.total)
		return -EBADMSG;
	*ret = s;
	return error ? -EIO : 0;
}

static bool is_flag(const char *option)
{
	static const char *const flags[] = { "cleaner", "fua", "nofua", "metadata_only" };

	for (size_t i = 0; i < ELEMENTSOF(flags); i++)
		if (streq(option, flags[i]))
			return true;
	return false;
}

static int append(KnobValue *v, const char *format, const char *a, const char *b)
{
	size_t n = strlen(v->text), room = sizeof(v->text) - n;

	return (size_t)snprintf(v->text + n, room, format, a, b) < room ? 0 : -ENOBUFS;
}

static int read_value(const Table *t, KnobValue *ret)
{
	char options[sizeof(t->options)], *save, *word;
	KnobValue v = { WRITECACHE };
	int r = 0;

	memcpy(options, t->options, sizeof(options));
	for (word = strtok_r(options, " ", &save); word && r >= 0;
	     word = strtok_r(NULL, " ", &save)) {
		char *value = is_flag(word) ? NULL : strtok_r(NULL, " ", &save);

		r = append(&v, value ? " %s=%s" : " %s", word, value);
	}
	if (r >= 0)
		*ret = v;
	return r;
}

static int writecache_read(Device *d, KnobValue *ret)
{
	Table t;
	int r = read_table(d, &t);

	if (r == -ENOENT)
		return value_print(ret, VALUE_NONE);
	return r < 0 ? r : read_value(&t, ret);
}

static unsigned percent(const KnobValue *v, const char *key, unsigned otherwise)
{
	char word[WORD_MAX];
	unsigned long n;

	return value_word(v, key, word, sizeof(word)) && parse_unsigned(word, 100, &n) >= 0
		       ? (unsigned)n
		       : otherwise;
}

static int writecache_probe(Device *d, Offer *offer, char **ret_why_not)
{
	KnobValue v;
	Status s;
	Table t;
	int r = redirect_allowed(d, "writecache", ret_why_not);

	if (r < 0)
		return r;
	r = read_table(d, &t);
	if (r == -ENOENT)
		return not_offered(ret_why_not, "the disk has no dm-writecache in front of it");
	if (r == -EMLINK)
		return not_offered(ret_why_not, "several volumes on the disk have a dm-writecache");
	if (r >= 0)
		r = read_value(&t, &v);
	if (r >= 0)
		r = read_status(&t, &s);
	if (r == -EIO)
		return not_offered(ret_why_not, "the dm-writecache has met an IO error: see dmesg, "
						"and lvs -o+lv_health_status");
	if (r < 0)
		return not_offered(ret_why_not, "the dm-writecache cannot be read: %s",
				   strerror(-r));
	if (strstr(v.text, " cleaner"))
		return not_offered(ret_why_not, "the dm-writecache is being emptied to be taken "
						"away");
	offer->mechanisms |= MECHANISM_REDIRECT;
	offer->redirects_writes = true;
	return 0;
}

/* In the order in which the kernel prints them. */
static int with_watermarks(const KnobValue *original, unsigned high, unsigned low, KnobValue *ret)
{
	static const char *const dropped[] = { HIGH, LOW, MAX_AGE };
	KnobValue rest = *original;

	for (size_t i = 0; i < ELEMENTSOF(dropped); i++)
		value_drop_word(&rest, dropped[i]);
	return value_print(ret, WRITECACHE " " HIGH "=%u " LOW "=%u%s", high, low,
			   rest.text + strlen(WRITECACHE));
}

static int writecache_want(const Device *d, const Setting *s, const Mix *mix,
			   const KnobValue *original, KnobValue *ret)
{
	(void)d;
	(void)mix;
	switch (s->redirect) {
	case REDIRECT_HOLD:
		return with_watermarks(original,
				       MAX(percent(original, HIGH, HIGH_DEFAULT), HIGH_HELD),
				       MAX(percent(original, LOW, LOW_DEFAULT), LOW_HELD), ret);
	case REDIRECT_DRAIN: return with_watermarks(original, 0, 0, ret);
	case REDIRECT_AS_FOUND: break;
	}
	*ret = *original;
	return 0;
}

static uint64_t free_at(unsigned long long total, unsigned watermark)
{
	return (total * (100 - watermark) + 50) / 100;
}

static int wait_until_calm(const Table *t, const KnobValue *now)
{
	unsigned low = percent(now, LOW, LOW_DEFAULT);

	for (unsigned look = 0; look < LOOKS_MAX; look++) {
		uint64_t to_free;
		Status s;
		int r = read_status(t, &s);

		if (r < 0)
			return r;
		to_free = free_at(s.total, low);
		if (!s.in_flight || s.free >= to_free ||
		    (to_free - s.free) * t->block_size <= STALL_MAX_BYTES)
			return 0;
		nanosleep(&(struct timespec){ .tv_nsec = LOOK_MS * 1000000 }, NULL);
	}
	return -EBUSY;
}

static unsigned count_words(const char *text)
{
	unsigned n = 0;

	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		text += strcspn(text, " ");
		n++;
	}
	return n;
}

/* Makes a table of the devices as they are now and the options of the value. */
static int print_table(const Table *t, const KnobValue *value, DmTable *ret)
{
	KnobValue options = *value;
	const char *words = options.text + strlen(WRITECACHE);
	int n;

	for (char *c = options.text; *c; c++)
		if (*c == '=')
			*c = ' ';
	*ret = t->active;
	n = snprintf(ret->parameters, sizeof(ret->parameters), "%s %u%s%s", t->devices,
		     count_words(t->start) + count_words(words), t->start, words);
	return n < (int)sizeof(ret->parameters) ? 0 : -ENOBUFS;
}

/* Mode, origin, cache and block size: what must be the same, or data is lost. */
static bool has_same_devices(const Table *t, const DmTable *other)
{
	size_t n = strlen(t->devices);

	return streq(other->target, WRITECACHE) && strncmp(other->parameters, t->devices, n) == 0 &&
	       other->parameters[n] == ' ';
}

/* Clears a table that waits. Either a kill of the daemon left it, or LVM is at work, and then it is
 * gone in a moment. */
static int clear_leftover(const Table *t)
{
	DmTable waiting;
	int r;

	if (!t->active.waiting)
		return 0;
	r = dm_table_read(t->devnum, DM_WAITING, &waiting);
	if (r == -ENOENT)
		return 0;
	return r < 0 || !has_same_devices(t, &waiting) ? -EBUSY : dm_table_clear(t->devnum);
}

static int replace_table(const Table *t, const KnobValue *value)
{
	DmTable to;
	int r = print_table(t, value, &to);

	if (r >= 0)
		r = t->active.suspended ? -EBUSY : clear_leftover(t);
	if (r < 0 || streq(to.parameters, t->active.parameters))
		return r;
	return dm_table_replace(t->devnum, &to);
}

static int writecache_write(Device *d, const KnobValue *value)
{
	KnobValue now;
	Table t;
	int r = read_table(d, &t);

	if (r == -ENOENT)
		return 0; /* taken away, and its options with it */
	if (r >= 0)
		r = read_value(&t, &now);
	if (r >= 0 && !streq(now.text, value->text))
		r = wait_until_calm(&t, &now);
	/* others may have replaced it meanwhile */
	if (r >= 0)
		r = read_table(d, &t);
	/* also where nothing changes: a table that a kill left waiting is thrown away */
	return r < 0 ? r : replace_table(&t, value);
}

static bool writecache_fulfils(const Device *d, const KnobValue *wanted, const KnobValue *found)
{
	(void)d;
	return streq(found->text, VALUE_NONE) || streq(found->text, wanted->text);
}

/* Tells what there is room for while the cache holds writes, whether it does so already or not. */
static int writecache_cache(Device *d, CacheState *ret)
{
	uint64_t free_least;
	KnobValue now;
	Table t;
	Status s;
	int r = read_table(d, &t);

	if (r >= 0)
		r = read_value(&t, &now);
	if (r >= 0)
		r = read_status(&t, &s);
	if (r < 0)
		return r;
	free_least = free_at(s.total, MAX(percent(&now, HIGH, HIGH_DEFAULT), HIGH_HELD)) + 1;
	*ret = (CacheState){
		.size_bytes = s.total * t.block_size,
		.dirty_bytes = (s.total - s.free) * t.block_size,
		.room_bytes = s.free > free_least ? (s.free - free_least) * t.block_size : 0,
	};
	return 0;
}

const Knob knob_redirect_writecache = {
	.name = "redirect-writecache",
	.mechanism = MECHANISM_REDIRECT,
	.exactness = ADVISORY,
	.slow = true,
	.freezes = true,
	.drifts = true, /* LVM loads tables of its own */
	.probe = writecache_probe,
	.read = writecache_read,
	.want = writecache_want,
	.write = writecache_write,
	.fulfils = writecache_fulfils,
	.cache = writecache_cache,
};
