/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan/policy.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/file.h"
#include "base/ini.h"
#include "base/log.h"
#include "base/text.h"

typedef struct Reader {
	Policy *policy;
	unsigned bad; /* values that could not be used */
} Reader;

/* Parses one value into its field. `field` is of the type that the parser knows. */
typedef int (*Parser)(const char *value, void *field);

typedef struct Key {
	const char *name;
	Parser parse;
	size_t offset;
	const char *expected;
} Key;

static int take_text(const char *value, void *field)
{
	char *copy = strdup(value), **text = field;

	if (!copy)
		return -ENOMEM;
	free(*text);
	*text = copy;
	return 0;
}

static int take_mechanisms(const char *value, void *field)
{
	return mechanisms_from_list(value, field);
}

static int take_condition(const char *value, void *field)
{
	int c = condition_from_name(value);

	if (c < 0)
		return c;
	*(Condition *)field = c;
	return 0;
}

static int take_duration(const char *value, void *field)
{
	if (streq(value, "0")) {
		*(uint64_t *)field = 0;
		return 0;
	}
	return parse_duration_us(value, field);
}

static int take_bool(const char *value, void *field)
{
	return parse_bool(value, field);
}

/* A number of at least zero, and what follows it: "3%", "120MB/s", "1.2GB/s". */
static int split_number(const char *value, char number[32], const char **ret_unit)
{
	size_t n = strspn(value, "+-.0123456789eE");

	if (n == 0 || n >= 32)
		return -EINVAL;
	memcpy(number, value, n);
	number[n] = '\0';
	*ret_unit = value + n + strspn(value + n, " ");
	return 0;
}

static int take_number(const char *value, double max, double *ret)
{
	double v;
	int r = parse_double(value, &v);

	if (r < 0)
		return r;
	if (v < 0 || v > max)
		return -ERANGE;
	*ret = v;
	return 0;
}

static int take_fraction(const char *value, void *field)
{
	const char *unit;
	char number[32];
	double v;
	int r = split_number(value, number, &unit);

	if (r == 0)
		r = streq(unit, "%") || streq(unit, "") ? 0 : -EINVAL;
	if (r == 0)
		r = take_number(number, *unit ? 100 : 1, &v);
	if (r == 0)
		*(double *)field = *unit ? v / 100 : v;
	return r;
}

static int take_rate(const char *value, void *field)
{
	const char *unit;
	char number[32];
	double v;
	int r = split_number(value, number, &unit);

	if (r == 0)
		r = streq(unit, "MB/s") || streq(unit, "GB/s") ? 0 : -EINVAL;
	if (r == 0)
		r = take_number(number, 1e6, &v);
	if (r == 0)
		*(double *)field = *unit == 'G' ? v * 1000 : v;
	return r;
}

static int take_weight(const char *value, void *field)
{
	return take_number(value, 1e6, field);
}

static int take_limit(const char *value, void *field)
{
	RuleLimit *limit = field;
	LimitUnit unit;
	double v;
	int r = parse_limit(value, &v, &unit);

	if (r < 0 || v == 0)
		return r < 0 ? r : -ERANGE;
	*limit = unit == LIMIT_WATTS ? (RuleLimit){ .watts = v } : (RuleLimit){ .share = v / 100 };
	return 0;
}

static int take_redirect(const char *value, void *field)
{
	if (!streq(value, "hold") && !streq(value, "as-found"))
		return -EINVAL;
	*(Redirect *)field = streq(value, "hold") ? REDIRECT_HOLD : REDIRECT_AS_FOUND;
	return 0;
}

static int take_latency_weight(const char *value, void *field)
{
	return take_number(value, 10, field);
}

static int take_headroom(const char *value, void *field)
{
	double v;
	int r = take_number(value, 100, &v);

	if (r < 0 || v < 1)
		return r < 0 ? r : -ERANGE;
	*(double *)field = v;
	return 0;
}

#define MECHANISM_LIST                                                                             \
	"a list of power-state, power-limit, condition, link, depth, chunk, pacing, redirect"
#define CONDITION_LIST "active, idle_a, idle_b, idle_c, standby_y or standby_z"
#define DURATION_WORDS "a duration such as 90s, 15min or 2h"

static const Key policy_keys[] = {
	{ "description", take_text, offsetof(Policy, description), "a line of text" },
	{ "forbid", take_mechanisms, offsetof(Policy, forbidden), MECHANISM_LIST },
	{ "deepest", take_condition, offsetof(Policy, deepest), CONDITION_LIST },
	{ "rest", take_condition, offsetof(Policy, rest), CONDITION_LIST },
	{ "rest_idle", take_duration, offsetof(Policy, rest_idle_us), DURATION_WORDS },
	{ "sleep_idle", take_duration, offsetof(Policy, sleep_idle_us), DURATION_WORDS },
	{ "sleep_min", take_duration, offsetof(Policy, sleep_min_us), DURATION_WORDS },
	{ "dwell", take_duration, offsetof(Policy, dwell_us), DURATION_WORDS },
	{ "hysteresis", take_fraction, offsetof(Policy, hysteresis), "a share from 0% to 100%" },
	{ "demand_headroom", take_headroom, offsetof(Policy, demand_headroom),
	  "a factor from 1 to 100" },
	{ "latency_weight", take_latency_weight, offsetof(Policy, latency_weight),
	  "a number from 0 to 10" },
};

