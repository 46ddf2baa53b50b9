/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "device/block-protect.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/log.h"
#include "base/text.h"
#include "device/block-attr.h"

#define STACK_MAX 16 /* layers of device mapper, RAID, partitions */

typedef struct Search {
	const char *sysfs_root;
	const char *disk;
} Search;

static const struct {
	const char *mount_point, *why;
} vital[] = {
	{ "/", "holds the root file system" },
	{ "/usr", "holds the system's programs" },
	{ "/boot", "holds the boot files" },
	{ "/boot/efi", "holds the boot files" },
	{ "/efi", "holds the boot files" },
	{ "/var", "holds the system's state and journal" },
	{ "/var/log", "holds the system journal" },
	{ "/var/log/journal", "holds the system journal" },
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_below(const Search *s, const char *folder, unsigned layer);

static bool slaves_below(const Search *s, const char *folder, unsigned layer)
{
	_cleanup_free_ char *path = text_printf("%s/slaves", folder);
	_cleanup_closedir_ DIR *dir = path ? opendir(path) : NULL;
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		_cleanup_free_ char *slave = text_printf("%s/%s", path, e->d_name);

		if (*e->d_name != '.' && slave && is_below(s, slave, layer + 1))
			return true;
	}
	return false;
}

/* Is the disk searched for this device, the disk of this partition, or below either? */
static bool is_below(const Search *s, const char *folder, unsigned layer)
{
	_cleanup_free_ char *real = realpath(folder, NULL), *partition = NULL;

	if (!real || layer > STACK_MAX)
		return false;
	if (slaves_below(s, real, layer))
		return true;
	partition = text_printf("%s/partition", real);
	if (partition && access(partition, F_OK) == 0)
		*strrchr(real, '/') = '\0';
	return streq(base_name(real), s->disk);
}

static bool number_below(const Search *s, unsigned major_number, unsigned minor_number)
{
	_cleanup_free_ char *folder =
		text_printf("%s/dev/block/%u:%u", s->sysfs_root, major_number, minor_number);

	return folder && is_below(s, folder, 0);
}

/* A device by its path: what btrfs, whose device numbers are made up, was mounted from. */
static bool path_below(const Search *s, const char *path)
{
	_cleanup_free_ char *real = realpath(path, NULL), *folder = NULL;

	folder = text_printf("%s/class/block/%s", s->sysfs_root, base_name(real ?: path));
	return folder && is_below(s, folder, 0);
}

static FILE *open_proc(const char *sysfs_root, const char *file)
{
	_cleanup_free_ char *path =
		text_printf("%s/proc/%s", streq(sysfs_root, "/sys") ? "" : sysfs_root, file);
	FILE *f = path ? fopen(path, "re") : NULL;

	if (!f && errno != ENOENT)
		log_warning_errno(errno, "%s: cannot tell what it holds", path ?: file);
	return f;
}

static const char *why_vital(const char *mount_point)
{
	for (size_t i = 0; i < ELEMENTSOF(vital); i++)
		if (streq(vital[i].mount_point, mount_point))
			return vital[i].why;
	return NULL;
}

/* proc(5): ID PARENT MAJ:MIN ROOT MOUNT-POINT OPTIONS [FIELDS] - TYPE SOURCE OPTIONS */
static const char *why_mounted(const Search *s, const char *line)
{
	char mount_point[PATH_MAX], source[PATH_MAX] = "";
	unsigned major_number, minor_number;
	const char *rest = strstr(line, " - "), *why;

	if (sscanf(line, "%*u %*u %u:%u %*s %4095s", &major_number, &minor_number, mount_point) !=
	    3)
		return NULL;
	why = why_vital(mount_point);
	if (!why)
		return NULL;
	if (major_number)
		return number_below(s, major_number, minor_number) ? why : NULL;
	if (!rest || sscanf(rest, " - %*s %4095s", source) != 1 || *source != '/')
		return NULL;
	return path_below(s, source) ? why : NULL;
}

/* proc(5): FILENAME TYPE SIZE USED PRIORITY, below a heading */
static const char *why_swap(const Search *s, const char *line)
{
	char path[PATH_MAX], type[32];
	struct stat st;

	if (sscanf(line, "%4095s %31s", path, type) != 2)
		return NULL;
	if (streq(type, "partition") && path_below(s, path))
		return "holds swap space";
	if (streq(type, "file") && stat(path, &st) == 0 &&
	    number_below(s, major(st.st_dev), minor(st.st_dev)))
		return "holds a swap file";
	return NULL;
}

static const char *search_file(const Search *s, const char *file,
			       const char *(*why_of)(const Search *s, const char *line))
{
	_cleanup_fclose_ FILE *f = open_proc(s->sysfs_root, file);
	_cleanup_free_ char *line = NULL;
	const char *why = NULL;
	size_t size = 0;

	while (f && !why && getline(&line, &size, f) > 0)
		why = why_of(s, line);
	return why;
}

/* A path of a multipath device must be left alone: a smaller max_sectors_kb below request-based
 * device mapper gives IO errors. */
static const char *why_multipath(const Search *s)
{
	_cleanup_free_ char *path = text_printf("%s/block/%s/holders", s->sysfs_root, s->disk);
	_cleanup_closedir_ DIR *dir = path ? opendir(path) : NULL;
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		char uuid[256];

		if (*e->d_name != '.' && strncmp(block_attribute(s->sysfs_root, e->d_name,
								 "dm/uuid", uuid, sizeof(uuid)),
						 "mpath-", strlen("mpath-")) == 0)
			return "is a path of a multipath device, which is to be named instead";
	}
	return NULL;
}

int block_protected(const char *sysfs_root, const char *name, char **ret_why)
{
	Search s = { .sysfs_root = sysfs_root, .disk = name };
	const char *why = search_file(&s, "self/mountinfo", why_mounted);

	if (!why)
		why = search_file(&s, "swaps", why_swap);
	if (!why)
		why = why_multipath(&s);
	*ret_why = why ? strdup(why) : NULL;
	return why && !*ret_why ? -ENOMEM : 0;
}

const char *block_refused(const char *sysfs_root, const char *name)
{
	static const struct {
		const char *prefix, *why;
	} kinds[] = {
		{ "zram", "it is memory" },         { "ram", "it is memory" },
		{ "pmem", "it is memory" },         { "fd", "it is a floppy drive" },
		{ "sr", "it is an optical drive" },
	};
	char ro[16];

	for (size_t i = 0; i < ELEMENTSOF(kinds); i++) {
		size_t n = strlen(kinds[i].prefix);

		if (strncmp(name, kinds[i].prefix, n) == 0 && name[n] >= '0' && name[n] <= '9')
			return kinds[i].why;
	}
	if (streq(block_attribute(sysfs_root, name, "ro", ro, sizeof(ro)), "1"))
		return "it is read-only";
	return NULL;
}
