/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pacing where the kernel has no io.cost: io.max, which limits the bytes and IOs a second of one
 * cgroup (block/blk-throttle.c). Limits that come to the watts together (knob/cgroup-io.h) are
 * divided among the cgroups below the root one, by what each did since they were last divided.
 *
 * The value is the sum over those cgroups; "max" where none has a line. */

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/text.h"
#include "knob/attribute.h"
#include "knob/cgroup-io.h"
#include "knob/mechanisms.h"

#define FREE        "max"
#define UNLIMITED   "rbps=max wbps=max riops=max wiops=max"
#define CGROUPS_MAX 1024

/* A cgroup is limited to no less than this: up to 6.12 the kernel answers 1 with EINVAL. */
#define LEAST 2.0
/* This part is divided evenly, so that one that was idle can begin at once. */
#define EVEN_PART 0.2
/* Limits that have fallen so far behind what the present mix needs are divided anew. What rounding
 * takes is far less. */
#define DRIFT    0.75
#define ROUNDING 0.01

typedef struct Share {
	char *name;
	IoLimits now, next;
	double did[_IO_LIMIT_MAX]; /* since the limits were last divided */
} Share;

/* The cgroups that have the io controller. */
typedef struct Shares {
	size_t n;
	Share at[CGROUPS_MAX];
} Shares;

/* This knob's memory of a device: io.stat of each cgroup when the limits were last divided. */
typedef struct CgroupUse {
	size_t n;
	struct {
		char name[NAME_MAX + 1];
		double done[_IO_LIMIT_MAX];
	} at[CGROUPS_MAX];
} CgroupUse;

static Shares *shares_free(Shares *s)
{
	if (!s)
		return NULL;
	for (size_t i = 0; i < s->n; i++)
		free(s->at[i].name);
	free(s);
	return NULL;
}
DEFINE_CLEANUP(Shares *, shares_free);

static int read_file_of(Device *d, const char *cgroup, const char *file, char *buf, size_t size)
{
	_cleanup_free_ char *path = text_printf("%s/%s", cgroup, file);

	return path ? d->ops->cgroup_read(d, path, buf, size) : -ENOMEM;
}

/* -ENOENT: the cgroup is gone, or has no io.max. */
static int add_share(Device *d, const char *name, Shares *to)
{
	Share *s = &to->at[to->n];
	char line[256];
	int r = read_file_of(d, name, "io.max", line, sizeof(line));

	if (r >= 0)
		r = io_limits_parse(line, &s->now);
	if (r < 0)
		return r;
	s->name = strdup(name);
	if (!s->name)
		return -ENOMEM;
	to->n++;
	return 0;
}

static int shares_read(Device *d, Shares **ret)
{
	_cleanup_(shares_freep) Shares *s = calloc(1, sizeof(*s));
	_cleanup_(strv_freep) char **names = NULL;
	int r;

	if (!d->ops->cgroup_list || !d->ops->cgroup_read || !d->ops->cgroup_write)
		return -EOPNOTSUPP;
	r = s ? d->ops->cgroup_list(d, &names) : -ENOMEM;
	for (char **name = names; r >= 0 && name && *name; name++) {
		if (s->n == CGROUPS_MAX)
			return -E2BIG;
		r = add_share(d, *name, s);
		if (r == -ENOENT)
			r = 0;
	}
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}

static int io_max_read(Device *d, KnobValue *ret)
{
	_cleanup_(shares_freep) Shares *s = NULL;
	IoLimits sum = {};
	bool any = false;
	int r = shares_read(d, &s);

	if (r < 0)
		return r;
	for (size_t i = 0; i < s->n; i++) {
		any |= io_limits_any(&s->at[i].now);
		for (int k = 0; k < _IO_LIMIT_MAX; k++)
			sum.at[k] += s->at[i].now.at[k];
	}
	return any ? io_limits_print(&sum, ret) : value_print(ret, FREE);
}

static int check_shares(Device *d, char **ret_why_not)
{
	_cleanup_(shares_freep) Shares *s = NULL;
	int r = shares_read(d, &s);

	if (r < 0)
		return not_offered(ret_why_not, "io.max of its cgroups cannot be read: %s",
				   strerror(-r));
	if (s->n == 0)
		return not_offered(ret_why_not, "no cgroup below the root one has io.max (needs "
						"CONFIG_BLK_DEV_THROTTLING)");
	for (size_t i = 0; i < s->n; i++)
		if (io_limits_any(&s->at[i].now))
			return not_offered(ret_why_not,
					   "io.max of %s already limits it: remove that line first",
					   s->at[i].name);
	return 0;
}

