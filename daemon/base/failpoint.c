/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/failpoint.h"

/* It is weak and alone in its file, so that the test's definition wins at link time. */
__attribute__((weak)) void failpoint(const char *name)
{
	(void)name;
}
