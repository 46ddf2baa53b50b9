/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pacing: the kernel's io.cost priced in joules (block/blk-iocost.c). Its linear model lets
 * through one device-second a second; with every IO priced at its share of the power budget P it
 * lets through P watts. The budget is changed by rewriting the model, never by vrate, which leaks.
 *
 * The value is the line of io.cost.qos and that of io.cost.model, " | " between. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "knob/attribute.h"
#include "knob/cgroup-io.h"
#include "knob/mechanisms.h"
#include "model/predict.h"

#define QOS       "io.cost.qos"
#define MODEL     "io.cost.model"
#define BETWEEN   " | "
#define PAGE_SIZE 4096.0
#define RATE_MAX  1e12

/* The kernel has no line for a device whose io.cost is off and follows the kernel's own model: this
 * is what such a line would say. */
#define QOS_AUTO_OFF "enable=0 ctrl=auto"
#define MODEL_AUTO   "ctrl=auto"
/* A vrate pinned at 100 %. The latency targets are off (0 %), but twice the larger one is the
 * controller's period: 20 ms.
 *
 * When a cgroup lets more than half a period pass unused, ioc_timer_fn() takes that away and makes
 * up for it by a faster vrate, up to the double, meant to last one period (ioc_refresh_vrate()).
 * But the period ends with a timer wheel's tick: with 2 ms (a latency of 1000) at 250 Hz it lasts 4
 * to 8 ms, and each loss is made up for two to four times. A busy cgroup with pauses of a few ms so
 * got 7 to 36 % too much. 20 ms are whole ticks at 100, 250, 300 and 1000 Hz.
 *
 * What can be spent ahead of the watts: half a period by a cgroup that begins, and one period made
 * up for; 30 ms of the budget at worst, 0.6 % of it over 5 s. A longer period holds no better and
 * bursts more. */
#define QOS_PACED                                                                                  \
	"enable=1 ctrl=user rpct=0.00 rlat=10000 wpct=0.00 wlat=10000 min=100.00 max=100.00"

typedef struct CostLines {
	KnobValue qos, model;
} CostLines;

/* Rates are whole numbers of IOs per second. Rounding them down costs at most a tenth of the
 * throughput from here on. */
#define SLOWEST_IOPS 10

static int split_lines(const KnobValue *v, CostLines *ret)
{
	const char *between = strstr(v->text, BETWEEN);

	if (!between)
		return -EINVAL;
	/* value_word() expects a head, so a blank one is put there */
	snprintf(ret->qos.text, sizeof(ret->qos.text), " %.*s", (int)(between - v->text), v->text);
	snprintf(ret->model.text, sizeof(ret->model.text), " %s", between + strlen(BETWEEN));
	return 0;
}

static bool is_word(const KnobValue *line, const char *key, const char *word)
{
	char found[32];

	return value_word(line, key, found, sizeof(found)) && streq(found, word);
}

static bool same_word(const char *a, const char *b)
{
	double x, y;

	if (parse_double(a, &x) < 0 || parse_double(b, &y) < 0)
		return streq(a, b);
	return fabs(x - y) < 0.005;
}

/* Does the found line say all that the wanted one says? */
static bool line_fulfils(const KnobValue *wanted, const KnobValue *found)
{
	_cleanup_(strv_freep) char **words = strv_split(wanted->text);

	for (char **w = words; w && *w; w++) {
		char *equals = strchr(*w, '='), word[32];

		if (!equals)
			return false;
		*equals = '\0';
		if (!value_word(found, *w, word, sizeof(word)) || !same_word(equals + 1, word))
			return false;
	}
	return words;
}

/* Where a line says "auto", its numbers are the kernel's own and are left out. */
static int read_line(Device *d, const char *file, const char *if_none, KnobValue *ret)
{
	KnobValue line = { .text = " " };
	char enable[8];
	int r;

	if (!d->ops->cgroup_read)
		return -EOPNOTSUPP;
	r = d->ops->cgroup_read(d, file, line.text + 1, sizeof(line.text) - 1);
	if (r < 0)
		return r;
	if (!line.text[1])
		return value_print(ret, "%s", if_none);
	if (!is_word(&line, "ctrl", "auto"))
		return value_print(ret, "%s", line.text + 1);
	if (value_word(&line, "enable", enable, sizeof(enable)))
		return value_print(ret, "enable=%s ctrl=auto", enable);
	return value_print(ret, MODEL_AUTO);
}

static int io_cost_read(Device *d, KnobValue *ret)
{
	KnobValue qos, model;
	int r = read_line(d, QOS, QOS_AUTO_OFF, &qos);

	if (r >= 0)
		r = read_line(d, MODEL, MODEL_AUTO, &model);
	return r < 0 ? r : value_print(ret, "%s" BETWEEN "%s", qos.text, model.text);
}

static double dearest_io_j(const Profile *p)
{
	double dearest = 0;

	for (int dir = 0; dir < _DIRECTION_MAX; dir++)
		for (int pattern = 0; pattern < _PATTERN_MAX; pattern++) {
			double j = p->energy[dir][pattern].io_j + p->energy[dir][pattern].page_j;

			if (!(j > 0))
				return 0;
			dearest = MAX(dearest, j);
		}
	return dearest;
}