static int io_max_probe(Device *d, Offer *offer, char **ret_why_not)
{
	double least_w = d->profile ? io_limits_least_watts(d->profile) : 0;
	int r;

	if (offer->mechanisms & MECHANISM_PACING)
		return not_offered(ret_why_not, "io.cost, which prices every IO, paces it");
	if (!d->ops->cgroup_list)
		return not_offered(ret_why_not, "no cgroup file of the device is reachable");
	r = cgroup_io_check(d, ret_why_not);
	if (r >= 0)
		r = check_shares(d, ret_why_not);
	if (r < 0)
		return r;
	if (!(least_w > 0))
		return not_offered(ret_why_not, "its profile does not say what an IO costs");
	offer->mechanisms |= MECHANISM_PACING;
	offer->pace_min_w = least_w;
	return 0;
}

static int io_max_want(const Device *d, const Setting *s, const Mix *mix, const KnobValue *original,
		       KnobValue *ret)
{
	IoLimits limits;

	if (s->pace_w <= 0) {
		*ret = *original;
		return 0;
	}
	if (!d->profile || !(io_limits_least_watts(d->profile) > 0))
		return -EOPNOTSUPP;
	io_limits_for(d->profile, mix, s->pace_w, &limits);
	return io_limits_print(&limits, ret);
}

static double stat_word(const KnobValue *stat, const char *key)
{
	char word[32];
	unsigned long v;

	return value_word(stat, key, word, sizeof(word)) && parse_unsigned(word, ~0UL, &v) >= 0
		       ? (double)v
		       : 0;
}

/* A cgroup without a line in io.stat has done no IO. */
static void read_done(Device *d, const char *name, double ret[_IO_LIMIT_MAX])
{
	KnobValue stat = { .text = " " };

	if (read_file_of(d, name, "io.stat", stat.text + 1, sizeof(stat.text) - 1) < 0)
		stat.text[1] = '\0';
	ret[LIMIT_RBPS] = stat_word(&stat, "rbytes");
	ret[LIMIT_WBPS] = stat_word(&stat, "wbytes");
	ret[LIMIT_RIOPS] = stat_word(&stat, "rios");
	ret[LIMIT_WIOPS] = stat_word(&stat, "wios");
}

static const double *done_before(const CgroupUse *use, const char *name)
{
	static const double nothing[_IO_LIMIT_MAX];

	for (size_t i = 0; use && i < use->n; i++)
		if (streq(use->at[i].name, name))
			return use->at[i].done;
	return nothing;
}

/* Finds what each cgroup did since the limits were last divided, and remembers the present counts
 * for the next time. */
static int look_at_use(Device *d, Shares *s)
{
	CgroupUse *use = calloc(1, sizeof(*use));

	if (!use)
		return -ENOMEM;
	for (size_t i = 0; i < s->n; i++) {
		const double *before = done_before(d->knob_memory, s->at[i].name);
		double *done = use->at[i].done;

		snprintf(use->at[i].name, sizeof(use->at[i].name), "%s", s->at[i].name);
		read_done(d, s->at[i].name, done);
		for (int k = 0; k < _IO_LIMIT_MAX; k++)
			s->at[i].did[k] = done[k] >= before[k] ? done[k] - before[k] : done[k];
	}
	use->n = s->n;
	free(d->knob_memory);
	d->knob_memory = use;
	return 0;
}

/* The parts add up to the total exactly: rounding takes nothing away. */
static int divide_limit(Shares *s, IoLimit k, double total)
{
	double rest = total - LEAST * (double)s->n, did = 0, part = 0, given = 0;

	if (rest < 0)
		return -ERANGE;
	for (size_t i = 0; i < s->n; i++)
		did += s->at[i].did[k];
	for (size_t i = 0; i < s->n; i++) {
		double even = did > 0 ? EVEN_PART : 1, upto;

		part += even / (double)s->n + (did > 0 ? (1 - even) * s->at[i].did[k] / did : 0);
		upto = i + 1 < s->n ? floor(rest * MIN(part, 1.0)) : rest;
		s->at[i].next.at[k] = LEAST + upto - given;
		given = upto;
	}
	return 0;
}

