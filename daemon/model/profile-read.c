/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/keys.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/text.h"
#include "model/energy-fit.h"
#include "model/mixing.h"
#include "model/profile-file.h"

#define HOUR_US 3600e6

static int take_match(const IniLine *l, void *member)
{
	char ***models = member;

	if (!*l->value)
		return ini_complain(
			l,
			"match: expected a glob of model names, one a line, but there is no glob");
	return strv_add(models, l->value);
}

static int take_point(const IniLine *l, void *file)
{
	ProfileFile *f = file;
	Profile *p = f->profile;
	Point point, *slot;
	unsigned *line;
	int r = point_parse(l, &point);

	if (r < 0)
		return r;
	slot = ARRAY_GROW(p->points, p->n_points);
	line = ARRAY_GROW(f->point_lines, f->n_point_lines);
	if (!slot || !line)
		return -ENOMEM;
	*slot = point;
	*line = l->line;
	return 0;
}

#define A_POWER KEY_WATTS, .max = 1000
#define A_TIME                                                                                     \
	KEY_DURATION, .max = HOUR_US, .expected = "a time up to an hour such as 70us, 30ms or 3s"
#define A_SPEED   KEY_NUMBER, .min = DBL_MIN, .max = 1e9, .expected = "a number above 0"
#define AN_ERROR  KEY_SHARE, .min = DBL_MIN, .expected = "a percentage above 0 such as 5%"
#define AN_ENERGY KEY_JOULES, .max = 1000, .expected = "joules such as 3.7 uJ, 25 mJ or 0.1 J"

static const Key profile_keys[] = {
	{ "match", KEY_CUSTOM, KEY_AT(Profile, models), .many = true, .take = take_match },
	{ "kind", KEY_NAME, KEY_AT(Profile, kind), .from_name = kind_from_name,
	  .expected = "nvme, sata-ssd or hdd" },
	{ "rated", A_POWER, KEY_AT(Profile, rated_w) },
	{ "idle", A_POWER, KEY_AT(Profile, idle_w) },
	{ "error", AN_ERROR, KEY_AT(Profile, error) },
	{ "link_saving", A_POWER, KEY_AT(Profile, link_saving_w) },
	{ "link_recovery", A_TIME, KEY_AT(Profile, link_recovery_s), .per = 1e6 },
	{ "interface", KEY_NAME, KEY_AT(Profile, sheet.interface), .from_name = interface_from_name,
	  .expected = INTERFACE_NAMES },
	{ "read_mb_s", A_SPEED, KEY_AT(Profile, sheet.mb_s[READ_IO]) },
	{ "write_mb_s", A_SPEED, KEY_AT(Profile, sheet.mb_s[WRITE_IO]) },
	{ "read_iops", A_SPEED, KEY_AT(Profile, sheet.iops[READ_IO]) },
	{ "write_iops", A_SPEED, KEY_AT(Profile, sheet.iops[WRITE_IO]) },
	{ "estimated", KEY_SET, KEY_AT(Profile, estimated_figures), .from_list = figures_from_list,
	  .expected = "a list of rated, idle, link_saving" },
	{ "cycles", KEY_UNSIGNED, KEY_AT(Profile, rated_cycles_start), .max = 1e8,
	  .expected = "a number of spin-downs up to 100000000" },
};

static const Key state_keys[] = {
	{ "max", A_POWER, KEY_AT(PowerState, max_w) },
	{ "entry", A_TIME, KEY_AT(PowerState, entry_us) },
	{ "exit", A_TIME, KEY_AT(PowerState, exit_us) },
	{ "operational", KEY_BOOL, KEY_AT(PowerState, operational) },
	{ "estimated", KEY_BOOL, KEY_AT(PowerState, estimated) },
};

static const Key condition_keys[] = {
	{ "watts", A_POWER, KEY_AT(ConditionPower, watts) },
	{ "enter", A_TIME, KEY_AT(ConditionPower, enter_s), .per = 1e6 },
	{ "recovery", A_TIME, KEY_AT(ConditionPower, recovery_s), .per = 1e6 },
	{ "wake_watts", A_POWER, KEY_AT(ConditionPower, wake_w) },
	{ "wake_time", A_TIME, KEY_AT(ConditionPower, wake_s), .per = 1e6 },
	{ "estimated", KEY_BOOL, KEY_AT(ConditionPower, estimated) },
};

