/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/sim-family.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "sim/sim-random.h"

#define STEPS_A_PERIOD 60
#define LEAST_PERIOD   (60 * USEC_PER_SEC)
#define LEAST_ERROR    (-0.5)
#define MOST_ERROR     1.0
#define MOST_DRIFT     0.25

/* Where the drift is when a period begins. */
static double drift_at_start(const SimFamily *f, uint64_t period)
{
	return f->drift.most * (2 * sim_uniform(f->seed, period) - 1);
}

double sim_family_at(const SimFamily *f, uint64_t t_us, uint64_t *ret_until_us)
{
	uint64_t period, step, step_us = f->drift.period_us / STEPS_A_PERIOD;
	double from, to;

	*ret_until_us = UINT64_MAX;
	if (f->drift.most <= 0)
		return f->error;
	step = t_us / step_us;
	*ret_until_us = (step + 1) * step_us;
	period = step / STEPS_A_PERIOD;
	from = drift_at_start(f, period);
	to = drift_at_start(f, period + 1);
	return f->error + from + (to - from) * (double)(step % STEPS_A_PERIOD) / STEPS_A_PERIOD;
}

static int parse_share(const char *s, double *ret)
{
	const char *unit;
	double v;
	int r = parse_quantity(s, &v, &unit);

	if (r < 0)
		return r;
	if (!streq(unit, "%"))
		return -EINVAL;
	*ret = v / 100;
	return 0;
}

int sim_take_error(const IniLine *l, void *member)
{
	double v;
	int r = parse_share(l->value, &v);

	if (r < 0)
		return r;
	if (v < LEAST_ERROR || v > MOST_ERROR)
		return -ERANGE;
	*(double *)member = v;
	return 0;
}

/* "h" is "1h". */
static int parse_period(const char *s, uint64_t *ret)
{
	_cleanup_free_ char *text = text_printf("%s%s", isdigit((unsigned char)*s) ? "" : "1", s);

	return text ? parse_duration_us(text, ret) : -ENOMEM;
}

int sim_take_drift(const IniLine *l, void *member)
{
	_cleanup_free_ char *share = strdup(l->value);
	char *slash = share ? strchr(share, '/') : NULL;
	SimDrift d;
	int r;

	if (!share)
		return -ENOMEM;
	if (!slash)
		return -EINVAL;
	*slash = '\0';
	r = parse_share(share, &d.most);
	if (r >= 0)
		r = parse_period(slash + 1, &d.period_us);
	if (r < 0)
		return r;
	if (d.most < 0 || d.most > MOST_DRIFT || d.period_us < LEAST_PERIOD)
		return -ERANGE;
	*(SimDrift *)member = d;
	return 0;
}
