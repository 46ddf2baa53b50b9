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
#include "flipped.h"

#define SATA        "0000:00:17.0 ahci"
#define SAS         "0000:03:00.0 mpt3sas"
#define HEAD        "storpower-wake-tests 2 #b1c8023d\n"
#define SATA_TESTED "tested hba=\"0000:00:17.0 ahci\" #62691fbd\n"
#define SATA_FAILED "failed hba=\"0000:00:17.0 ahci\" #bd306095\n"
#define SAS_TESTED  "tested hba=\"0000:03:00.0 mpt3sas\" #04896fd4\n"
#define SAS_FAILED  "failed hba=\"0000:03:00.0 mpt3sas\" #8619722c\n"

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
	assert_text(HEAD SATA_TESTED SAS_FAILED);
}

static void the_last_test_counts(void **state)
{
	_cleanup_(wake_record_closep) WakeRecord *r = open_record("wake-tests");

	(void)state;
	assert_int_equal(wake_record_set(r, SAS, WAKE_TESTED), 0);
	assert_int_equal(wake_record_set(r, SATA, WAKE_TESTED), 0);
	assert_int_equal(wake_record_set(r, SAS, WAKE_FAILED), 0);
	assert_int_equal(wake_record_get(r, SAS), WAKE_FAILED);
	assert_text(HEAD SAS_FAILED SATA_TESTED);
}

static void a_test_can_be_forgotten(void **state)
{
	_cleanup_(wake_record_closep) WakeRecord *r = open_text(HEAD SAS_FAILED SATA_TESTED);

	(void)state;
	assert_int_equal(wake_record_set(r, SAS, WAKE_UNTESTED), 0);
	assert_int_equal(wake_record_get(r, SAS), WAKE_UNTESTED);
	assert_int_equal(wake_record_get(r, SATA), WAKE_TESTED);
	assert_text(HEAD SATA_TESTED);
}

static void without_a_file_it_is_kept_in_memory(void **state)
{
	_cleanup_(wake_record_closep) WakeRecord *r = open_record(NULL);

	(void)state;
	assert_int_equal(wake_record_set(r, SAS, WAKE_TESTED), 0);
	assert_int_equal(wake_record_get(r, SAS), WAKE_TESTED);
}

static void a_file_of_the_old_format_is_read_and_saved_in_the_new(void **state)
{
	_cleanup_(wake_record_closep) WakeRecord *r =
		open_text("tested " SATA "\nfailed " SAS "\n");

	(void)state;
	assert_int_equal(wake_record_get(r, SATA), WAKE_TESTED);
	assert_int_equal(wake_record_get(r, SAS), WAKE_FAILED);
	assert_int_equal(access("wake-tests.damaged", F_OK), -1);
	assert_int_equal(wake_record_set(r, SATA, WAKE_FAILED), 0);
	assert_text(HEAD SATA_FAILED SAS_FAILED);
}

static void of_an_old_file_the_last_line_counts_and_comments_do_not(void **state)
{
	_cleanup_(wake_record_closep) WakeRecord *r =
		open_text("failed " SAS "\n\n# it has new firmware\ntested " SAS " \t\r\n"
			  "failed " SATA "\n");

	(void)state;
	assert_int_equal(wake_record_get(r, SAS), WAKE_TESTED);
	assert_int_equal(wake_record_get(r, SATA), WAKE_FAILED);
	assert_int_equal(access("wake-tests.damaged", F_OK), -1);
}

static void what_is_not_understood_is_kept_beside_and_not_used(void **state)
{
	static const char *const strange[] = {
		"tested\n\n# note\ndoubtful " SAS "\nfailed \n " SAS "\n\xff\xfe\n",
		"Tested " SAS "\n",
		"doubtful " SAS "\n",
		"tested\n",
		"tested \t\n",
		"tested " SAS,
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(strange); i++) {
		_cleanup_(wake_record_closep) WakeRecord *r = open_text(strange[i]);
		_cleanup_free_ char *kept = NULL;

		assert_int_equal(wake_record_get(r, SAS), WAKE_UNTESTED);
		assert_int_equal(wake_record_set(r, SAS, WAKE_TESTED), 0);
		assert_text(HEAD SAS_TESTED);
		assert_int_equal(read_file("wake-tests.damaged", &kept), 0);
		assert_string_equal(kept, strange[i]);
		assert_int_equal(unlink("wake-tests.damaged"), 0);
	}
}