static const Key rule_keys[] = {
	{ "weight", take_weight, offsetof(PolicyRule, weight), "a number from 0 to 1000000" },
	{ "floor", take_rate, offsetof(PolicyRule, floor_mb_s),
	  "a throughput such as 120MB/s or 1.2GB/s" },
	{ "forbid", take_mechanisms, offsetof(PolicyRule, forbidden), MECHANISM_LIST },
	{ "protect", take_bool, offsetof(PolicyRule, protect), "yes or no" },
	{ "keep_awake", take_bool, offsetof(PolicyRule, keep_awake), "yes or no" },
	{ "limit", take_limit, offsetof(PolicyRule, limit), "watts or a share such as 4W or 30%" },
	{ "redirect", take_redirect, offsetof(PolicyRule, redirect), "hold or as-found" },
};

static int set_key(Reader *r, const IniLine *l, const Key *keys, size_t n, void *base)
{
	for (size_t i = 0; i < n; i++) {
		int e;

		if (!streq(l->key, keys[i].name))
			continue;
		e = keys[i].parse(l->value, (char *)base + keys[i].offset);
		if (e == -ENOMEM)
			return e;
		if (e < 0) {
			ini_complain(l, "%s = %s: expected %s", l->key, l->value, keys[i].expected);
			r->bad++;
		}
		return 0;
	}
	ini_complain(l, "unknown key \"%s\" in [%s], ignoring", l->key, l->section);
	return 0;
}

static PolicyRule *rule_of(Policy *p, const char *match)
{
	PolicyRule *rule;

	for (size_t i = 0; i < p->n_rules; i++)
		if (streq(p->rules[i].match, match))
			return &p->rules[i];
	rule = ARRAY_GROW(p->rules, p->n_rules);
	if (!rule)
		return NULL;
	rule->weight = 1;
	rule->match = strdup(match);
	return rule->match ? rule : NULL;
}

static int on_line(const IniLine *l, void *userdata)
{
	static const char devices[] = "devices";
	Reader *r = userdata;
	const char *match = l->section + sizeof(devices) - 1;
	PolicyRule *rule;

	if (streq(l->section, "policy"))
		return set_key(r, l, policy_keys, ELEMENTSOF(policy_keys), r->policy);
	if (strncmp(l->section, devices, sizeof(devices) - 1) || *match != ' ' ||
	    !match[strspn(match, " ")]) {
		ini_complain(l,
			     "unknown section [%s]: expected [policy] or [devices GLOB], "
			     "ignoring \"%s\"",
			     l->section, l->key);
		return 0;
	}
	rule = rule_of(r->policy, match + strspn(match, " "));
	return rule ? set_key(r, l, rule_keys, ELEMENTSOF(rule_keys), rule) : -ENOMEM;
}

/* "policies/a.b.policy" -> "a.b" */
static char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t n = strlen(name), suffix = strlen(".policy");

	return strndup(name, n > suffix && streq(name + n - suffix, ".policy") ? n - suffix : n);
}

/* The key `rest` was not there: its default depends on `deepest`. */
#define REST_UNSET _CONDITION_MAX

/* What `balanced` says as well; facts of disk wear: 15 min idle, 30 min asleep. */
static Policy *policy_new(const char *path)
{
	Policy *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->deepest = CONDITION_STANDBY_Z;
	p->rest = REST_UNSET;
	p->rest_idle_us = 60 * 1000000ULL;
	p->sleep_idle_us = 15 * 60 * 1000000ULL;
	p->sleep_min_us = 30 * 60 * 1000000ULL;
	p->dwell_us = 10 * 1000000ULL;
	p->hysteresis = 0.03;
	p->demand_headroom = 1.25;
	p->name = name_of(path);
	p->description = strdup("");
	return p->name && p->description ? p : policy_free(p);
}

/* What rests may not be deeper than what sleeps. */
static void settle_rest(const char *path, Policy *p)
{
	if (p->rest == REST_UNSET)
		p->rest = p->deepest < CONDITION_IDLE_B ? p->deepest : CONDITION_IDLE_B;
	if (p->rest <= p->deepest)
		return;
	log_warning("%s: rest = %s is deeper than deepest = %s: disks rest in %s", path,
		    condition_name(p->rest), condition_name(p->deepest),
		    condition_name(p->deepest));
	p->rest = p->deepest;
}

int policy_read(const char *path, Policy **ret)
{
	_cleanup_(policy_freep) Policy *p = policy_new(path);
	Reader reader = { .policy = p };
	int r;

	if (!p)
		return -ENOMEM;
	r = ini_read(path, on_line, &reader);
	if (r < 0)
		return r;
	if (reader.bad) {
		log_warning("%s: policy not used: correct %u value%s", path, reader.bad,
			    reader.bad == 1 ? "" : "s");
		return -EINVAL;
	}
	settle_rest(path, p);
	*ret = TAKE_PTR(p);
	return 0;
}

int policy_find(const char *const *directories, const char *name, Policy **ret)
{
	if (!*name || strchr(name, '/'))
		return -ENOENT;
	for (; *directories; directories++) {
		_cleanup_free_ char *path = text_printf("%s/%s.policy", *directories, name);
		int r;

		if (!path)
			return -ENOMEM;
		r = policy_read(path, ret);
		if (r != -ENOENT)
			return r;
	}
	return -ENOENT;
}

Policy *policy_free(Policy *p)
{
	if (!p)
		return NULL;
	for (size_t i = 0; i < p->n_rules; i++)
		free(p->rules[i].match);
	free(p->rules);
	free(p->description);
	free(p->name);
	free(p);
	return NULL;
}
