/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* bcache in front of a disk: holds writes back on the cache device, or writes them all to the disk
 * (Linux Documentation/admin-guide/bcache.rst, drivers/md/bcache/{request,writeback,sysfs}.c, 6.1
 * to 6.12).
 *
 * The value is the cache mode and the attributes beside it: "writeback running=1 percent=10
 * cutoff=4194304 readahead=all congested_read=2000 congested_write=20000". To hold is to stop the
 * writeback thread and to have nothing bypass the cache: not long sequential IO, not the kernel's
 * background writes, nothing when the cache is slow. To drain is to let the thread run at full
 * speed.
 *
 * What cannot be helped: the first write to a clean backing device marks its superblock dirty, on
 * the disk. A disk that was drained and is held again at once is not marked clean (the thread does
 * that writeback_delay later), so it happens once at most. The mode is in that superblock, too.
 * A flush is handed on to a disk that has a volatile write cache. */

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "knob/attribute.h"
#include "knob/value-words.h"
#include "redirect/knob-registry.h"
#include "redirect/redirect-allowed.h"

#define COMPONENT "bcache"
#define MODE      "cache_mode"
#define WORD_MAX  64

typedef struct Word {
	const char *key, *what;
	const char *held, *drained; /* NULL: as found */
	bool of_set;                /* and of all disks that the cache serves */
} Word;

/* In the order in which they are written: the thread stops before a mode is set that gives it work.
 */
static const Word words[] = {
	{ "running", "writeback_running", "0", "1", false },
	{ "percent", "writeback_percent", NULL, "0", false },
	{ "cutoff", "sequential_cutoff", "0", "0", false },
	{ "readahead", "readahead_cache_policy", "all", "all", false },
	{ "congested_read", "set/congested_read_threshold_us", "0", "0", true },
	{ "congested_write", "set/congested_write_threshold_us", "0", "0", true },
};

static int upper_get(Device *d, const char *what, char *buf, size_t size)
{
	int r = d->ops->upper_read ? d->ops->upper_read(d, COMPONENT, what, buf, size) : -ENOENT;

	if (r >= 0)
		attribute_take_choice(buf);
	return r;
}

/* What bch_hprint() makes of bytes: "4.0M". It cuts tenths off; the least number that prints the
 * same is taken, so that reading and writing it is stable. */
static int parse_size(const char *text, uint64_t *ret)
{
	static const char units[] = "kMGTPEZY";
	unsigned long long whole;
	unsigned tenths = 0;
	char unit = '\0';
	const char *at;

	if (sscanf(text, "%llu.%u%c", &whole, &tenths, &unit) < 2 &&
	    sscanf(text, "%llu%c", &whole, &unit) < 1)
		return -EINVAL;
	if (!unit) {
		*ret = whole;
		return tenths ? -EINVAL : 0;
	}
	at = strchr(units, unit);
	if (!at || tenths > 9 || at - units > 5 || whole >= 1024)
		return -EINVAL;
	*ret = ((uint64_t)whole * 1024 + (tenths * 1024 + 9) / 10) << 10 * (at - units);
	return 0;
}

static int get_size(Device *d, const char *what, uint64_t *ret)
{
	char text[WORD_MAX];
	int r = upper_get(d, what, text, sizeof(text));

	return r < 0 ? r : parse_size(text, ret);
}

static unsigned long get_number(Device *d, const char *what, unsigned long otherwise)
{
	char text[WORD_MAX];
	unsigned long n;

	return upper_get(d, what, text, sizeof(text)) >= 0 &&
			       parse_unsigned(text, UINT32_MAX, &n) >= 0
		       ? n
		       : otherwise;
}

static unsigned long disks_served(Device *d)
{
	return MAX(get_number(d, "backing_devices", 1), 1UL);
}

