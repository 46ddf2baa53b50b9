/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The journal beside a registry of two made-up knobs, so that every way a knob can fail is at hand.
 */

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "flipped.h"
#include "journal-replay.h"
#include "journal/journal.h"

#define BOOT_A "11111111-2222-3333-4444-555555555555"
#define BOOT_B "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"

/* The hardware: one value a knob, and a wish to fail. */
typedef struct Hardware {
	char kernel[KNOB_VALUE_MAX], device[KNOB_VALUE_MAX];
	int fail; /* -errno of every write */
	char order[8];
} Hardware;

static int note(Device *d, char *to, char mark, const KnobValue *value)
{
	Hardware *h = d->impl;

	if (h->fail)
		return h->fail;
	snprintf(h->order + strlen(h->order), sizeof(h->order) - strlen(h->order), "%c", mark);
	memcpy(to, value->text, KNOB_VALUE_MAX);
	return 0;
}

static int write_kernel(Device *d, const KnobValue *value)
{
	return note(d, ((Hardware *)d->impl)->kernel, 'k', value);
}

static int write_device(Device *d, const KnobValue *value)
{
	return note(d, ((Hardware *)d->impl)->device, 'd', value);
}

static const Knob kernel_knob = { .name = "kernel-knob", .write = write_kernel };
static const Knob device_knob = { .name = "device-knob",
				  .write = write_device,
				  .survives_reboot = true };

const Knob *const knob_registry[] = { &kernel_knob, &device_knob, NULL };

const Knob *knob_find(const char *name)
{
	for (const Knob *const *k = knob_registry; *k; k++)
		if (streq((*k)->name, name))
			return *k;
	return NULL;
}

JournalSurvival knob_survival(const char *name)
{
	const Knob *k = knob_find(name);

	if (!k)
		return SURVIVAL_UNKNOWN;
	return k->survives_reboot ? SURVIVES_WHOLE : SURVIVES_NOT;
}

int knob_apply(const Knob *k, Device *d, const KnobValue *value, KnobValue *ret_found)
{
	(void)ret_found;
	return k->write(d, value);
}

static KnobValue value_of(const char *text)
{
	KnobValue v;

	snprintf(v.text, sizeof(v.text), "%s", text);
	return v;
}

static void record(Journal *j, const char *device, const char *knob, const char *text)
{
	KnobValue v = value_of(text);

	assert_int_equal(journal_record(j, device, knob, &v), 0);
}

static Journal *open_at(const char *path, const char *boot)
{
	Journal *j = NULL;

	assert_int_equal(journal_open(path, boot, &j), 0);
	return j;
}

static const char *original(const Journal *j, const char *device, const char *knob)
{
	const KnobValue *v = journal_original(j, device, knob);

	return v ? v->text : "(none)";
}

static char *contents(const char *path)
{
	char *text = NULL;

	assert_int_equal(read_file(path, &text), 0);
	return text;
}

static void put_contents(const char *path, const char *text, size_t n)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, n), n);
}

static int make_folder(void **state)
{
	char folder[] = "/dev/shm/test-journal-XXXXXX"; /* memory: syncs are free */

	if (!mkdtemp(folder))
		return -1;
	*state = text_printf("%s/journal", folder);
	return *state ? 0 : -1;
}

static int remove_folder(void **state)
{
	static const char *const suffixes[] = { "", ".new", ".damaged" };
	char *path = *state;

	for (size_t i = 0; i < ELEMENTSOF(suffixes); i++) {
		_cleanup_free_ char *file = text_printf("%s%s", path, suffixes[i]);

		unlink(file);
	}
	*strrchr(path, '/') = '\0';
	rmdir(path);
	free(path);
	return 0;
}

static void remove_copy(const char *path)
{
	_cleanup_free_ char *damaged = text_printf("%s.damaged", path);

	unlink(damaged);
}

