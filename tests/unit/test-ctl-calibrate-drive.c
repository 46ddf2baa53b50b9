/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which drive it is, and that nothing is written to one that holds anything. */

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "ctl/calibrate-drive.h"
#include "ctl/calibrate-fio.h"
#include "loopdev.h"

#define SIZE (16 << 20)

static LoopDev loop;
static char tree[] = "/tmp/storpower-drive-XXXXXX";

static void put(const char *path, const char *text)
{
	_cleanup_free_ char *whole = text_printf("%s/%s", tree, path);

	assert_non_null(whole);
	*strrchr(whole, '/') = '\0';
	assert_int_equal(mkdir_parents(whole, 0700), 0);
	whole[strlen(whole)] = '/';
	if (text)
		assert_int_equal(write_file_atomic(whole, text, 0600), 0);
}

static int make_tree(void **state)
{
	(void)state;
	return mkdtemp(tree) ? 0 : -1;
}

static int remove_tree(void **state)
{
	_cleanup_free_ char *command = text_printf("rm -r %s", tree);

	(void)state;
	return command ? system(command) : -1; /* NOLINT(cert-env33-c): a folder of our own */
}

/* NULL: there are no loop devices here. */
static int attach(void **state)
{
	int r = loopdev_create(&loop, SIZE);

	*state = r < 0 ? NULL : &loop;
	if (r < 0)
		print_message("# no loop device: %s\n", strerror(-r));
	return 0;
}

static int detach(void **state)
{
	if (*state)
		loopdev_detach(&loop);
	return 0;
}

static int try_to_write(const char *sysfs, const char *serial, const char *said, char **ret_why)
{
	const CalibrateDoor d = { sysfs, loop.name, loop.path, serial, said };
	int fd = -EBADF, r = calibrate_open_for_writing(&d, &fd, ret_why);

	if (r >= 0)
		close(fd);
	else
		assert_int_equal(fd, -EBADF);
	return r;
}

static void expect_refusal(const char *sysfs, const char *serial, const char *said,
			   const char *words)
{
	_cleanup_free_ char *why = NULL;

	assert_int_equal(try_to_write(sysfs, serial, said, &why), -EPERM);
	assert_non_null(why);
	if (!strstr(why, words))
		fail_msg("\"%s\" does not say \"%s\"", why, words);
}

static void only_who_names_the_serial_number_may_write(void **state)
{
	_cleanup_free_ char *why = NULL;

	if (!*state)
		skip();
	expect_refusal("/sys", "S1", NULL, "--destructive=");
	expect_refusal("/sys", "S1", "", "not its serial");
	expect_refusal("/sys", "S1", "s1", "not its serial");
	expect_refusal("/sys", "", "", "no serial number");
	assert_int_equal(try_to_write("/sys", "S1", "S1", &why), 0);
}

static void a_device_in_use_is_refused(void **state)
{
	_cleanup_close_ int other = -EBADF;

	if (!*state)
		skip();
	assert_false(calibrate_is_in_use(loop.path));
	other = open(loop.path, O_RDONLY | O_EXCL | O_CLOEXEC);
	assert_true(other >= 0);
	expect_refusal("/sys", "S1", "S1", "in use");
	assert_true(calibrate_is_in_use(loop.path));
}

static void while_it_is_written_to_nobody_else_can_take_it(void **state)
{
	const CalibrateDoor d = { "/sys", loop.name, loop.path, "S1", "S1" };
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *why = NULL;

	if (!*state)
		skip();
	assert_int_equal(calibrate_open_for_writing(&d, &fd, &why), 0);
	assert_true(calibrate_is_in_use(loop.path));
}

