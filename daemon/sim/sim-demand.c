/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/sim-demand.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "sim/sim-random.h"

#define SINE_STEPS 360

#define NOT_A_DEMAND                                                                                                    \
	"demand \"%s\" is none of: saturate; idle; constant 800MB/s; "                                                  \
	"0:200 10min:800 (times ascending); sine mean=400 swing=300 period=1h (peak=20min: at the same time for all); " \
	"burst high=800 low=0 on=10s off=5min (at least 1s each)"

void sim_demand_clear(SimDemand *d)
{
	free(d->steps);
	*d = (SimDemand){ 0 };
}

static double steps_at(const SimDemand *d, uint64_t t_us, uint64_t *ret_until_us)
{
	uint64_t lap_us = d->repeat_us ? t_us - t_us % d->repeat_us : 0;
	double mb_s = 0;

	for (size_t i = 0; i < d->n_steps; i++) {
		if (lap_us + d->steps[i].at_us > t_us) {
			*ret_until_us = lap_us + d->steps[i].at_us;
			return mb_s;
		}
		mb_s = d->steps[i].mb_s;
	}
	*ret_until_us = d->repeat_us ? lap_us + d->repeat_us : UINT64_MAX;
	return mb_s;
}

/* The phase in turns. The sine is highest a quarter of a turn after it begins. */
static double phase_of(const SimDemand *d, uint64_t seed)
{
	if (!d->peak_us)
		return sim_uniform(seed, 0);
	return 1.25 - fmod((double)d->peak_us / (double)d->period_us, 1);
}

/* The steps of all devices fall on the same instants. */
static double sine_at(const SimDemand *d, uint64_t seed, uint64_t t_us, uint64_t *ret_until_us)
{
	uint64_t step_us = MAX(d->period_us / SINE_STEPS, 1ULL), step = t_us / step_us;
	double turn = (double)(step % SINE_STEPS) / SINE_STEPS + phase_of(d, seed);

	*ret_until_us = (step + 1) * step_us;
	return fmax(d->mean_mb_s + d->swing_mb_s * sin(2 * M_PI * turn), 0);
}

static double burst_at(const SimDemand *d, uint64_t seed, uint64_t t_us, uint64_t *ret_until_us)
{
	uint64_t cell_us = d->on_us + d->off_us, cell = t_us / cell_us;
	uint64_t start_us =
		cell * cell_us + (uint64_t)(sim_uniform(seed, cell + 1) * (double)d->off_us);

	if (t_us < start_us) {
		*ret_until_us = start_us;
		return d->low_mb_s;
	}
	if (t_us < start_us + d->on_us) {
		*ret_until_us = start_us + d->on_us;
		return d->high_mb_s;
	}
	*ret_until_us = (cell + 1) * cell_us;
	return d->low_mb_s;
}

double sim_demand_at(const SimDemand *d, uint64_t seed, uint64_t t_us, uint64_t *ret_until_us)
{
	*ret_until_us = UINT64_MAX;
	switch (d->kind) {
	case SIM_SATURATE: return INFINITY;
	case SIM_STEPS: return steps_at(d, t_us, ret_until_us);
	case SIM_SINE: return sine_at(d, seed, t_us, ret_until_us);
	case SIM_BURST: return burst_at(d, seed, t_us, ret_until_us);
	case SIM_IDLE: break;
	}
	return 0;
}

static int parse_mb_s(const char *s, double *ret)
{
	char number[32];
	size_t n = strlen(s);

	if (n > 4 && streq(s + n - 4, "MB/s"))
		n -= 4;
	if (n >= sizeof(number))
		return -EINVAL;
	memcpy(number, s, n);
	number[n] = '\0';
	if (parse_double(number, ret) < 0 || *ret < 0 || *ret > 1e6)
		return -EINVAL;
	return 0;
}

