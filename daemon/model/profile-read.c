/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "model/energy-fit.h"
#include "model/profile-file.h"

#define WATTS_MAX 1000

static int read_watts(const IniLine *l, double *ret)
{
	LimitUnit unit;
	double v;

	if (parse_limit(l->value, &v, &unit) < 0 || unit != LIMIT_WATTS || v > WATTS_MAX)
		return ini_complain(l, "%s: \"%s\" is not watts up to %d: write 14 W or 350 mW",
				    l->key, l->value, WATTS_MAX);
	*ret = v;
	return 0;
}

static int read_error(const IniLine *l, double *ret)
{
	LimitUnit unit;
	double v;

	if (parse_limit(l->value, &v, &unit) < 0 || unit != LIMIT_PERCENT || v <= 0)
		return ini_complain(l, "%s: \"%s\" is not a percentage above 0: write 5%%", l->key,
				    l->value);
	*ret = v / 100;
	return 0;
}

/* parse_duration_us() knows no zero; here it means "at once". */
static int read_us(const IniLine *l, uint64_t *ret)
{
	uint64_t us = 0;

	if (!streq(l->value, "0") &&
	    (parse_duration_us(l->value, &us) < 0 || us > 3600 * 1000000ULL))
		return ini_complain(
			l, "%s: \"%s\" is not a time up to an hour: write 70us, 30ms or 3s", l->key,
			l->value);
	*ret = us;
	return 0;
}

static int read_seconds(const IniLine *l, double *ret)
{
	uint64_t us = 0;
	int r = read_us(l, &us);

	if (r >= 0)
		*ret = (double)us / 1e6;
	return r;
}

static int read_us32(const IniLine *l, uint32_t *ret)
{
	uint64_t us = 0;
	int r = read_us(l, &us);

	if (r >= 0)
		*ret = (uint32_t)us;
	return r;
}

static int read_yes_no(const IniLine *l, bool *ret)
{
	if (parse_bool(l->value, ret) < 0)
		return ini_complain(l, "%s: \"%s\" is neither yes nor no", l->key, l->value);
	return 0;
}

static int read_joules(const IniLine *l, double *ret)
{
	static const struct {
		const char *unit;
		double scale;
	} units[] = { { "uJ", 1e-6 }, { "mJ", 1e-3 }, { "J", 1 } };
	size_t n = strspn(l->value, "+-.0123456789");
	const char *unit = l->value + n + strspn(l->value + n, " ");
	char number[32];
	double v;

	for (size_t i = 0; i < ELEMENTSOF(units) && n < sizeof(number); i++) {
		if (!streq(unit, units[i].unit))
			continue;
		memcpy(number, l->value, n);
		number[n] = '\0';
		if (parse_double(number, &v) < 0 || v < 0 || v * units[i].scale > 1000)
			break;
		*ret = v * units[i].scale;
		return 0;
	}
	return ini_complain(l, "%s: \"%s\" is not joules: write 3.7 uJ, 25 mJ or 0.1 J", l->key,
			    l->value);
}

static int unknown_key(const IniLine *l)
{
	return ini_complain(l, "[%s] has no key \"%s\"", l->section, l->key);
}

static int add_model(Profile *p, const char *glob)
{
	size_t n = 0;
	char **more;

	while (p->models[n])
		n++;
	more = reallocarray(p->models, n + 2, sizeof(*more));
	if (!more)
		return -ENOMEM;
	p->models = more;
	more[n + 1] = NULL;
	more[n] = strdup(glob);
	return more[n] ? 0 : -ENOMEM;
}

