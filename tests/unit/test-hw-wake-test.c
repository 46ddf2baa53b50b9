/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Does a read bring a disk back from standby, and what follows for it and for others of its HBA? */

#include "fake-disk.h"

#include "hw/block-real.h"
#include "hw/wake-test.h"

#define BIT(c) (1u << CONDITION_##c)
#define ASLEEP (BIT(STANDBY_Y) | BIT(STANDBY_Z))

#define SIZE_BYTES 16000000ULL

/* What reads of the disk do. */
static struct {
	int error;         /* it does not come back */
	bool then_refuses; /* commands as well */
	unsigned cached;   /* so many are served without waking it */
	unsigned n;
	off_t last;
} reads;

/* Not every file system of a test has O_DIRECT. */
int open(const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, int) : 0;
	va_end(ap);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags & ~O_DIRECT, mode);
}

ssize_t pread(int fd, void *buffer, size_t size, off_t offset)
{
	(void)fd;
	reads.n++;
	reads.last = offset;
	memset(buffer, 0, size);
	if (reads.error) {
		disk.refuses = disk.aborts = reads.then_refuses;
		errno = reads.error;
		return -1;
	}
	if (reads.cached) {
		reads.cached--;
	} else {
		disk.power_mode = 0xff;
		disk.asc = disk.ascq = 0;
	}
	return (ssize_t)size;
}

static bool sleeps(void)
{
	return disk.ata ? disk.power_mode == 0x00 : disk.asc == 0x5e;
}

typedef struct Tested {
	int result;
	double seconds;
	char *text;
} Tested;

static Tested tested(bool trusted)
{
	_cleanup_(disk_condition_closep) DiskCondition *c = NULL;
	Tested t = { .seconds = -1 };
	unsigned conditions;
	bool before;

	assert_int_equal(disk_condition_open(disk.node, disk.folder, trusted, &c, &conditions), 0);
	before = disk_condition_is_trusted(c);
	*disk.seen = '\0';
	t.result = disk_wake_test(c, disk.node, SIZE_BYTES, 4096, &t.seconds, &t.text);
	assert_non_null(t.text);
	assert_int_equal(disk_condition_is_trusted(c), before);
	return t;
}

static void expect(bool trusted, int result, const char *words)
{
	Tested t = tested(trusted);

	assert_int_equal(t.result, result);
	assert_non_null(strstr(t.text, words));
	assert_true(result == 0 ? t.seconds >= 0 : t.seconds == -1);
	free(t.text);
}

static void begin(bool ata)
{
	memset(&reads, 0, sizeof(reads));
	if (ata)
		fake_begin(true);
	else
		fake_begin_sas();
}

static void a_disk_that_a_read_brings_back_passes_though_untested(void **state)
{
	(void)state;
	for (int ata = 0; ata < 2; ata++) {
		begin(ata);
		expect(ata, 0, "a read brought it back after ");
		assert_int_equal(reads.n, 1);
		assert_false(sleeps());
		/* near its end, a whole block */
		assert_true(reads.last % 4096 == 0 && reads.last + 4096 <= (off_t)SIZE_BYTES &&
			    reads.last >= (off_t)(SIZE_BYTES - SIZE_BYTES / 16 - 4096));
		fake_end();
	}
}

static void it_is_flushed_before_it_is_put_to_standby(void **state)
{
	const char *flush, *standby;

	(void)state;
	begin(false);
	expect(false, 0, "brought it back");
	flush = strstr(disk.seen, "35000000000000000000");
	standby = strstr(disk.seen, "1b0000003100");
	assert_true(flush && standby && flush < standby);
	fake_end();
}

/* They are off from the command to sleep until they are given back. */
static void its_own_timers_rule_again_afterwards(void **state)
{
	(void)state;
	begin(false);
	expect(false, 0, "brought it back");
	assert_non_null(strstr(disk.seen, "1b0000007100"));
	fake_end();
}

static void a_read_that_fails_is_a_failure_and_the_disk_is_woken_by_command(void **state)
{
	(void)state;
	for (int ata = 0; ata < 2; ata++) {
		begin(ata);
		reads.error = EIO;
		expect(ata, -EREMOTEIO, "Input/output error; a command woke it");
		assert_int_equal(reads.n, 1);
		assert_false(sleeps());
		fake_end();
	}
}

static void a_disk_that_nothing_wakes_is_told(void **state)
{
	(void)state;
	for (int ata = 0; ata < 2; ata++) {
		begin(ata);
		reads.error = EIO;
		reads.then_refuses = true;
		expect(ata, -EREMOTEIO, "no command wakes it");
		fake_end();
	}
}

static void blocks_from_the_disks_own_cache_prove_nothing(void **state)
{
	(void)state;
	begin(false);
	reads.cached = 2;
	expect(false, 0, "a read brought it back");
	assert_int_equal(reads.n, 3);
	reads.cached = 3;
	expect(false, -EAGAIN, "nothing is learned");
	assert_false(sleeps());
	fake_end();
}