static bool damaged_copy_exists(const char *path)
{
	_cleanup_free_ char *damaged = text_printf("%s.damaged", path);

	return access(damaged, F_OK) == 0;
}

static void what_was_synced_is_there_after_a_restart(void **state)
{
	static const char *const values[] = { "", "128", "a \"b\" \\ \n\t\x1b",
					      "größer #01234567" };
	_cleanup_(journal_closep) Journal *j = open_at(*state, BOOT_A);

	for (size_t i = 0; i < ELEMENTSOF(values); i++)
		record(j, values[i], "kernel-knob", values[i]);
	assert_int_equal(journal_sync(j), 0);
	j = journal_close(j);
	j = open_at(*state, BOOT_A);
	assert_int_equal(journal_size(j), ELEMENTSOF(values));
	for (size_t i = 0; i < ELEMENTSOF(values); i++)
		assert_string_equal(original(j, values[i], "kernel-knob"), values[i]);
	assert_false(damaged_copy_exists(*state));
}

static void nothing_is_written_before_the_sync_and_all_of_it_at_once(void **state)
{
	_cleanup_(journal_closep) Journal *j = open_at(*state, BOOT_A);
	_cleanup_free_ char *before = NULL, *after = NULL;

	record(j, "d", "kernel-knob", "1");
	before = contents(*state);
	assert_string_equal(before, "");
	assert_int_equal(journal_sync(j), 0);
	after = contents(*state);
	assert_string_equal(after, "storpower-journal 2 #6173f608\n"
				   "original device=\"d\" knob=\"kernel-knob\" value=\"1\" "
				   "boot=\"" BOOT_A "\" #0310e4ac\n");
}

static void the_first_original_is_the_one_to_go_back_to(void **state)
{
	_cleanup_(journal_closep) Journal *j = open_at(*state, BOOT_A);

	record(j, "d", "kernel-knob", "original");
	record(j, "d", "kernel-knob", "ours");
	assert_int_equal(journal_sync(j), 0);
	record(j, "d", "kernel-knob", "ours");
	assert_int_equal(journal_sync(j), 0);
	assert_int_equal(journal_size(j), 1);
	j = journal_close(j);
	j = open_at(*state, BOOT_A);
	assert_string_equal(original(j, "d", "kernel-knob"), "original");
}

static void a_knob_forgotten_and_recorded_again_goes_back_to_the_second_original(void **state)
{
	_cleanup_(journal_closep) Journal *j = open_at(*state, BOOT_A);

	record(j, "d", "kernel-knob", "first");
	record(j, "other", "kernel-knob", "stays");
	assert_int_equal(journal_sync(j), 0);
	assert_int_equal(journal_forget(j, "d", "kernel-knob"), 0);
	assert_int_equal(journal_forget(j, "d", "kernel-knob"), -ENOENT);
	assert_int_equal(journal_size_of(j, "d"), 0);
	record(j, "d", "kernel-knob", "second");
	assert_int_equal(journal_sync(j), 0);
	j = journal_close(j);
	j = open_at(*state, BOOT_A);
	assert_int_equal(journal_size(j), 2);
	assert_string_equal(original(j, "d", "kernel-knob"), "second");
}

static void a_forgotten_knob_stays_forgotten_without_a_sync(void **state)
{
	_cleanup_(journal_closep) Journal *j = open_at(*state, BOOT_A);

	record(j, "a", "kernel-knob", "1");
	record(j, "b", "kernel-knob", "1");
	assert_int_equal(journal_sync(j), 0);
	assert_int_equal(journal_forget(j, "a", "kernel-knob"), 0);
	j = journal_close(j);
	j = open_at(*state, BOOT_A);
	assert_int_equal(journal_size_of(j, "a"), 0);
	assert_true(journal_size_of(j, "b") > 0);
}