static const Key point_keys[] = {
	{ "point", KEY_CUSTOM, .many = true, .take = take_point },
};

#define OF(direction, pattern, m) AN_ENERGY, KEY_AT(Profile, energy[direction##_IO][pattern##_IO].m)

static const Key energy_keys[] = {
	{ "read_random_io", OF(READ, RANDOM, io_j) },
	{ "read_random_page", OF(READ, RANDOM, page_j) },
	{ "read_sequential_io", OF(READ, SEQUENTIAL, io_j) },
	{ "read_sequential_page", OF(READ, SEQUENTIAL, page_j) },
	{ "write_random_io", OF(WRITE, RANDOM, io_j) },
	{ "write_random_page", OF(WRITE, RANDOM, page_j) },
	{ "write_sequential_io", OF(WRITE, SEQUENTIAL, io_j) },
	{ "write_sequential_page", OF(WRITE, SEQUENTIAL, page_j) },
	{ "error", AN_ERROR, KEY_AT(Profile, energy_error) },
};

#define EMERALD(which, figure, chunk)                                                              \
	{ figure, KEY_NUMBER, KEY_AT(Profile, emerald.per_w[EMERALD_##which]), .max = 1e9 },       \
	{                                                                                          \
		chunk, KEY_BYTES, KEY_AT(Profile, emerald.kib[EMERALD_##which]),                   \
			.min = 512, .max = 64 << 20, .per = 1024                                   \
	}

static const Key emerald_keys[] = {
	{ "ready_idle_gb_w", KEY_NUMBER, KEY_AT(Profile, emerald.ready_idle_gb_w), .max = 1e9 },
	EMERALD(HOT_BAND, "hot_band_iops_w", "hot_band_chunk"),
	EMERALD(RANDOM_READ, "random_read_iops_w", "random_read_chunk"),
	EMERALD(RANDOM_WRITE, "random_write_iops_w", "random_write_chunk"),
	EMERALD(SEQUENTIAL_READ, "sequential_read_mb_s_w", "sequential_read_chunk"),
	EMERALD(SEQUENTIAL_WRITE, "sequential_write_mb_s_w", "sequential_write_chunk"),
};

/* Some checks need to know what the file said, right or wrong, and on which line. */
static int open_profile(const IniLine *l, const char *rest, void *userdata, void **ret)
{
	ProfileFile *f = userdata;

	(void)rest;
	if (l->key && streq(l->key, "rated"))
		f->rated_line = l->line;
	if (l->key && streq(l->key, "idle"))
		f->idle = true;
	*ret = f->profile;
	return 0;
}

static int open_state(const IniLine *l, const char *number, void *userdata, void **ret)
{
	ProfileFile *f = userdata;
	PowerState *ps;
	unsigned long n;

	/* "01" would be another section and the same state */
	if (parse_unsigned(number, PROFILE_STATES_MAX - 1, &n) < 0 || (*number == '0' && number[1]))
		return ini_complain_of_heading(l, "[%s]: power states are numbered 0 to %d",
					       l->section, PROFILE_STATES_MAX - 1);
	ps = &f->profile->states[n];
	if (!ps->present) {
		*ps = (PowerState){ .present = true, .operational = true, .max_w = NAN };
		f->state_line[n] = l->line;
		f->profile->n_states = MAX(f->profile->n_states, (unsigned)n + 1);
	}
	*ret = ps;
	return 0;
}

static int open_condition(const IniLine *l, const char *name, void *userdata, void **ret)
{
	int n = condition_from_name(name);
	ProfileFile *f = userdata;
	ConditionPower *c;

	if (n <= CONDITION_ACTIVE)
		return ini_complain_of_heading(
			l, "[%s]: conditions are idle_a, idle_b, idle_c, standby_y, standby_z",
			l->section);
	c = &f->profile->conditions[n];
	if (!c->present) {
		*c = (ConditionPower){ .present = true, .watts = NAN };
		f->condition_line[n] = l->line;
	}
	*ret = c;
	return 0;
}

static const KeySection sections[] = {
	{ "profile", NULL, KEY_LIST(profile_keys), .open = open_profile },
	{ "power-state", "N", KEY_LIST(state_keys), .open = open_state },
	{ "condition", "NAME", KEY_LIST(condition_keys), .open = open_condition },
	{ "points", NULL, KEY_LIST(point_keys) },
	{ "energy", NULL, KEY_LIST(energy_keys), .open = open_profile },
	{ "emerald", NULL, KEY_LIST(emerald_keys), .open = open_profile },
};

/* Reads on after a complaint, so that one reading shows all of them. */
static int on_line(const IniLine *l, void *userdata)
{
	ProfileFile *f = userdata;
	int r = keys_apply(sections, ELEMENTSOF(sections), l, f);

	if (r < 0 && r != -ENOMEM)
		f->bad = true;
	return r == -ENOMEM ? r : 0;
}

static char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');

	return strndup(base, dot && streq(dot, ".profile") ? (size_t)(dot - base) : strlen(base));
}

static Profile *profile_blank(const char *path)
{
	_cleanup_(profile_freep) Profile *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->name = name_of(path);
	p->path = strdup(path);
	p->models = calloc(1, sizeof(*p->models));
	p->kind = _KIND_MAX; /* not given yet */
	p->error = 0.1;
	p->energy_error = NAN;
	for (Direction d = 0; d < _DIRECTION_MAX; d++)
		for (Pattern t = 0; t < _PATTERN_MAX; t++)
			p->energy[d][t] = (Energy){ NAN, NAN };
	return p->name && p->path && p->models ? TAKE_PTR(p) : NULL;
}

/* A point without an error gets the profile's, doubled for an estimate. */
static void complete_points(Profile *p)
{
	for (size_t i = 0; i < p->n_points; i++) {
		Point *q = &p->points[i];

		if (q->error <= 0)
			q->error = q->estimated ? 2 * p->error : p->error;
	}
}

/* The mixes out of the points. */
static int part_mixes(Profile *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_points; i++) {
		MixPoint *slot;

		if (!point_is_mix(&p->points[i])) {
			p->points[n++] = p->points[i];
			continue;
		}
		slot = ARRAY_GROW(p->mixes, p->n_mixes);
		if (!slot)
			return -ENOMEM;
		*slot = (MixPoint){ p->points[i], 1, 1 };
	}
	p->n_points = n;
	return 0;
}

/* A profile goes by the name of its file. */
static bool has_fit_name(const Profile *p)
{
	Unfit why;

	if (is_printable(p->name, strlen(p->name), &why))
		return true;
	log_warning("%s: the name of the file has %s: rename it", p->path, why.what);
	return false;
}

/* FNV-1a, and never 0. */
static uint64_t mark_of(const char *text)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3u;
	return h | 1;
}

static int read_lines(ProfileFile *f, const char *path)
{
	_cleanup_free_ char *text = NULL;
	int r = ini_load(path, &text);

	if (r < 0)
		return r;
	f->profile->mark = mark_of(text);
	return ini_read_text(path, text, on_line, f);
}

int profile_read(const char *path, Profile **ret)
{
	_cleanup_(profile_freep) Profile *p = profile_blank(path);
	ProfileFile f = { .profile = p };
	int r = p ? 0 : -ENOMEM;

	if (r >= 0)
		r = has_fit_name(p) ? read_lines(&f, path) : -EINVAL;
	if (r >= 0) {
		complete_points(p);
		profile_check(&f);
		if (f.bad)
			r = -EINVAL;
	}
	free(f.point_lines);
	if (r < 0)
		return r == -EBADMSG ? -EINVAL : r;
	r = part_mixes(p);
	if (r < 0)
		return r;
	energy_fit(p);
	mixes_relate(p);
	*ret = TAKE_PTR(p);
	return 0;
}
