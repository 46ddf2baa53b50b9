/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A folder of its own for a test of files, which is its working directory. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

static int make_folder(void **state)
{
	char *folder = strdup("/tmp/storpower-test-XXXXXX");

	*state = folder;
	return folder && mkdtemp(folder) ? chdir(folder) : -1;
}

static int remove_folder(void **state)
{
	_cleanup_free_ char *folder = *state;
	_cleanup_free_ char *command = text_printf("rm -r %s", folder);

	return command && chdir("/") == 0 ? system(command) : -1;
}

#define file_test(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)
