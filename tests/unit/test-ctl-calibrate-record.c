/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A record carries a profile from one node to another. */

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/text.h"
#include "ctl/calibrate-record.h"

static const char shipped[] = "policies/profiles/samsung-pm1735.profile";

static void import(const char *record, Profile **ret)
{
	char path[] = "/tmp/storpower-record-XXXXXX";
	_cleanup_free_ char *text = NULL;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(calibrate_import(record, &text), 0);
	assert_int_equal(write_all(fd, text, strlen(text)), 0);
	close(fd);
	assert_int_equal(profile_read(path, ret), 0);
	unlink(path);
}

static void same_states(const Profile *p, const Profile *q)
{
	assert_int_equal(q->n_states, p->n_states);
	for (unsigned i = 0; i < p->n_states; i++) {
		const PowerState *a = &p->states[i], *b = &q->states[i];

		assert_true(b->present == a->present);
		if (!a->present)
			continue;
		assert_float_equal(b->max_w, a->max_w, 1e-4);
		assert_int_equal(b->entry_us, a->entry_us);
		assert_int_equal(b->exit_us, a->exit_us);
		assert_true(b->operational == a->operational && b->estimated == a->estimated);
	}
}

static void same_sheet(const Profile *p, const Profile *q)
{
	assert_int_equal(q->estimated_figures, p->estimated_figures);
	assert_int_equal(q->sheet.interface, p->sheet.interface);
	for (Direction d = 0; d < _DIRECTION_MAX; d++) {
		assert_float_equal(q->sheet.mb_s[d], p->sheet.mb_s[d], 0.1);
		assert_float_equal(q->sheet.iops[d], p->sheet.iops[d], 1);
	}
}

/* What puts the drive to sleep. */
static void same_idling(const Profile *p, const Profile *q)
{
	assert_float_equal(q->rated_cycles_start, p->rated_cycles_start, 0.5);
	assert_float_equal(q->link_saving_w, p->link_saving_w, 1e-4);
	assert_float_equal(q->link_recovery_s, p->link_recovery_s, 1e-6);
	for (Condition c = CONDITION_IDLE_A; c < _CONDITION_MAX; c++) {
		const ConditionPower *a = &p->conditions[c], *b = &q->conditions[c];

		assert_true(b->present == a->present && b->estimated == a->estimated);
		assert_float_equal(b->watts, a->watts, 1e-4);
		assert_float_equal(b->enter_s, a->enter_s, 1e-4);
		assert_float_equal(b->recovery_s, a->recovery_s, 1e-4);
		assert_float_equal(b->wake_w, a->wake_w, 1e-4);
		assert_float_equal(b->wake_s, a->wake_s, 1e-4);
	}
}

static void what_is_exported_is_imported(void **state)
{
	_cleanup_(strv_freep) char **paths = NULL;

	(void)state;
	assert_int_equal(
		list_files((const char *const[]){ "policies/profiles", NULL }, ".profile", &paths),
		0);
	for (char **path = paths; *path; path++) {
		_cleanup_(profile_freep) Profile *p = NULL, *q = NULL;
		_cleanup_free_ char *record = NULL;

		assert_int_equal(profile_read(*path, &p), 0);
		assert_int_equal(calibrate_export(p, "FW[1]", &record), 0);
		import(record, &q);
		assert_int_equal(q->kind, p->kind);
		assert_float_equal(q->rated_w, p->rated_w, 1e-4);
		assert_float_equal(q->idle_w, p->idle_w, 1e-4);
		assert_int_equal(q->n_points, p->n_points);
		assert_int_equal(q->n_mixes, p->n_mixes);
		same_sheet(p, q);
		same_states(p, q);
		same_idling(p, q);
		for (size_t i = 0; i < p->n_points; i++) {
			assert_float_equal(q->points[i].watts, p->points[i].watts, 1e-3);
			assert_float_equal(q->points[i].mb_s / p->points[i].mb_s, 1, 1e-4);
			assert_float_equal(q->points[i].error, p->points[i].error, 1e-4);
			assert_true(q->points[i].estimated == p->points[i].estimated);
		}
		for (int d = 0; d < 4; d++) {
			const Energy *a = &p->energy[d / 2][d % 2], *b = &q->energy[d / 2][d % 2];

			assert_float_equal(b->io_j, a->io_j, 1e-5 * a->io_j + 1e-15);
			assert_float_equal(b->page_j, a->page_j, 1e-5 * a->page_j + 1e-15);
		}
	}
}

static void the_figures_of_emerald_are_too(void **state)
{
	const Emerald e = {
		.ready_idle_gb_w = 768,
		.per_w = { [EMERALD_HOT_BAND] = 41000.5, [EMERALD_SEQUENTIAL_READ] = 580 },
		.kib = { [EMERALD_HOT_BAND] = 4, [EMERALD_SEQUENTIAL_READ] = 256 }
	};
	_cleanup_(profile_freep) Profile *p = NULL, *q = NULL, *none = NULL;
	_cleanup_free_ char *record = NULL, *without = NULL;

	(void)state;
	assert_int_equal(profile_read(shipped, &p), 0);
	assert_int_equal(calibrate_export(p, "", &without), 0);
	assert_null(strstr(without, "EMERALD"));
	import(without, &none);
	p->emerald = e;
	assert_int_equal(calibrate_export(p, "", &record), 0);
	assert_non_null(strstr(record, "\n STORPOWER_EMERALD_HOT_BAND_IOPS_W=41000.5\n"));
	import(record, &q);
	assert_float_equal(q->emerald.ready_idle_gb_w, 768, 1e-9);
	for (EmeraldLoad l = 0; l < _EMERALD_MAX; l++) {
		assert_float_equal(q->emerald.per_w[l], e.per_w[l], 1e-9);
		assert_float_equal(q->emerald.kib[l], e.kib[l], 1e-9);
		assert_float_equal(none->emerald.per_w[l], 0, 1e-9);
	}
}

static void the_match_line_is_that_of_iocost(void **state)
{
	_cleanup_(profile_freep) Profile *p = NULL;
	_cleanup_free_ char *record = NULL, *any = NULL;

	(void)state;
	assert_int_equal(profile_read(shipped, &p), 0);
	assert_int_equal(calibrate_export(p, "FW[1]", &record), 0);
	assert_non_null(
		strstr(record, "\nblock:*:name:SAMSUNG?MZ[WP]LJ800*:fwrev:FW?1?:\n STORPOWER_"));
	assert_int_equal(calibrate_export(p, NULL, &any), 0);
	assert_non_null(strstr(any, ":fwrev:*:\n"));
}

static int import_fails(const char *record)
{
	_cleanup_free_ char *text = NULL;
	int r = calibrate_import(record, &text);

	assert_null(text);
	return r;
}

static void what_is_no_record_is_refused(void **state)
{
	(void)state;
	assert_int_equal(import_fails(""), -EBADMSG);
	assert_int_equal(import_fails("block:*:name:A:fwrev:*:\n IOCOST_SOLUTIONS=isolation\n"),
			 -EBADMSG);
	assert_int_equal(import_fails(" STORPOWER_IDLE=5W\n"), -EBADMSG);
	assert_int_equal(import_fails("block:*:name:A:fwrev:*:\n STORPOWER_IDLE=5W\n"
				      "block:*:name:B:fwrev:*:\n STORPOWER_IDLE=6W\n"),
			 -ENOTUNIQ);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_exported_is_imported),
		cmocka_unit_test(the_figures_of_emerald_are_too),
		cmocka_unit_test(the_match_line_is_that_of_iocost),
		cmocka_unit_test(what_is_no_record_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
