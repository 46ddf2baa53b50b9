/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "ctl/ctl-model.h"

static size_t estimated_of(const Profile *p)
{
	size_t n = model_estimated_points(p);

	for (size_t i = 0; i < p->n_mixes; i++)
		n += p->mixes[i].at.estimated;
	return n;
}

static json_object *verdict(const char *path, const Profile *p)
{
	json_object *o = json_object_new_object();

	json_put_text(o, "Path", path);
	json_put_flag(o, "Usable", p);
	json_put_count(o, "PointCount", p ? p->n_points + p->n_mixes : 0);
	json_put_count(o, "EstimatedPointCount", p ? estimated_of(p) : 0);
	return o;
}

static void print_verdict(const char *path, const Profile *p)
{
	if (p)
		printf("%s: usable, %zu points (%zu estimated)\n", path, p->n_points + p->n_mixes,
		       estimated_of(p));
	else
		printf("%s: unusable, for what is said above\n", path);
}

/* profile_read() says itself what is wrong inside the file. */
static void complain_of_file(const char *path, int r)
{
	if (r != -EINVAL)
		complain(STATUS_FAILURE, "%s: %s: name a file that can be read", path,
			 strerror(-r));
}

int model_validate(Ctl *c)
{
	_cleanup_json_ json_object *all = json_object_new_array();
	int status = STATUS_OK;

	for (int i = 0; i < c->n_args; i++) {
		_cleanup_(profile_freep) Profile *p = NULL;
		int r = profile_read(c->args[i], &p);

		if (r < 0) {
			complain_of_file(c->args[i], r);
			status = STATUS_FAILURE;
		}
		json_object_array_add(all, verdict(c->args[i], p));
		if (!c->json)
			print_verdict(c->args[i], p);
		fflush(stdout);
	}
	if (c->json)
		json_print(c, all);
	return status;
}
