/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "meter/cgroup-names.h"

#include <errno.h>
#include <fts.h>
#include <mntent.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"

#define MOUNTS "/proc/self/mounts"

typedef struct Name {
	uint64_t id;
	char *path; /* below the root; NULL: it had gone before it was first looked for */
} Name;

struct CgroupNames {
	char *root;
	Name *names; /* by id */
	size_t n_names;
	bool walked;
};

/* The hierarchy of version 1 that has the controller of block IO; where there is none, version 2.
 */
static char *find_root(void)
{
	FILE *f = setmntent(MOUNTS, "re");
	struct mntent *e;
	char *root = NULL;
	bool v1 = false;

	while (f && !v1 && (e = getmntent(f))) {
		v1 = streq(e->mnt_type, "cgroup") && hasmntopt(e, "blkio");
		if (v1 || (!root && streq(e->mnt_type, "cgroup2"))) {
			free(root);
			root = strdup(e->mnt_dir);
		}
	}
	if (f)
		endmntent(f);
	return root;
}

int cgroup_names_new(const char *root, CgroupNames **ret)
{
	_cleanup_(cgroup_names_freep) CgroupNames *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	n->root = root ? strdup(root) : find_root();
	if (!n->root)
		return root ? -ENOMEM : -ENOENT;
	*ret = TAKE_PTR(n);
	return 0;
}

CgroupNames *cgroup_names_free(CgroupNames *n)
{
	if (!n)
		return NULL;
	for (size_t i = 0; i < n->n_names; i++)
		free(n->names[i].path);
	free(n->names);
	free(n->root);
	free(n);
	return NULL;
}

const char *cgroup_names_root(const CgroupNames *n)
{
	return n->root;
}

/* The first name whose number is not below this one. */
static size_t place_of(const CgroupNames *n, uint64_t id)
{
	size_t low = 0, high = n->n_names;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (n->names[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const Name *find_name(const CgroupNames *n, uint64_t id)
{
	size_t i = place_of(n, id);

	return i < n->n_names && n->names[i].id == id ? &n->names[i] : NULL;
}

/* When memory is short the name stays unknown and is looked for again. */
static void insert_name(CgroupNames *n, uint64_t id, const char *path)
{
	size_t i = place_of(n, id), behind = n->n_names - i;

	if (!ARRAY_GROW(n->names, n->n_names))
		return;
	memmove(&n->names[i + 1], &n->names[i], behind * sizeof(*n->names));
	n->names[i] = (Name){ .id = id, .path = path ? strdup(path) : NULL };
}

static void walk_hierarchy(CgroupNames *n)
{
	char *const roots[] = { n->root, NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	size_t skip = strlen(n->root) + 1;
	FTSENT *e;

	while (tree && (e = fts_read(tree)))
		if (e->fts_info == FTS_D && e->fts_level > 0 && !find_name(n, e->fts_statp->st_ino))
			insert_name(n, e->fts_statp->st_ino, e->fts_path + skip);
	if (tree)
		fts_close(tree);
}

static bool cgroup_exists(const CgroupNames *n, const Name *name)
{
	_cleanup_free_ char *path = text_printf("%s/%s", n->root, name->path);
	struct stat st;

	return path && stat(path, &st) == 0 && st.st_ino == name->id;
}

void cgroup_names_begin(CgroupNames *n)
{
	n->walked = false;
}

const char *cgroup_name(CgroupNames *n, uint64_t id, bool *ret_gone)
{
	const Name *name = find_name(n, id);

	if (!name && !n->walked) {
		walk_hierarchy(n);
		n->walked = true;
		name = find_name(n, id);
	}
	if (!name)
		insert_name(n, id, NULL);
	*ret_gone = !name || !name->path || !cgroup_exists(n, name);
	return name ? name->path : NULL;
}
