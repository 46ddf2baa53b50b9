/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The unified cgroup hierarchy (v2), as far as block devices have lines in its files. */

#include <stddef.h>
#include <sys/types.h>

/* Where the hierarchy is mounted, by a mountinfo file (/proc/self/mountinfo): the mount of its
 * topmost cgroup. -EOPNOTSUPP: nowhere, this is a cgroup v1 host. */
int cgroup_find_root(const char *mountinfo, char **ret);

/* This device's line of a file below the root, without the MAJ:MIN: "io.cost.model",
 * "system.slice/io.max". "" where it has none. Of the files "cgroup.*", which are not by device,
 * the whole text. -EOPNOTSUPP: there is no cgroup v2 at this root; -ENOENT: no such file (the
 * kernel or the controllers enabled there do not offer it, or the cgroup is gone); -ENOBUFS: too
 * long. */
int cgroup_line_read(const char *cgroup_root, dev_t devnum, const char *file, char *buf,
		     size_t size);
/* Nothing but a device's line is ever written: "cgroup.*" gives -EPERM. */
int cgroup_line_write(const char *cgroup_root, dev_t devnum, const char *file, const char *line);

/* Names of the cgroups directly below the root one, sorted; NULL-terminated, for strv_free(). */
int cgroup_children(const char *cgroup_root, char ***ret);
