/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stack/mounts.h"

#include <errno.h>
#include <libmount.h>

#include "base/cleanup.h"

DEFINE_CLEANUP(struct libmnt_table *, mnt_unref_table);
DEFINE_CLEANUP(struct libmnt_iter *, mnt_free_iter);

static int visit_each(struct libmnt_table *table, MountVisit f, void *userdata)
{
	_cleanup_(mnt_free_iterp) struct libmnt_iter *at = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;
	int r = at ? 0 : -ENOMEM;

	while (r == 0 && mnt_table_next_fs(table, at, &fs) == 0) {
		const char *swap = mnt_fs_get_swaptype(fs);

		r = f(&(MountEntry){ .devnum = mnt_fs_get_devno(fs),
				     .root = mnt_fs_get_root(fs) ?: "",
				     .point = mnt_fs_get_target(fs) ?: "",
				     .type = swap ?: mnt_fs_get_fstype(fs) ?: "",
				     .source = mnt_fs_get_source(fs) ?: "" },
		      userdata);
	}
	return r;
}

static int read_table(const char *path, typeof(mnt_table_parse_file) *parse, MountVisit f,
		      void *userdata)
{
	_cleanup_(mnt_unref_tablep) struct libmnt_table *table = mnt_new_table();
	int r = table ? parse(table, path) : -ENOMEM;

	return r < 0 ? r : visit_each(table, f, userdata);
}

int mounts_each(const char *path, MountVisit f, void *userdata)
{
	return read_table(path, mnt_table_parse_file, f, userdata);
}

int swaps_each(const char *path, MountVisit f, void *userdata)
{
	return read_table(path, mnt_table_parse_swaps, f, userdata);
}
