/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What was probably meant by the name of a device, group or policy that is refused. */

#include <string.h>

#include "base/sysfs.h"
#include "ctl/doctor.h"
#include "ctl/suggest.h"

/* sdx for sda, nvme7 for nvme1: another one of them, and no slip of the fingers. */
static bool is_sibling(const char *a, const char *b)
{
	size_t n = strlen(a);

	return n == strlen(b) && n > 0 && !strncmp(a, b, n - 1);
}

static void print_nearest(const char *word, char *const *names)
{
	const char *near = suggest(word, (const char *const *)names);

	if (near)
		complain(0, "Did you mean \"%s\"?", near);
}

void ctl_suggest_device(json_object *devices, const char *word, const char *key)
{
	_cleanup_(strv_freep) char **names = NULL;

	for (size_t i = 0; i < json_count(devices); i++) {
		const char *name = json_text(json_object_array_get_idx(devices, i), key);

		if (*name && !is_sibling(word, name))
			(void)strv_add(&names, name);
	}
	print_nearest(word, names);
}

char **ctl_policy_names(void)
{
	char **paths =
		doctor_files(getenv("STORPOWER_ROOT") ?: "",
			     "/etc/storpower/policies/*.policy " STORPOWER_DATADIR "/*.policy");

	for (char **p = paths; p && *p; p++) {
		const char *name = base_name(*p);
		size_t n = strlen(name) - strlen(".policy");

		memmove(*p, name, n);
		(*p)[n] = '\0';
	}
	return paths;
}

static void suggest_policy(const char *word)
{
	_cleanup_(strv_freep) char **names = ctl_policy_names();

	print_nearest(word, names);
}

void ctl_suggest_name(Ctl *c, const char *error)
{
	const char *argument = c->n_args > 0 ? c->args[0] : "";
	_cleanup_json_ json_object *devices = NULL;
	bool group = streq(error, "org.storpower1.Error.UnknownGroup");

	if (streq(error, "org.storpower1.Error.UnknownPolicy") || c->policy)
		suggest_policy(c->policy ?: argument);
	if ((group || streq(error, "org.storpower1.Error.UnknownDevice")) &&
	    !ctl_get_devices(c, &devices))
		ctl_suggest_device(devices,
				   group ? c->group ?: "" : ctl_device_name(c->device ?: argument),
				   group ? "Group" : "Name");
}
