/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "base/file.h"
#include "ctl/doctor.h"

#define INCLUDES_MAX 16
#define CALLS        "^([^#]*[[:space:]/])?" /* a program, not in a comment */

/* Who else sets what storpower sets. A rival is there when one of its units runs or is enabled (if
 * it has any) and one of its files has the line (if it has any). */
typedef struct Rival {
	const char *name;
	const char *units;  /* with blanks between them; NULL: no unit is needed */
	const char *files;  /* globs; "@": each name in `names` and what that includes; NULL */
	const char *line;   /* that one of them has, and which is not like `but` */
	const char *but;    /* NULL: any */
	const char *unless; /* a line that makes up for it; NULL: none does */
	const char *masked; /* a file that, linked to /dev/null, switches the rival off; NULL */
	const char *names;  /* a file; NULL */
	const char *does;
	const char *fix; /* {}: the unit or the file */
} Rival;

static const Rival rivals[] = {
	{ "hd-idle", .units = "hd-idle.service", .does = "stops disks by a clock of its own",
	  .fix = "systemctl disable --now {}" },
	{ "TLP", .units = "tlp.service",
	  .does = "sets disk timers, SATA links and NVMe power saving",
	  .fix = "systemctl disable --now {}" },
	{ "tuned", .units = "tuned.service",
	  .files =
		  "/etc/tuned/profiles/@/tuned.conf /etc/tuned/@/tuned.conf /usr/lib/tuned/profiles/@/tuned.conf /usr/lib/tuned/@/tuned.conf",
	  .line = "^[[:space:]]*(alpm|apm|spindown|elevator)[[:space:]]*=",
	  .names = "/etc/tuned/active_profile",
	  .does = "sets disk timers, SATA links or schedulers in its present profile",
	  .fix = "systemctl disable --now tuned.service" },
	{ "laptop-mode-tools", .units = "laptop-mode.service laptop-mode.timer",
	  .does = "sets disk timers and SATA links", .fix = "systemctl disable --now {}" },
	{ "powertop", .units = "powertop.service",
	  .does = "runs powertop --auto-tune, which sets SATA links and runtime power",
	  .fix = "systemctl disable --now {}" },
	{ "powertop --auto-tune", .files = "/etc/rc.local /etc/cron.d/*",
	  .line = CALLS "powertop[[:space:]].*--auto-tune",
	  .does = "sets SATA links and runtime power at each start",
	  .fix = "sed -i '/powertop/s/^/#/' {}" },
	{ "hdparm.conf", .files = "/etc/hdparm.conf",
	  .line = "^[[:space:]]*(spindown_time|apm|apm_battery)[[:space:]]*=",
	  .does = "gives disks timers that stop them or park their heads",
	  .fix = "sed -Ei 's/^\\s*(spindown_time|apm)/#&/' {}" },
	{ "hdparm", .files = "/etc/rc.local /etc/cron.d/* /etc/udev/rules.d/*.rules",
	  .line = CALLS "hdparm[[:space:]].*-[SByY]",
	  .does = "gives disks timers that stop them or park their heads",
	  .fix = "sed -i '/hdparm/s/^/#/' {}" },
	{ "udisks", .files = "/etc/udisks2/*.conf",
	  .line = "^[[:space:]]*(StandbyTimeout|APMLevel)[[:space:]]*=",
	  .does = "gives a disk a timer that stops it or parks its heads",
	  .fix = "sed -Ei 's/^\\s*(StandbyTimeout|APMLevel)/#&/' {}" },
	{ "smartd", .units = "smartd.service smartmontools.service",
	  .files = "/etc/smartd.conf /etc/smartmontools/smartd.conf",
	  .line = "^[[:space:]]*(DEVICESCAN|/dev/)",
	  .but = "[[:space:]]-n[[:space:]]*(standby|sleep|idle)",
	  .unless = "^[[:space:]]*DEFAULT[[:space:]].*-n[[:space:]]*(standby|sleep|idle)",
	  .does = "wakes disks that sleep, to read their health",
	  .fix = "sed -Ei '/-n /!s,^(DEVICESCAN|/dev/\\S+),& -n standby,' {} && systemctl reload smartd" },
	{ "systemd's iocost rule", .files = "/run/udev/data/b*", .line = "^E:IOCOST_SOLUTIONS=.",
	  .masked = "/etc/udev/rules.d/90-iocost.rules",
	  .does = "sets io.cost of a drive at each of its events (90-iocost.rules, iocost.conf)",
	  .fix = "ln -s /dev/null /etc/udev/rules.d/90-iocost.rules" },
	{ "a rule of udev", .files = "/etc/udev/rules.d/*.rules",
	  .line = "^[^#]*(queue/(nr_requests|max_sectors_kb)|link_power_management_policy|io\\.cost)",
	  .does = "sets queues, IO sizes or links at each event of a drive",
	  .fix = "mv {} {}.off" },
};

