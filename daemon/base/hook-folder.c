/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/hook-folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/printable.h"
#include "base/text.h"

#define OTHERS_WRITE (S_IWGRP | S_IWOTH)

/* What editors and packages leave beside a file. */
static bool is_leftover(const char *name)
{
	static const char *const ends[] = { "~",         ".bak",     ".orig",   ".swp",
					    ".rpmsave",  ".rpmorig", ".rpmnew", ".disabled",
					    ".ucf-dist", ".ucf-old", ".ucf-new" };
	size_t n = strlen(name);

	for (size_t i = 0; i < ELEMENTSOF(ends); i++)
		if (n > strlen(ends[i]) && streq(name + n - strlen(ends[i]), ends[i]))
			return true;
	return strstr(name, ".dpkg-");
}

/* Why a file that would be run could be somebody else's doing; NULL: it could not. */
static const char *unsafe_why(const struct stat *file, const struct stat *folder)
{
	if (file->st_mode & OTHERS_WRITE)
		return "others than its owner may write to it: chmod go-w";
	if (folder->st_mode & OTHERS_WRITE)
		return "others than its owner may write to its folder: chmod go-w";
	if (folder->st_uid != 0 && folder->st_uid != geteuid())
		return "its folder is not root's: chown root";
	if (file->st_uid != 0 && file->st_uid != geteuid())
		return "it is not root's: chown root";
	return NULL;
}

static void judge(HookFile *f, const struct stat *file, const struct stat *folder)
{
	if (is_leftover(f->name))
		f->why_not = "its name is that of a copy which is left over";
	else if (!is_plain_name(f->name) || strchr(f->name, ':'))
		f->why_not = "its name has other characters than letters, digits and \"._+@-\"";
	else if (!S_ISREG(file->st_mode))
		f->why_not = "it is no file";
	else if (!(file->st_mode & S_IXUSR))
		f->why_not = "it is not executable";
	else
		f->unsafe = (f->why_not = unsafe_why(file, folder));
}

static int add(DIR *dir, const char *name, const struct stat *folder, HookFolder *f)
{
	struct stat file = {};
	HookFile *slot = ARRAY_GROW(f->files, f->n);

	if (!slot)
		return -ENOMEM;
	slot->name = strdup(name);
	if (!slot->name)
		return -ENOMEM;
	(void)fstatat(dirfd(dir), name, &file, 0); /* what cannot be looked at is no file */
	judge(slot, &file, folder);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const HookFile *)a)->name, ((const HookFile *)b)->name);
}

int hook_folder_read(const char *path, HookFolder *ret)
{
	_cleanup_closedir_ DIR *dir = opendir(path);
	_cleanup_(hook_folder_done) HookFolder f = {};
	struct stat folder;
	const struct dirent *e;

	if (!dir || fstat(dirfd(dir), &folder) < 0)
		return -errno;
	while ((e = readdir(dir))) {
		int r = *e->d_name == '.' ? 0 : add(dir, e->d_name, &folder, &f);

		if (r < 0)
			return r;
	}
	if (f.n)
		qsort(f.files, f.n, sizeof(*f.files), by_name);
	*ret = f;
	f = (HookFolder){};
	return 0;
}

void hook_folder_done(HookFolder *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->files[i].name);
	free(f->files);
	*f = (HookFolder){};
}
