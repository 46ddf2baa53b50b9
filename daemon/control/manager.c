/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/manager.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "control/manager-internal.h"

static void manager_wake(void *userdata);

static int load_policies(Manager *m, const char *name)
{
	_cleanup_(policy_freep) Policy *policy = NULL, *emergency = NULL;
	int r = policy_find(m->config.policy_directories, name, &policy);

	if (r < 0)
		return r;
	r = policy_find(m->config.policy_directories, "emergency", &emergency);
	if (r < 0)
		log_warning_errno(r, "No emergency policy: emergencies will use %s", name);
	policy_free(m->policy);
	policy_free(m->emergency_policy);
	m->policy = TAKE_PTR(policy);
	m->emergency_policy = TAKE_PTR(emergency);
	return 0;
}

int manager_new(const ManagerConfig *config, Loop *loop, Inventory *inventory, Manager **ret)
{
	_cleanup_(manager_freep) Manager *m = calloc(1, sizeof(*m));
	char boot_id[37];
	int r;

	if (!m)
		return -ENOMEM;
	m->config = *config;
	m->loop = loop;
	m->inventory = inventory;
	m->budget_w = INFINITY;
	loop->wake = manager_wake;
	loop->userdata = m;
	m->claims = claims_new();
	if (!m->claims)
		return -ENOMEM;
	r = config->policy ? load_policies(m, config->policy) : 0;
	if (r < 0)
		return log_error_errno(r, "Policy \"%s\" cannot be used", config->policy);
	r = read_boot_id(boot_id);
	if (r < 0)
		return log_error_errno(r, "/proc/sys/kernel/random/boot_id cannot be read");
	r = journal_open(config->journal_path, boot_id, &m->journal);
	if (r < 0)
		return log_error_errno(r, "Journal %s cannot be used", config->journal_path);
	journal_forget_moot(m->journal, knob_survival);
	r = manager_open_wear(m);
	if (r < 0)
		return r;
	r = manager_open_sensors(m);
	if (r < 0)
		return r;
	r = meter_open(config->bpf, &m->meter, &m->meter_why_not);
	if (r < 0)
		return log_error_errno(r, "No meter");
	*ret = TAKE_PTR(m);
	return 0;
}

void manager_set_events(Manager *m, const ManagerEvents *events)
{
	m->events = events ? *events : (ManagerEvents){};
}

int manager_start(Manager *m)
{
	int r = inventory_start(m->inventory, manager_on_device, m);

	if (r < 0)
		return r;
	r = manager_load_claims(m);
	if (r < 0)
		return r;
	manager_look(m);
	manager_react(m, "start");
	return 0;
}

Manager *manager_free(Manager *m)
{
	if (!m)
		return NULL;
	m->events = (ManagerEvents){};
	if (m->journal && !m->stopping)
		manager_give_all_back(m);
	if (m->journal && journal_size(m->journal))
		log_warning("%zu settings could not be put back; they stay in the journal: run "
			    "storpowerd --restore, or start it again",
			    journal_size(m->journal));
	m->loop->wake_at(m->loop, USEC_NEVER);
	for (size_t i = 0; i < m->n_devices; i++)
		managed_free(m->devices[i]);
	free(m->devices);
	free(m->leaving);
	plan_free(m->plan);
	manager_forget_decisions(m);
	manager_forget_wakeups(m);
	wear_book_free(m->wear);
	claims_free(m->claims);
	journal_close(m->journal);
	meter_close(m->meter);
	manager_close_sensors(m);
	free(m->meter_why_not);
	policy_free(m->policy);
	policy_free(m->emergency_policy);
	free(m);
	return NULL;
}

bool manager_enforcing(const Manager *m)
{
	const Claim *c;

	for (size_t i = 0; (c = claims_get(m->claims, i)); i++)
		if (claim_active(c, manager_now_us(m)))
			return true;
	return false;
}

void manager_tell_changed(Manager *m)
{
	if (m->events.changed)
		m->events.changed(m->events.userdata);
}

static void update_budget(Manager *m)
{
	const Claim *c;
	char watts[32];

	m->budget_w = claims_effective(m->claims, SCOPE_NODE, NULL, manager_rated_w(m),
				       manager_now_us(m), &c);
	m->effective_cookie = c ? c->cookie : 0;
	if (!c)
		snprintf(m->why, sizeof(m->why), "%s",
			 manager_enforcing(m) ? "a claim on a device or group"
					      : "no claim is active");
	else
		snprintf(m->why, sizeof(m->why), "%s by claim %llu of %s%s%.80s",
			 format_watts(watts, sizeof(watts), m->budget_w),
			 (unsigned long long)c->cookie, claim_class_name(c->class),
			 *c->reason ? ": " : "", c->reason);
}

