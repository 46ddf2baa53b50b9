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

static bool has_other_path(const char *sysfs_root, const char *queue)
{
	_cleanup_free_ char *path = text_printf("%s/block", sysfs_root);
	_cleanup_closedir_ DIR *dir = path ? opendir(path) : NULL;
	unsigned subsystem, number, s, n;
	struct dirent *e;

	parse_path(queue, &subsystem, &number);
	while (dir && (e = readdir(dir)))
		if (parse_path(e->d_name, &s, &n) && s == subsystem && n == number &&
		    !streq(e->d_name, queue))
			return true;
	return false;
}

static int add_namespace(const char *sysfs_root, const char *name, NvmeNamespaces *to)
{
	NvmeNamespace *ns = ARRAY_GROW(to->list, to->n);
	unsigned subsystem, number;

	if (!ns)
		return -ENOMEM;
	ns->queue = strdup(name);
	if (parse_path(name, &subsystem, &number)) {
		ns->head = text_printf("nvme%un%u", subsystem, number);
		ns->shared = has_other_path(sysfs_root, name);
	} else {
		ns->head = strdup(name);
	}
	return ns->queue && ns->head ? 0 : -ENOMEM;
}

static int by_name(const void *a, const void *b)
{
	return strverscmp(((const NvmeNamespace *)a)->head, ((const NvmeNamespace *)b)->head);
}

int nvme_namespaces_read(const char *sysfs_root, const char *controller, NvmeNamespaces *ret)
{
	_cleanup_free_ char *path = text_printf("%s/class/nvme/%s", sysfs_root, controller);
	_cleanup_(nvme_namespaces_done) NvmeNamespaces found = {};
	_cleanup_closedir_ DIR *dir = path ? opendir(path) : NULL;
	struct dirent *e;

	if (!path)
		return -ENOMEM;
	while (dir && (e = readdir(dir)))
		if (is_nvme_namespace(e->d_name) &&
		    add_namespace(sysfs_root, e->d_name, &found) < 0)
			return -ENOMEM;
	if (found.n)
		qsort(found.list, found.n, sizeof(*found.list), by_name);
	*ret = found;
	found = (NvmeNamespaces){};
	return 0;
}

void nvme_namespaces_done(NvmeNamespaces *n)
{
	for (size_t i = 0; i < n->n; i++) {
		free(n->list[i].head);
		free(n->list[i].queue);
	}
	free(n->list);
	*n = (NvmeNamespaces){};
}

bool nvme_namespaces_have(const NvmeNamespaces *n, const char *name)
{
	for (size_t i = 0; i < n->n; i++)
		if (streq(n->list[i].head, name) || streq(n->list[i].queue, name))
			return true;
	return false;
}

static char *controller_attribute(const char *sysfs_root, const char *controller, const char *attr,
				  char *buf, size_t size)
{
	_cleanup_free_ char *folder = text_printf("class/nvme/%s", controller);

	*buf = '\0';
	return folder ? sysfs_attribute(sysfs_root, folder, attr, buf, size) : buf;
}

char *nvme_controller_id(const char *sysfs_root, const char *controller)
{
	char transport[32], text[BLOCK_ATTR_MAX];

	if (!*controller_attribute(sysfs_root, controller, "dev", text, sizeof(text)))
		return NULL;
	controller_attribute(sysfs_root, controller, "transport", transport, sizeof(transport));
	/* a target in software may give all its subsystems one serial number */
	if (*transport && !streq(transport, "pcie") &&
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