static void a_newer_versions_file_is_left_alone(void **state)
{
	static const char newer[] = "storpower-wake-tests 3 #b0c800aa\n";
	WakeRecord *r = NULL;

	(void)state;
	assert_int_equal(write_file_atomic("wake-tests", newer, 0644), 0);
	assert_int_equal(wake_record_open("wake-tests", &r), -EPROTONOSUPPORT);
	assert_null(r);
	assert_text(newer);
}

static void every_flipped_bit_is_noticed_and_what_is_whole_is_kept(void **state)
{
	static const char sample[] = HEAD SATA_TESTED SAS_FAILED;
	char text[sizeof(sample)];
	size_t n = strlen(sample);

	(void)state;
	memcpy(text, sample, sizeof(text));
	for (size_t at = 0; flip(text, n, at); flip(text, n, at++)) {
		_cleanup_(wake_record_closep) WakeRecord *r = NULL;
		WakeTested sata, sas;

		assert_int_equal(write_bytes_atomic("wake-tests", text, n, 0644), 0);
		r = open_record("wake-tests");
		sata = wake_record_get(r, SATA);
		sas = wake_record_get(r, SAS);
		assert_true(sata == WAKE_TESTED || sata == WAKE_UNTESTED);
		assert_true(sas == WAKE_FAILED || sas == WAKE_UNTESTED);
		/* a newline that is gone takes the lines on both sides of it */
		assert_true(sata || sas || sample[at / 8] == '\n');
		assert_int_equal(unlink("wake-tests.damaged"), 0);
	}
}

static void a_nul_costs_its_own_line_only(void **state)
{
	static const char text[] = HEAD "tested hba=\"\0\" #01234567\n" SAS_FAILED;
	_cleanup_(wake_record_closep) WakeRecord *r = NULL;

	(void)state;
	assert_int_equal(write_bytes_atomic("wake-tests", text, sizeof(text) - 1, 0644), 0);
	r = open_record("wake-tests");
	assert_int_equal(wake_record_get(r, SAS), WAKE_FAILED);
	assert_int_equal(access("wake-tests.damaged", F_OK), 0);
}

static void any_bytes_read_back(void **state)
{
	uint64_t seed = 88172645463325252ULL;
	char hba[64];

	(void)state;
	for (int i = 0; i < 200; i++) {
		_cleanup_(wake_record_closep) WakeRecord *r = open_record("wake-tests"),
							 *back = NULL;

		if (!*any_text(&seed, hba, sizeof(hba)))
			continue;
		assert_int_equal(wake_record_set(r, hba, WAKE_FAILED), 0);
		back = open_record("wake-tests");
		assert_int_equal(wake_record_get(back, hba), WAKE_FAILED);
	}
	assert_int_equal(access("wake-tests.damaged", F_OK), -1);
}

static void an_hba_without_a_name_cannot_be_recorded(void **state)
{
	_cleanup_(wake_record_closep) WakeRecord *r = open_record("wake-tests");

	(void)state;
	assert_int_equal(wake_record_set(r, "", WAKE_TESTED), -EINVAL);
	assert_int_equal(access("wake-tests", F_OK), -1);
}

static void what_cannot_be_saved_holds_for_this_run(void **state)
{
	_cleanup_(wake_record_closep) WakeRecord *r = open_text(HEAD SAS_TESTED);

	(void)state;
	assert_int_equal(mkdir("wake-tests.new", 0755), 0); /* where the new one is written */
	assert_int_equal(wake_record_set(r, SAS, WAKE_FAILED), -EEXIST);
	assert_int_equal(wake_record_get(r, SAS), WAKE_FAILED);
	assert_text(HEAD SAS_TESTED);
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
		record_test(a_file_of_the_old_format_is_read_and_saved_in_the_new),
		record_test(of_an_old_file_the_last_line_counts_and_comments_do_not),
		record_test(what_is_not_understood_is_kept_beside_and_not_used),
		record_test(a_newer_versions_file_is_left_alone),
		record_test(every_flipped_bit_is_noticed_and_what_is_whole_is_kept),
		record_test(a_nul_costs_its_own_line_only),
		record_test(any_bytes_read_back),
		record_test(an_hba_without_a_name_cannot_be_recorded),
		record_test(what_cannot_be_saved_holds_for_this_run),
		record_test(a_file_that_cannot_be_read_is_an_error),
		record_test(workers_may_ask_while_it_is_being_recorded),
	};

	log_set_max_level(LOG_CRIT); /* the warnings are provoked */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
