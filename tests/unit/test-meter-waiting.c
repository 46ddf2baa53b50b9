/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Whether it is known how long applications wait, and why not. What the kernel allows is this
 * test's to say. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "meter/meter-internal.h"

static bool kernel_allows;

bool __wrap_meter_bpf_sees_waits(const MeterBpf *m);
bool __wrap_meter_bpf_sees_waits(const MeterBpf *m)
{
	assert_non_null(m);
	return kernel_allows;
}

/* Never looked into */
static MeterBpf *some_bpf(void)
{
	static char place;

	return (MeterBpf *)(void *)&place;
}

static void a_kernel_without_block_bio_queue_is_named_as_the_reason(void **state)
{
	const Meter m = { .bpf = some_bpf() };

	(void)state;
	kernel_allows = false;
	assert_non_null(meter_waits_why_not(&m));
	assert_non_null(strstr(meter_waits_why_not(&m), "this kernel"));
	assert_non_null(strstr(meter_waits_why_not(&m), "block_bio_queue"));
}

static void where_the_kernel_allows_it_there_is_no_reason(void **state)
{
	const Meter m = { .bpf = some_bpf() };

	(void)state;
	kernel_allows = true;
	assert_null(meter_waits_why_not(&m));
}

static void without_ebpf_that_is_the_reason_and_not_the_kernel(void **state)
{
	const Meter m = {};

	(void)state;
	kernel_allows = true;
	assert_non_null(strstr(meter_waits_why_not(&m), "eBPF"));
	assert_null(strstr(meter_waits_why_not(&m), "this kernel"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_without_block_bio_queue_is_named_as_the_reason),
		cmocka_unit_test(where_the_kernel_allows_it_there_is_no_reason),
		cmocka_unit_test(without_ebpf_that_is_the_reason_and_not_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
