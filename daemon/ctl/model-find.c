/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "ctl/ctl-model.h"

#define COUNT_MAX 4096

int model_read_store(const Ctl *c, ProfileStore **ret)
{
	_cleanup_(strv_freep) char **directories = NULL;
	int r = c->model.profiles ? strv_add(&directories, c->model.profiles)
				  : profile_store_directories(NULL, NULL, &directories);

	if (r >= 0)
		r = profile_store_read((const char *const *)directories, ret);
	return r < 0 ? complain(STATUS_FAILURE, "Profiles cannot be read: %s", strerror(-r))
		     : STATUS_OK;
}

void model_found_done(ModelFound *f)
{
	profile_free(f->own);
	json_object_put(f->device);
}

static bool is_file(const char *name)
{
	const char *dot = strrchr(name, '.');

	return (strchr(name, '/') && strncmp(name, "/dev/", strlen("/dev/"))) ||
	       (dot && streq(dot, ".profile"));
}

static int find_file(const char *path, ModelFound *ret)
{
	ModelFound f = {};
	int r = profile_read(path, &f.own);

	if (r == -EINVAL)
		return complain(STATUS_FAILURE, "%s cannot be used: what is wrong stands above",
				path);
	if (r < 0)
		return complain(STATUS_FAILURE, "%s: %s: name a file that can be read", path,
				strerror(-r));
	f.profile = f.own;
	*ret = f;
	return STATUS_OK;
}

static int unknown(const char *name, const char *and)
{
	return complain(STATUS_REFUSED,
			"Unknown profile or device \"%s\": storpowerctl model list names the "
			"profiles%s",
			name, and);
}

static int find_device(Ctl *c, const ProfileStore *s, const char *name, ModelFound *ret)
{
	_cleanup_json_ json_object *devices = NULL;
	json_object *d;
	int status;

	if (!ctl_daemon_runs(c))
		return unknown(name, "; devices are known where storpowerd runs, and it does not");
	status = ctl_get_devices(c, &devices);
	if (status)
		return status;
	d = ctl_find_device(devices, name);
	if (!d)
		return unknown(name, ", storpowerctl list the devices");
	*ret = (ModelFound){ .profile = profile_store_get(s, json_text(d, "Profile")),
			     .device = json_object_get(d) };
	return STATUS_OK;
}

int model_no_profile(const char *where, const char *name)
{
	return complain(STATUS_REFUSED,
			"%s: there is no profile \"%s\": storpowerctl model list names those there "
			"are",
			where, name);
}

const Profile *model_look_up(const ProfileStore *s, const char *text, unsigned *ret_count)
{
	const Profile *p = profile_store_get(s, text);
	const char *x = strrchr(text, 'x');
	unsigned long count = 1;

	if (!p && x && x > text && parse_unsigned(x + 1, COUNT_MAX, &count) >= 0 && count > 0) {
		_cleanup_free_ char *name = strndup(text, (size_t)(x - text));

		p = name ? profile_store_get(s, name) : NULL;
	}
	*ret_count = (unsigned)count;
	return p;
}

const Profile *model_counted(const ProfileStore *s, const char *text, unsigned *ret_count)
{
	const Profile *p = model_look_up(s, text, ret_count);

	if (!p)
		model_no_profile(text, text);
	return p;
}

int model_find(Ctl *c, const ProfileStore *s, const char *name, ModelFound *ret)
{
	const Profile *p = profile_store_get(s, name);

	if (is_file(name))
		return find_file(name, ret);
	if (!p)
		return find_device(c, s, name, ret);
	*ret = (ModelFound){ .profile = p };
	return STATUS_OK;
}

int model_need_profile(const ModelFound *f, const char *name)
{
	if (f->profile)
		return STATUS_OK;
	return complain(STATUS_REFUSED,
			"The daemon has made the profile of %s from what the device says of "
			"itself: there is no file. storpowerctl model frontier %s shows what it "
			"makes of it",
			name, name);
}