/* fio is not kept away by it. */
static void fio_writes_while_the_device_is_kept(void **state)
{
	const CalibrateDoor d = { "/sys", loop.name, loop.path, "S1", "S1" };
	const FioJob job = { .path = loop.path,
			     .engine = "libaio",
			     .at = { .depth = 1, .chunk_kib = 4, .pattern = RANDOM_IO },
			     .most_s = 20,
			     .processors = 1 };
	_cleanup_(fio_endp) FioRun *f = NULL;
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *why = NULL;
	uint64_t before[17], after[17];
	FioRound round;

	if (!*state)
		skip();
	assert_int_equal(calibrate_open_for_writing(&d, &fd, &why), 0);
	assert_int_equal(loopdev_stat(&loop, before), 0);
	assert_int_equal(fio_start(&job, &f), 0);
	assert_int_equal(fio_round(f, &round), 0);
	assert_true(round.iops > 0);
	assert_int_equal(loopdev_stat(&loop, after), 0);
	assert_true(after[4] > before[4]); /* writes completed */
	/* when it has been ended, nothing writes on */
	f = fio_end(f);
	close(fd);
	fd = open(loop.path, O_RDWR | O_EXCL | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(loopdev_stat(&loop, before), 0);
	usleep(300000);
	assert_int_equal(loopdev_stat(&loop, after), 0);
	assert_true(after[4] == before[4]);
}

static void a_signature_is_refused(void **state)
{
	static const struct {
		off_t at;
		const char *magic;
		size_t n;
		const char *called;
	} signatures[] = {
		{ 0, "LUKS\xba\xbe\0\1", 8, "crypto_LUKS" },
		{ 0x10040, "_BHRfS_M", 8, "btrfs" },
	};
	_cleanup_free_ char *why = NULL;

	if (!*state)
		skip();
	for (size_t i = 0; i < ELEMENTSOF(signatures); i++) {
		char block[4096] __attribute__((aligned(4096))) = {};
		off_t within = signatures[i].at % 4096, at = signatures[i].at - within;

		memcpy(block + within, signatures[i].magic, signatures[i].n);
		assert_int_equal(loopdev_verify(&loop), 0);
		assert_int_equal(pwrite(loop.fd, block, sizeof(block), at), sizeof(block));
		expect_refusal("/sys", "S1", "S1", "it holds a");
		memset(block, 0, sizeof(block));
		assert_int_equal(pwrite(loop.fd, block, sizeof(block), at), sizeof(block));
	}
	assert_int_equal(try_to_write("/sys", "S1", "S1", &why), 0);
}

static void partitions_and_what_lies_on_it_are_refused(void **state)
{
	_cleanup_free_ char *numbers = NULL, *dev = NULL, *holder = NULL, *part = NULL, *why = NULL;

	if (!*state)
		skip();
	numbers = text_printf("%u:%u\n", major(loop.devnum), minor(loop.devnum));
	dev = text_printf("block/%s/dev", loop.name);
	holder = text_printf("block/%s/holders/md0", loop.name);
	part = text_printf("block/%s/%sp1/partition", loop.name, loop.name);
	expect_refusal(tree, "S1", "S1", "not the device that sysfs calls");
	put(dev, "7:12345\n");
	expect_refusal(tree, "S1", "S1", "not the device that sysfs calls");
	put(dev, numbers);
	put(holder, "");
	expect_refusal(tree, "S1", "S1", "md0 lies on it");
	put(part, "1\n");
	expect_refusal(tree, "S1", "S1", "partition");
}

static void a_file_is_no_device(void **state)
{
	_cleanup_free_ char *why = NULL;
	const CalibrateDoor d = { "/sys", loop.name, loop.backing, "S1", "S1" };
	int fd = -EBADF;

	if (!*state)
		skip();
	assert_int_equal(calibrate_open_for_writing(&d, &fd, &why), -EPERM);
	assert_int_equal(fd, -EBADF);
}

static void a_drive_is_found_by_any_of_its_names(void **state)
{
	char name[CALIBRATE_TEXT];

	(void)state;
	put("block/nvme0n1/device/model", "DRIVE A\n");
	put("block/nvme1n1/device/model", "DRIVE B\n");
	put("block/nvme1n2/device/model", "DRIVE B\n");
	put("block/nvme10n1/device/model", "DRIVE C\n");
	put("block/sda/device/model", "DISK\n");
	assert_int_equal(calibrate_find_block(tree, "/dev/nvme0n1", name), 0);
	assert_string_equal(name, "nvme0n1");
	assert_int_equal(calibrate_find_block(tree, "nvme0", name), 0);
	assert_string_equal(name, "nvme0n1");
	assert_int_equal(calibrate_find_block(tree, "nvme1", name), -ENOTUNIQ);
	assert_int_equal(calibrate_find_block(tree, "nvme10", name), 0);
	assert_string_equal(name, "nvme10n1");
	assert_int_equal(calibrate_find_block(tree, "sda", name), 0);
	assert_int_equal(calibrate_find_block(tree, "sdb", name), -ENOENT);
	assert_int_equal(calibrate_find_block(tree, "..", name), -ENOENT);
	assert_int_equal(calibrate_find_block(tree, "", name), -ENOENT);
}

static void a_drive_is_told_by_model_firmware_serial_number_and_size(void **state)
{
	CalibrateSubject s = {};

	(void)state;
	put("block/nvme0n1/device/model", "DRIVE A   \n");
	put("block/nvme0n1/device/firmware_rev", "F1\n");
	put("block/nvme0n1/device/serial", "SER123 \n");
	put("block/nvme0n1/size", "7501476528\n");
	calibrate_identify(tree, "nvme0n1", &s);
	assert_string_equal(s.model, "DRIVE A");
	assert_string_equal(s.firmware, "F1");
	assert_string_equal(s.serial, "SER123");
	assert_int_equal(s.kind, KIND_NVME);
	assert_float_equal(s.capacity_bytes, 3.840756e12, 1e6);
	put("block/sda/device/model", "DISK\n");
	put("block/sda/device/rev", "0001\n");
	put("block/sda/device/vpd_pg80", "xxxx  Z1Y2\n");
	put("block/sda/queue/rotational", "1\n");
	calibrate_identify(tree, "sda", &s);
	assert_string_equal(s.firmware, "0001");
	assert_string_equal(s.serial, "Z1Y2");
	assert_int_equal(s.kind, KIND_HDD);
	assert_float_equal(s.capacity_bytes, 0, 1e-9); /* the kernel does not say */
}

static void power_states_are_read_from_any_nvme_cli(void **state)
{
	CalibrateSubject s = {};

	(void)state;
	assert_true(calibrate_parse_states(
		"{\"psds\":[{\"max_power\":2500,\"max_power_scale\":0,\"non-operational_state\":0,"
		"\"entry_lat\":0,\"exit_lat\":0},{\"max_power\":1200,\"max_power_scale\":0,"
		"\"non-operational_state\":0,\"entry_lat\":10,\"exit_lat\":20},"
		"{\"max_power\":500,\"max_power_scale\":1,\"non-operational_state\":1}]}",
		&s));
	assert_int_equal(s.n_states, 3);
	assert_true(s.states[0].max_w == 25 && s.states[0].operational);
	assert_true(s.states[1].max_w == 12 && s.states[1].exit_us == 20);
	assert_float_equal(s.states[2].max_w, 0.05, 1e-9);
	assert_false(s.states[2].operational);
	assert_true(calibrate_parse_states("{\"psds\":[{\"max_power\":900,\"flags\":0},"
					   "{\"max_power\":300,\"flags\":3}]}",
					   &s));
	assert_true(s.n_states == 2 && s.states[0].max_w == 9 && !s.states[1].operational);
	assert_false(calibrate_parse_states("{\"psds\":[{\"max_power\":0}]}", &s));
	assert_false(calibrate_parse_states("{}", &s));
	assert_false(calibrate_parse_states("not JSON", &s));
}

static void who_measures_is_told_where_it_can_be_read(void **state)
{
	static const struct {
		const char *user, *host, *who;
	} cases[] = {
		{ "alice", "node7", "alice at node7" },
		{ "al\nice", "node7", "" },
		{ "alice", "node\xff", "" },
		{ "alice",
		  "a-name-of-a-host-that-is-as-long-as-only-a-computer-would-think-of-one-and-is-not-"
		  "worth-cutting",
		  "" },
	};
	CalibrateSubject s;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		calibrate_who(cases[i].user, cases[i].host, &s);
		assert_string_equal(s.who, cases[i].who);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_who_names_the_serial_number_may_write, attach,
						detach),
		cmocka_unit_test_setup_teardown(a_device_in_use_is_refused, attach, detach),
		cmocka_unit_test_setup_teardown(while_it_is_written_to_nobody_else_can_take_it,
						attach, detach),
		cmocka_unit_test_setup_teardown(fio_writes_while_the_device_is_kept, attach,
						detach),
		cmocka_unit_test_setup_teardown(a_signature_is_refused, attach, detach),
		cmocka_unit_test_setup_teardown(partitions_and_what_lies_on_it_are_refused, attach,
						detach),
		cmocka_unit_test_setup_teardown(a_file_is_no_device, attach, detach),
		cmocka_unit_test(a_drive_is_found_by_any_of_its_names),
		cmocka_unit_test(a_drive_is_told_by_model_firmware_serial_number_and_size),
		cmocka_unit_test(power_states_are_read_from_any_nvme_cli),
		cmocka_unit_test(who_measures_is_told_where_it_can_be_read),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