static int read_point(ProfileFile *f, const IniLine *l)
{
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

static int read_kind(ProfileFile *f, const IniLine *l)
{
	int k = kind_from_name(l->value);

	if (k < 0)
		return ini_complain(l, "kind: \"%s\" is none of nvme, sata-ssd, hdd", l->value);
	f->profile->kind = k;
	f->kind = true;
	return 0;
}

static int read_cycles(const IniLine *l, double *ret)
{
	unsigned long v;

	if (parse_unsigned(l->value, 100000000, &v) < 0)
		return ini_complain(l, "cycles: \"%s\" is not a number of spin-downs", l->value);
	*ret = (double)v;
	return 0;
}

static int read_profile_key(ProfileFile *f, const IniLine *l)
{
	Profile *p = f->profile;

	if (streq(l->key, "match"))
		return *l->value ? add_model(p, l->value)
				 : ini_complain(l, "match: no glob; write one a line");
	if (streq(l->key, "kind"))
		return read_kind(f, l);
	if (streq(l->key, "rated")) {
		f->rated = true;
		f->rated_line = l->line;
		return read_watts(l, &p->rated_w);
	}
	if (streq(l->key, "idle")) {
		f->idle = true;
		return read_watts(l, &p->idle_w);
	}
	if (streq(l->key, "error"))
		return read_error(l, &p->error);
	if (streq(l->key, "link_saving"))
		return read_watts(l, &p->link_saving_w);
	if (streq(l->key, "cycles"))
		return read_cycles(l, &p->rated_cycles_start);
	return unknown_key(l);
}

static int read_state_key(ProfileFile *f, const IniLine *l, const char *number)
{
	PowerState *ps;
	unsigned long n;

	if (parse_unsigned(number, PROFILE_STATES_MAX - 1, &n) < 0)
		return ini_complain(l, "[%s]: power states are numbered 0 to %d", l->section,
				    PROFILE_STATES_MAX - 1);
	ps = &f->profile->states[n];
	if (!ps->present) {
		*ps = (PowerState){ .present = true, .operational = true, .max_w = NAN };
		f->state_line[n] = l->line;
		f->profile->n_states = MAX(f->profile->n_states, (unsigned)n + 1);
	}
	if (streq(l->key, "max")) {
		if (!isnan(ps->max_w))
			return ini_complain(l, "power state %lu is described twice", n);
		return read_watts(l, &ps->max_w);
	}
	if (streq(l->key, "entry"))
		return read_us32(l, &ps->entry_us);
	if (streq(l->key, "exit"))
		return read_us32(l, &ps->exit_us);
	if (streq(l->key, "operational"))
		return read_yes_no(l, &ps->operational);
	if (streq(l->key, "estimated"))
		return read_yes_no(l, &ps->estimated);
	return unknown_key(l);
}

static int read_condition_key(ProfileFile *f, const IniLine *l, const char *name)
{
	int n = condition_from_name(name);
	ConditionPower *c;

	if (n <= CONDITION_ACTIVE)
		return ini_complain(
			l, "[%s]: conditions are idle_a, idle_b, idle_c, standby_y, standby_z",
			l->section);
	c = &f->profile->conditions[n];
	if (!c->present) {
		*c = (ConditionPower){ .present = true, .watts = NAN };
		f->condition_line[n] = l->line;
	}
	if (streq(l->key, "watts")) {
		if (!isnan(c->watts))
			return ini_complain(l, "condition %s is described twice", name);
		return read_watts(l, &c->watts);
	}
	if (streq(l->key, "enter"))
		return read_seconds(l, &c->enter_s);
	if (streq(l->key, "recovery"))
		return read_seconds(l, &c->recovery_s);
	if (streq(l->key, "wake_watts"))
		return read_watts(l, &c->wake_w);
	if (streq(l->key, "wake_time"))
		return read_seconds(l, &c->wake_s);
	if (streq(l->key, "estimated"))
		return read_yes_no(l, &c->estimated);
	return unknown_key(l);
}

static int read_energy_key(ProfileFile *f, const IniLine *l)
{
	static const struct {
		const char *key;
		Direction direction;
		Pattern pattern;
		size_t offset;
	} keys[] = {
		{ "read_random_io", READ_IO, RANDOM_IO, offsetof(Energy, io_j) },
		{ "read_random_page", READ_IO, RANDOM_IO, offsetof(Energy, page_j) },
		{ "read_sequential_io", READ_IO, SEQUENTIAL_IO, offsetof(Energy, io_j) },
		{ "read_sequential_page", READ_IO, SEQUENTIAL_IO, offsetof(Energy, page_j) },
		{ "write_random_io", WRITE_IO, RANDOM_IO, offsetof(Energy, io_j) },
		{ "write_random_page", WRITE_IO, RANDOM_IO, offsetof(Energy, page_j) },
		{ "write_sequential_io", WRITE_IO, SEQUENTIAL_IO, offsetof(Energy, io_j) },
		{ "write_sequential_page", WRITE_IO, SEQUENTIAL_IO, offsetof(Energy, page_j) },
	};
	Profile *p = f->profile;

	if (streq(l->key, "error"))
		return read_error(l, &p->energy_error);
	for (size_t i = 0; i < ELEMENTSOF(keys); i++)
		if (streq(l->key, keys[i].key)) {
			Energy *e = &p->energy[keys[i].direction][keys[i].pattern];

			return read_joules(l, (double *)((char *)e + keys[i].offset));
		}
	return unknown_key(l);
}

static int read_line(ProfileFile *f, const IniLine *l)
{
	if (streq(l->section, "profile"))
		return read_profile_key(f, l);
	if (streq(l->section, "points") && streq(l->key, "point"))
		return read_point(f, l);
	if (streq(l->section, "energy"))
		return read_energy_key(f, l);
	if (!strncmp(l->section, "power-state ", 12))
		return read_state_key(f, l, l->section + 12);
	if (!strncmp(l->section, "condition ", 10))
		return read_condition_key(f, l, l->section + 10);
	if (streq(l->section, "points"))
		return unknown_key(l);
	return ini_complain(l,
			    "unknown section [%s]: a profile has [profile], [power-state N], "
			    "[condition NAME], [points] and [energy]",
			    l->section);
}

/* Reads on after a complaint, so that one reading shows all of them. */
static int on_line(const IniLine *l, void *userdata)
{
	ProfileFile *f = userdata;
	int r = read_line(f, l);

	if (r == -EINVAL)
		f->bad = true;
	return r == -EINVAL ? 0 : r;
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
	p->error = 0.1;
	p->energy_error = NAN;
	for (Direction d = 0; d < _DIRECTION_MAX; d++)
		for (Pattern t = 0; t < _PATTERN_MAX; t++)
			p->energy[d][t] = (Energy){ NAN, NAN };
	return p->name && p->path && p->models ? TAKE_PTR(p) : NULL;
}

/* What a point leaves out: the profile's error, doubled for an estimate. */
static void complete_points(Profile *p)
{
	for (size_t i = 0; i < p->n_points; i++) {
		Point *q = &p->points[i];

		if (q->error <= 0)
			q->error = q->estimated ? 2 * p->error : p->error;
	}
}

int profile_read(const char *path, Profile **ret)
{
	_cleanup_(profile_freep) Profile *p = profile_blank(path);
	ProfileFile f = { .profile = p };
	int r = p ? ini_read(path, on_line, &f) : -ENOMEM;

	if (r >= 0) {
		complete_points(p);
		profile_check(&f);
		if (f.bad)
			r = -EINVAL;
	}
	free(f.point_lines);
	if (r < 0)
		return r == -EBADMSG ? -EINVAL : r;
	energy_fit(p);
	*ret = TAKE_PTR(p);
	return 0;
}
