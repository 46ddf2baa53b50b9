/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "meter/pressure.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

static bool read_pressure(const char *path, double *ret_percent)
{
	char text[256];

	return path && read_attribute(path, text, sizeof(text)) == 0 &&
	       sscanf(text, "some avg10=%lf", ret_percent) == 1;
}

static int take_cgroup(const char *root, const char *name, char **cgroup, double *percent)
{
	_cleanup_free_ char *path = text_printf("%s/%s/io.pressure", root, name), *copy = NULL;
	double found;

	if (*name == '.' || !read_pressure(path, &found) || (*cgroup && found <= *percent))
		return path ? 0 : -ENOMEM;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	free(*cgroup);
	*cgroup = TAKE_PTR(copy);
	*percent = found;
	return 0;
}

int pressure_worst(const char *root, const char *node_file, char **ret_cgroup, double *ret_percent)
{
	DIR *folder = root ? opendir(root) : NULL;
	_cleanup_free_ char *cgroup = NULL;
	struct dirent *e;
	double percent;
	int r = 0;

	while (folder && r == 0 && (e = readdir(folder)))
		if (e->d_type == DT_DIR)
			r = take_cgroup(root, e->d_name, &cgroup, &percent);
	if (folder)
		closedir(folder);
	if (r == 0 && !cgroup) {
		r = read_pressure(node_file, &percent) ? 0 : -EOPNOTSUPP;
		cgroup = r == 0 ? strdup("/") : NULL;
	}
	if (r < 0 || !cgroup)
		return r ?: -ENOMEM;
	*ret_cgroup = TAKE_PTR(cgroup);
	*ret_percent = percent;
	return 0;
}