/* As it is written: the kernel prints sizes in words and takes them in bytes. */
static int read_word(Device *d, const Word *w, char *buf, size_t size)
{
	int r = upper_get(d, w->what, buf, size);
	uint64_t bytes;

	if (r >= 0 && streq(w->key, "cutoff") && parse_size(buf, &bytes) >= 0)
		snprintf(buf, size, "%llu", (unsigned long long)bytes);
	return r;
}

/* The set's attributes are left alone where it serves several disks: what one of them has set, the
 * next would take for the original. */
static int bcache_read(Device *d, KnobValue *ret)
{
	bool shared = disks_served(d) > 1;
	KnobValue v;
	int r = d->ops->upper_read ? upper_get(d, MODE, v.text, sizeof(v.text)) : -EOPNOTSUPP;

	for (size_t i = 0; i < ELEMENTSOF(words) && r >= 0; i++) {
		char word[WORD_MAX];

		if (words[i].of_set && shared)
			continue;
		r = read_word(d, &words[i], word, sizeof(word));
		if (r == -ENOENT && i > 0)
			r = 0; /* not in this kernel */
		else if (r >= 0)
			r = value_add_word(&v, words[i].key, word);
	}
	if (r < 0 && r != -ENOENT)
		return r;
	*ret = r < 0 ? (KnobValue){ VALUE_NONE } : v;
	return 0;
}

static bool is_detached(Device *d)
{
	char state[WORD_MAX];

	return upper_get(d, "state", state, sizeof(state)) >= 0 && streq(state, "no cache");
}

static int bcache_probe(Device *d, Offer *offer, char **ret_why_not)
{
	char mode[WORD_MAX];
	KnobValue v;
	int r = redirect_allowed(d, COMPONENT, ret_why_not);

	if (r < 0)
		return r;
	r = bcache_read(d, &v);
	if (r == -EOPNOTSUPP || (r >= 0 && streq(v.text, VALUE_NONE)))
		return not_offered(ret_why_not, "the disk has no bcache in front of it");
	if (r >= 0 && is_detached(d))
		return not_offered(ret_why_not, "its bcache has no cache attached");
	if (r == -EMLINK)
		return not_offered(ret_why_not, "several partitions of the disk have a bcache");
	if (r < 0)
		return not_offered(ret_why_not, "the bcache cannot be read: %s", strerror(-r));
	if (!streq(value_head(&v, mode, sizeof(mode)), "writeback") && !*d->redirect)
		return not_offered(ret_why_not,
				   "cache_mode is %s: holding writes back would leave them on the "
				   "cache device alone; set it to writeback, or declare redirect = "
				   "bcache",
				   mode);
	offer->mechanisms |= MECHANISM_REDIRECT;
	offer->redirects_writes = true;
	return 0;
}

static int bcache_want(const Device *d, const Setting *s, const Mix *mix, const KnobValue *original,
		       KnobValue *ret)
{
	KnobValue v = { "writeback" };
	int r = 0;

	(void)d;
	(void)mix;
	if (s->redirect == REDIRECT_AS_FOUND) {
		*ret = *original;
		return 0;
	}
	for (size_t i = 0; i < ELEMENTSOF(words) && r >= 0; i++) {
		const Word *w = &words[i];
		const char *to = s->redirect == REDIRECT_HOLD ? w->held : w->drained;
		char word[WORD_MAX];

		if (value_word(original, w->key, word, sizeof(word)))
			r = value_add_word(&v, w->key, to ?: word);
	}
	if (r < 0)
		return r;
	*ret = v;
	return 0;
}

static int write_word(Device *d, const Word *w, const char *word)
{
	char now[WORD_MAX];
	int r = read_word(d, w, now, sizeof(now));

	if (r < 0 || streq(now, word))
		return r;
	return d->ops->upper_write(d, COMPONENT, w->what, word);
}

