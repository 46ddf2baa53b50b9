/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Power conditions of SATA and SAS disks: every byte of every command, and every answer. */

#include <sys/stat.h>

#include "fake-disk.h"

#include "hw/disk-condition.h"

#define BIT(c) (1u << CONDITION_##c)

/* The commands, as they are seen: CDB, direction, bytes, time limit. */
#define ATA(count, device, command, seconds)                                                       \
	"850620000000" count "000000000000" device command "00 none 0 " seconds "\n"
#define ASK                   ATA("00", "00", "e5", "15")
#define WHO                   "85080e0000000100000000000000ec00 in 512 15\n"
#define EPC_LOG               "85090e00000002000800000000002f00 in 1024 15\n"
#define FLUSH_EXT             "8507200000000000000000000000ea00 none 0 60\n"
#define FLUSH                 ATA("00", "00", "e7", "60")
#define STANDBY               ATA("00", "00", "e0", "60")
#define IDLE                  ATA("00", "00", "e1", "60")
#define VERIFY                ATA("01", "40", "40", "60")
#define VERIFY_EXT            "85072000000001000000000000404200 none 0 60\n"
#define GO_TO(id)             "850620004a00" id "00010000000000ef00 none 0 60\n"
#define SENSE                 "03000000fc00 in 252 15\n"
#define VPD                   "12018a001200 in 18 15\n"
#define MODE                  "5a085a00000000004000 in 64 15\n"
#define START(modifier, what) "1b0000" modifier what "00 none 0 60\n"
#define SYNC                  "35000000000000000000 none 0 60\n"

static void assert_seen(const char *wanted)
{
	assert_string_equal(disk.seen, wanted);
	*disk.seen = '\0';
}

static DiskCondition *opened_for(bool wake_tested, unsigned conditions)
{
	DiskCondition *c;
	unsigned found;

	assert_int_equal(disk_condition_open(disk.node, disk.folder, wake_tested, &c, &found), 0);
	assert_int_equal(found, conditions);
	*disk.seen = '\0';
	return c;
}

static int open_result(void)
{
	DiskCondition *c = NULL;
	unsigned found;
	int r = disk_condition_open(disk.node, disk.folder, false, &c, &found);

	disk_condition_close(c);
	return r;
}

static Condition condition_now(DiskCondition *c)
{
	Condition now;

	assert_int_equal(disk_condition_get(c, &now), 0);
	return now;
}

#define PLAIN_ATA (BIT(ACTIVE) | BIT(IDLE_A) | BIT(STANDBY_Z))
#define WITH_EPC  (BIT(ACTIVE) | BIT(IDLE_A) | BIT(IDLE_B) | BIT(IDLE_C) | BIT(STANDBY_Z))

static void a_disk_without_epc_is_asked_who_it_is_and_nothing_more(void **state)
{
	(void)state;
	fake_begin(true);
	assert_int_equal(open_result(), 0);
	assert_seen(ASK WHO);
	disk_condition_close(opened_for(false, PLAIN_ATA));
	/* supported and not enabled: stays so */
	fake_word(119, 0x4080);
	fake_word(120, 0x4000);
	disk_condition_close(opened_for(false, PLAIN_ATA));
	/* words that are not there */
	fake_word(119, 0xffff);
	fake_word(120, 0xffff);
	disk_condition_close(opened_for(false, PLAIN_ATA));
	fake_end();
}

static void epc_offers_what_its_log_says(void **state)
{
	(void)state;
	fake_begin_epc();
	assert_int_equal(open_result(), 0);
	assert_seen(ASK WHO EPC_LOG);
	disk_condition_close(opened_for(false, WITH_EPC));
	disk.no_log = true;
	disk_condition_close(opened_for(false, PLAIN_ATA));
	disk.no_log = false;
	disk.short_by = 1;
	assert_int_equal(open_result(), -EOPNOTSUPP); /* IDENTIFY is cut short, too */
	disk.short_by = 0;
	memset(disk.log, 0, sizeof(disk.log));
	disk_condition_close(opened_for(false, PLAIN_ATA));
	fake_end();
}