static void the_last_one_out_empties_the_file(void **state)
{
	_cleanup_(journal_closep) Journal *j = open_at(*state, BOOT_A);

	for (int round = 0; round < 3; round++) {
		_cleanup_free_ char *text = NULL;

		record(j, "a", "kernel-knob", "1");
		record(j, "b", "kernel-knob", "1");
		assert_int_equal(journal_sync(j), 0);
		assert_int_equal(journal_forget(j, "a", "kernel-knob"), 0);
		assert_int_equal(journal_forget(j, "b", "kernel-knob"), 0);
		text = contents(*state);
		assert_string_equal(text, "");
	}
}

static void the_file_does_not_grow_for_ever(void **state)
{
	_cleanup_(journal_closep) Journal *j = open_at(*state, BOOT_A);
	struct stat st;

	record(j, "steady", "kernel-knob", "1");
	for (int i = 0; i < 2000; i++) {
		record(j, "changing", "kernel-knob", "1");
		assert_int_equal(journal_forget(j, "changing", "kernel-knob"), 0);
	}
	assert_int_equal(stat(*state, &st), 0);
	assert_in_range(st.st_size, 1, 8000);
	j = journal_close(j);
	j = open_at(*state, BOOT_A);
	assert_int_equal(journal_size(j), 1);
	assert_true(journal_size_of(j, "steady") > 0);
}

/* A journal of five records and one forgetting, as text. */
static char *sample(const char *path)
{
	_cleanup_(journal_closep) Journal *j = open_at(path, BOOT_A);

	for (char name[] = "a"; *name < 'f'; (*name)++)
		record(j, name, "kernel-knob", "128");
	assert_int_equal(journal_sync(j), 0);
	assert_int_equal(journal_forget(j, "b", "kernel-knob"), 0);
	return contents(path);
}

static void a_torn_last_line_is_dropped(void **state)
{
	_cleanup_free_ char *text = sample(*state);
	size_t n = strlen(text);

	for (size_t cut = 0; cut <= n; cut++) {
		_cleanup_(journal_closep) Journal *j = NULL;
		size_t whole = 0;

		for (size_t i = 0; i < cut; i++)
			whole += text[i] == '\n' || text[i + 1] == '\n';
		put_contents(*state, text, cut);
		j = open_at(*state, BOOT_A);
		/* each newline was counted twice: as such, and as what follows a complete line;
		 * line 1 is the header, line 7 forgets one */
		whole = (whole + 1) / 2;
		assert_int_equal(journal_size(j), whole == 0 ? 0 : whole == 7 ? 4 : whole - 1);
		assert_false(damaged_copy_exists(*state));
		/* what comes next is not joined to the rubbish */
		record(j, "next", "kernel-knob", "1");
		assert_int_equal(journal_sync(j), 0);
		j = journal_close(j);
		j = open_at(*state, BOOT_A);
		assert_true(journal_size_of(j, "next") > 0);
		assert_false(damaged_copy_exists(*state));
	}
}

static void one_flipped_bit_loses_one_line_and_no_other(void **state)
{
	_cleanup_free_ char *text = sample(*state);
	size_t n = strlen(text);

	for (size_t at = 0; flip(text, n, at); flip(text, n, at++)) {
		_cleanup_(journal_closep) Journal *j = NULL;
		size_t found = 0;

		put_contents(*state, text, n);
		j = open_at(*state, BOOT_A);
		for (char name[] = "a"; *name < 'f'; (*name)++)
			found += streq(original(j, name, "kernel-knob"), "128");
		assert_int_equal(journal_size(j), found); /* nothing else is there */
		/* four are due; a newline that is gone takes the lines on both sides of it; the
		 * forgetting, when lost, leaves five */
		flip(text, n, at);
		assert_true(found >= (text[at / 8] == '\n' ? 2 : 3));
		flip(text, n, at);
		assert_true(damaged_copy_exists(*state));
		remove_copy(*state);
	}
}

