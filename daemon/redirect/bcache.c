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

#include "base/sysfs.h"
#include "base/text.h"
#include "knob/attribute.h"
#include "knob/value-words.h"
#include "redirect/component.h"
#include "redirect/knob-registry.h"

#define MODE       "cache_mode"
#define RUNNING    "writeback_running"
#define FOLDER_MAX 256
#define WORD_MAX   64

/* The folder of a backing device: "cache" in it leads to the cache set, and "cache0" in that to the
 * set's first cache device. */
#define SET   "cache/"
#define CACHE SET "cache0/"

typedef struct Bcache {
	Device *device;
	char folder[FOLDER_MAX]; /* below the disk's: "bcache", "sda2/bcache"; "" before one is
				    found */
	unsigned n_disks;        /* that the set serves */
} Bcache;

typedef struct Word {
	const char *key, *attr;
	const char *held, *drained; /* NULL: as found */
	bool of_set;                /* and of all disks that the cache serves */
} Word;

/* In the order in which they are written: the thread stops before a mode is set that gives it work.
 */
static const Word words[] = {
	{ "running", RUNNING, "0", "1", false },
	{ "percent", "writeback_percent", NULL, "0", false },
	{ "cutoff", "sequential_cutoff", "0", "0", false },
	{ "readahead", "readahead_cache_policy", "all", "all", false },
	{ "congested_read", SET "congested_read_threshold_us", "0", "0", true },
	{ "congested_write", SET "congested_write_threshold_us", "0", "0", true },
};

static int read_text(const Bcache *b, const char *attr, char *buf, size_t size)
{
	char path[FOLDER_MAX + WORD_MAX];
	int r;

	snprintf(path, sizeof(path), "%s/%s", b->folder, attr);
	r = attribute_read(b->device, path, buf, size);
	if (r >= 0)
		attribute_take_choice(buf);
	return r;
}

static int write_text(const Bcache *b, const char *attr, const char *text)
{
	char path[FOLDER_MAX + WORD_MAX];

	snprintf(path, sizeof(path), "%s/%s", b->folder, attr);
	return b->device->ops->attr_write(b->device, path, text);
}

static int count_backing(const char *path, void *userdata)
{
	*(unsigned *)userdata += strncmp(base_name(path), "bdev", strlen("bdev")) == 0;
	return 0;
}

static int count_disks(Bcache *b, const OwnNodes *own, const char *node)
{
	_cleanup_free_ char *folder = own_node_folder(own, node);
	_cleanup_free_ char *set = folder ? text_printf("%s/bcache/" SET, folder) : NULL;
	unsigned n = 0;

	if (!set)
		return -ENOMEM;
	folder_each(set, count_backing, &n);
	b->n_disks = MAX(n, 1U);
	return 0;
}

static bool has_set(const Bcache *b)
{
	char text[WORD_MAX];

	return read_text(b, SET "congested_read_threshold_us", text, sizeof(text)) >= 0;
}

/* The folder of a cache device has no mode. One without a set counts where there is no other. */
static int take_node(Bcache *found, const OwnNodes *own, const char *node)
{
	Bcache b = { .device = found->device };
	char mode[WORD_MAX];
	int r = own_node_attribute(node, "bcache", b.folder, sizeof(b.folder));

	if (r >= 0)
		r = read_text(&b, MODE, mode, sizeof(mode));
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (*found->folder && !has_set(&b))
		return 0;
	if (*found->folder && has_set(found))
		return -EMLINK;
	r = count_disks(&b, own, node);
	if (r >= 0)
		*found = b;
	return r;
}