static void the_log_is_not_read_from_a_disk_in_standby(void **state)
{
	(void)state;
	fake_begin_epc();
	disk.power_mode = 0x00;
	assert_int_equal(open_result(), 0);
	assert_seen(ASK WHO);
	fake_end();
}

static void every_answer_to_check_power_mode_is_known(void **state)
{
	static const struct {
		uint8_t count;
		Condition condition;
	} cases[] = {
		{ 0x00, CONDITION_STANDBY_Z }, { 0x01, CONDITION_STANDBY_Y },
		{ 0x40, CONDITION_STANDBY_Z }, { 0x41, CONDITION_ACTIVE },
		{ 0x80, CONDITION_IDLE_A },    { 0x81, CONDITION_IDLE_A },
		{ 0x82, CONDITION_IDLE_B },    { 0x83, CONDITION_IDLE_C },
		{ 0xff, CONDITION_ACTIVE },
	};
	Condition now;

	(void)state;
	for (int fixed = 0; fixed < 2; fixed++) {
		DiskCondition *c;

		fake_begin(true);
		disk.fixed = fixed;
		c = opened_for(false, PLAIN_ATA);
		for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
			disk.power_mode = cases[i].count;
			assert_int_equal(condition_now(c), cases[i].condition);
			assert_seen(ASK);
		}
		disk.power_mode = 0x77;
		assert_int_equal(disk_condition_get(c, &now), -EBADMSG);
		disk_condition_close(c);
		fake_end();
	}
}

static void without_epc_idle_and_standby_are_immediate(void **state)
{
	DiskCondition *c;

	(void)state;
	fake_begin(true);
	fake_word(83, 0x5000); /* FLUSH CACHE, no 48 bits */
	c = opened_for(false, PLAIN_ATA);
	assert_int_equal(disk_condition_set(c, CONDITION_IDLE_A), 0);
	assert_seen(ASK IDLE ASK);
	assert_int_equal(condition_now(c), CONDITION_IDLE_A);
	*disk.seen = '\0';
	assert_int_equal(disk_condition_set(c, CONDITION_STANDBY_Z), 0);
	assert_seen(ASK FLUSH STANDBY ASK);
	assert_int_equal(disk_condition_set(c, CONDITION_STANDBY_Z), 0);
	assert_seen(ASK);
	assert_int_equal(disk_condition_set(c, CONDITION_ACTIVE), 0);
	assert_seen(VERIFY ASK);
	assert_int_equal(condition_now(c), CONDITION_ACTIVE);
	assert_int_equal(disk_condition_set(c, CONDITION_IDLE_C), -ERANGE);
	disk_condition_close(c);
	fake_end();
}

static void epc_goes_to_the_condition_itself(void **state)
{
	DiskCondition *c;

	(void)state;
	fake_begin_epc();
	c = opened_for(false, WITH_EPC);
	assert_int_equal(disk_condition_set(c, CONDITION_IDLE_A), 0);
	assert_seen(ASK GO_TO("81") ASK);
	assert_int_equal(disk_condition_set(c, CONDITION_IDLE_B), 0);
	assert_seen(ASK GO_TO("82") ASK);
	assert_int_equal(disk_condition_set(c, CONDITION_IDLE_C), 0);
	assert_seen(ASK GO_TO("83") ASK);
	assert_int_equal(disk_condition_set(c, CONDITION_STANDBY_Z), 0);
	assert_seen(ASK FLUSH_EXT GO_TO("00") ASK);
	assert_int_equal(disk_condition_set(c, CONDITION_ACTIVE), 0);
	assert_seen(VERIFY_EXT ASK);
	assert_int_equal(disk_condition_set(c, CONDITION_STANDBY_Y), -ERANGE);
	disk_condition_close(c);
	fake_end();
}