static void a_nul_costs_its_own_line_only(void **state)
{
	_cleanup_free_ char *text = sample(*state);
	_cleanup_(journal_closep) Journal *j = NULL;
	size_t n = strlen(text);

	*strstr(text, "\"a\"") = '\0';
	put_contents(*state, text, n);
	j = open_at(*state, BOOT_A);
	assert_int_equal(journal_size(j), 3);
	assert_string_equal(original(j, "e", "kernel-knob"), "128");
	assert_true(damaged_copy_exists(*state));
}

static void any_bytes_read_back(void **state)
{
	_cleanup_(journal_closep) Journal *j = open_at(*state, BOOT_A);
	char device[64], knob[64], value[KNOB_VALUE_MAX];
	uint64_t seed = 88172645463325252ULL, again = seed;

	for (int i = 0; i < 1000; i++) {
		any_text(&seed, device, sizeof(device));
		any_text(&seed, knob, sizeof(knob));
		record(j, device, knob, any_text(&seed, value, sizeof(value)));
	}
	assert_int_equal(journal_sync(j), 0);
	j = journal_close(j);
	j = open_at(*state, BOOT_A);
	for (int i = 0; i < 1000; i++) {
		any_text(&again, device, sizeof(device));
		any_text(&again, knob, sizeof(knob));
		any_text(&again, value, sizeof(value));
		if (*device && *knob) /* what is this short comes again, with another value */
			assert_string_equal(original(j, device, knob), value);
	}
	assert_false(damaged_copy_exists(*state));
}

static void the_damaged_file_is_kept_as_it_was(void **state)
{
	_cleanup_free_ char *damaged = text_printf("%s.damaged", (char *)*state), *kept = NULL;
	_cleanup_free_ char *text = sample(*state), *now = NULL;
	_cleanup_(journal_closep) Journal *j = NULL;

	strstr(text, "\"c\"")[1] = 'x';
	put_contents(*state, text, strlen(text));
	j = open_at(*state, BOOT_A);
	kept = contents(damaged);
	assert_string_equal(kept, text);
	now = contents(*state);
	assert_non_null(strstr(now, "device=\"a\""));
	assert_null(strstr(now, "\"x\""));
	assert_null(strstr(now, "forget"));
	j = journal_close(j);
	unlink(damaged);
	j = open_at(*state, BOOT_A);
	assert_int_equal(journal_size(j), 3);
	assert_false(damaged_copy_exists(*state));
}

static void a_newer_versions_file_is_left_alone(void **state)
{
	static const char text[] = "storpower-journal 3 #6273f79b\nwhatever comes\n";
	_cleanup_free_ char *after = NULL;
	Journal *j = NULL;

	put_contents(*state, text, strlen(text));
	assert_int_equal(journal_open(*state, BOOT_A, &j), -EPROTONOSUPPORT);
	after = contents(*state);
	assert_string_equal(after, text);
	assert_false(damaged_copy_exists(*state));
}

static void two_processes_never_share_a_journal(void **state)
{
	_cleanup_(journal_closep) Journal *j = open_at(*state, BOOT_A);
	Journal *second = NULL;

	assert_int_equal(journal_open(*state, BOOT_A, &second), -EBUSY);
	/* also after the file was replaced */
	record(j, "steady", "kernel-knob", "1");
	for (int i = 0; i < 100; i++) {
		record(j, "changing", "kernel-knob", "1");
		assert_int_equal(journal_forget(j, "changing", "kernel-knob"), 0);
	}
	assert_int_equal(journal_open(*state, BOOT_A, &second), -EBUSY);
	j = journal_close(j);
	assert_int_equal(journal_open(*state, BOOT_A, &second), 0);
	journal_close(second);
}

static void a_journal_that_cannot_be_written_says_so(void **state)
{
	Journal *j = NULL;

	(void)state;
	assert_int_equal(journal_open("/nowhere/at/all", BOOT_A, &j), -ENOENT);
	assert_null(j);
	assert_null(journal_close(NULL));
}

static Device *make_device(Hardware *h)
{
	static const DeviceOps none;
	Device *d = device_new("id-1", "sda", "model", KIND_HDD, &none, h);

	assert_non_null(d);
	return d;
}