static int io_cost_probe(Device *d, Offer *offer, char **ret_why_not)
{
	KnobValue v;
	int r;

	r = cgroup_io_check(d, ret_why_not);
	if (r < 0)
		return r;
	/* iocg hangs on requests, and 6.1 takes its settings for such a device all the same */
	if (d->above_queue)
		return not_offered(ret_why_not,
				   "below NVMe multipath no request of a cgroup is seen, "
				   "only io.max");
	if (!attribute_is_multiqueue_block(d))
		return not_offered(ret_why_not, "the device has no request queue of its own");
	r = io_cost_read(d, &v);
	if (r < 0)
		return not_offered(ret_why_not,
				   "the root cgroup offers no io.cost: %s (needs "
				   "CONFIG_BLK_CGROUP_IOCOST)",
				   strerror(-r));
	if (!d->profile || dearest_io_j(d->profile) <= 0)
		return not_offered(ret_why_not, "its profile does not say what an IO costs");
	offer->mechanisms |= MECHANISM_PACING;
	offer->pace_min_w = SLOWEST_IOPS * dearest_io_j(d->profile);
	return 0;
}

static double rate(double watts, double joules)
{
	return joules > 0 ? CLAMP(floor(watts / joules), 1.0, RATE_MAX) : RATE_MAX;
}

/* The six rates at which the device spends so many watts. */
static int print_model(const Profile *p, double watts, KnobValue *ret)
{
	double page[_DIRECTION_MAX], rates[_DIRECTION_MAX][_PATTERN_MAX];

	for (int dir = 0; dir < _DIRECTION_MAX; dir++) {
		const Energy *e = p->energy[dir];
		double page_j = pacing_page_joules(p, (Direction)dir);

		page[dir] = PAGE_SIZE * rate(watts, page_j);
		for (int pattern = 0; pattern < _PATTERN_MAX; pattern++)
			rates[dir][pattern] = rate(watts, e[pattern].io_j + page_j);
	}
	return value_print(ret,
			   "ctrl=user model=linear rbps=%.0f rseqiops=%.0f rrandiops=%.0f "
			   "wbps=%.0f wseqiops=%.0f wrandiops=%.0f",
			   page[READ_IO], rates[READ_IO][SEQUENTIAL_IO], rates[READ_IO][RANDOM_IO],
			   page[WRITE_IO], rates[WRITE_IO][SEQUENTIAL_IO],
			   rates[WRITE_IO][RANDOM_IO]);
}

static int io_cost_want(const Device *d, const Setting *s, const Mix *mix,
			const KnobValue *original, KnobValue *ret)
{
	KnobValue model;
	int r;

	(void)mix;
	if (s->pace_w <= 0) {
		*ret = *original;
		return 0;
	}
	if (!d->profile || dearest_io_j(d->profile) <= 0)
		return -EOPNOTSUPP;
	r = print_model(d->profile, s->pace_w, &model);
	return r < 0 ? r : value_print(ret, QOS_PACED BETWEEN "%s", model.text);
}

static int write_line(Device *d, const char *file, const KnobValue *line, const KnobValue *found)
{
	/* nothing is written without need, because every write freezes the queue */
	if (line_fulfils(line, found))
		return 0;
	return d->ops->cgroup_write ? d->ops->cgroup_write(d, file, line->text + 1) : -EOPNOTSUPP;
}

static int io_cost_write(Device *d, const KnobValue *value)
{
	CostLines lines, found;
	KnobValue now;
	bool off;
	int r = split_lines(value, &lines);

	if (r >= 0)
		r = io_cost_read(d, &now);
	if (r >= 0)
		r = split_lines(&now, &found);
	if (r < 0)
		return r;
	/* the kernel's own prices must never pace, nor ours its latency targets */
	off = is_word(&lines.qos, "enable", "0");
	if (off)
		r = write_line(d, QOS, &lines.qos, &found.qos);
	if (r >= 0)
		r = write_line(d, MODEL, &lines.model, &found.model);
	if (r >= 0 && !off)
		r = write_line(d, QOS, &lines.qos, &found.qos);
	return r;
}

static bool io_cost_fulfils(const Device *d, const KnobValue *wanted, const KnobValue *found)
{
	CostLines w, f;

	(void)d;
	return split_lines(wanted, &w) >= 0 && split_lines(found, &f) >= 0 &&
	       line_fulfils(&w.qos, &f.qos) && line_fulfils(&w.model, &f.model);
}

const Knob knob_io_cost = {
	.name = "io-cost",
	.mechanism = MECHANISM_PACING,
	/* 30 ms of the budget may be spent at once, and IO of the root cgroup passes by. */
	.exactness = MEAN,
	.freezes = true,
	.drifts = true, /* udev's rule 90-iocost.rules writes it at each event of a block device */
	.probe = io_cost_probe,
	.read = io_cost_read,
	.want = io_cost_want,
	.write = io_cost_write,
	.fulfils = io_cost_fulfils,
};
