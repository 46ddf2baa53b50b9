/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/node-file.h"

#include <errno.h>
#include <string.h>

#include "base/ini.h"
#include "base/text.h"

#define SECTION     "devices "
#define DEVICES_MAX 4096 /* of one section, as in sim/ */

NodeFile *node_file_free(NodeFile *f)
{
	if (!f)
		return NULL;
	for (size_t i = 0; i < f->n; i++) {
		free(f->devices[i].name);
		free(f->devices[i].profile);
	}
	free(f->devices);
	free(f);
	return NULL;
}

static int add_devices(NodeFile *f, const IniLine *l)
{
	NodeDevices *d = ARRAY_GROW(f->devices, f->n);

	if (!d)
		return -ENOMEM;
	d->line = l->line;
	d->count = 1;
	d->name = strdup(l->section + strlen(SECTION));
	return d->name ? 0 : -ENOMEM;
}

static int take_key(NodeDevices *d, const IniLine *l)
{
	unsigned long count;

	if (streq(l->key, "profile")) {
		free(d->profile);
		d->profile = strdup(l->value);
		return d->profile ? 0 : -ENOMEM;
	}
	if (!streq(l->key, "count"))
		return 0;
	if (parse_unsigned(l->value, DEVICES_MAX, &count) < 0 || count < 1)
		return ini_complain(l, "count: expected a number from 1 to %d, but \"%s\" is not",
				    DEVICES_MAX, l->value);
	d->count = (unsigned)count;
	return 0;
}

static int on_line(const IniLine *l, void *userdata)
{
	NodeFile *f = userdata;

	if (strncmp(l->section, SECTION, strlen(SECTION)))
		return 0;
	if (!l->key)
		return add_devices(f, l);
	return f->n ? take_key(&f->devices[f->n - 1], l) : 0;
}

static int check(const NodeFile *f, const char *path)
{
	for (size_t i = 0; i < f->n; i++)
		if (!f->devices[i].profile)
			return ini_complain(&(IniLine){ .path = path, .line = f->devices[i].line },
					    "[devices %s] names no profile", f->devices[i].name);
	if (!f->n)
		return ini_complain(&(IniLine){ .path = path, .line = 1 },
				    "no [devices NAME]: the node has no device");
	return 0;
}

int node_file_read(const char *path, NodeFile **ret)
{
	_cleanup_(node_file_freep) NodeFile *f = calloc(1, sizeof(*f));
	int r = f ? ini_read(path, on_line, f) : -ENOMEM;

	if (r >= 0)
		r = check(f, path);
	if (r >= 0)
		*ret = TAKE_PTR(f);
	return r;
}