/* "{}" becomes the text. */
static char *fill_in(const char *pattern, const char *text)
{
	_cleanup_free_ char *filled = strdup(pattern);
	char *at;

	while (filled && (at = strstr(filled, "{}"))) {
		char *more = text_printf("%.*s%s%s", (int)(at - filled), filled, text, at + 2);

		free(filled);
		filled = more;
	}
	return TAKE_PTR(filled);
}

/* The globs with "@" replaced by a name. */
static char *globs_of(const Rival *r, const char *name)
{
	_cleanup_free_ char *globs = strdup("");
	_cleanup_(strv_freep) char **v = strv_split(r->files);

	for (char **g = v; globs && g && *g; g++) {
		const char *at = strchr(*g, '@');
		char *more = text_printf("%s %.*s%s%s", globs, at ? (int)(at - *g) : 0, *g,
					 at ? name : "", at ? at + 1 : *g);

		free(globs);
		globs = more;
	}
	return TAKE_PTR(globs);
}

/* Adds the files of a name, and the names that they include. */
static void add_named(const Rival *r, const char *root, const char *name, char ***names,
		      char ***paths)
{
	_cleanup_free_ char *globs = globs_of(r, name);
	_cleanup_(strv_freep) char **found = globs ? doctor_files(root, globs) : NULL;

	for (char **p = found; p && *p; p++) {
		_cleanup_free_ char *line = doctor_line(*p, "^include[[:space:]]*=", NULL);
		_cleanup_(strv_freep) char **more = line ? strv_split(strchr(line, '=') + 1) : NULL;

		(void)strv_add(paths, *p);
		for (char **m = more; m && *m && strv_length(*names) < INCLUDES_MAX; m++)
			(void)strv_add(names, *m);
	}
}

static char **files_of(const Rival *r, const char *root)
{
	_cleanup_free_ char *path = r->names ? text_printf("%s%s", root, r->names) : NULL;
	_cleanup_(strv_freep) char **names = NULL;
	char **paths = NULL, text[256] = "";

	if (!r->names)
		return doctor_files(root, r->files);
	if (path)
		(void)read_attribute(path, text, sizeof(text));
	names = strv_split(text);
	for (size_t i = 0; i < strv_length(names); i++)
		add_named(r, root, names[i], &names, &paths);
	return paths;
}

/* The file that has the line, as the operator knows it; NULL: none. */
static char *guilty_file(const Rival *r, const char *root)
{
	_cleanup_(strv_freep) char **paths = files_of(r, root);

	for (char **p = paths; p && *p; p++) {
		_cleanup_free_ char *line = doctor_line(*p, r->line, r->but);
		_cleanup_free_ char *settled = r->unless ? doctor_line(*p, r->unless, NULL) : NULL;

		if (line && !settled)
			return strdup(*p + strlen(root));
	}
	return NULL;
}

static char *guilty_unit(sd_bus *systemd, const Rival *r, const char *root, UnitUse *ret_use)
{
	_cleanup_(strv_freep) char **units = strv_split(r->units);

	for (char **u = units; u && *u; u++) {
		*ret_use = doctor_unit(systemd, root, *u);
		if (*ret_use != UNIT_OFF)
			return strdup(*u);
	}
	return NULL;
}

static bool is_masked(const Rival *r, const char *root)
{
	_cleanup_free_ char *path = r->masked ? text_printf("%s%s", root, r->masked) : NULL;
	_cleanup_free_ char *target = path ? realpath(path, NULL) : NULL;

	return target && streq(target, "/dev/null");
}

/* Whether it is there; says so then. */
static bool look_for(Doctor *d, sd_bus *systemd, const Rival *r)
{
	UnitUse use = UNIT_OFF;
	_cleanup_free_ char *unit = r->units ? guilty_unit(systemd, r, d->root, &use) : NULL;
	_cleanup_free_ char *file = r->files ? guilty_file(r, d->root) : NULL;
	_cleanup_free_ char *fix = NULL;

	if ((r->units && !unit) || (r->files && !file) || is_masked(r, d->root))
		return false;
	fix = fill_in(r->fix, file ?: unit);
	doctor_find(d, GRADE_RIVAL, "Rivals", fix, "%s %s: %s%s%s%s", r->name, r->does, unit ?: "",
		    use == UNIT_RUNS ? " runs"
		    : unit           ? " is enabled"
				     : "",
		    unit && file ? "; " : "", file ?: "");
	return true;
}

void doctor_look_for_rivals(Doctor *d)
{
	sd_bus *systemd = doctor_systemd(d);
	size_t there = 0;

	for (size_t i = 0; i < ELEMENTSOF(rivals); i++)
		there += look_for(d, systemd, &rivals[i]);
	if (!there)
		doctor_find(d, GRADE_OK, "Rivals", NULL,
			    "none of the %zu that it looks for sets what storpower sets",
			    ELEMENTSOF(rivals));
}