double manager_spendable_w(const Manager *m)
{
	return isinf(m->budget_w) ? INFINITY
				  : MAX(m->budget_w - m->guard_w - m->config.guard_w, 0.0);
}

static bool same_settings(const Plan *a, const Plan *b)
{
	if (!a || a->n_devices != b->n_devices)
		return false;
	for (size_t i = 0; i < a->n_devices; i++)
		if (!setting_equal(&a->devices[i].setting, &b->devices[i].setting))
			return false;
	return true;
}

static void adopt(Manager *m, Plan *plan)
{
	plan_free(m->plan);
	m->plan = plan;
	manager_set_targets(m, plan);
	manager_pump(m);
	manager_await_sleep(m);
}

static size_t count_held(const Manager *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n_devices; i++)
		n += managed_held(m, m->devices[i]);
	return n;
}

static void note_guards(Manager *m)
{
	m->planned_guard_w = m->guard_w;
	for (size_t i = 0; i < m->n_sensors; i++)
		m->sensors[i].planned_guard_w = m->sensors[i].guard_w;
}

/* A plan with slow savings (a spin-down) is followed at once by one without them, so that the fast
 * knobs alone hold the budget until the slow savings arrive. Returns 1 when any setting changed. */
static int plan_and_apply(Manager *m, const Plan *held)
{
	int changed = 0;

	note_guards(m);
	manager_await_no_more(m);
	for (unsigned round = 0; round < 3; round++) {
		size_t n_held = count_held(m);
		Plan *plan;
		int r = manager_make_plan(m, manager_spendable_w(m), 0, manager_policy_now(m),
					  &plan);

		if (r < 0)
			return r;
		if (held && !plan_worth_changing(held, plan, manager_policy_now(m))) {
			manager_keep_targets(m, plan);
			plan_free(plan);
			return changed;
		}
		changed |= !same_settings(m->plan, plan);
		adopt(m, plan);
		held = NULL;
		if (count_held(m) <= n_held)
			break;
	}
	return changed;
}

static void note_plan(Manager *m, const char *why)
{
	const Plan *p = m->plan;
	char cap[32], text[160];

	format_watts(cap, sizeof(cap), p->cap_w);
	snprintf(text, sizeof(text), "%zu devices can draw %s, %.0f of %.0f MB/s", p->n_devices,
		 cap, p->mb_s, p->full_mb_s);
	manager_decide(m, "", m->why, "%s: %s", why, text);
	log_info("%s: %s (%s)", why, text, m->why);
	if (p->shortfall_w > 0)
		log_warning(
			"The budget is %.1f W below what the devices draw at least: held at that",
			p->shortfall_w);
	if (m->events.plan_applied)
		m->events.plan_applied(p, why, m->events.userdata);
}

/* only_news: what changes nothing is not told. */
static void react(Manager *m, const char *why, bool only_news)
{
	int r;

	if (m->stopping) {
		manager_pump(m);
		return;
	}
	update_budget(m);
	m->woken = m->news = m->unsafe = false;
	if (!manager_enforcing(m))
		manager_drain_held(m);
	r = plan_and_apply(m, NULL);
	if (r < 0)
		log_error_errno(r, "No plan could be made; the last one stays in force");
	else if (r > 0 || !only_news)
		note_plan(m, why);
	if (!manager_enforcing(m))
		for (size_t i = 0; i < m->n_devices; i++)
			managed_let_sleep_on(m, m->devices[i]);
	manager_tell_changed(m);
	manager_arm(m);
}

void manager_react(Manager *m, const char *why)
{
	react(m, why, false);
}

/* A plan that no longer fits what is known of the devices is not worth keeping. */
static const Plan *plan_to_keep(const Manager *m)
{
	if (!m->plan || m->unsafe || m->plan->n_devices != m->n_devices ||
	    m->cap_w > MAX(manager_spendable_w(m), m->plan->cap_w) + 1e-6)
		return NULL;
	return m->plan;
}

/* The look once a second: replans only for what matters. */
static void look(Manager *m)
{
	int r;

	manager_look(m);
	if (!m->news || !(manager_enforcing(m) || manager_draining(m)))
		return;
	m->news = false;
	manager_await_no_more(m);
	r = plan_and_apply(m, plan_to_keep(m));
	m->unsafe = false;
	if (r < 0)
		log_error_errno(r, "No plan could be made; the last one stays in force");
	else if (r > 0)
		note_plan(m, "demand has changed");
	manager_tell_changed(m);
}