/* SET FEATURES 05h and 85h are APM, IDLE (E3h) and STANDBY (E2h) set the timer, SLEEP (E6h) is
 * left by a reset only; of EPC nothing but "go to", without the save and hold bits. */
static void no_command_touches_apm_or_a_timer(void **state)
{
	DiskCondition *c;

	(void)state;
	for (int epc = 0; epc < 2; epc++) {
		if (epc)
			fake_begin_epc();
		else
			fake_begin(true);
		c = opened_for(false, epc ? WITH_EPC : PLAIN_ATA);
		for (Condition to = 0; to < _CONDITION_MAX; to++)
			(void)disk_condition_set(c, to);
		assert_true(strlen(disk.seen) > 100);
		for (char *line = strtok(disk.seen, "\n"); line; line = strtok(NULL, "\n")) {
			unsigned feature, lba, device, command;

			assert_int_equal(sscanf(line + 8, "%2x", &feature), 1);
			assert_int_equal(sscanf(line + 16, "%2x", &lba), 1);
			assert_int_equal(sscanf(line + 26, "%2x", &device), 1);
			assert_int_equal(sscanf(line + 28, "%2x", &command), 1);
			assert_true(command != 0xe2 && command != 0xe3 && command != 0xe6);
			if (command == 0xef)
				assert_true(feature == 0x4a && lba == 0x01 && device == 0);
		}
		disk_condition_close(c);
		fake_end();
	}
}

static void what_an_ata_disk_refuses_is_an_error(void **state)
{
	DiskCondition *c;
	Condition now;

	(void)state;
	fake_begin(true);
	fake_word(83, 0x7400);
	c = opened_for(false, PLAIN_ATA);
	disk.aborts = true;
	assert_int_equal(disk_condition_set(c, CONDITION_IDLE_A), -EOPNOTSUPP);
	assert_int_equal(disk_condition_set(c, CONDITION_STANDBY_Z), -EOPNOTSUPP);
	assert_null(strstr(disk.seen, "e000 none")); /* not flushed: not spun down */
	disk.aborts = false;
	disk.faults = true;
	assert_int_equal(disk_condition_set(c, CONDITION_IDLE_A), -EIO);
	assert_int_equal(disk_condition_set(c, CONDITION_ACTIVE), -EIO);
	disk.faults = false;
	disk.no_registers = true; /* GOOD, and nothing that proves it */
	assert_int_equal(disk_condition_get(c, &now), -EBADMSG);
	assert_int_equal(disk_condition_set(c, CONDITION_ACTIVE), -EBADMSG);
	assert_int_equal(open_result(), -EOPNOTSUPP);
	disk_condition_close(c);
	fake_end();
}

static void a_host_that_takes_no_ata_commands_offers_nothing(void **state)
{
	(void)state;
	fake_begin(false);
	fake_attribute("vendor", "ATA     \n");
	assert_int_equal(open_result(), -EOPNOTSUPP);
	assert_seen(ASK);
	fake_end();
}

static void a_disk_behind_a_bridge_is_known_by_its_page(void **state)
{
	(void)state;
	fake_begin(true);
	fake_attribute("vendor", "WD      \n");
	fake_attribute("vpd_pg89", "x");
	disk_condition_close(opened_for(false, PLAIN_ATA));
	fake_end();
}

static void an_attention_is_taken_and_the_command_said_again(void **state)
{
	DiskCondition *c;

	(void)state;
	for (int ata = 0; ata < 2; ata++) {
		if (ata)
			fake_begin(true);
		else
			fake_begin_sas();
		c = opened_for(false, ata ? PLAIN_ATA : WITH_EPC & ~BIT(STANDBY_Z));
		disk.attentions = 3;
		assert_int_equal(condition_now(c), CONDITION_ACTIVE);
		assert_seen(ata ? ASK ASK ASK ASK : SENSE SENSE SENSE SENSE);
		disk_condition_close(c);
		fake_end();
	}
}

