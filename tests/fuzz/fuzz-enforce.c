/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"

#define PURE_CHECK(x) fuzz_check(x)
#include "pure-node.h"

/* Events in any order: the promises of decide() and admit(), see pure-node.h. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	log_set_max_level(-1);
	if (size <= 4096)
		pure_node_run(data, size);
	return 0;
}