static int add_step(SimDemand *d, char *word)
{
	char *colon = strchr(word, ':');
	uint64_t at_us = 0;
	SimStep *step;
	double mb_s;

	if (!colon)
		return -EINVAL;
	*colon = '\0';
	/* a duration is never zero, a time may be */
	if ((!streq(word, "0") && !streq(word, "0s") && parse_duration_us(word, &at_us) < 0) ||
	    parse_mb_s(colon + 1, &mb_s) < 0)
		return -EINVAL;
	if (d->n_steps && at_us <= d->steps[d->n_steps - 1].at_us)
		return -EINVAL;
	step = ARRAY_GROW(d->steps, d->n_steps);
	if (!step)
		return -ENOMEM;
	*step = (SimStep){ .at_us = at_us, .mb_s = mb_s };
	return 0;
}

/* *seen: a bit for each option that the line has had. */
static int parse_option(SimDemand *d, char *word, unsigned *seen)
{
	const struct {
		const char *key;
		SimDemandKind kind;
		double *mb_s;
		uint64_t *us;
	} options[] = {
		{ "mean", SIM_SINE, &d->mean_mb_s, NULL },
		{ "swing", SIM_SINE, &d->swing_mb_s, NULL },
		{ "period", SIM_SINE, NULL, &d->period_us },
		{ "peak", SIM_SINE, NULL, &d->peak_us },
		{ "high", SIM_BURST, &d->high_mb_s, NULL },
		{ "low", SIM_BURST, &d->low_mb_s, NULL },
		{ "on", SIM_BURST, NULL, &d->on_us },
		{ "off", SIM_BURST, NULL, &d->off_us },
	};
	char *value = strchr(word, '=');

	if (!value)
		return -EINVAL;
	*value++ = '\0';
	for (size_t i = 0; i < ELEMENTSOF(options); i++) {
		if (options[i].kind != d->kind || !streq(options[i].key, word))
			continue;
		if (*seen & 1U << i)
			return -EINVAL;
		*seen |= 1U << i;
		return options[i].mb_s ? parse_mb_s(value, options[i].mb_s)
				       : parse_duration_us(value, options[i].us);
	}
	return -EINVAL;
}

static int parse_constant(SimDemand *d, char *mb_s)
{
	_cleanup_free_ char *step = mb_s ? text_printf("0:%s", mb_s) : NULL;

	d->kind = SIM_STEPS;
	return step ? add_step(d, step) : -EINVAL;
}

static int parse_words(SimDemand *d, char **words)
{
	static const struct {
		const char *name;
		SimDemandKind kind;
	} kinds[] = {
		{ "saturate", SIM_SATURATE },
		{ "idle", SIM_IDLE },
		{ "sine", SIM_SINE },
		{ "burst", SIM_BURST },
	};
	char **w = words;
	unsigned seen = 0;
	int r = 0;

	if (!*w)
		return -EINVAL;
	if (streq(*w, "constant"))
		return w[1] && !w[2] ? parse_constant(d, w[1]) : -EINVAL;
	d->kind = SIM_STEPS;
	for (size_t i = 0; i < ELEMENTSOF(kinds); i++)
		if (streq(*w, kinds[i].name)) {
			d->kind = kinds[i].kind;
			w++;
			break;
		}
	for (; *w && r >= 0; w++)
		r = d->kind == SIM_STEPS ? add_step(d, *w) : parse_option(d, *w, &seen);
	return r;
}

int sim_demand_parse(const IniLine *l, SimDemand *d)
{
	char **words _cleanup_(strv_freep) = strv_split(l->value);
	SimDemand new = { .repeat_us = d->repeat_us };
	int r = words ? parse_words(&new, words) : -ENOMEM;

	/* demand that changes faster than this is not seen by anyone, but would have to be computed
	 */
	if (r >= 0 && ((new.kind == SIM_SINE &&new.period_us < USEC_PER_SEC) ||
		       (new.kind == SIM_BURST &&MIN(new.on_us, new.off_us) < USEC_PER_SEC)))
		r = -EINVAL;
	if (r < 0) {
		sim_demand_clear(&new);
		return r == -ENOMEM ? r : ini_complain(l, NOT_A_DEMAND, l->value);
	}
	free(d->steps);
	*d = new;
	return 0;
}
