/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan/policy.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/keys.h"
#include "base/log.h"
#include "base/text.h"

typedef struct Reader {
	Policy *policy;
	unsigned bad; /* values that could not be used */
} Reader;

/* "120MB/s", "3 %": the number before this unit, from 0 to max. */
static int number_before(const char *value, const char *unit, double max, double *ret)
{
	size_t n = strspn(value, "+-.0123456789eE");
	_cleanup_free_ char *number = strndup(value, n);
	double v;
	int r;

	if (!number)
		return -ENOMEM;
	if (!streq(value + n + strspn(value + n, " "), unit))
		return -EINVAL;
	r = parse_double(number, &v);
	if (r < 0 || v < 0 || v > max)
		return r < 0 ? r : -ERANGE;
	*ret = v;
	return 0;
}

static int take_fraction(const IniLine *l, void *member)
{
	double percent;
	int r = number_before(l->value, "", 1, member);

	if (r != -EINVAL)
		return r;
	r = number_before(l->value, "%", 100, &percent);
	if (r >= 0)
		*(double *)member = percent / 100;
	return r;
}

static int take_rate(const IniLine *l, void *member)
{
	double gb_s;
	int r = number_before(l->value, "MB/s", 1e6, member);

	if (r != -EINVAL)
		return r;
	r = number_before(l->value, "GB/s", 1e6, &gb_s);
	if (r >= 0)
		*(double *)member = gb_s * 1000;
	return r;
}

static int take_floor(const IniLine *l, void *member)
{
	RuleFloor floor = { .given = true };
	int r = take_rate(l, &floor.mb_s);

	if (r == -EINVAL)
		r = take_fraction(l, &floor.share);
	if (r >= 0)
		*(RuleFloor *)member = floor;
	return r;
}

static int take_fairness(const IniLine *l, void *member)
{
	if (!streq(l->value, "max"))
		return number_before(l->value, "", 2, member);
	*(double *)member = INFINITY;
	return 0;
}

static int take_limit(const IniLine *l, void *member)
{
	RuleLimit *limit = member;
	LimitUnit unit;
	double v;
	int r = parse_limit(l->value, &v, &unit);

	if (r < 0 || v == 0)
		return r < 0 ? r : -ERANGE;
	*limit = unit == LIMIT_WATTS ? (RuleLimit){ .watts = v } : (RuleLimit){ .share = v / 100 };
	return 0;
}

static int redirect_from_name(const char *name)
{
	return streq(name, "hold")       ? REDIRECT_HOLD
	       : streq(name, "as-found") ? REDIRECT_AS_FOUND
					 : -EINVAL;
}

#define A_SET_OF_MECHANISMS                                                                        \
	KEY_SET, .from_list = mechanisms_from_list,                                                \
		 .expected = "a list of power-state, power-limit, condition, link, depth, chunk, " \
			     "pacing, redirect"
#define A_FLOOR .expected = "a share such as 25%, or a throughput such as 120MB/s or 1.2GB/s"
#define A_CONDITION                                                                                \
	KEY_NAME, .from_name = condition_from_name,                                                \
		  .expected = "active, idle_a, idle_b, idle_c, standby_y or standby_z"

static const Key policy_keys[] = {
	{ "description", KEY_TEXT, KEY_AT(Policy, description) },
	{ "forbid", A_SET_OF_MECHANISMS, KEY_AT(Policy, forbidden) },
	{ "deepest", A_CONDITION, KEY_AT(Policy, deepest) },
	{ "rest", A_CONDITION, KEY_AT(Policy, rest) },
	{ "rest_idle", KEY_DURATION, KEY_AT(Policy, rest_idle_us) },
	{ "sleep_idle", KEY_DURATION, KEY_AT(Policy, sleep_idle_us) },
	{ "sleep_min", KEY_DURATION, KEY_AT(Policy, sleep_min_us) },
	{ "dwell", KEY_DURATION, KEY_AT(Policy, dwell_us) },
	{ "hysteresis", KEY_CUSTOM, KEY_AT(Policy, hysteresis), .take = take_fraction,
	  .expected = "a share from 0% to 100%" },
	{ "demand_headroom", KEY_NUMBER, KEY_AT(Policy, demand_headroom), .min = 1, .max = 100 },
	{ "fairness", KEY_CUSTOM, KEY_AT(Policy, fairness), .take = take_fairness,
	  .expected = "a number from 0 to 2, or max" },
	{ "floor", KEY_CUSTOM, KEY_AT(Policy, floor), .take = take_floor, A_FLOOR },
	{ "latency_weight", KEY_NUMBER, KEY_AT(Policy, latency_weight), .max = 10 },
};

static const Key rule_keys[] = {
	{ "weight", KEY_NUMBER, KEY_AT(PolicyRule, weight), .max = 1e6 },
	{ "floor", KEY_CUSTOM, KEY_AT(PolicyRule, floor), .take = take_floor, A_FLOOR },
	{ "p99", KEY_DURATION, KEY_AT(PolicyRule, p99_us) },
	{ "forbid", A_SET_OF_MECHANISMS, KEY_AT(PolicyRule, forbidden) },
	{ "protect", KEY_BOOL, KEY_AT(PolicyRule, protect) },
	{ "keep_awake", KEY_BOOL, KEY_AT(PolicyRule, keep_awake) },
	{ "limit", KEY_CUSTOM, KEY_AT(PolicyRule, limit), .take = take_limit,
	  .expected = "watts or a share, above 0, such as 4W or 30%" },
	{ "redirect", KEY_NAME, KEY_AT(PolicyRule, redirect), .from_name = redirect_from_name,
	  .expected = "hold or as-found" },
};

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

static int open_rule(const IniLine *l, const char *rest, void *userdata, void **ret)
{
	const char *glob = rest + strspn(rest, " ");
	PolicyRule *rule = *glob ? rule_of(userdata, glob) : NULL;

	(void)l;
	if (!rule)
		return *glob ? -ENOMEM : -ENOENT;
	*ret = rule;
	return 0;
}

static const KeySection sections[] = {
	{ "policy", NULL, KEY_LIST(policy_keys) },
	{ "devices", "GLOB", KEY_LIST(rule_keys), .open = open_rule },
};

/* An unknown section or key is ignored, a bad value makes the policy unusable. */
static int on_line(const IniLine *l, void *userdata)
{
	Reader *r = userdata;
	int e = keys_apply(sections, ELEMENTSOF(sections), l, r->policy);

	if (e == -EINVAL)
		r->bad++;
	if (e == -ENOENT)
		r->policy->ignored++;
	return e == -ENOMEM ? e : 0;
}

/* "policies/a.b.policy" -> "a.b" */
static char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t n = strlen(name), suffix = strlen(".policy");

	return strndup(name, n > suffix && streq(name + n - suffix, ".policy") ? n - suffix : n);
}

/* The policy does not have the key `rest`, whose default depends on `deepest`. */
#define REST_UNSET _CONDITION_MAX

/* These defaults are what `balanced` says. The 15 min and 30 min come from what wears disks. */
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
	p->fairness = 1;
	p->floor.share = 0.25;
	p->name = name_of(path);
	p->description = strdup("");
	return p->name && p->description ? p : policy_free(p);
}

/* Disks may not rest in a deeper condition than they may sleep in. */
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
	p->ignored++;
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
