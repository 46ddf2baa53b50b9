/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernel's NVMe-oF target: by which ports and ANA groups the disk's namespaces are reached
 * (SYSFS/kernel/config/nvmet; drivers/nvme/target/configfs.c). A state is one of a port and a
 * group, so all that the port exports in that group changes with it. */

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/sysfs.h"
#include "base/text.h"
#include "stack/upper-internal.h"

typedef struct Namespace {
	char *subsystem, *id, *device;
	char group[16];
	bool own; /* lies on the disk */
} Namespace;

typedef struct Target {
	char *root;   /* SYSFS/kernel/config/nvmet */
	char **nodes; /* see upper_nodes() */
	Namespace *namespaces;
	size_t n_namespaces;
} Target;

static void nvmet_free(void *found)
{
	Target *t = found;

	if (!t)
		return;
	for (size_t i = 0; i < t->n_namespaces; i++) {
		free(t->namespaces[i].subsystem);
		free(t->namespaces[i].id);
		free(t->namespaces[i].device);
	}
	free(t->namespaces);
	strv_free(t->nodes);
	free(t->root);
	free(t);
}

static inline void target_freep(Target **t)
{
	nvmet_free(*t);
}

/* What is in a folder, in order: 1, 2, 10. An absent one is empty. -ENOMEM. */
static int list_folder(const char *path, char ***ret)
{
	struct dirent **entries = NULL;
	int n = scandir(path, &entries, NULL, versionsort);
	char **names = calloc((size_t)MAX(n, 0) + 1, sizeof(*names));
	size_t used = 0;
	bool failed = !names;

	for (int i = 0; i < n; i++) {
		if (!failed && *entries[i]->d_name != '.')
			failed = !(names[used++] = strdup(entries[i]->d_name));
		free(entries[i]);
	}
	free(entries);
	if (failed) {
		strv_free(names);
		return -ENOMEM;
	}
	*ret = names;
	return 0;
}

/* A device path may be one of /dev/disk/by-id. */
static bool is_own(const Target *t, const char *device)
{
	_cleanup_free_ char *real = realpath(device, NULL);
	const char *name = base_name(real ?: device);

	for (char **node = t->nodes; *node; node++)
		if (streq(*node, name))
			return true;
	return false;
}

static int take_namespace(Target *t, const char *subsystem, const char *id, const char *folder)
{
	_cleanup_free_ char *device_path = text_printf("%s/%s/device_path", folder, id);
	_cleanup_free_ char *group_path = text_printf("%s/%s/ana_grpid", folder, id);
	char device[4096], group[sizeof(t->namespaces->group)];
	Namespace *n;

	if (!device_path || !group_path)
		return -ENOMEM;
	/* it goes while we look */
	if (read_attribute(device_path, device, sizeof(device)) < 0 ||
	    read_attribute(group_path, group, sizeof(group)) < 0)
		return 0;
	n = ARRAY_GROW(t->namespaces, t->n_namespaces);
	if (!n)
		return -ENOMEM;
	*n = (Namespace){ strdup(subsystem), strdup(id), strdup(device) };
	memcpy(n->group, group, sizeof(group));
	n->own = is_own(t, device);
	return n->subsystem && n->id && n->device ? 0 : -ENOMEM;
}

static int take_subsystem(Target *t, const char *subsystem)
{
	_cleanup_free_ char *folder =
		text_printf("%s/subsystems/%s/namespaces", t->root, subsystem);
	_cleanup_(strv_freep) char **ids = NULL;
	int r = folder ? list_folder(folder, &ids) : -ENOMEM;

	for (char **id = ids; r >= 0 && *id; id++)
		r = take_namespace(t, subsystem, *id, folder);
	return r;
}

static int take_all(Target *t)
{
	_cleanup_free_ char *folder = text_printf("%s/subsystems", t->root);
	_cleanup_(strv_freep) char **names = NULL;
	int r = folder ? list_folder(folder, &names) : -ENOMEM;

	for (char **name = names; r >= 0 && *name; name++)
		r = take_subsystem(t, *name);
	return r;
}

static bool has_own(const Target *t)
{
	for (size_t i = 0; i < t->n_namespaces; i++)
		if (t->namespaces[i].own)
			return true;
	return false;
}