static void a_disk_that_refuses_standby_is_not_read(void **state)
{
	(void)state;
	begin(false);
	disk.refuses = true;
	expect(false, -EOPNOTSUPP, "it does not go to standby");
	assert_int_equal(reads.n, 0);
	fake_end();
}

static void a_disk_without_standby_cannot_be_tested(void **state)
{
	(void)state;
	begin(false);
	disk.vpd[4] = 0;
	expect(false, -EOPNOTSUPP, "the disk has no standby");
	assert_int_equal(reads.n, 0);
	fake_end();
}

static Device *device_of(bool ata, const WakeRecord *wakes)
{
	RealDevice *i = calloc(1, sizeof(*i));
	unsigned conditions;
	Device *d;

	begin(ata);
	fake_attribute("size", "31250\n");
	fake_attribute("queue/logical_block_size", "4096\n");
	assert_non_null(i);
	assert_int_equal(
		disk_condition_open(disk.node, disk.folder, false, &i->condition, &conditions), 0);
	i->wakes = wakes;
	i->folder = strdup(disk.folder);
	i->block = strdup(disk.folder);
	d = device_new("wwid:1", "sda", "X", KIND_HDD, &disk_ops, i);
	assert_non_null(d);
	free(d->node);
	d->node = strdup(disk.node);
	free(d->hba);
	d->hba = strdup("0000:01:00.0 mpt3sas");
	return d;
}

static void expect_trust(Device *d, bool standby, bool untested)
{
	assert_int_equal(d->ops->wake_tested(d), 0);
	assert_int_equal((d->conditions & ASLEEP) != 0, standby);
	assert_int_equal(d->wake_untested, untested);
}

static void what_is_known_of_the_hba_decides_whether_a_sas_disk_may_stand_by(void **state)
{
	_cleanup_(wake_record_closep) WakeRecord *wakes = NULL;
	RealDevice *i;
	Device *d;

	(void)state;
	assert_int_equal(wake_record_open(NULL, &wakes), 0);
	d = device_of(false, wakes);
	i = d->impl;
	expect_trust(d, false, true);
	assert_int_equal(wake_record_set(wakes, "0000:02:00.0 ahci", WAKE_TESTED), 0);
	expect_trust(d, false, true);
	assert_int_equal(wake_record_set(wakes, d->hba, WAKE_TESTED), 0);
	expect_trust(d, true, false);
	assert_int_equal(wake_record_set(wakes, d->hba, WAKE_FAILED), 0);
	expect_trust(d, false, true);
	/* what was seen counts more than what is said */
	i->wake_tested = true;
	expect_trust(d, false, true);
	i->wakes = NULL;
	expect_trust(d, true, false);
	device_unref(d);
	fake_end();
}

static void a_sata_disk_needs_no_test_but_heeds_one_that_failed(void **state)
{
	_cleanup_(wake_record_closep) WakeRecord *wakes = NULL;
	Device *d;

	(void)state;
	assert_int_equal(wake_record_open(NULL, &wakes), 0);
	d = device_of(true, wakes);
	expect_trust(d, true, false);
	assert_int_equal(wake_record_set(wakes, d->hba, WAKE_FAILED), 0);
	expect_trust(d, false, true);
	assert_int_equal(wake_record_set(wakes, d->hba, WAKE_TESTED), 0);
	expect_trust(d, true, false);
	device_unref(d);
	fake_end();
}

static void the_test_of_a_device_records_nothing_by_itself(void **state)
{
	_cleanup_(wake_record_closep) WakeRecord *wakes = NULL;
	_cleanup_free_ char *text = NULL;
	double seconds = -1;
	Device *d;

	(void)state;
	assert_int_equal(wake_record_open(NULL, &wakes), 0);
	d = device_of(false, wakes);
	expect_trust(d, false, true);
	assert_int_equal(d->ops->wake_test(d, &seconds, &text), 0);
	assert_true(seconds >= 0);
	assert_true(reads.last + 4096 <= 31250 * 512);
	assert_int_equal(d->conditions & ASLEEP, 0);
	assert_int_equal(d->ops->condition_set(d, CONDITION_STANDBY_Z), -ERANGE);
	assert_int_equal(wake_record_get(wakes, d->hba), WAKE_UNTESTED);
	device_unref(d);
	fake_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_disk_that_a_read_brings_back_passes_though_untested),
		cmocka_unit_test(it_is_flushed_before_it_is_put_to_standby),
		cmocka_unit_test(its_own_timers_rule_again_afterwards),
		cmocka_unit_test(a_read_that_fails_is_a_failure_and_the_disk_is_woken_by_command),
		cmocka_unit_test(a_disk_that_nothing_wakes_is_told),
		cmocka_unit_test(blocks_from_the_disks_own_cache_prove_nothing),
		cmocka_unit_test(a_disk_that_refuses_standby_is_not_read),
		cmocka_unit_test(a_disk_without_standby_cannot_be_tested),
		cmocka_unit_test(what_is_known_of_the_hba_decides_whether_a_sas_disk_may_stand_by),
		cmocka_unit_test(a_sata_disk_needs_no_test_but_heeds_one_that_failed),
		cmocka_unit_test(the_test_of_a_device_records_nothing_by_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
