/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "device/wake-record.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"

#define SATA "0000:00:17.0 ahci"
#define SAS  "0000:03:00.0 mpt3sas"

static WakeRecord *open_record(const char *path)
{
	WakeRecord *r = NULL;

	assert_int_equal(wake_record_open(path, &r), 0);
	assert_non_null(r);
	return r;
}

static WakeRecord *open_text(const char *text)
{
	assert_int_equal(write_file_atomic("wake-tests", text, 0644), 0);
	return open_record("wake-tests");
}

static void assert_text(const char *expected)
{
	_cleanup_free_ char *text = NULL;

	assert_int_equal(read_file("wake-tests", &text), 0);
	assert_string_equal(text, expected);
}

static void an_hba_that_nobody_tested_is_untested(void **state)
{
	_cleanup_(wake_record_closep) WakeRecord *r = open_record("wake-tests");

	(void)state;
	assert_int_equal(wake_record_get(r, SAS), WAKE_UNTESTED);
	assert_int_equal(wake_record_get(r, ""), WAKE_UNTESTED);
	assert_int_equal(access("wake-tests", F_OK), -1); /* asking writes nothing */
	assert_null(wake_record_close(NULL));
}

static void what_was_found_out_survives_a_restart(void **state)
{
	_cleanup_(wake_record_closep) WakeRecord *r = open_record("wake-tests"), *back = NULL;

	(void)state;
	assert_int_equal(wake_record_set(r, SATA, WAKE_TESTED), 0);
	assert_int_equal(wake_record_set(r, SAS, WAKE_FAILED), 0);
	back = open_record("wake-tests");
	assert_int_equal(wake_record_get(back, SATA), WAKE_TESTED);
	assert_int_equal(wake_record_get(back, SAS), WAKE_FAILED);
	assert_int_equal(wake_record_get(back, "0000:00:17.0"), WAKE_UNTESTED);
	assert_int_equal(wake_record_get(back, "0000:00:17.0 ahci2"), WAKE_UNTESTED);
	assert_text("tested " SATA "\nfailed " SAS "\n");
}

static void the_last_test_counts(void **state)
{
	_cleanup_(wake_record_closep) WakeRecord *r = open_record("wake-tests");

	(void)state;
	assert_int_equal(wake_record_set(r, SAS, WAKE_TESTED), 0);
	assert_int_equal(wake_record_set(r, SATA, WAKE_TESTED), 0);
	assert_int_equal(wake_record_set(r, SAS, WAKE_FAILED), 0);
	assert_int_equal(wake_record_get(r, SAS), WAKE_FAILED);
	assert_text("failed " SAS "\ntested " SATA "\n");
}

static void a_test_can_be_forgotten(void **state)
{
	_cleanup_(wake_record_closep) WakeRecord *r =
		open_text("failed " SAS "\n# mine\ntested " SAS "\ntested " SATA "\n");

	(void)state;
	assert_int_equal(wake_record_set(r, SAS, WAKE_UNTESTED), 0);
	assert_int_equal(wake_record_get(r, SAS), WAKE_UNTESTED);
	assert_int_equal(wake_record_get(r, SATA), WAKE_TESTED);
	assert_text("# mine\ntested " SATA "\n");
}

static void without_a_file_it_is_kept_in_memory(void **state)
{
	_cleanup_(wake_record_closep) WakeRecord *r = open_record(NULL);

	(void)state;
	assert_int_equal(wake_record_set(r, SAS, WAKE_TESTED), 0);
	assert_int_equal(wake_record_get(r, SAS), WAKE_TESTED);
}

static void a_line_added_by_hand_counts(void **state)
{
	_cleanup_(wake_record_closep) WakeRecord *r =
		open_text("failed " SAS "\n\n# it has new firmware\ntested " SAS " \t\r\n"
			  "failed " SATA);

	(void)state;
	assert_int_equal(wake_record_get(r, SAS), WAKE_TESTED);
	assert_int_equal(wake_record_get(r, SATA), WAKE_FAILED);
}

