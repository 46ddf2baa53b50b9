/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Profiles as files: no daemon is asked, as a profile is looked at before it is put in force. */

#include <errno.h>
#include <string.h>

#include "ctl/table.h"
#include "model/predict.h"

static size_t count_estimated(const Profile *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_points; i++)
		n += p->points[i].estimated;
	for (size_t i = 0; i < p->n_mixes; i++)
		n += p->mixes[i].at.estimated;
	return n;
}

static json_object *profile_json(const Profile *p)
{
	json_object *o = json_object_new_object(), *models = json_object_new_array();

	for (char **m = p->models; *m; m++)
		json_object_array_add(models, json_object_new_string(*m));
	json_object_object_add(o, "Profile", json_object_new_string(p->name));
	json_object_object_add(o, "Kind", json_object_new_string(kind_name(p->kind)));
	json_object_object_add(o, "Path", json_object_new_string(p->path));
	json_object_object_add(o, "Models", models);
	json_object_object_add(o, "RatedPower", json_from_double(p->rated_w));
	json_object_object_add(o, "OperatingPower", json_from_double(profile_operating_w(p)));
	json_object_object_add(o, "IdlePower", json_from_double(p->idle_w));
	json_object_object_add(o, "Error", json_from_double(p->error));
	json_object_object_add(o, "Points", json_object_new_uint64(p->n_points + p->n_mixes));
	json_object_object_add(o, "Estimated", json_object_new_uint64(count_estimated(p)));
	return o;
}

static void add_row(Table *t, json_object *p)
{
	char operating[32], idle[32], error[16], measured[32];

	snprintf(error, sizeof(error), "%.0f %%", 100 * json_number(p, "Error"));
	snprintf(measured, sizeof(measured), "%.0f of %.0f",
		 json_number(p, "Points") - json_number(p, "Estimated"), json_number(p, "Points"));
	table_row(t, json_text(p, "Profile"), json_text(p, "Kind"),
		  format_watts(operating, sizeof(operating), json_number(p, "OperatingPower")),
		  format_watts(idle, sizeof(idle), json_number(p, "IdlePower")), error, measured,
		  json_text(p, "Path"));
}

static void print_profiles(const Ctl *c, json_object *profiles)
{
	static const char *const columns[] = { "PROFILE", "KIND",   ">AT MOST",
					       ">IDLE",   ">ERROR", ">POINTS MEASURED",
					       NULL };
	static const char *const wide[] = { "PROFILE", "KIND",   ">AT MOST",
					    ">IDLE",   ">ERROR", ">POINTS MEASURED",
					    "FILE",    NULL };
	_cleanup_(table_freep) Table *t = table_new(c->wide ? wide : columns);

	for (size_t i = 0; i < json_count(profiles); i++)
		add_row(t, json_object_array_get_idx(profiles, i));
	pager_open(c);
	table_print(t, c);
}

/* As storpowerd searches them; a name in the first directory hides the same one in the second. */
static int read_store(const Ctl *c, ProfileStore **ret)
{
	const char *const as_installed[] = { "/etc/storpower/profiles",
					     STORPOWER_DATADIR "/profiles", NULL };
	const char *const given[] = { c->profiles, NULL };

	return profile_store_read(c->profiles ? given : as_installed, ret);
}

int ctl_model_list(Ctl *c)
{
	_cleanup_(profile_store_freep) ProfileStore *s = NULL;
	_cleanup_json_ json_object *profiles = json_object_new_array();
	int r = read_store(c, &s);

	if (r < 0)
		return complain(STATUS_FAILURE, "The profiles cannot be read: %s", strerror(-r));
	for (size_t i = 0; i < s->n; i++)
		json_object_array_add(profiles, profile_json(s->profiles[i]));
	if (c->json)
		json_print(c, profiles);
	else if (s->n == 0)
		return complain(STATUS_FAILURE,
				"There is no profile in %s: name the directory with --profiles=DIR",
				c->profiles ?: STORPOWER_DATADIR "/profiles");
	else
		print_profiles(c, profiles);
	return STATUS_OK;
}

/* What is wrong has been said with file and line. */
static int validate(const char *path)
{
	_cleanup_(profile_freep) Profile *p = NULL;
	int r = profile_read(path, &p);

	if (r == -EINVAL)
		return complain(STATUS_FAILURE, "%s: not usable, for the reasons above", path);
	if (r < 0)
		return complain(STATUS_FAILURE, "%s: %s", path, strerror(-r));
	printf("%s: usable, %zu points, %zu of them estimated\n", path, p->n_points + p->n_mixes,
	       count_estimated(p));
	return STATUS_OK;
}

int ctl_model_validate(Ctl *c)
{
	int status = STATUS_OK;

	for (int i = 0; i < c->n_args; i++)
		if (validate(c->args[i]))
			status = STATUS_FAILURE;
	return status;
}
