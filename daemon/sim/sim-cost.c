/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/sim-cost.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/text.h"

#define PPM           1000000ULL
#define VRATE_MIN_PPM 10000ULL
#define VRATE_MAX_PPM 100000000ULL
#define PAGE_KIB      4.0

static const char *const coefficient_names[_DIRECTION_MAX][_SIM_COEFFICIENT_MAX] = {
	[READ_IO] = { "rbps", "rseqiops", "rrandiops" },
	[WRITE_IO] = { "wbps", "wseqiops", "wrandiops" },
};

/* autop[] of blk-iocost.c: AUTOP_HDD and AUTOP_SSD_DFL, where the kernel starts. */
static const uint64_t auto_hdd[_DIRECTION_MAX][_SIM_COEFFICIENT_MAX] = {
	[READ_IO] = { 174019176, 41708, 370 },
	[WRITE_IO] = { 178075866, 42705, 378 },
};
static const uint64_t auto_ssd[_DIRECTION_MAX][_SIM_COEFFICIENT_MAX] = {
	[READ_IO] = { 488636629, 8932, 8518 },
	[WRITE_IO] = { 427891549, 28755, 21940 },
};

static void auto_model(SimCost *c, DeviceKind kind)
{
	memcpy(c->model, kind == KIND_HDD ? auto_hdd : auto_ssd, sizeof(c->model));
	c->user_model = 0;
}

static void auto_qos(SimCost *c, DeviceKind kind)
{
	for (int i = 0; i < _DIRECTION_MAX; i++) {
		c->share_ppm[i] = 0;
		c->latency_us[i] = kind == KIND_HDD ? 250000 : 25000;
	}
	c->min_ppm = VRATE_MIN_PPM;
	c->max_ppm = VRATE_MAX_PPM;
	c->user_qos = 0;
}

void sim_cost_init(SimCost *c, DeviceKind kind)
{
	*c = (SimCost){ 0 };
	auto_model(c, kind);
	auto_qos(c, kind);
}

#define PERCENT_FORMAT "%llu.%02llu"
#define PERCENT(ppm)   (unsigned long long)(ppm) / 10000, (unsigned long long)(ppm) % 10000 / 100

static int print_qos(const SimCost *c, char *buf, size_t size)
{
	return snprintf(buf, size,
			"enable=%d ctrl=%s rpct=" PERCENT_FORMAT " rlat=%llu wpct=" PERCENT_FORMAT
			" wlat=%llu min=" PERCENT_FORMAT " max=" PERCENT_FORMAT,
			c->enabled, c->user_qos ? "user" : "auto", PERCENT(c->share_ppm[READ_IO]),
			(unsigned long long)c->latency_us[READ_IO], PERCENT(c->share_ppm[WRITE_IO]),
			(unsigned long long)c->latency_us[WRITE_IO], PERCENT(c->min_ppm),
			PERCENT(c->max_ppm));
}

static int print_model(const SimCost *c, char *buf, size_t size)
{
	int n = snprintf(buf, size, "ctrl=%s model=linear", c->user_model ? "user" : "auto");

	for (int d = 0; d < _DIRECTION_MAX; d++)
		for (int k = 0; k < _SIM_COEFFICIENT_MAX && n >= 0 && (size_t)n < size; k++)
			n += snprintf(buf + n, size - (size_t)n, " %s=%llu",
				      coefficient_names[d][k], (unsigned long long)c->model[d][k]);
	return n;
}

int sim_cost_print(const SimCost *c, const char *file, char *buf, size_t size)
{
	bool qos = streq(file, "io.cost.qos");
	int n;

	if (!qos && !streq(file, "io.cost.model"))
		return -ENOENT;
	if (size == 0)
		return -ENOBUFS;
	*buf = '\0';
	if (!c->exists)
		return 0;
	n = qos ? print_qos(c, buf, size) : print_model(c, buf, size);
	return n < 0 || (size_t)n >= size ? -ENOBUFS : 0;
}

static int parse_u64(const char *s, uint64_t *ret)
{
	unsigned long v;

	if (parse_unsigned(s, ~0UL, &v) < 0)
		return -EINVAL;
	*ret = v;
	return 0;
}

/* cgroup_parse_float() with two decimals: percent into ppm. */
static int parse_percent(const char *s, uint64_t *ret_ppm)
{
	double v;

	if (parse_double(s, &v) < 0 || v < 0 || v > 1e9)
		return -EINVAL;
	*ret_ppm = (uint64_t)llround(v * 100) * 100;
	return 0;
}

