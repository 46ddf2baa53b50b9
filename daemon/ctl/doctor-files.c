/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glob.h>
#include <regex.h>
#include <string.h>

#include "base/file.h"
#include "ctl/doctor.h"

/* Appends what one glob matches. Whatever is no file is left out when it is read. */
static void add_matches(char ***paths, const char *root, const char *pattern)
{
	_cleanup_free_ char *full = text_printf("%s%s", root, pattern);
	glob_t found = {};

	if (full && glob(full, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			(void)strv_add(paths, found.gl_pathv[i]);
	globfree(&found);
}

char **doctor_files(const char *root, const char *globs)
{
	_cleanup_(strv_freep) char **patterns = strv_split(globs);
	char **paths = NULL;

	for (char **p = patterns; p && *p; p++)
		add_matches(&paths, root, *p);
	return paths;
}

bool doctor_exists(const char *root, const char *globs)
{
	_cleanup_(strv_freep) char **paths = doctor_files(root, globs);

	return strv_length(paths) > 0;
}

static bool matches(const char *text, const char *expression)
{
	regex_t re;
	bool yes;

	if (!expression || regcomp(&re, expression, REG_EXTENDED | REG_NOSUB))
		return false;
	yes = regexec(&re, text, 0, NULL, 0) == 0;
	regfree(&re);
	return yes;
}

char *doctor_line(const char *path, const char *line, const char *but)
{
	_cleanup_free_ char *text = NULL;
	char *rest, *at;

	if (read_file(path, &text) < 0)
		return NULL;
	for (rest = text; (at = strsep(&rest, "\n"));)
		if (matches(at, line) && !matches(at, but))
			return strdup(at);
	return NULL;
}
