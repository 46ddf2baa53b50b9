/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"
#include "plan/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(policy_freep) Policy *p = NULL;
	_cleanup_close_ int fd = fuzz_file(data, size);

	if (policy_read(fuzz_path(fd).text, &p) < 0)
		return 0;
	fuzz_check(p->hysteresis >= 0 && p->demand_headroom >= 1 && p->latency_weight >= 0);
	for (size_t i = 0; i < p->n_rules; i++)
		fuzz_check(p->rules[i].match && p->rules[i].weight >= 0);
	return 0;
}
