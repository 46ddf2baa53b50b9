/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/policies.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"

static int load(Policies *p, const PolicyConfig *c, const char *name)
{
	_cleanup_(policy_freep) Policy *policy = NULL, *emergency = NULL;
	int r = policy_find(c->directories, name, &policy);

	if (r < 0)
		return r;
	r = policy_find(c->directories, "emergency", &emergency);
	if (r < 0)
		log_warning_errno(r, "No emergency policy: emergencies will use %s", name);
	policy_free(p->chosen);
	policy_free(p->emergency);
	p->chosen = TAKE_PTR(policy);
	p->emergency = TAKE_PTR(emergency);
	return 0;
}

static void save(Policies *p, const PolicyConfig *c)
{
	int r = c->choice_path ? policy_choice_write(c->choice_path, &p->choice) : 0;

	p->unsaved = r < 0 ? -r : 0;
	if (r < 0)
		log_error_errno(r,
				"Which policy is chosen cannot be saved in %s: it holds now, but "
				"not over a restart; make room there, then choose it once more",
				c->choice_path);
}

static void forget(Policies *p, const PolicyConfig *c)
{
	policy_choice_done(&p->choice);
	save(p, c);
}

/* Without the file the configured policy counts, which is the one that the operator wrote down. */
static int recall(Policies *p, const PolicyConfig *c)
{
	int r = c->choice_path ? policy_choice_read(c->choice_path, &p->choice) : 0;

	if (r >= 0 || r == -ENOMEM)
		return r;
	log_warning_errno(r,
			  "Which policy was chosen cannot be read from %s: it is %s, as configured",
			  c->choice_path, c->name);
	return 0;
}

/* Whoever edits the file after a choice means the file. */
static void compare_with_file(Policies *p, const PolicyConfig *c)
{
	const PolicyChoice *choice = &p->choice;

	if (!choice->name || streq(choice->configured, c->name))
		return;
	log_about(LOG_NOTICE, 0, &(LogAbout){ .id = MESSAGE_POLICY_CHANGED, .policy = c->name },
		  "The configuration names policy %s, and named %s when %s chose %s: it is %s now",
		  c->name, choice->configured, choice->by, choice->name, c->name);
	forget(p, c);
}

int policies_reread(Policies *p, const PolicyConfig *c)
{
	int r;

	compare_with_file(p, c);
	r = p->choice.name ? load(p, c, p->choice.name) : -ENOENT;
	if (r >= 0 || r == -ENOMEM)
		return r;
	if (p->choice.name) {
		log_about(LOG_WARNING, r,
			  &(LogAbout){ .id = MESSAGE_POLICY_CHANGED, .policy = c->name },
			  "Policy %s, which %s chose, cannot be used: it is %s, as configured",
			  p->choice.name, p->choice.by, c->name);
		forget(p, c);
	}
	return load(p, c, c->name);
}

int policies_open(Policies *p, const PolicyConfig *c)
{
	int r = c->name ? recall(p, c) : 0;

	return r < 0 || !c->name ? r : policies_reread(p, c);
}

static void move_choice(PolicyChoice *to, PolicyChoice *from)
{
	policy_choice_done(to);
	*to = *from;
	*from = (PolicyChoice){};
}

int policies_choose(Policies *p, const PolicyConfig *c, const char *name, const char *by)
{
	_cleanup_(policy_choice_done) PolicyChoice choice = { .name = strdup(name),
							      .configured = strdup(c->name),
							      .by = strdup(by),
							      .realtime_us = realtime_us() };
	int r = choice.name && choice.configured && choice.by ? load(p, c, name) : -ENOMEM;

	if (r < 0)
		return r;
	move_choice(&p->choice, &choice);
	save(p, c);
	return 0;
}

void policies_done(Policies *p)
{
	p->chosen = policy_free(p->chosen);
	p->emergency = policy_free(p->emergency);
	policy_choice_done(&p->choice);
}

const Policy *policies_for(const Policies *p, const Claim *effective)
{
	return effective && effective->class == CLASS_EMERGENCY && p->emergency ? p->emergency
										: p->chosen;
}
