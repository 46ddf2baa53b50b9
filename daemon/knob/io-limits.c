/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Lines of io.max as text and as watts. */

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "knob/attribute.h"
#include "knob/cgroup-io.h"

#define PAGE_BYTES 4096.0
#define RATE_MAX   1e15

/* Each direction, and small IO and large IO, gets this share of the joules, however little of it
 * the mix has: the workload may do just that next, and would wait for minutes. */
#define SHARE_MIN 0.1

/* Limits are at least these rates, which eight cgroups can share: the kernel refuses 1
 * (tg_set_limit() up to 6.12), and a large IO must come through within seconds. */
static const double least[_IO_LIMIT_MAX] = {
	[LIMIT_RBPS] = 1 << 20,
	[LIMIT_WBPS] = 1 << 20,
	[LIMIT_RIOPS] = 16,
	[LIMIT_WIOPS] = 16,
};

static const char *const names[_IO_LIMIT_MAX] = {
	[LIMIT_RBPS] = "rbps",
	[LIMIT_WBPS] = "wbps",
	[LIMIT_RIOPS] = "riops",
	[LIMIT_WIOPS] = "wiops",
};

static int parse_rate(const char *text, double *ret)
{
	unsigned long v;
	int r;

	if (streq(text, "max")) {
		*ret = INFINITY;
		return 0;
	}
	r = parse_unsigned(text, ~0UL, &v);
	if (r >= 0)
		*ret = (double)v;
	return r;
}

static int parse_word(char *word, IoLimits *to)
{
	char *value = strchr(word, '=');

	if (!value)
		return -EINVAL;
	*value++ = '\0';
	for (int k = 0; k < _IO_LIMIT_MAX; k++)
		if (streq(word, names[k]))
			return parse_rate(value, &to->at[k]);
	return -EINVAL;
}

int io_limits_parse(const char *line, IoLimits *ret)
{
	_cleanup_(strv_freep) char **words = strv_split(line);
	IoLimits l = IO_LIMITS_NONE;

	if (!words)
		return -ENOMEM;
	for (char **w = words; *w; w++) {
		int r = parse_word(*w, &l);

		if (r < 0)
			return r;
	}
	*ret = l;
	return 0;
}

int io_limits_print(const IoLimits *l, KnobValue *ret)
{
	char rate[_IO_LIMIT_MAX][24];

	for (int k = 0; k < _IO_LIMIT_MAX; k++)
		if (isfinite(l->at[k]))
			snprintf(rate[k], sizeof(rate[k]), "%.0f", l->at[k]);
		else
			snprintf(rate[k], sizeof(rate[k]), "max");
	return value_print(ret, "rbps=%s wbps=%s riops=%s wiops=%s", rate[LIMIT_RBPS],
			   rate[LIMIT_WBPS], rate[LIMIT_RIOPS], rate[LIMIT_WIOPS]);
}

bool io_limits_any(const IoLimits *l)
{
	for (int k = 0; k < _IO_LIMIT_MAX; k++)
		if (isfinite(l->at[k]))
			return true;
	return false;
}

/* Joules of one unit of each limit: a byte or an IO. */
static void prices(const Profile *p, double ret[_IO_LIMIT_MAX])
{
	for (int d = 0; d < _DIRECTION_MAX; d++) {
		const Energy *e = p->energy[d];

		ret[LIMIT_RBPS + d] = pacing_page_joules(p, (Direction)d) / PAGE_BYTES;
		ret[LIMIT_RIOPS + d] = MAX(e[RANDOM_IO].io_j, e[SEQUENTIAL_IO].io_j);
	}
}

double io_limits_watts(const Profile *p, const IoLimits *l)
{
	double price[_IO_LIMIT_MAX], watts = 0;

	prices(p, price);
	for (int k = 0; k < _IO_LIMIT_MAX; k++)
		if (price[k] > 0)
			watts += l->at[k] * price[k];
	return watts;
}

/* The part of a sum that the first of two takes, so that neither starves; it takes all where the
 * other costs nothing. */
static double fair_part(double first, double second)
{
	if (!(first > 0) || !(second > 0))
		return first > 0;
	return CLAMP(first / (first + second), SHARE_MIN, 1 - SHARE_MIN);
}

/* How the mix divides its joules among the limits; adds up to 1. */
static void parts(const Mix *mix, const double price[_IO_LIMIT_MAX], double ret[_IO_LIMIT_MAX])
{
	const double share[] = { CLAMP(mix->read_share, 0.01, 0.99),
				 1 - CLAMP(mix->read_share, 0.01, 0.99) };
	const double kib[] = { MAX(mix->read_kib, 1.0), MAX(mix->write_kib, 1.0) };
	double io[_DIRECTION_MAX], bytes[_DIRECTION_MAX], read;

	for (int d = 0; d < _DIRECTION_MAX; d++) {
		io[d] = share[d] * price[LIMIT_RIOPS + d];
		bytes[d] = share[d] * kib[d] * 1024 * price[LIMIT_RBPS + d];
	}
	read = fair_part(io[READ_IO] + bytes[READ_IO], io[WRITE_IO] + bytes[WRITE_IO]);
	for (int d = 0; d < _DIRECTION_MAX; d++) {
		double part = d == READ_IO ? read : 1 - read;

		ret[LIMIT_RIOPS + d] = part * fair_part(io[d], bytes[d]);
		ret[LIMIT_RBPS + d] = part - ret[LIMIT_RIOPS + d];
	}
}

static double reserved_watts(const double price[_IO_LIMIT_MAX])
{
	double watts = 0;

	for (int k = 0; k < _IO_LIMIT_MAX; k++)
		watts += least[k] * price[k];
	return watts;
}

void io_limits_for(const Profile *p, const Mix *mix, double watts, IoLimits *ret)
{
	double price[_IO_LIMIT_MAX], part[_IO_LIMIT_MAX], rest;

	prices(p, price);
	parts(mix, price, part);
	rest = MAX(watts - reserved_watts(price), 0.0);
	for (int k = 0; k < _IO_LIMIT_MAX; k++)
		ret->at[k] = price[k] > 0
				     ? MIN(floor(least[k] + rest * part[k] / price[k]), RATE_MAX)
				     : INFINITY;
}

/* The watts are a quarter more than what is reserved, so that not all of them lie idle in the other
 * direction. */
double io_limits_least_watts(const Profile *p)
{
	double price[_IO_LIMIT_MAX];

	prices(p, price);
	return 1.25 * reserved_watts(price);
}