static void restoring_puts_everything_back_in_registry_order(void **state)
{
	_cleanup_(journal_closep) Journal *j = open_at(*state, BOOT_A);
	Hardware h = { .kernel = "ours", .device = "ours" };
	_cleanup_(device_unrefp) Device *d = make_device(&h);
	size_t restored = 0;

	record(j, "id-1", "device-knob", "D");
	record(j, "id-1", "kernel-knob", "K");
	record(j, "id-2", "kernel-knob", "other");
	assert_int_equal(journal_sync(j), 0);
	assert_int_equal(journal_restore_device(j, d, &restored), 0);
	assert_int_equal(restored, 2);
	assert_string_equal(h.order, "kd");
	assert_string_equal(h.kernel, "K");
	assert_string_equal(h.device, "D");
	assert_int_equal(journal_size(j), 1);
	assert_int_equal(journal_restore_device(j, d, &restored), 0);
	assert_int_equal(restored, 0);
}

static void after_a_reboot_only_what_the_device_keeps_is_written(void **state)
{
	_cleanup_(journal_closep) Journal *j = open_at(*state, BOOT_A);
	Hardware h = { .kernel = "default", .device = "ours" };
	_cleanup_(device_unrefp) Device *d = make_device(&h);
	size_t restored = 0;

	record(j, "id-1", "device-knob", "D");
	record(j, "id-1", "kernel-knob", "K");
	assert_int_equal(journal_sync(j), 0);
	j = journal_close(j);
	j = open_at(*state, BOOT_B);
	assert_int_equal(journal_restore_device(j, d, &restored), 0);
	assert_int_equal(restored, 1);
	assert_string_equal(h.order, "d");
	assert_string_equal(h.kernel, "default");
	assert_int_equal(journal_size(j), 0);
}

static void records_of_two_boots_live_side_by_side(void **state)
{
	_cleanup_(journal_closep) Journal *j = open_at(*state, BOOT_A);
	Hardware h = { .kernel = "ours" };
	_cleanup_(device_unrefp) Device *d = make_device(&h);
	size_t restored = 0;

	record(j, "absent", "kernel-knob", "K");
	record(j, "absent", "device-knob", "D");
	assert_int_equal(journal_sync(j), 0);
	j = journal_close(j);
	j = open_at(*state, BOOT_B);
	record(j, "id-1", "kernel-knob", "K");
	assert_int_equal(journal_sync(j), 0);
	j = journal_close(j);
	j = open_at(*state, BOOT_B);
	assert_int_equal(journal_size(j), 3);
	assert_int_equal(journal_restore_device(j, d, &restored), 0);
	assert_string_equal(h.kernel, "K");
	/* in the kernel there is nothing left of it, wherever it is */
	assert_null(journal_original(j, "absent", "kernel-knob"));
	assert_non_null(journal_original(j, "absent", "device-knob"));
	assert_int_equal(journal_size_of(j, "absent"), 1);
}

/* A journal of the old format, as it was written. */
static const char old_journal[] =
	"storpower-journal 1 boot=11111111-2222-3333-4444-555555555555 #f43a5e1a\n"
	"was \"a\" \"kernel-knob\" \"128\" #e7f80c58\n"
	"was \"größer \\\"b\\\"\\n\" \"device-knob\" \"\" #27a24702\n"
	"storpower-journal 1 boot=aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee #f0fe3b3a\n"
	"was \"c\" \"kernel-knob\" \"7\" #d8ec7fce\n"
	"was \"c\" \"device-knob\" \"8\" #abc78b4a\n"
	"forget \"c\" \"kernel-knob\" #6c5e54ef\n";