static void lines_that_are_not_understood_are_kept_and_not_used(void **state)
{
	static const char strange[] =
		"Tested " SAS "\ntested\n\n# note\ndoubtful " SAS "\nfailed \n " SAS "\n\xff\xfe\n";
	_cleanup_(wake_record_closep) WakeRecord *r = open_text(strange);
	_cleanup_free_ char *expected = NULL;

	(void)state;
	assert_int_equal(wake_record_get(r, SAS), WAKE_UNTESTED);
	assert_int_equal(wake_record_set(r, SAS, WAKE_TESTED), 0);
	expected = text_printf("Tested " SAS "\ntested\n\n# note\ndoubtful " SAS "\nfailed\n " SAS
			       "\n\xff\xfe\ntested " SAS "\n");
	assert_text(expected);
}

static void an_hba_without_a_name_cannot_be_recorded(void **state)
{
	_cleanup_(wake_record_closep) WakeRecord *r = open_record("wake-tests");

	(void)state;
	assert_int_equal(wake_record_set(r, "", WAKE_TESTED), -EINVAL);
	assert_int_equal(wake_record_set(r, "a\ntested b", WAKE_TESTED), -EINVAL);
	assert_int_equal(access("wake-tests", F_OK), -1);
}

static void what_cannot_be_saved_holds_for_this_run(void **state)
{
	_cleanup_(wake_record_closep) WakeRecord *r = open_text("tested " SAS "\n");

	(void)state;
	assert_int_equal(mkdir("wake-tests.new", 0755), 0); /* where the new one is written */
	assert_int_equal(wake_record_set(r, SAS, WAKE_FAILED), -EISDIR);
	assert_int_equal(wake_record_get(r, SAS), WAKE_FAILED);
	assert_text("tested " SAS "\n");
}

static void a_file_that_cannot_be_read_is_an_error(void **state)
{
	WakeRecord *r = NULL;

	(void)state;
	assert_int_equal(wake_record_open(".", &r), -EIO); /* a folder in its place */
	assert_null(r);
}

static void *ask(void *record)
{
	for (int i = 0; i < 20000; i++)
		if (wake_record_get(record, SAS) == WAKE_UNTESTED)
			return (void *)"forgotten meanwhile";
	return NULL;
}

static void workers_may_ask_while_it_is_being_recorded(void **state)
{
	_cleanup_(wake_record_closep) WakeRecord *r = open_record(NULL);
	pthread_t worker;
	void *wrong;

	(void)state;
	assert_int_equal(wake_record_set(r, SAS, WAKE_FAILED), 0);
	assert_int_equal(pthread_create(&worker, NULL, ask, r), 0);
	for (unsigned i = 0; i < 200; i++) {
		char hba[32];

		snprintf(hba, sizeof(hba), "0000:%02x:00.0 ahci", i);
		assert_int_equal(wake_record_set(r, hba, WAKE_TESTED), 0);
		assert_int_equal(wake_record_set(r, SAS, i % 2 ? WAKE_TESTED : WAKE_FAILED), 0);
	}
	assert_int_equal(pthread_join(worker, &wrong), 0);
	assert_null(wrong);
}

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

#define record_test(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		record_test(an_hba_that_nobody_tested_is_untested),
		record_test(what_was_found_out_survives_a_restart),
		record_test(the_last_test_counts),
		record_test(a_test_can_be_forgotten),
		record_test(without_a_file_it_is_kept_in_memory),
		record_test(a_line_added_by_hand_counts),
		record_test(lines_that_are_not_understood_are_kept_and_not_used),
		record_test(an_hba_without_a_name_cannot_be_recorded),
		record_test(what_cannot_be_saved_holds_for_this_run),
		record_test(a_file_that_cannot_be_read_is_an_error),
		record_test(workers_may_ask_while_it_is_being_recorded),
	};

	log_set_max_level(LOG_CRIT); /* the warnings are provoked */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
