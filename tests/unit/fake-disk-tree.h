/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A disk sda of a made-up /sys, with what lies on it there. */

#include "test-hw-block.h"

#include "redirect-knob.h"

typedef struct TreeDisk {
	const char *root;
	int error; /* of every writing */
	unsigned writes;
	/* does as the kernel: what reads back once the value was written; NULL: the value */
	void (*settle)(const char *root, const char *path, const char *before, const char *value);
} TreeDisk;

static inline char *tree_path(const char *attr)
{
	char *path = text_printf("class/block/sda/%s", attr);

	assert_non_null(path);
	return path;
}

static inline int tree_attr_read(Device *d, const char *attr, char *buf, size_t size)
{
	const TreeDisk *t = d->impl;
	_cleanup_free_ char *path = tree_path(attr), *full = text_printf("%s/%s", t->root, path);

	return read_attribute(full, buf, size);
}

static inline int tree_attr_write(Device *d, const char *attr, const char *value)
{
	_cleanup_free_ char *path = tree_path(attr);
	TreeDisk *t = d->impl;
	char before[256];
	int r;

	t->writes++;
	if (t->error)
		return t->error;
	r = tree_attr_read(d, attr, before, sizeof(before));
	if (r < 0)
		return r;
	if (t->settle)
		t->settle(t->root, path, before, value);
	else
		put(t->root, path, value);
	return 0;
}

static inline int tree_sysfs_root(Device *d, const char **ret)
{
	const TreeDisk *t = d->impl;

	*ret = t->root;
	return 0;
}

static inline Device *tree_device(TreeDisk *t, const char *root, const char *declared)
{
	static const DeviceOps ops = { .attr_read = tree_attr_read,
				       .attr_write = tree_attr_write,
				       .sysfs_root = tree_sysfs_root };

	t->root = root;
	return fake_disk(&ops, t, declared);
}