static void a_journal_of_the_old_format_is_read_and_written_anew(void **state)
{
	_cleanup_(journal_closep) Journal *j = NULL;
	_cleanup_free_ char *now = NULL;

	put_contents(*state, old_journal, strlen(old_journal));
	j = open_at(*state, BOOT_B);
	now = contents(*state);
	assert_true(strncmp(now, "storpower-journal 2 #", 21) == 0);
	assert_null(strstr(now, "was"));
	j = journal_close(j);
	j = open_at(*state, BOOT_B);
	assert_int_equal(journal_size(j), 3);
	assert_string_equal(original(j, "a", "kernel-knob"), "128");
	assert_string_equal(original(j, "größer \"b\"\n", "device-knob"), "");
	assert_string_equal(original(j, "c", "device-knob"), "8");
	assert_false(damaged_copy_exists(*state));
	journal_forget_moot(j, knob_survival); /* the first is of an earlier boot */
	assert_int_equal(journal_size(j), 2);
	assert_null(journal_original(j, "a", "kernel-knob"));
}

static void a_damaged_journal_of_the_old_format_gives_what_is_whole(void **state)
{
	_cleanup_free_ char *text = strdup(old_journal);
	size_t n = strlen(text);

	for (size_t at = 0; flip(text, n, at); flip(text, n, at++)) {
		_cleanup_(journal_closep) Journal *j = NULL;

		put_contents(*state, text, n);
		j = open_at(*state, BOOT_A);
		assert_in_range(journal_size(j), 1, 4);
		assert_true(damaged_copy_exists(*state));
		remove_copy(*state);
	}
}

static void a_lost_old_header_makes_records_count_for_this_boot(void **state)
{
	_cleanup_free_ char *text = strdup(old_journal);
	_cleanup_(journal_closep) Journal *j = NULL;
	Hardware h = { .kernel = "ours" };
	_cleanup_(device_unrefp) Device *d = make_device(&h);

	free(d->id);
	d->id = strdup("a");
	text[0] = 'X';
	put_contents(*state, text, strlen(text));
	j = open_at(*state, BOOT_B);
	assert_int_equal(journal_restore_device(j, d, NULL), 0);
	assert_string_equal(h.kernel, "128");
}

static void a_lost_first_line_costs_nothing(void **state)
{
	_cleanup_free_ char *text = sample(*state);
	_cleanup_(journal_closep) Journal *j = NULL;

	text[0] = 'X';
	put_contents(*state, text, strlen(text));
	j = open_at(*state, BOOT_A);
	assert_int_equal(journal_size(j), 4);
	assert_true(damaged_copy_exists(*state));
}

static void what_cannot_be_restored_stays_recorded(void **state)
{
	_cleanup_(journal_closep) Journal *j = open_at(*state, BOOT_A);
	Hardware h = { .kernel = "ours", .fail = -EIO };
	_cleanup_(device_unrefp) Device *d = make_device(&h);
	size_t restored = 7;

	record(j, "id-1", "kernel-knob", "K");
	record(j, "id-1", "knob-of-tomorrow", "T");
	assert_int_equal(journal_restore_device(j, d, &restored), -EIO);
	assert_int_equal(restored, 0);
	assert_int_equal(journal_size(j), 2);
	h.fail = 0;
	assert_int_equal(journal_restore_device(j, d, &restored), -EOPNOTSUPP);
	assert_int_equal(restored, 1);
	assert_string_equal(h.kernel, "K");
	assert_string_equal(original(j, "id-1", "knob-of-tomorrow"), "T");
}

static void ten_thousand_devices_are_recorded_in_one_write(void **state)
{
	_cleanup_(journal_closep) Journal *j = open_at(*state, BOOT_A);

	for (unsigned i = 0; i < 10000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "d%u", i * 7919 % 10000);
		record(j, name, "kernel-knob", "128");
	}
	assert_int_equal(journal_sync(j), 0);
	j = journal_close(j);
	j = open_at(*state, BOOT_A);
	assert_int_equal(journal_size(j), 10000);
	assert_true(journal_size_of(j, "d9999") > 0);
}

/* The place to die at, counted from 1; 0: none. Set in a child only. */
static unsigned long kill_at;

