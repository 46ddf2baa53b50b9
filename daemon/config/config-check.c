/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config/config-check.h"

#include <errno.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "plan/policy.h"

/* Every policy can be chosen at any time. */
static int check_policies(const char *const *directories)
{
	_cleanup_(strv_freep) char **paths = NULL;
	int r = list_files(directories, ".policy", &paths), found = 0;

	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		log_warning_errno(r, "The policies cannot be listed");
		return 1;
	}
	for (char **path = paths; *path; path++) {
		_cleanup_(policy_freep) Policy *p = NULL;

		r = policy_read(*path, &p);
		if (r == -ENOMEM)
			return r;
		if (r < 0 && r != -EINVAL && r != -EBADMSG)
			log_warning_errno(r, "%s: it cannot be read", *path);
		found += r < 0 || p->ignored;
	}
	return found;
}

/* One that is there and unusable was complained of with the others. */
static int check_policy(const char *const *directories, const char *name, const char *at)
{
	_cleanup_(policy_freep) Policy *p = NULL;
	int r = policy_find(directories, name, &p);

	if (r != -ENOENT)
		return r == -ENOMEM ? r : 0;
	log_warning("%s%sthere is no policy \"%s\" (%s.policy in %s or %s)", at ?: "",
		    at ? ": " : "", name, name, directories[0], directories[1]);
	return 1;
}

static int check_profiles(const Config *c, const ProfileStore *profiles)
{
	int found = (int)profiles->left_out;

	for (size_t i = 0; i < c->n_devices; i++) {
		const BlockConfig *d = &c->devices[i];

		if (!d->profile || profile_store_get(profiles, d->profile))
			continue;
		log_warning(
			"%s: there is no profile \"%s\" that can be used: [device %s] would go by "
			"its model",
			d->profile_at, d->profile, d->name);
		found++;
	}
	return found;
}

static const SensorConfig *find_sensor(const Config *c, const char *name)
{
	for (size_t i = 0; i < c->n_sensors; i++)
		if (streq(c->sensors[i].name, name))
			return &c->sensors[i];
	return NULL;
}

static int check_sensors(const Config *c)
{
	int found = 0;

	for (size_t i = 0; i < c->n_sensors; i++) {
		const SensorConfig *s = &c->sensors[i];

		if (!s->less || find_sensor(c, s->less))
			continue;
		log_warning("%s: [sensor %s]: there is no [sensor %s] that can be taken off it: it "
			    "would never count",
			    s->at ?: "the node", s->name, s->less);
		found++;
	}
	return found;
}

int config_check(const Config *c, const ProfileStore *profiles,
		 const char *const *policy_directories, const char *policy)
{
	int chosen, emergency, all = check_policies(policy_directories);

	if (all < 0)
		return all;
	chosen = check_policy(policy_directories, policy, c->policy_at);
	emergency = check_policy(policy_directories, "emergency", NULL);
	if (chosen < 0 || emergency < 0)
		return -ENOMEM;
	return all + chosen + emergency + check_profiles(c, profiles) + check_sensors(c);
}