static int parse_control(const char *s, uint8_t *ret_user)
{
	if (!streq(s, "auto") && !streq(s, "user"))
		return -EINVAL;
	*ret_user = streq(s, "user");
	return 0;
}

static int model_token(SimCost *c, const char *key, const char *value)
{
	if (streq(key, "ctrl"))
		return parse_control(value, &c->user_model);
	if (streq(key, "model"))
		return streq(value, "linear") ? 0 : -EINVAL;
	for (int d = 0; d < _DIRECTION_MAX; d++)
		for (int k = 0; k < _SIM_COEFFICIENT_MAX; k++)
			if (streq(key, coefficient_names[d][k])) {
				c->user_model = 1;
				return parse_u64(value, &c->model[d][k]);
			}
	return -EINVAL;
}

static int qos_number(SimCost *c, const char *key, const char *value)
{
	static const char *const shares[] = { "rpct", "wpct" }, *const latencies[] = { "rlat",
										       "wlat" };

	for (int d = 0; d < _DIRECTION_MAX; d++) {
		if (streq(key, latencies[d]))
			return parse_u64(value, &c->latency_us[d]);
		if (streq(key, shares[d])) {
			int r = parse_percent(value, &c->share_ppm[d]);

			return r < 0 || c->share_ppm[d] > PPM ? -EINVAL : 0;
		}
	}
	if (streq(key, "min") || streq(key, "max")) {
		uint64_t *rate = streq(key, "min") ? &c->min_ppm : &c->max_ppm;
		int r = parse_percent(value, rate);

		*rate = CLAMP(*rate, VRATE_MIN_PPM, VRATE_MAX_PPM);
		return r;
	}
	return -EINVAL;
}

static int qos_token(SimCost *c, const char *key, const char *value)
{
	uint64_t enable;

	if (streq(key, "ctrl"))
		return parse_control(value, &c->user_qos);
	if (streq(key, "enable")) {
		if (parse_u64(value, &enable) < 0)
			return -EINVAL;
		c->enabled = enable != 0;
		return 0;
	}
	c->user_qos = 1;
	return qos_number(c, key, value);
}

static int parse_tokens(SimCost *c, const char *line,
			int (*token)(SimCost *, const char *key, const char *value))
{
	_cleanup_free_ char *text = strdup(line);
	char *rest = text, *word;

	if (!text)
		return -ENOMEM;
	while ((word = strsep(&rest, " \t\n"))) {
		char *value = strchr(word, '=');
		int r;

		if (!*word)
			continue;
		if (!value)
			return -EINVAL;
		*value++ = '\0';
		r = token(c, word, value);
		if (r < 0)
			return r;
	}
	return 0;
}

int sim_cost_parse(SimCost *c, const char *file, const char *line, DeviceKind kind)
{
	bool qos = streq(file, "io.cost.qos");
	SimCost new = *c;
	int r;

	if (!qos && !streq(file, "io.cost.model"))
		return -ENOENT;
	r = parse_tokens(&new, line, qos ? qos_token : model_token);
	if (r < 0)
		return r;
	if (new.min_ppm > new.max_ppm)
		return -EINVAL;
	if (qos && !new.user_qos)
		auto_qos(&new, kind);
	if (!qos && !new.user_model)
		auto_model(&new, kind);
	new.exists = 1;
	*c = new;
	return 0;
}

/* The device-seconds of one IO, by calc_lcoefs() and calc_vtime_cost_builtin(). */
static double io_seconds(const uint64_t model[_SIM_COEFFICIENT_MAX], double random_share,
			 double kib)
{
	double pages = fmax(kib / PAGE_KIB, 1);
	double page_s = model[SIM_BPS] ? 1 / ceil((double)model[SIM_BPS] / 4096) : 0;
	double sequential_s = model[SIM_SEQIOPS] ? 1.0 / (double)model[SIM_SEQIOPS] - page_s : 0;
	double random_s = model[SIM_RANDIOPS] ? 1.0 / (double)model[SIM_RANDIOPS] - page_s : 0;

	return random_share * fmax(random_s, 0) + (1 - random_share) * fmax(sequential_s, 0) +
	       pages * page_s;
}

double sim_cost_iops(const SimCost *c, const Mix *mix)
{
	double seconds;

	if (!c->enabled)
		return INFINITY;
	seconds =
		mix->read_share * io_seconds(c->model[READ_IO], mix->random_share, mix->read_kib) +
		(1 - mix->read_share) *
			io_seconds(c->model[WRITE_IO], mix->random_share, mix->write_kib);
	/* the kernel raises the virtual rate up to max while the device keeps up */
	return seconds > 0 ? (double)c->max_ppm / PPM / seconds : INFINITY;
}