static bool managed_pending(const ManagedDevice *md)
{
	for (size_t i = 0; i < knob_count(); i++)
		if (md->knobs[i].pending)
			return true;
	return false;
}

/* When the device must be looked after again. */
static uint64_t next_due_of(const Manager *m, const ManagedDevice *md)
{
	uint64_t next = MIN(managed_waking_ends_us(m, md), md->uncontrolled_until_us ?: USEC_NEVER);

	for (size_t i = 0; i < knob_count(); i++)
		if (md->knobs[i].retry_at_us)
			next = MIN(next, md->knobs[i].retry_at_us);
	if (managed_pending(md) && !md->busy && manager_now_us(m) < managed_thawed_us(md))
		next = MIN(next, managed_thawed_us(md));
	if (managed_pending(md) && managed_settles_us(m, md))
		next = MIN(next, managed_settles_us(m, md));
	if (md->busy && !managed_overdue(m, md))
		next = MIN(next, md->step_began_us + OVERDUE_US);
	return next;
}

/* What was waited for has come: the device may be planned for again, or no longer. */
static bool clear_due(Manager *m, ManagedDevice *md, uint64_t now)
{
	bool due = md->transition_end_us && !managed_waking(m, md);

	if (due) {
		managed_watch_waking(m, md); /* before it is planned for again */
		md->transition_end_us = 0;
	}
	if (md->uncontrolled_until_us && md->uncontrolled_until_us <= now) {
		md->uncontrolled_until_us = 0;
		due = true;
	}
	for (size_t i = 0; i < knob_count(); i++)
		if (md->knobs[i].retry_at_us && md->knobs[i].retry_at_us <= now) {
			md->knobs[i].retry_at_us = 0;
			due = true;
		}
	managed_update_cap(m, md);
	return due || (managed_overdue(m, md) && now - md->step_began_us < OVERDUE_US + LOOK_US);
}

bool manager_clear_due(Manager *m, uint64_t now)
{
	bool due = false;

	for (size_t i = 0; i < m->n_devices; i++)
		due |= clear_due(m, m->devices[i], now);
	return due;
}

static bool claim_is_due(const Manager *m, uint64_t now)
{
	return m->claims_due_us && now >= m->claims_due_us;
}

static void manager_wake(void *userdata)
{
	Manager *m = userdata;
	uint64_t now = manager_now_us(m);
	bool began = claim_is_due(m, now), due;

	if (m->stopping)
		return;
	m->claims_due_us = 0;
	if (m->inventory->ops->fd(m->inventory) < 0)
		m->inventory->ops->process(m->inventory);
	due = manager_clear_due(m, now);
	if (manager_expire_claims(m))
		began = due = false;
	else if (began)
		m->event_us = now;
	if (m->news || now - m->looked_us >= LOOK_US - USEC_PER_MSEC)
		look(m);
	else
		manager_peek(m);
	if (began || due || m->woken)
		react(m,
		      began      ? "a claim began"
		      : m->woken ? "IO woke a disk"
				 : "a device is to be looked after again",
		      !began && !m->woken);
	manager_pump(m);
	manager_arm(m);
}

void manager_arm(Manager *m)
{
	uint64_t now = manager_now_us(m), next;

	if (m->stopping)
		return;
	if (!claim_is_due(m, now)) /* and has not been seen to yet */
		m->claims_due_us = claims_next_event(m->claims, now);
	next = m->claims_due_us;
	for (size_t i = 0; i < m->n_devices; i++)
		next = MIN(next, next_due_of(m, m->devices[i]));
	/* idle means asleep: without a claim and without anyone asking there is nothing to see */
	if (manager_enforcing(m) || now < m->watched_until_us || m->fast_steps ||
	    manager_draining(m) || manager_any_suspect(m))
		next = MIN(next, m->looked_us + LOOK_US);
	if (manager_enforcing(m) && manager_any_to_peek_at(m))
		next = MIN(next, now + PEEK_US);
	m->loop->wake_at(m->loop, m->woken ? now : next);
}

int manager_set_policy(Manager *m, const char *name, char **ret_error)
{
	int r = load_policies(m, name);

	if (r < 0) {
		*ret_error = text_printf("policy \"%s\" cannot be used: %s", name, strerror(-r));
		return r;
	}
	manager_react(m, "policy changed");
	return 0;
}

int manager_reload(Manager *m, char **ret_error)
{
	_cleanup_free_ char *name = strdup(m->policy->name);

	return name ? manager_set_policy(m, name, ret_error) : -ENOMEM;
}

const char *manager_policy(const Manager *m)
{
	return m->policy->name;
}
