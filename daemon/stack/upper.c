/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stack/upper.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "stack/topology-read.h"
#include "stack/topology-walk.h"
#include "stack/upper-internal.h"

struct Upper {
	char *sysfs_root, *disk;
};

static const UpperComponent *const components[] = {
	&upper_bcache, &upper_md, &upper_writecache, &upper_mergerfs, &upper_nvmet,
};

int upper_open(const char *sysfs_root, const char *disk, Upper **ret)
{
	_cleanup_(upper_closep) Upper *u = calloc(1, sizeof(*u));

	if (!u)
		return -ENOMEM;
	u->sysfs_root = strdup(sysfs_root);
	u->disk = strdup(disk);
	if (!u->sysfs_root || !u->disk)
		return -ENOMEM;
	*ret = TAKE_PTR(u);
	return 0;
}

Upper *upper_close(Upper *u)
{
	if (!u)
		return NULL;
	free(u->sysfs_root);
	free(u->disk);
	free(u);
	return NULL;
}

static int find(const Upper *u, const char *name, const UpperComponent **ret, void **ret_found)
{
	UpperDisk on = { .sysfs_root = u->sysfs_root,
			 .disk = u->disk,
			 .real = streq(u->sysfs_root, "/sys") };

	for (size_t i = 0; i < ELEMENTSOF(components); i++)
		if (streq(components[i]->name, name)) {
			*ret = components[i];
			return components[i]->find(&on, ret_found);
		}
	return -ENOENT;
}

int upper_read(Upper *u, const char *component, const char *what, char *buf, size_t size)
{
	const UpperComponent *c;
	void *found;
	int r = find(u, component, &c, &found);

	if (r < 0)
		return r;
	r = c->read(found, what, buf, size);
	c->free(found);
	return r;
}

int upper_write(Upper *u, const char *component, const char *what, const char *value)
{
	const UpperComponent *c;
	void *found;
	int r = find(u, component, &c, &found);

	if (r < 0)
		return r;
	r = c->write(found, what, value);
	c->free(found);
	return r;
}

int upper_print(char *buf, size_t size, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(buf, size, format, ap);
	va_end(ap);
	return n < 0 || (size_t)n >= size ? -ENOBUFS : 0;
}

typedef struct Walk {
	const char *sysfs_root;
	Names names;
} Walk;

static int add_partition(const char *path, void *userdata)
{
	Walk *w = userdata;

	return folder_has(path, "partition") ? names_add(&w->names, strrchr(path, '/') + 1) : 0;
}

/* 1: it lies on something else, too. */
static int is_other(const char *slave, void *userdata)
{
	const Walk *w = userdata;

	return !names_have(&w->names, strrchr(slave, '/') + 1);
}

static int add_holder(const char *path, void *userdata)
{
	_cleanup_free_ char *slaves = text_printf("%s/slaves", path);
	Walk *w = userdata;
	int r = slaves ? folder_each(slaves, is_other, w) : -ENOMEM;

	return r ? MIN(r, 0) : names_add(&w->names, strrchr(path, '/') + 1);
}

static int add_above(Walk *w, const char *name)
{
	_cleanup_free_ char *folder = topology_folder(w->sysfs_root, name), *holders = NULL;
	int r;

	if (!folder)
		return 0;
	r = folder_each(folder, add_partition, w);
	holders = text_printf("%s/holders", folder);
	return r ?: holders ? folder_each(holders, add_holder, w) : -ENOMEM;
}

char **upper_nodes(const UpperDisk *on)
{
	Walk w = { .sysfs_root = on->sysfs_root };
	int r = names_add(&w.names, on->disk);

	for (size_t i = 0; i < w.names.n && r >= 0; i++)
		r = add_above(&w, w.names.list[i]);
	if (r < 0 || !ARRAY_GROW(w.names.list, w.names.n)) {
		names_done(&w.names);
		return NULL;
	}
	return w.names.list;
}