static int nvmet_find(const UpperDisk *on, void **ret)
{
	_cleanup_(target_freep) Target *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return -ENOMEM;
	t->root = text_printf("%s/kernel/config/nvmet", on->sysfs_root);
	t->nodes = upper_nodes(on);
	r = t->root && t->nodes ? take_all(t) : -ENOMEM;
	if (r < 0)
		return r;
	if (!has_own(t))
		return -ENOENT;
	*ret = TAKE_PTR(t);
	return 0;
}

static char *state_path(const Target *t, const char *port, const char *group)
{
	return text_printf("%s/ports/%s/ana_groups/%s/ana_state", t->root, port, group);
}

/* A port without that group never gives access to what is in it. */
static bool reaches(const Target *t, const char *port, const Namespace *n)
{
	_cleanup_free_ char *link =
		text_printf("%s/ports/%s/subsystems/%s", t->root, port, n->subsystem);
	_cleanup_free_ char *state = state_path(t, port, n->group);

	return link && state && access(link, F_OK) == 0 && access(state, F_OK) == 0;
}

/* Is there one of the disk's namespaces in the group, before this one? */
static bool own_in_group(const Target *t, const char *port, const char *group, size_t before)
{
	for (size_t i = 0; i < before; i++)
		if (t->namespaces[i].own && streq(t->namespaces[i].group, group) &&
		    reaches(t, port, &t->namespaces[i]))
			return true;
	return false;
}

/* "1/2": by that port, in that group */
static void tell_exports(const Target *t, const char *port, FILE *out)
{
	for (size_t i = 0; i < t->n_namespaces; i++) {
		const Namespace *n = &t->namespaces[i];

		if (n->own && reaches(t, port, n) && !own_in_group(t, port, n->group, i))
			fprintf(out, "%s%s/%s", ftell(out) ? " " : "", port, n->group);
	}
}

/* What else the port exports in the disk's groups */
static void tell_others(const Target *t, const char *port, FILE *out)
{
	for (size_t i = 0; i < t->n_namespaces; i++) {
		const Namespace *n = &t->namespaces[i];

		if (!n->own && reaches(t, port, n) &&
		    own_in_group(t, port, n->group, t->n_namespaces))
			fprintf(out, "%s%s of %s namespace %s", ftell(out) ? ", " : "", n->device,
				n->subsystem, n->id);
	}
}

static int print_ports(const Target *t, void (*say)(const Target *t, const char *port, FILE *out),
		       char *buf, size_t size)
{
	_cleanup_free_ char *folder = text_printf("%s/ports", t->root), *text = NULL;
	_cleanup_(strv_freep) char **ports = NULL;
	size_t length;
	FILE *out;
	int r = folder ? list_folder(folder, &ports) : -ENOMEM;

	if (r < 0)
		return r;
	out = open_memstream(&text, &length);
	for (char **port = ports; out && *port; port++)
		say(t, *port, out);
	if (!out || fclose(out) != 0)
		return -ENOMEM;
	return upper_print(buf, size, "%s", text);
}

/* The file of "1/2/ana_state"; the disk need not be exported there any more. */
static int path_of(const Target *t, const char *what, char **ret)
{
	unsigned port, group;
	int end = 0;
	char text[2][16];

	if (sscanf(what, "%u/%u/ana_state%n", &port, &group, &end) != 2 || !end || what[end])
		return -ENOENT;
	snprintf(text[0], sizeof(text[0]), "%u", port);
	snprintf(text[1], sizeof(text[1]), "%u", group);
	*ret = state_path(t, text[0], text[1]);
	return *ret ? 0 : -ENOMEM;
}

static int nvmet_read(void *found, const char *what, char *buf, size_t size)
{
	_cleanup_free_ char *path = NULL;
	const Target *t = found;
	int r;

	if (streq(what, "exports"))
		return print_ports(t, tell_exports, buf, size);
	if (streq(what, "others"))
		return print_ports(t, tell_others, buf, size);
	r = path_of(t, what, &path);
	return r < 0 ? r : read_attribute(path, buf, size);
}

static int nvmet_write(void *found, const char *what, const char *value)
{
	_cleanup_free_ char *path = NULL;
	int r = path_of(found, what, &path);

	return r < 0 ? r : write_attribute(path, value);
}

const UpperComponent upper_nvmet = {
	.name = "nvmet",
	.find = nvmet_find,
	.read = nvmet_read,
	.write = nvmet_write,
	.free = nvmet_free,
};