#define SAS_IDLE (BIT(ACTIVE) | BIT(IDLE_A) | BIT(IDLE_B) | BIT(IDLE_C))
#define SAS_ALL  (SAS_IDLE | BIT(STANDBY_Y) | BIT(STANDBY_Z))

static void a_sas_disk_offers_what_its_pages_say(void **state)
{
	(void)state;
	fake_begin_sas();
	assert_int_equal(open_result(), 0);
	assert_seen(VPD);
	disk_condition_close(opened_for(true, SAS_ALL));
	disk.vpd[4] = 0x01;
	disk.vpd[5] = 0x02;
	disk_condition_close(opened_for(true, BIT(ACTIVE) | BIT(IDLE_B) | BIT(STANDBY_Z)));
	fake_end();
}

static void an_older_sas_disk_offers_the_timers_of_its_mode_page(void **state)
{
	(void)state;
	fake_begin_sas();
	disk.no_vpd = true;
	disk.mode[8] = 0x9a;
	disk.mode[8 + 3] = 0x03;
	assert_int_equal(open_result(), 0);
	assert_seen(VPD MODE);
	disk_condition_close(opened_for(true, BIT(ACTIVE) | BIT(IDLE_A) | BIT(STANDBY_Z)));
	disk.mode[8 + 2] = 0x01;
	disk.mode[8 + 3] = 0x0c;
	disk_condition_close(
		opened_for(true, BIT(ACTIVE) | BIT(IDLE_B) | BIT(IDLE_C) | BIT(STANDBY_Y)));
	/* block descriptors although none were asked for */
	disk.mode[7] = 8;
	memmove(disk.mode + 16, disk.mode + 8, 40);
	disk_condition_close(
		opened_for(true, BIT(ACTIVE) | BIT(IDLE_B) | BIT(IDLE_C) | BIT(STANDBY_Y)));
	disk.mode[6] = disk.mode[7] = 0xff; /* beyond the end */
	assert_int_equal(open_result(), -EOPNOTSUPP);
	disk.no_mode = true;
	assert_int_equal(open_result(), -EOPNOTSUPP);
	/* the standard INQUIRY data instead of the page */
	disk.no_vpd = false;
	disk.vpd[1] = 0;
	assert_int_equal(open_result(), -EOPNOTSUPP);
	fake_end();
}

static void no_sas_disk_is_put_to_standby_before_a_wake_test(void **state)
{
	DiskCondition *c;

	(void)state;
	fake_begin_sas();
	c = opened_for(false, SAS_IDLE);
	assert_int_equal(disk_condition_set(c, CONDITION_STANDBY_Z), -ERANGE);
	assert_int_equal(disk_condition_set(c, CONDITION_STANDBY_Y), -ERANGE);
	assert_seen("");
	disk_condition_close(c);
	/* and one that has nothing else */
	disk.vpd[5] = 0;
	c = opened_for(false, BIT(ACTIVE));
	disk_condition_close(c);
	fake_end();
}

static void a_sas_disk_is_sent_power_conditions_and_never_stopped(void **state)
{
	DiskCondition *c;

	(void)state;
	fake_begin_sas();
	c = opened_for(true, SAS_ALL);
	assert_int_equal(disk_condition_set(c, CONDITION_IDLE_A), 0);
	assert_seen(SENSE START("00", "21") SENSE);
	assert_int_equal(disk_condition_set(c, CONDITION_IDLE_B), 0);
	assert_seen(SENSE START("01", "21") SENSE);
	assert_int_equal(disk_condition_set(c, CONDITION_IDLE_C), 0);
	assert_seen(SENSE START("02", "21") SENSE);
	assert_int_equal(disk_condition_set(c, CONDITION_STANDBY_Y), 0);
	assert_seen(SENSE SYNC START("01", "31") SENSE);
	assert_int_equal(disk_condition_set(c, CONDITION_STANDBY_Z), 0);
	assert_seen(SENSE START("00", "31") SENSE); /* asleep already: nothing to flush */
	assert_int_equal(condition_now(c), CONDITION_STANDBY_Z);
	*disk.seen = '\0';
	assert_int_equal(disk_condition_set(c, CONDITION_ACTIVE), 0);
	assert_seen(START("00", "11") START("00", "71") SENSE);
	disk.knows_lu_control = false;
	assert_int_equal(disk_condition_set(c, CONDITION_ACTIVE), 0);
	disk.refuses = true;
	assert_int_equal(disk_condition_set(c, CONDITION_IDLE_B), -EOPNOTSUPP);
	disk_condition_close(c);
	fake_end();
}

