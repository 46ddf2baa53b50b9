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
#include "redirect/knob-registry.h"
#include "redirect/redirect-allowed.h"

#define COMPONENT "writecache"
#define HEAD      "writecache"
#define HIGH      "high_watermark"
#define LOW       "low_watermark"
#define MAX_AGE   "max_age"
#define START     "start_sector"
#define TABLE_MAX 1024
#define WORD_MAX  64

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
	char devices[WORD_MAX * 2];
	unsigned block_size;
	char options[TABLE_MAX]; /* " high_watermark 70", without the next */
	char start[WORD_MAX];    /* " start_sector 2048", or "" */
} Table;

typedef struct Status {
	unsigned long long total, free, in_flight; /* blocks; those being written back */
} Status;

static int upper_get(Device *d, const char *what, char *buf, size_t size)
{
	return d->ops->upper_read ? d->ops->upper_read(d, COMPONENT, what, buf, size) : -ENOENT;
}

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
	char text[TABLE_MAX];
	int r = upper_get(d, "table", text, sizeof(text)), devices_end = 0, count_end = 0;
	Table t = {};

	if (r < 0)
		return r;
	if (sscanf(text, "%*s %*s %*s %u%n %*u%n", &t.block_size, &devices_end, &count_end) != 1 ||
	    !count_end || devices_end >= (int)sizeof(t.devices))
		return -EBADMSG;
	memcpy(t.devices, text, (size_t)devices_end);
	snprintf(t.options, sizeof(t.options), "%s", text + count_end);
	split_start(&t);
	*ret = t;
	return 0;
}

static int read_status(Device *d, Status *ret)
{
	char text[TABLE_MAX];
	Status s;
	int error, r = upper_get(d, "status", text, sizeof(text));

	if (r < 0)
		return r;
	if (sscanf(text, "%d %llu %llu %llu", &error, &s.total, &s.free, &s.in_flight) != 4 ||
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

static int writecache_read(Device *d, KnobValue *ret)
{
	KnobValue v = { HEAD };
	char *save, *word;
	Table t;
	int r = d->ops->upper_read ? read_table(d, &t) : -EOPNOTSUPP;

	if (r == -ENOENT) {
		*ret = (KnobValue){ VALUE_NONE };
		return 0;
	}
	if (r < 0)
		return r;
	for (word = strtok_r(t.options, " ", &save); word && r >= 0;
	     word = strtok_r(NULL, " ", &save)) {
		char *value = is_flag(word) ? NULL : strtok_r(NULL, " ", &save);

		r = append(&v, value ? " %s=%s" : " %s", word, value);
	}
	if (r >= 0)
		*ret = v;
	return r;
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
	int r = redirect_allowed(d, COMPONENT, ret_why_not);

	if (r < 0)
		return r;
	r = writecache_read(d, &v);
	if (r == -EOPNOTSUPP || (r >= 0 && streq(v.text, VALUE_NONE)))
		return not_offered(ret_why_not, "the disk has no dm-writecache in front of it");
	if (r == -EMLINK)
		return not_offered(ret_why_not, "several volumes on the disk have a dm-writecache");
	if (r >= 0)
		r = read_status(d, &s);
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
	return value_print(ret, HEAD " " HIGH "=%u " LOW "=%u%s", high, low,
			   rest.text + strlen(HEAD));
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

static int wait_until_calm(Device *d, const Table *t, const KnobValue *now)
{
	unsigned low = percent(now, LOW, LOW_DEFAULT);

	for (unsigned look = 0; look < LOOKS_MAX; look++) {
		uint64_t to_free;
		Status s;
		int r = read_status(d, &s);

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

/* The devices as they are now, the options of the value. */
static int writecache_write(Device *d, const KnobValue *value)
{
	KnobValue now, options = *value;
	char text[TABLE_MAX];
	Table t;
	int r = d->ops->upper_read && d->ops->upper_write ? read_table(d, &t) : -EOPNOTSUPP;

	if (r == -ENOENT)
		return 0; /* taken away, and its options with it */
	if (r >= 0)
		r = writecache_read(d, &now);
	if (r >= 0 && !streq(now.text, value->text))
		r = wait_until_calm(d, &t, &now);
	if (r < 0)
		return r;
	for (char *c = options.text; *c; c++)
		if (*c == '=')
			*c = ' ';
	r = snprintf(text, sizeof(text), "%s %u%s%s", t.devices,
		     count_words(t.start) + count_words(options.text + strlen(HEAD)), t.start,
		     options.text + strlen(HEAD));
	if (r >= (int)sizeof(text))
		return -ENOBUFS;
	/* also where nothing changes: a table that a kill left waiting is thrown away */
	return d->ops->upper_write(d, COMPONENT, "table", text);
}

static bool writecache_fulfils(const Device *d, const KnobValue *wanted, const KnobValue *found)
{
	(void)d;
	return streq(found->text, VALUE_NONE) || streq(found->text, wanted->text);
}

/* What there is room for while it holds, whether it does already or not. */
static int writecache_cache(Device *d, CacheState *ret)
{
	uint64_t free_least;
	KnobValue now;
	Table t;
	Status s;
	int r = writecache_read(d, &now);

	if (r >= 0)
		r = read_table(d, &t);
	if (r >= 0)
		r = read_status(d, &s);
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
