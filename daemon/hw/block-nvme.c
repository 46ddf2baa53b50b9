/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hw/block-nvme.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"

bool is_nvme_controller(const char *name)
{
	unsigned controller;
	char rest;

	return sscanf(name, "nvme%u%c", &controller, &rest) == 1;
}

/* With the kernel's own multipath the first number is the subsystem's. */
static bool parse_path(const char *name, unsigned *ret_subsystem, unsigned *ret_namespace)
{
	unsigned controller;
	char rest;

	return sscanf(name, "nvme%uc%un%u%c", ret_subsystem, &controller, ret_namespace, &rest) ==
	       3;
}

bool is_nvme_namespace(const char *name)
{
	unsigned a, b;
	char rest;

	return sscanf(name, "nvme%un%u%c", &a, &b, &rest) == 2 || parse_path(name, &a, &b);
}

static int add_path(NvmeSubsystem *to, const char *name)
{
	NvmePath *p = ARRAY_GROW(to->paths, to->n_paths);
	unsigned subsystem, number;

	if (!p)
		return -ENOMEM;
	p->queue = strdup(name);
	p->head = parse_path(name, &subsystem, &number)
			  ? text_printf("nvme%un%u", subsystem, number)
			  : strdup(name);
	return p->queue && p->head ? 0 : -ENOMEM;
}

static int add_paths(const char *sysfs_root, const char *controller, NvmeSubsystem *to)
{
	_cleanup_free_ char *path = text_printf("%s/class/nvme/%s", sysfs_root, controller);
	_cleanup_closedir_ DIR *dir = path ? opendir(path) : NULL;
	struct dirent *e;
	int r = path ? 0 : -ENOMEM;

	while (dir && r >= 0 && (e = readdir(dir)))
		if (is_nvme_namespace(e->d_name))
			r = add_path(to, e->d_name);
	return r;
}

/* The folder of its subsystem holds links to all that lead there; NULL: it is in none (a kernel
 * before 4.15, or it is going). */
static char *find_subsystem(const char *sysfs_root, const char *controller)
{
	_cleanup_free_ char *path = text_printf("%s/class/nvme-subsystem", sysfs_root);
	_cleanup_closedir_ DIR *dir = path ? opendir(path) : NULL;
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		_cleanup_free_ char *folder = text_printf("%s/%s", path, e->d_name),
				    *link = text_printf("%s/%s/%s", path, e->d_name, controller);

		if (*e->d_name != '.' && link && access(link, F_OK) == 0)
			return TAKE_PTR(folder);
	}
	return NULL;
}

static int by_version(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* Its link in the subsystem's folder stays for as long as somebody has its device file open. */
static bool is_present(const char *sysfs_root, const char *controller)
{
	_cleanup_free_ char *path = text_printf("%s/class/nvme/%s/dev", sysfs_root, controller);

	return is_nvme_controller(controller) && path && access(path, F_OK) == 0;
}

static int find_controllers(const char *sysfs_root, const char *controller, NvmeSubsystem *to)
{
	_cleanup_free_ char *path = find_subsystem(sysfs_root, controller);
	_cleanup_closedir_ DIR *dir = path ? opendir(path) : NULL;
	struct dirent *e;
	int r = 0;

	while (dir && r >= 0 && (e = readdir(dir)))
		if (is_present(sysfs_root, e->d_name))
			r = strv_add(&to->controllers, e->d_name);
	if (r >= 0 && !to->controllers)
		r = strv_add(&to->controllers, controller);
	if (r >= 0)
		qsort(to->controllers, strv_length(to->controllers), sizeof(*to->controllers),
		      by_version);
	return r;
}

static int by_head(const void *a, const void *b)
{
	const NvmePath *x = a, *y = b;

	return strverscmp(x->head, y->head) ?: strverscmp(x->queue, y->queue);
}

int nvme_subsystem_read(const char *sysfs_root, const char *controller, NvmeSubsystem *ret)
{
	_cleanup_(nvme_subsystem_done) NvmeSubsystem found = {};
	int r = find_controllers(sysfs_root, controller, &found);

	for (char **c = found.controllers; r >= 0 && *c; c++)
		r = add_paths(sysfs_root, *c, &found);
	if (r < 0)
		return r;
	if (found.n_paths)
		qsort(found.paths, found.n_paths, sizeof(*found.paths), by_head);
	for (size_t i = 0; i < found.n_paths; i = nvme_subsystem_next_head(&found, i))
		found.n_heads++;
	*ret = found;
	found = (NvmeSubsystem){};
	return 0;
}

void nvme_subsystem_done(NvmeSubsystem *n)
{
	for (size_t i = 0; i < n->n_paths; i++) {
		free(n->paths[i].head);
		free(n->paths[i].queue);
	}
	free(n->paths);
	strv_free(n->controllers);
	*n = (NvmeSubsystem){};
}

bool nvme_subsystem_has(const NvmeSubsystem *n, const char *name)
{
	for (char **c = n->controllers; c && *c; c++)
		if (streq(*c, name))
			return true;
	for (size_t i = 0; i < n->n_paths; i++)
		if (streq(n->paths[i].head, name) || streq(n->paths[i].queue, name))
			return true;
	return false;
}

size_t nvme_subsystem_next_head(const NvmeSubsystem *n, size_t i)
{
	size_t next = i + 1;

	while (next < n->n_paths && streq(n->paths[next].head, n->paths[i].head))
		next++;
	return next;
}

static char *controller_attribute(const char *sysfs_root, const char *controller, const char *attr,
				  char *buf, size_t size)
{
	_cleanup_free_ char *folder = text_printf("class/nvme/%s", controller);

	*buf = '\0';
	return folder ? sysfs_attribute(sysfs_root, folder, attr, buf, size) : buf;
}

bool nvme_controller_is_remote(const char *sysfs_root, const char *controller)
{
	static const char *const fabrics[] = { "tcp", "rdma", "fc", "loop" };
	char transport[32];

	controller_attribute(sysfs_root, controller, "transport", transport, sizeof(transport));
	for (size_t i = 0; i < ELEMENTSOF(fabrics); i++)
		if (streq(transport, fabrics[i]))
			return true;
	return false;
}

char *nvme_controller_id(const char *sysfs_root, const char *controller)
{
	char text[BLOCK_ATTR_MAX];

	if (!*controller_attribute(sysfs_root, controller, "dev", text, sizeof(text)))
		return NULL;
	/* a target in software may give all its subsystems one serial number */
	if (nvme_controller_is_remote(sysfs_root, controller) &&
	    *controller_attribute(sysfs_root, controller, "subsysnqn", text, sizeof(text)))
		return block_make_id("nqn", text);
	if (*controller_attribute(sysfs_root, controller, "serial", text, sizeof(text)))
		return block_make_id("serial", text);
	return text_printf("name:%s", controller);
}

bool nvme_controller_live(const char *sysfs_root, const char *controller)
{
	char state[32];

	return streq(controller_attribute(sysfs_root, controller, "state", state, sizeof(state)),
		     "live");
}