static void every_power_condition_of_request_sense_is_known(void **state)
{
	static const struct {
		uint8_t asc, ascq;
		Condition condition;
	} cases[] = {
		{ 0x00, 0x00, CONDITION_ACTIVE },    { 0x5e, 0x00, CONDITION_IDLE_A },
		{ 0x5e, 0x01, CONDITION_IDLE_A },    { 0x5e, 0x02, CONDITION_STANDBY_Z },
		{ 0x5e, 0x03, CONDITION_IDLE_A },    { 0x5e, 0x04, CONDITION_STANDBY_Z },
		{ 0x5e, 0x05, CONDITION_IDLE_B },    { 0x5e, 0x06, CONDITION_IDLE_B },
		{ 0x5e, 0x07, CONDITION_IDLE_C },    { 0x5e, 0x08, CONDITION_IDLE_C },
		{ 0x5e, 0x09, CONDITION_STANDBY_Y }, { 0x5e, 0x0a, CONDITION_STANDBY_Y },
		{ 0x5e, 0x41, CONDITION_ACTIVE },    { 0x5e, 0x42, CONDITION_IDLE_A },
		{ 0x5e, 0x43, CONDITION_STANDBY_Z }, { 0x5e, 0x45, CONDITION_STANDBY_Z },
		{ 0x00, 0x16, CONDITION_ACTIVE },
	};
	DiskCondition *c;

	(void)state;
	fake_begin_sas();
	c = opened_for(false, SAS_IDLE);
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		disk.asc = cases[i].asc;
		disk.ascq = cases[i].ascq;
		assert_int_equal(condition_now(c), cases[i].condition);
		assert_seen(SENSE);
	}
	disk_condition_close(c);
	fake_end();
}

static void a_stopped_disk_and_one_without_power_are_told_apart(void **state)
{
	DiskCondition *c;
	Condition now;

	(void)state;
	fake_begin_sas();
	c = opened_for(true, SAS_ALL);
	disk.key = 2;
	disk.asc = 0x04;
	disk.ascq = 0x02;
	assert_int_equal(disk_condition_get(c, &now), -EIO);
	assert_int_equal(disk_condition_set(c, CONDITION_IDLE_B), -EIO);
	assert_int_equal(disk_condition_set(c, CONDITION_ACTIVE), 0); /* started */
	disk.key = 2;
	disk.asc = 0x04;
	disk.ascq = 0x1c;
	assert_int_equal(disk_condition_get(c, &now), -EBUSY);
	disk.ascq = 0x03; /* manual intervention required */
	assert_int_equal(disk_condition_get(c, &now), -EIO);
	disk_condition_close(c);
	fake_end();
}

static void a_disk_on_its_way_is_waited_for(void **state)
{
	DiskCondition *c;

	(void)state;
	fake_begin_sas();
	c = opened_for(true, SAS_ALL);
	assert_int_equal(condition_now(c), CONDITION_ACTIVE);
	*disk.seen = '\0';
	disk.asc = 0x5e; /* in idle_a by its own timer */
	disk.ascq = 0x01;
	assert_int_equal(condition_now(c), CONDITION_IDLE_A);
	disk.busy = 3;
	assert_int_equal(disk_condition_set(c, CONDITION_ACTIVE), 0);
	assert_int_equal(disk.busy, 0);
	disk_condition_close(c);
	fake_end();
}