/* -ENOENT: there is none; -EMLINK: there are several, and one setting does not fit all. */
static int find_bcache(Device *d, Bcache *ret)
{
	_cleanup_(own_nodes_done) OwnNodes own = {};
	Bcache b = { .device = d };
	int r = own_nodes_find(d, &own);

	for (size_t i = 0; i < own.paths.n && r >= 0; i++)
		r = take_node(&b, &own, own.paths.list[i]);
	if (r < 0)
		return r;
	if (!*b.folder)
		return -ENOENT;
	*ret = b;
	return 0;
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

static int read_size(const Bcache *b, const char *attr, uint64_t *ret)
{
	char text[WORD_MAX];
	int r = read_text(b, attr, text, sizeof(text));

	return r < 0 ? r : parse_size(text, ret);
}

static unsigned long read_number(const Bcache *b, const char *attr, unsigned long otherwise)
{
	char text[WORD_MAX];
	unsigned long n;

	return read_text(b, attr, text, sizeof(text)) >= 0 &&
			       parse_unsigned(text, UINT32_MAX, &n) >= 0
		       ? n
		       : otherwise;
}

/* Reads a word in the form in which it is written: the kernel prints sizes in words and takes them
 * in bytes. */
static int read_word(const Bcache *b, const Word *w, char *buf, size_t size)
{
	int r = read_text(b, w->attr, buf, size);
	uint64_t bytes;

	if (r >= 0 && streq(w->key, "cutoff") && parse_size(buf, &bytes) >= 0)
		snprintf(buf, size, "%llu", (unsigned long long)bytes);
	return r;
}

/* The set's attributes are left alone where it serves several disks: what one of them has set, the
 * next would take for the original. */
static int read_value(const Bcache *b, KnobValue *ret)
{
	KnobValue v;
	int r = read_text(b, MODE, v.text, sizeof(v.text));

	for (size_t i = 0; i < ELEMENTSOF(words) && r >= 0; i++) {
		char word[WORD_MAX];

		if (words[i].of_set && b->n_disks > 1)
			continue;
		r = read_word(b, &words[i], word, sizeof(word));
		if (r == -ENOENT && i > 0)
			r = 0; /* not in this kernel */
		else if (r >= 0)
			r = value_add_word(&v, words[i].key, word);
	}
	if (r >= 0)
		*ret = v;
	return r;
}

static int bcache_read(Device *d, KnobValue *ret)
{
	Bcache b;
	int r = find_bcache(d, &b);

	if (r >= 0)
		r = read_value(&b, ret);
	return r == -ENOENT ? value_print(ret, VALUE_NONE) : r;
}

static bool is_detached(const Bcache *b)
{
	char state[WORD_MAX];

	return read_text(b, "state", state, sizeof(state)) >= 0 && streq(state, "no cache");
}

static int bcache_probe(Device *d, Offer *offer, char **ret_why_not)
{
	char mode[WORD_MAX];
	KnobValue v;
	Bcache b;
	int r = redirect_allowed(d, "bcache", ret_why_not);

	if (r < 0)
		return r;
	r = find_bcache(d, &b);
	if (r >= 0)
		r = read_value(&b, &v);
	if (r == -ENOENT)
		return not_offered(ret_why_not, "the disk has no bcache in front of it");
	if (r == -EMLINK)
		return not_offered(ret_why_not, "several partitions of the disk have a bcache");
	if (r < 0)
		return not_offered(ret_why_not, "the bcache cannot be read: %s", strerror(-r));
	if (is_detached(&b))
		return not_offered(ret_why_not, "its bcache has no cache attached");
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

static int write_word(const Bcache *b, const Word *w, const char *word)
{
	char now[WORD_MAX];
	int r = read_word(b, w, now, sizeof(now));

	return r < 0 || streq(now, word) ? r : write_text(b, w->attr, word);
}

/* Writes every word, even where an earlier one failed, and returns the first error. */
static int write_words(const Bcache *b, const KnobValue *value)
{
	int first = 0;

	for (size_t i = 0; i < ELEMENTSOF(words); i++) {
		char word[WORD_MAX];
		int r;

		if (!value_word(value, words[i].key, word, sizeof(word)))
			continue;
		r = write_word(b, &words[i], word);
		if (r < 0 && !first && !(r == -ENOENT && words[i].of_set && is_detached(b)))
			first = r;
	}
	return first;
}

static int bcache_write(Device *d, const KnobValue *value)
{
	static const Word mode_word = { "mode", MODE };
	char mode[WORD_MAX];
	Bcache b;
	bool ran;
	int r = find_bcache(d, &b), r_mode;

	if (r == -ENOENT)
		return 0; /* it is gone, and what was set in the kernel with it */
	if (r < 0)
		return r;
	ran = read_number(&b, RUNNING, 0);
	r = write_words(&b, value);
	r_mode = write_word(&b, &mode_word, value_head(value, mode, sizeof(mode)));
	/* how much is in use is known from the last garbage collection, and when that was more than
	 * there is now, writes would bypass the cache: have it counted anew */
	if (ran && !read_number(&b, RUNNING, 1))
		write_text(&b, SET "internal/trigger_gc", "1");
	return r ?: MIN(r_mode, 0);
}

/* A word may be missing in what was found: another kernel has no such attribute, or the set has
 * been detached or serves several disks by now. Of a bcache that is gone only the mode is left, in
 * the superblock. */
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
	unsigned long buckets, available, cutoff;
	uint64_t bucket_size, limit, used;
	CacheState c = {};
	Bcache b;
	int r = find_bcache(d, &b);

	if (r >= 0)
		r = read_size(&b, SET "bucket_size", &bucket_size);
	if (r >= 0)
		r = read_size(&b, "dirty_data", &c.dirty_bytes);
	if (r < 0)
		return r;
	buckets = read_number(&b, CACHE "nbuckets", 0);
	available = read_number(&b, SET "cache_available_percent", 0);
	cutoff = read_number(&b, SET "internal/cutoff_writeback", 40);
	if (!buckets)
		return -ENODATA;
	c.size_bytes = buckets * bucket_size;
	limit = c.size_bytes / 100 * MIN(cutoff, 100UL);
	used = MAX(c.size_bytes / 100 * (100 - MIN(available, 100UL)), c.dirty_bytes);
	c.room_bytes = limit > used ? (limit - used) / b.n_disks : 0;
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
