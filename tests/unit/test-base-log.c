/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the journal is given, and what a caller is told of complaints. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include <cmocka.h>

#include "base/log.h"

static char sent[16][256];
static int n_sent;

/* what sd_journal_sendv() is a macro of */
int __wrap_sd_journal_sendv_with_location(const char *file, const char *line, const char *func,
					  const struct iovec *iov, int n);
int __wrap_sd_journal_sendv_with_location(const char *file, const char *line, const char *func,
					  const struct iovec *iov, int n)
{
	(void)file, (void)line, (void)func;
	for (n_sent = 0; n_sent < n; n_sent++)
		snprintf(sent[n_sent], sizeof(sent[0]), "%.*s", (int)iov[n_sent].iov_len,
			 (const char *)iov[n_sent].iov_base);
	return 0;
}

static bool was_sent(const char *field)
{
	for (int i = 0; i < n_sent; i++)
		if (strcmp(sent[i], field) == 0)
			return true;
	return false;
}

static void a_message_tells_the_journal_what_it_is_about(void **state)
{
	const LogAbout about = { .id = MESSAGE_OVERRUN_BEGAN,
				 .claim = 7,
				 .device = "sda",
				 .limit_w = 100,
				 .drawn_w = 112.34 };

	(void)state;
	assert_int_equal(log_about(LOG_WARNING, ENOSPC, &about, "%s", "text"), -ENOSPC);
	assert_int_equal(n_sent, 8);
	assert_true(was_sent("MESSAGE=text: No space left on device"));
	assert_true(was_sent("MESSAGE_ID=" MESSAGE_OVERRUN_BEGAN));
	assert_true(was_sent("PRIORITY=4"));
	assert_true(was_sent("ERRNO=28"));
	assert_true(was_sent("STORPOWER_CLAIM=7"));
	assert_true(was_sent("STORPOWER_DEVICE=sda"));
	assert_true(was_sent("STORPOWER_LIMIT=100.0"));
	assert_true(was_sent("STORPOWER_DRAWN=112.3"));
}

static void a_message_about_nothing_has_no_fields_of_its_own(void **state)
{
	(void)state;
	log_notice("text");
	assert_int_equal(n_sent, 2);
	assert_true(was_sent("MESSAGE=text"));
}

static void a_name_of_any_bytes_makes_no_field_of_its_own(void **state)
{
	(void)state;
	log_about(LOG_NOTICE, 0, &(LogAbout){ .device = "a\nPRIORITY=0" }, "text");
	assert_int_equal(n_sent, 3);
	assert_null(strchr(sent[2], '\n'));
}

static void the_first_complaint_is_told_even_where_it_is_not_logged(void **state)
{
	LogWatch w;

	(void)state;
	log_watch(&w);
	log_notice("no complaint");
	assert_string_equal(w.first, "");
	log_set_max_level(LOG_ERR);
	n_sent = 0;
	log_warning_errno(ENOENT, "first");
	log_error("second");
	log_watch(NULL);
	log_error("third");
	log_set_max_level(LOG_INFO);
	assert_string_equal(w.first, "first: No such file or directory");
	assert_true(was_sent("MESSAGE=third"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_tells_the_journal_what_it_is_about),
		cmocka_unit_test(a_message_about_nothing_has_no_fields_of_its_own),
		cmocka_unit_test(a_name_of_any_bytes_makes_no_field_of_its_own),
		cmocka_unit_test(the_first_complaint_is_told_even_where_it_is_not_logged),
	};

	setenv("JOURNAL_STREAM", "1:2", true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