static void a_suspended_disk_is_sent_nothing(void **state)
{
	DiskCondition *c;
	Condition now;

	(void)state;
	for (int old = 0; old < 2; old++) {
		const char *manage = old ? "scsi_disk/0:0:0:0/manage_start_stop"
					 : "scsi_disk/0:0:0:0/manage_runtime_start_stop";

		fake_begin_epc();
		c = opened_for(false, WITH_EPC);
		fake_attribute(manage, "0\n");
		fake_attribute("power/runtime_status", "suspended\n");
		assert_int_equal(disk_condition_get(c, &now), 0);
		assert_int_equal(now, CONDITION_ACTIVE);
		fake_attribute(manage, "1\n");
		assert_int_equal(condition_now(c), CONDITION_STANDBY_Z);
		assert_int_equal(disk_condition_set(c, CONDITION_STANDBY_Z), 0);
		fake_attribute("power/runtime_status", "suspending\n");
		assert_int_equal(condition_now(c), CONDITION_STANDBY_Z);
		assert_int_equal(open_result(), -EAGAIN);
		assert_seen("");
		disk_condition_close(c);
		fake_end();
	}
}

static void a_link_that_fails_is_no_condition(void **state)
{
	DiskCondition *c;
	Condition now;

	(void)state;
	fake_begin_sas();
	c = opened_for(false, SAS_IDLE);
	disk.error = ENXIO;
	assert_int_equal(disk_condition_get(c, &now), -ENODEV);
	disk.error = EPERM;
	assert_int_equal(disk_condition_get(c, &now), -EPERM);
	disk.error = 0;
	disk.host_status = 0x01; /* DID_NO_CONNECT */
	assert_int_equal(disk_condition_get(c, &now), -ENODEV);
	disk.host_status = 0x03; /* DID_TIME_OUT */
	assert_int_equal(disk_condition_set(c, CONDITION_ACTIVE), -ETIMEDOUT);
	disk.host_status = 0x07; /* DID_ERROR */
	assert_int_equal(disk_condition_get(c, &now), -EIO);
	disk.host_status = 0;
	disk.status = 0x08; /* BUSY */
	assert_int_equal(disk_condition_get(c, &now), -EBUSY);
	disk.status = 0;
	disk.short_by = 18; /* nothing came */
	assert_int_equal(disk_condition_get(c, &now), -EBADMSG);
	disk_condition_close(c);
	assert_int_equal(open_result(), -EOPNOTSUPP);
	fake_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_disk_without_epc_is_asked_who_it_is_and_nothing_more),
		cmocka_unit_test(epc_offers_what_its_log_says),
		cmocka_unit_test(the_log_is_not_read_from_a_disk_in_standby),
		cmocka_unit_test(every_answer_to_check_power_mode_is_known),
		cmocka_unit_test(without_epc_idle_and_standby_are_immediate),
		cmocka_unit_test(epc_goes_to_the_condition_itself),
		cmocka_unit_test(no_command_touches_apm_or_a_timer),
		cmocka_unit_test(what_an_ata_disk_refuses_is_an_error),
		cmocka_unit_test(a_host_that_takes_no_ata_commands_offers_nothing),
		cmocka_unit_test(a_disk_behind_a_bridge_is_known_by_its_page),
		cmocka_unit_test(an_attention_is_taken_and_the_command_said_again),
		cmocka_unit_test(a_sas_disk_offers_what_its_pages_say),
		cmocka_unit_test(an_older_sas_disk_offers_the_timers_of_its_mode_page),
		cmocka_unit_test(no_sas_disk_is_put_to_standby_before_a_wake_test),
		cmocka_unit_test(a_sas_disk_is_sent_power_conditions_and_never_stopped),
		cmocka_unit_test(every_power_condition_of_request_sense_is_known),
		cmocka_unit_test(a_stopped_disk_and_one_without_power_are_told_apart),
		cmocka_unit_test(a_disk_on_its_way_is_waited_for),
		cmocka_unit_test(a_suspended_disk_is_sent_nothing),
		cmocka_unit_test(a_link_that_fails_is_no_condition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