static int write_mode(Device *d, const KnobValue *value)
{
	char mode[WORD_MAX], now[WORD_MAX];
	int r = upper_get(d, MODE, now, sizeof(now));

	if (r < 0 || streq(value_head(value, mode, sizeof(mode)), now))
		return r;
	return d->ops->upper_write(d, COMPONENT, MODE, mode);
}

/* Every word, whatever became of those before it: the first error is what counts. */
static int bcache_write(Device *d, const KnobValue *value)
{
	bool ran = get_number(d, "writeback_running", 0);
	char now[WORD_MAX];
	int r, first = 0;

	if (!d->ops->upper_write)
		return -EOPNOTSUPP;
	for (size_t i = 0; i < ELEMENTSOF(words); i++) {
		char word[WORD_MAX];

		if (!value_word(value, words[i].key, word, sizeof(word)))
			continue;
		r = write_word(d, &words[i], word);
		if (r < 0 && !first && !(r == -ENOENT && words[i].of_set && is_detached(d)))
			first = r;
	}
	if (first == -ENOENT && upper_get(d, MODE, now, sizeof(now)) == -ENOENT)
		return 0; /* it is gone, and what was set in the kernel with it */
	r = write_mode(d, value);
	/* how much is in use is known from the last garbage collection, and when that was more than
	 * there is now, writes would bypass the cache: have it counted anew */
	if (ran && !get_number(d, "writeback_running", 1))
		d->ops->upper_write(d, COMPONENT, "set/internal/trigger_gc", "1");
	return first ?: MIN(r, 0);
}

/* A word that is not found is one of a kernel, or of a set that serves one disk alone or has been
 * detached. Of a bcache that is gone, the mode is left: in the superblock. */
static bool bcache_fulfils(const Device *d, const KnobValue *wanted, const KnobValue *found)
{
	char mode[WORD_MAX];

	if (streq(found->text, VALUE_NONE))
		return streq(value_head(wanted, mode, sizeof(mode)), "writeback");
	if (!value_same_head(d, wanted, found))
		return false;
	for (size_t i = 0; i < ELEMENTSOF(words); i++) {
		char w[WORD_MAX], f[WORD_MAX];

		if (value_word(wanted, words[i].key, w, sizeof(w)) &&
		    value_word(found, words[i].key, f, sizeof(f)) && !streq(w, f))
			return false;
	}
	return true;
}

/* should_writeback() sends writes past the cache once more than cutoff_writeback percent of its
 * buckets are dirty (sync ones later), by the count of the last garbage collection. What this disk
 * has dirtied since is known; what others have is not, so they share what is left. */
static int bcache_cache(Device *d, CacheState *ret)
{
	unsigned long buckets = get_number(d, "cache/nbuckets", 0);
	unsigned long available = get_number(d, "set/cache_available_percent", 0);
	unsigned long cutoff = get_number(d, "set/internal/cutoff_writeback", 40);
	uint64_t bucket_size, limit, used;
	CacheState c = {};
	int r = get_size(d, "set/bucket_size", &bucket_size);

	if (r >= 0)
		r = get_size(d, "dirty_data", &c.dirty_bytes);
	if (r < 0)
		return r;
	if (!buckets)
		return -ENODATA;
	c.size_bytes = buckets * bucket_size;
	limit = c.size_bytes / 100 * MIN(cutoff, 100UL);
	used = MAX(c.size_bytes / 100 * (100 - MIN(available, 100UL)), c.dirty_bytes);
	c.room_bytes = limit > used ? (limit - used) / disks_served(d) : 0;
	*ret = c;
	return 0;
}

const Knob knob_redirect_bcache = {
	.name = "redirect-bcache",
	.mechanism = MECHANISM_REDIRECT,
	.exactness = ADVISORY,
	.slow = true,
	.drifts = true,
	.head_survives_reboot = true, /* the mode lies in the superblock */
	.probe = bcache_probe,
	.read = bcache_read,
	.want = bcache_want,
	.write = bcache_write,
	.fulfils = bcache_fulfils,
	.cache = bcache_cache,
};