static int divide_limits(Device *d, Shares *s, const IoLimits *total)
{
	int r = look_at_use(d, s);

	for (IoLimit k = 0; k < _IO_LIMIT_MAX && r >= 0; k++)
		if (isfinite(total->at[k]))
			r = divide_limit(s, k, total->at[k]);
		else
			for (size_t i = 0; i < s->n; i++)
				s->at[i].next.at[k] = INFINITY;
	return r;
}

static bool same_limits(const IoLimits *a, const IoLimits *b)
{
	for (IoLimit k = 0; k < _IO_LIMIT_MAX; k++)
		if (a->at[k] != b->at[k])
			return false;
	return true;
}

/* A cgroup that is gone needs no limit. */
static int write_limits(Device *d, Share *s, const IoLimits *l)
{
	_cleanup_free_ char *path = text_printf("%s/io.max", s->name);
	KnobValue line;
	int r = path ? io_limits_print(l, &line) : -ENOMEM;

	if (r < 0 || same_limits(l, &s->now))
		return r;
	r = d->ops->cgroup_write(d, path, line.text);
	if (r == -ENOENT)
		return 0;
	if (r >= 0)
		s->now = *l;
	return r;
}

/* Limits that fall are written first, so that at no time all cgroups together may do more than the
 * total. */
static int write_shares(Device *d, Shares *s)
{
	int r = 0;

	for (size_t i = 0; i < s->n && r >= 0; i++) {
		IoLimits lower;

		for (int k = 0; k < _IO_LIMIT_MAX; k++)
			lower.at[k] = MIN(s->at[i].now.at[k], s->at[i].next.at[k]);
		r = write_limits(d, &s->at[i], &lower);
	}
	for (size_t i = 0; i < s->n && r >= 0; i++)
		r = write_limits(d, &s->at[i], &s->at[i].next);
	return r;
}

/* Frees every cgroup, even where one refuses; returns the first error. */
static int write_free(Device *d, Shares *s)
{
	int first = 0;

	for (size_t i = 0; i < s->n; i++) {
		int r = write_limits(d, &s->at[i], &IO_LIMITS_NONE);

		if (r < 0 && !first)
			first = r;
	}
	return first;
}

static int io_max_write(Device *d, const KnobValue *value)
{
	_cleanup_(shares_freep) Shares *s = NULL;
	bool free_all = streq(value->text, FREE);
	IoLimits total;
	int r = free_all ? 0 : io_limits_parse(value->text, &total);

	if (r >= 0 && !free_all && !io_limits_any(&total))
		r = -EINVAL;
	if (r >= 0)
		r = shares_read(d, &s);
	if (r < 0)
		return r;
	if (free_all)
		return write_free(d, s);
	r = divide_limits(d, s, &total);
	return r < 0 ? r : write_shares(d, s);
}

/* The limits that were found are good enough where they allow the same watts and are not far from
 * what the present mix needs. The mix changes all the time, which is not worth a write. */
static bool io_max_fulfils(const Device *d, const KnobValue *wanted, const KnobValue *found)
{
	IoLimits w, f;
	double wanted_w, found_w;

	if (streq(wanted->text, FREE) || streq(found->text, FREE) || !d->profile)
		return streq(wanted->text, found->text);
	if (io_limits_parse(wanted->text, &w) < 0 || io_limits_parse(found->text, &f) < 0)
		return false;
	for (int k = 0; k < _IO_LIMIT_MAX; k++)
		if (f.at[k] < DRIFT * w.at[k] || (isfinite(w.at[k]) && !isfinite(f.at[k])))
			return false;
	wanted_w = io_limits_watts(d->profile, &w);
	found_w = io_limits_watts(d->profile, &f);
	return fabs(found_w - wanted_w) <= ROUNDING * wanted_w;
}

const Knob knob_io_max = {
	.name = "io-max",
	.mechanism = MECHANISM_PACING,
	/* The kernel checks limits a slice of 20 to 100 ms at a time. IO of the root cgroup is not
	 * limited, nor is that of a cgroup made since the limits were last divided. */
	.exactness = MEAN,
	.drifts = true,
	.freezes = true, /* writing the first line of a device freezes its queue (blk_throtl_init()
			    since 6.10) */
	.probe = io_max_probe,
	.read = io_max_read,
	.want = io_max_want,
	.write = io_max_write,
	.fulfils = io_max_fulfils,
};