void failpoint(const char *name)
{
	(void)name;
	if (kill_at && --kill_at == 0)
		raise(SIGKILL);
}

/* What the daemon does with one knob, over and over; the hardware outlives the process. */
static void live(const char *path, Device *d, Hardware *h)
{
	_cleanup_(journal_closep) Journal *j = open_at(path, BOOT_A);
	KnobValue ours = value_of("ours");

	record(j, "id-0", "kernel-knob", "long ago");
	for (int i = 0; i < 70; i++) {
		KnobValue found = value_of(h->kernel);

		if (journal_record(j, d->id, kernel_knob.name, &found) < 0 || journal_sync(j) < 0)
			_exit(1);
		failpoint("knob-before-write");
		h->order[0] = '\0';
		kernel_knob.write(d, &ours);
		failpoint("knob-after-write");
		journal_restore_device(j, d, NULL);
	}
	journal_forget(j, "id-0", "kernel-knob");
}

static bool dies_at(unsigned long place, const char *path, Device *d, Hardware *h)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		kill_at = place;
		live(path, d, h);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status))
		assert_int_equal(WEXITSTATUS(status), 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static void a_kill_at_any_step_leaves_nothing_capped_after_restore(void **state)
{
	Hardware *h =
		mmap(NULL, sizeof(*h), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	_cleanup_(device_unrefp) Device *d = make_device(h);
	unsigned long place = 0;
	bool died;

	assert_ptr_not_equal(h, MAP_FAILED);
	do {
		_cleanup_(journal_closep) Journal *j = NULL;

		*h = (Hardware){ .kernel = "found" };
		unlink(*state);
		died = dies_at(++place, *state, d, h);
		h->order[0] = '\0';
		j = open_at(*state, BOOT_A);
		assert_int_equal(journal_restore_device(j, d, NULL), 0);
		assert_string_equal(h->kernel, "found");
		assert_false(damaged_copy_exists(*state));
	} while (died);
	print_message("killed at %lu places\n", place - 1);
	assert_in_range(place, 500, 100000);
	munmap(h, sizeof(*h));
}

#define journal_test(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		journal_test(what_was_synced_is_there_after_a_restart),
		journal_test(nothing_is_written_before_the_sync_and_all_of_it_at_once),
		journal_test(the_first_original_is_the_one_to_go_back_to),
		journal_test(a_knob_forgotten_and_recorded_again_goes_back_to_the_second_original),
		journal_test(a_forgotten_knob_stays_forgotten_without_a_sync),
		journal_test(the_last_one_out_empties_the_file),
		journal_test(the_file_does_not_grow_for_ever),
		journal_test(a_torn_last_line_is_dropped),
		journal_test(one_flipped_bit_loses_one_line_and_no_other),
		journal_test(a_nul_costs_its_own_line_only),
		journal_test(any_bytes_read_back),
		journal_test(the_damaged_file_is_kept_as_it_was),
		journal_test(a_newer_versions_file_is_left_alone),
		journal_test(two_processes_never_share_a_journal),
		journal_test(a_journal_that_cannot_be_written_says_so),
		journal_test(restoring_puts_everything_back_in_registry_order),
		journal_test(after_a_reboot_only_what_the_device_keeps_is_written),
		journal_test(records_of_two_boots_live_side_by_side),
		journal_test(a_journal_of_the_old_format_is_read_and_written_anew),
		journal_test(a_damaged_journal_of_the_old_format_gives_what_is_whole),
		journal_test(a_lost_old_header_makes_records_count_for_this_boot),
		journal_test(a_lost_first_line_costs_nothing),
		journal_test(what_cannot_be_restored_stays_recorded),
		journal_test(ten_thousand_devices_are_recorded_in_one_write),
		journal_test(a_kill_at_any_step_leaves_nothing_capped_after_restore),
	};

	log_set_max_level(LOG_CRIT); /* the warnings are provoked */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
