/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "model/profile.h"

int profile_store_directories(const char *config_directory, const char *data_directory, char ***ret)
{
	_cleanup_free_ char *own = text_printf("%s/profiles", config_directory ?: "/etc/storpower");
	_cleanup_free_ char *shipped =
		text_printf("%s/profiles", data_directory ?: STORPOWER_DATADIR);
	_cleanup_(strv_freep) char **v = NULL;
	int r = own && shipped ? strv_add(&v, own) : -ENOMEM;

	if (r >= 0)
		r = strv_add(&v, shipped);
	if (r >= 0)
		*ret = TAKE_PTR(v);
	return r;
}

static bool lies_in(const char *path, const char *directory)
{
	const char *slash = strrchr(path, '/');

	return slash && (size_t)(slash - path) == strlen(directory) &&
	       !strncmp(path, directory, strlen(directory));
}

static int store_add(ProfileStore *s, const char *path)
{
	_cleanup_(profile_freep) Profile *p = NULL;
	Profile **slot;
	int r = profile_read(path, &p);

	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		log_warning_errno(r, "%s: leaving this profile out; its devices get a generic one",
				  path);
		s->left_out++;
		return 0;
	}
	slot = ARRAY_GROW(s->profiles, s->n);
	if (!slot)
		return -ENOMEM;
	*slot = TAKE_PTR(p);
	return 0;
}

int profile_store_read(const char *const *directories, ProfileStore **ret)
{
	_cleanup_(profile_store_freep) ProfileStore *s = calloc(1, sizeof(*s));
	_cleanup_(strv_freep) char **paths = NULL;
	int r = s ? list_files(directories, ".profile", &paths) : -ENOMEM;

	if (r < 0)
		return r;
	/* by directory, not by name, so that a profile of the user's own matches first */
	for (; *directories; directories++)
		for (char **p = paths; *p; p++)
			if (lies_in(*p, *directories)) {
				r = store_add(s, *p);
				if (r < 0)
					return r;
			}
	*ret = TAKE_PTR(s);
	return 0;
}

/* Where a profile of the same text was in force, that is the one from now on. */
static void keep_unchanged(ProfileStore *s, Profile **was)
{
	for (size_t i = 0; i < s->n; i++) {
		Profile *p = s->profiles[i];

		if (!streq(p->path, (*was)->path) || p->mark != (*was)->mark)
			continue;
		s->profiles[i] = *was;
		*was = p;
		return;
	}
}

int profile_store_succeed(ProfileStore *s, ProfileStore *before)
{
	Profile **old = calloc(before->n + before->n_old + 1, sizeof(*old));

	if (!old)
		return -ENOMEM;
	for (size_t i = 0; i < before->n; i++) {
		Profile *was = before->profiles[i];

		keep_unchanged(s, &before->profiles[i]);
		if (before->profiles[i] != was)
			continue;
		old[s->n_old++] = was;
		before->profiles[i] = NULL;
	}
	for (size_t i = 0; i < before->n_old; i++)
		old[s->n_old++] = before->old[i];
	before->n_old = 0;
	s->old = old;
	profile_store_free(before);
	return 0;
}

ProfileStore *profile_store_free(ProfileStore *s)
{
	if (!s)
		return NULL;
	for (size_t i = 0; i < s->n; i++)
		profile_free(s->profiles[i]);
	for (size_t i = 0; i < s->n_old; i++)
		profile_free(s->old[i]);
	free(s->old);
	free(s->profiles);
	free(s);
	return NULL;
}

const Profile *profile_store_match(const ProfileStore *s, const char *model)
{
	for (size_t i = 0; i < s->n; i++)
		if (strv_match(s->profiles[i]->models, model))
			return s->profiles[i];
	return NULL;
}

const Profile *profile_store_get(const ProfileStore *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (streq(s->profiles[i]->name, name))
			return s->profiles[i];
	return NULL;
}
