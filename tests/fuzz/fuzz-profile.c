/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"
#include "model/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(profile_freep) Profile *p = NULL;
	_cleanup_close_ int fd = fuzz_file(data, size);

	if (profile_read(fuzz_path(fd).text, &p) >= 0)
		fuzz_check(p->rated_w > 0 && p->rated_w >= p->idle_w && p->idle_w >= 0);
	return 0;
}
