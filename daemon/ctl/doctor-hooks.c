/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The operator's hooks, and which of them are not run. Who has none is told nothing. */

#include <errno.h>
#include <string.h>

#include "base/hook-folder.h"
#include "ctl/doctor.h"
#include "ctl/words.h"

#define SOCKET "storpower-hooks.socket"

static void look_at_socket(Doctor *d)
{
	if (doctor_unit(doctor_systemd(d), d->root, SOCKET) == UNIT_OFF)
		doctor_find(d, GRADE_MISSING, "Daemon", "systemctl enable --now " SOCKET,
			    "hooks: none is run, because the socket of their service is off");
}

static void tell(Doctor *d, const HookFolder *f)
{
	char names[WORDS_SIZE] = "";
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++) {
		const HookFile *h = &f->files[i];
		size_t at = strlen(names);

		if (h->why_not)
			doctor_find(d, h->unsafe ? GRADE_MISSING : GRADE_NOTE, "Daemon", NULL,
				    "hooks: %s is not run: %s", h->name, h->why_not);
		else
			snprintf(names + at, sizeof(names) - at, "%s%s", n++ ? ", " : "", h->name);
	}
	if (!n)
		return;
	doctor_find(d, GRADE_OK, "Daemon", NULL, "hooks: %s", names);
	look_at_socket(d);
}

void doctor_look_at_hooks(Doctor *d)
{
	_cleanup_free_ char *path = text_printf("%s" HOOK_FOLDER, d->root);
	_cleanup_(hook_folder_done) HookFolder f = {};
	int r = path ? hook_folder_read(path, &f) : -ENOMEM;

	if (r >= 0)
		tell(d, &f);
	else if (r != -ENOENT)
		doctor_find(d, GRADE_NOTE, "Daemon", NULL, "hooks: %s cannot be read: %s", path,
			    strerror(-r));
}
