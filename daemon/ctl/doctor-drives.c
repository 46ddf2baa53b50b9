/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Each drive: which mechanisms it offers, where its profile comes from, and how wrong that may be.
 */

#include <math.h>
#include <string.h>

#include "base/sysfs.h"
#include "ctl/ctl-model.h"
#include "ctl/doctor.h"
#include "ctl/table.h"
#include "ctl/words.h"

#define MEASURED "^# .*measured by storpowerctl calibrate"

/* Who has found the figures of a profile. */
static const char *origin(const Profile *p)
{
	_cleanup_free_ char *line = p->path ? doctor_line(p->path, MEASURED, NULL) : NULL;

	if (line)
		return "measured";
	return p->path && strncmp(p->path, "/etc/", 5) == 0 ? "own" : "shipped";
}

/* What the daemon assumes of a drive that no profile is for. */
static double guess_error(const char *kind)
{
	_cleanup_(profile_freep) Profile *p = NULL;
	int k = kind_from_name(kind);

	if (k < 0 || profile_generic(&(Descriptor){ .kind = (DeviceKind)k }, &p) < 0)
		return NAN;
	return p->error;
}

static void add_profile(json_object *drive, const Profile *p, bool guessed)
{
	json_put_text(drive, "Profile", p ? p->name : json_text(drive, "Profile"));
	json_put_text(drive, "From", guessed ? "guessed" : p ? origin(p) : "unknown");
	json_put_number(drive, "Error",
			guessed ? guess_error(json_text(drive, "Kind"))
			: p     ? p->error
				: NAN);
}

/* Each mechanism once, however many knobs make it. */
static json_object *offered(json_object *knobs)
{
	json_object *names = json_object_new_array();
	const char *last = "";

	for (size_t i = 0; i < json_count(knobs); i++) {
		json_object *k = json_object_array_get_idx(knobs, i);
		const char *name = json_text(k, "Mechanism");

		if (!json_true(k, "Offered") || streq(name, last))
			continue;
		json_object_array_add(names, json_object_new_string(name));
		last = name;
	}
	return names;
}

static json_object *new_drive(const char *name, const char *model, const char *kind)
{
	json_object *drive = json_object_new_object();

	json_put_text(drive, "Name", name);
	json_put_text(drive, "Model", model);
	json_put_text(drive, "Kind", kind);
	return drive;
}

static void take_devices(Doctor *d, const ProfileStore *s)
{
	for (size_t i = 0; i < json_count(d->devices); i++) {
		json_object *o = json_object_array_get_idx(d->devices, i);
		json_object *drive = new_drive(json_text(o, "Name"), json_text(o, "Model"),
					       json_text(o, "Kind"));

		json_put_text(drive, "Profile", json_text(o, "Profile"));
		add_profile(drive, profile_store_get(s, json_text(o, "Profile")),
			    json_true(o, "ProfileEstimated"));
		json_object_object_add(drive, "Mechanisms", offered(json_member(o, "Knobs")));
		json_object_array_add(d->drives, drive);
	}
}

static const char *disk_kind(const char *sysfs, const char *name)
{
	char text[32];

	return streq(block_attribute(sysfs, name, "queue/rotational", text, sizeof(text)), "1")
		       ? "hdd"
		       : "sata-ssd";
}

/* What the daemon would manage, as far as the names tell: which mechanisms a drive offers is known
 * when it has been asked, and that is the daemon's. */
static void take_folders(Doctor *d, const ProfileStore *s)
{
	_cleanup_free_ char *sysfs = text_printf("%s/sys", d->root);
	_cleanup_(strv_freep) char **paths =
		doctor_files(d->root, "/sys/class/nvme/nvme* /sys/block/sd*");

	for (char **p = paths; sysfs && p && *p; p++) {
		const char *name = base_name(*p);
		bool nvme = *name == 'n';
		char folder[256], model[128];
		const Profile *profile;
		json_object *drive;

		snprintf(folder, sizeof(folder), nvme ? "class/nvme/%s" : "block/%s/device", name);
		sysfs_attribute(sysfs, folder, "model", model, sizeof(model));
		drive = new_drive(name, model, nvme ? "nvme" : disk_kind(sysfs, name));
		profile = profile_store_match(s, model);
		json_put_text(drive, "Profile", "");
		add_profile(drive, profile, !profile);
		json_object_object_add(drive, "Mechanisms", NULL);
		json_object_array_add(d->drives, drive);
	}
}

static size_t count_guessed(const Doctor *d, const char **ret_first)
{
	size_t n = 0;

	for (size_t i = 0; i < json_count(d->drives); i++) {
		json_object *drive = json_object_array_get_idx(d->drives, i);

		if (!streq(json_text(drive, "From"), "guessed"))
			continue;
		if (!n++)
			*ret_first = json_text(drive, "Name");
	}
	return n;
}

static void judge(Doctor *d)
{
	_cleanup_free_ char *fix = NULL;
	const char *first = "";
	size_t n = count_guessed(d, &first);

	if (!json_count(d->drives))
		doctor_find(d, GRADE_MISSING, "Drives", NULL,
			    "there is no NVMe drive, SATA or SAS disk that can be managed");
	if (!n)
		return;
	fix = text_printf("storpowerctl calibrate %s", first);
	doctor_find(d, GRADE_NOTE, "Drives", fix,
		    "%zu of %zu drives have a profile that is guessed from their class; their "
		    "watts may be off by so much, and limits keep that free",
		    n, json_count(d->drives));
}

int doctor_look_at_drives(Doctor *d)
{
	_cleanup_(profile_store_freep) ProfileStore *s = NULL;
	int status = model_read_store(d->ctl, &s);

	if (status)
		return status;
	if (d->state)
		take_devices(d, s);
	else
		take_folders(d, s);
	fold_sort(d->drives);
	judge(d);
	return STATUS_OK;
}

static void mechanisms_text(char buf[WORDS_SIZE], json_object *drive)
{
	json_object *names = json_member(drive, "Mechanisms");

	snprintf(buf, WORDS_SIZE, "%s", names ? json_count(names) ? "" : "none" : "");
	for (size_t i = 0; i < json_count(names); i++) {
		size_t at = strlen(buf);

		snprintf(buf + at, WORDS_SIZE - at, "%s%s", i ? ", " : "",
			 json_object_get_string(json_object_array_get_idx(names, i)));
	}
}

static bool alike(json_object *first, json_object *next)
{
	char x[WORDS_SIZE], y[WORDS_SIZE];

	mechanisms_text(x, first);
	mechanisms_text(y, next);
	return *json_text(first, "Name") == *json_text(next, "Name") && streq(x, y) &&
	       streq(json_text(first, "Profile"), json_text(next, "Profile")) &&
	       streq(json_text(first, "From"), json_text(next, "From"));
}

void doctor_print_drives(const Doctor *d)
{
	static const char *const columns[] = { "DRIVE",   "PROFILE",    "FROM",
					       ">OFF BY", "MECHANISMS", NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);
	Fold f = { .devices = d->drives };

	while (fold_next(&f, alike)) {
		json_object *drive = fold_first(&f);
		char name[96], error[32], mechanisms[WORDS_SIZE];

		mechanisms_text(mechanisms, drive);
		table_row(t, fold_name(name, sizeof(name), &f, "Name"), json_text(drive, "Profile"),
			  json_text(drive, "From"),
			  model_percent(error, sizeof(error), json_number(drive, "Error")),
			  mechanisms);
	}
	table_indent(t, 2);
	table_print(t, d->ctl);
}
