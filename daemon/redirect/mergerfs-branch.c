/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "redirect/mergerfs-branch.h"

#include <string.h>

static int length_to(const char *from, const char *end, char stop)
{
	const char *at = memchr(from, stop, (size_t)(end - from));

	return (int)((at ?: end) - from);
}

bool mergerfs_branch_next(const char **list, MergerfsBranch *ret)
{
	const char *start = *list, *end = start + strcspn(start, ":");
	const char *equals = memrchr(start, '=', (size_t)(end - start));

	if (!*start)
		return false;
	*ret = (MergerfsBranch){ .path = start, .path_length = (int)((equals ?: end) - start) };
	ret->mode = equals ? equals + 1 : "RW";
	ret->mode_length = equals ? length_to(ret->mode, end, ',') : 2;
	ret->options = equals ? ret->mode + ret->mode_length : end;
	ret->options_length = (int)(end - ret->options);
	*list = *end ? end + 1 : end;
	return true;
}

bool mergerfs_branch_is(const MergerfsBranch *b, const char *mode)
{
	return b->mode_length == (int)strlen(mode) &&
	       strncmp(b->mode, mode, (size_t)b->mode_length) == 0;
}

bool mergerfs_branch_find(const char *list, const char *path, int path_length, MergerfsBranch *ret)
{
	MergerfsBranch b;

	while (mergerfs_branch_next(&list, &b))
		if (b.path_length == path_length &&
		    strncmp(b.path, path, (size_t)path_length) == 0) {
			*ret = b;
			return true;
		}
	return false;
}
