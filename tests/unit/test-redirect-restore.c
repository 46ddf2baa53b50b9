/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The journal with the real knobs, on a disk whose sysfs attributes are a table in memory. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/text.h"
#include "journal-replay.h"
#include "journal/journal.h"

#define BOOT_A "11111111-2222-3333-4444-555555555555"
#define BOOT_B "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"

typedef struct Sysfs {
	struct Attribute {
		const char *name;
		char value[32];
	} attributes[3];
	bool deaf; /* takes every write and changes nothing */
	bool gone;
} Sysfs;

static const Sysfs as_found = { .attributes = { { "queue/max_sectors_kb", "1280" },
						{ "queue/read_ahead_kb", "4096" },
						{ "queue/nr_requests", "256" } } };

static struct Attribute *find(Sysfs *s, const char *name)
{
	for (size_t i = 0; i < ELEMENTSOF(s->attributes); i++)
		if (streq(s->attributes[i].name, name))
			return &s->attributes[i];
	return NULL;
}

static int attr_read(Device *d, const char *attr, char *buf, size_t size)
{
	Sysfs *s = d->impl;
	struct Attribute *a = find(s, attr);

	if (s->gone)
		return -ENODEV;
	if (!a)
		return -ENOENT;
	snprintf(buf, size, "%s", a->value);
	return 0;
}

static int attr_write(Device *d, const char *attr, const char *value)
{
	Sysfs *s = d->impl;
	struct Attribute *a = find(s, attr);

	if (s->gone)
		return -ENODEV;
	if (!a)
		return -ENOENT;
	if (!s->deaf)
		snprintf(a->value, sizeof(a->value), "%s", value);
	return 0;
}

static const DeviceOps ops = { .attr_read = attr_read, .attr_write = attr_write };

static const char *const capped[] = { "max-sectors", "nr-requests" };

/* As the manager does it: read, record, sync, write. */
static void cap(Journal *j, Device *d)
{
	const Setting s = { .power_state = -1, .depth = 4, .chunk_kib = 128 };

	for (size_t i = 0; i < ELEMENTSOF(capped); i++) {
		const Knob *k = knob_find(capped[i]);
		KnobValue found, wanted;

		assert_non_null(k);
		assert_int_equal(k->read(d, &found), 0);
		assert_int_equal(journal_record(j, d->id, k->name, &found), 0);
		assert_int_equal(journal_sync(j), 0);
		assert_int_equal(knob_want(k, d, &s, &MIX_UNKNOWN, &found, &wanted), 0);
		assert_int_equal(knob_apply(k, d, &wanted, NULL), 0);
	}
}

static void check_as_found(const Sysfs *s)
{
	for (size_t i = 0; i < ELEMENTSOF(s->attributes); i++)
		assert_string_equal(s->attributes[i].value, as_found.attributes[i].value);
}

typedef struct Fixture {
	char folder[40];
	char path[64];
	Sysfs sysfs;
	Device *device;
	Journal *journal;
} Fixture;

static int set_up(void **state)
{
	Fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	strcpy(f->folder, "/tmp/test-knob-restore-XXXXXX");
	if (!mkdtemp(f->folder))
		return -1;
	snprintf(f->path, sizeof(f->path), "%s/journal", f->folder);
	f->sysfs = as_found;
	f->device = device_new("serial-1", "sdx", "model", KIND_HDD, &ops, &f->sysfs);
	*state = f;
	return f->device ? journal_open(f->path, BOOT_A, &f->journal) : -1;
}

static int tear_down(void **state)
{
	Fixture *f = *state;

	journal_close(f->journal);
	device_unref(f->device);
	unlink(f->path);
	rmdir(f->folder);
	free(f);
	return 0;
}

static void reopen(Fixture *f, const char *boot)
{
	f->journal = journal_close(f->journal);
	assert_int_equal(journal_open(f->path, boot, &f->journal), 0);
}

static void real_knobs_go_back_after_the_daemon_died(void **state)
{
	Fixture *f = *state;
	size_t restored;

	cap(f->journal, f->device);
	assert_string_equal(find(&f->sysfs, "queue/max_sectors_kb")->value, "128");
	assert_string_equal(find(&f->sysfs, "queue/nr_requests")->value, "4");
	reopen(f, BOOT_A);
	assert_int_equal(journal_restore_device(f->journal, f->device, &restored), 0);
	assert_int_equal(restored, 2);
	check_as_found(&f->sysfs);
	assert_int_equal(journal_size(f->journal), 0);
}

static void kernel_attributes_are_left_alone_after_a_reboot(void **state)
{
	Fixture *f = *state;
	size_t restored;

	cap(f->journal, f->device);
	strcpy(find(&f->sysfs, "queue/max_sectors_kb")->value,
	       "512"); /* a newer kernel's default */
	reopen(f, BOOT_B);
	assert_int_equal(journal_restore_device(f->journal, f->device, &restored), 0);
	assert_int_equal(restored, 0);
	assert_string_equal(find(&f->sysfs, "queue/max_sectors_kb")->value, "512");
	assert_int_equal(journal_size(f->journal), 0);
}

static void a_write_that_does_not_take_stays_recorded(void **state)
{
	Fixture *f = *state;
	size_t restored;

	cap(f->journal, f->device);
	f->sysfs.deaf = true;
	assert_int_equal(journal_restore_device(f->journal, f->device, &restored), -EREMOTEIO);
	assert_int_equal(restored, 0);
	assert_int_equal(journal_size(f->journal), 2);
	f->sysfs.deaf = false;
	assert_int_equal(journal_restore_device(f->journal, f->device, &restored), 0);
	assert_int_equal(restored, 2);
	check_as_found(&f->sysfs);
}

static void a_device_that_left_is_restored_when_it_is_back(void **state)
{
	Fixture *f = *state;
	size_t restored;

	cap(f->journal, f->device);
	f->sysfs.gone = true;
	assert_int_equal(journal_restore_device(f->journal, f->device, &restored), -ENODEV);
	reopen(f, BOOT_A);
	assert_true(journal_size_of(f->journal, f->device->id) > 0);
	f->sysfs.gone = false;
	assert_int_equal(journal_restore_device(f->journal, f->device, &restored), 0);
	check_as_found(&f->sysfs);
}

#define restore_test(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		restore_test(real_knobs_go_back_after_the_daemon_died),
		restore_test(kernel_attributes_are_left_alone_after_a_reboot),
		restore_test(a_write_that_does_not_take_stays_recorded),
		restore_test(a_device_that_left_is_restored_when_it_is_back),
	};

	log_set_max_level(LOG_CRIT); /* the warnings are provoked */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
