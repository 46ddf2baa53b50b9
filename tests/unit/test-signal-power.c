/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/power-config.h"

#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "signal/nut.h"
#include "signal/power-sysfs.h"
#include "signal/power-wishes.h"

static PowerConfig *parse(const char *text, size_t wanted_warnings)
{
	PowerConfig *c;
	size_t warnings;

	assert_int_equal(power_config_read_text("power.conf", text, &c, &warnings), 0);
	assert_int_equal(warnings, wanted_warnings);
	return c;
}

/* Seconds; it must be back for 30, and is waited for for 60. */
static void a_failure_ends_when_power_is_back_for_long_enough_or_nothing_is_known(void **state)
{
	static const struct {
		uint64_t at_s;
		FeedSeen seen;
		FeedChange change;
		bool failing;
	} steps[] = {
		{ 0, FEED_UNKNOWN, FEED_STAYS, false },
		{ 5, FEED_SOUND, FEED_STAYS, false },
		{ 100, FEED_FAILED, FEED_STAYS, true },
		{ 110, FEED_SOUND, FEED_STAYS, true },
		{ 139, FEED_SOUND, FEED_STAYS, true },
		{ 139, FEED_FAILED, FEED_STAYS, true },
		{ 141, FEED_SOUND, FEED_STAYS, true },
		{ 150, FEED_UNKNOWN, FEED_STAYS, true },
		{ 171, FEED_UNKNOWN, FEED_IS_BACK, false },
		{ 200, FEED_FAILED, FEED_STAYS, true },
		{ 259, FEED_UNKNOWN, FEED_STAYS, true },
		{ 260, FEED_UNKNOWN, FEED_IS_LOST, false },
		{ 300, FEED_UNKNOWN, FEED_STAYS, false },
		{ 301, FEED_FAILED, FEED_STAYS, true },
	};
	const FeedRules rules = { .back_us = 30 * USEC_PER_SEC, .lost_us = 60 * USEC_PER_SEC };
	FeedState f = { 0 };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(steps); i++) {
		uint64_t now = steps[i].at_s * USEC_PER_SEC;

		feed_see(&f, steps[i].seen, "offline", now);
		if (feed_settle(&f, &rules, now) != steps[i].change ||
		    f.failing != steps[i].failing)
			fail_msg("at %llu s (step %zu)", (unsigned long long)steps[i].at_s, i);
		assert_true(feed_settles_at(&f, &rules) > now);
		if (steps[i].at_s == 150)
			assert_int_equal(feed_settles_at(&f, &rules), 171 * USEC_PER_SEC);
	}
	assert_string_equal(f.words, "offline");
}

static void answers_of_upsd_say_whether_a_ups_is_on_battery(void **state)
{
	static const struct {
		const char *line, *words;
		FeedSeen seen;
	} cases[] = {
		{ "VAR a ups.status \"OL\"", "upsd says OL", FEED_SOUND },
		{ "VAR a ups.status \"OL CHRG\"", "upsd says OL CHRG", FEED_SOUND },
		{ "VAR a ups.status \"ALARM OB DISCHRG\"", "on battery (ALARM OB DISCHRG)",
		  FEED_FAILED },
		{ "VAR a ups.status \"OL LB\"", "on battery (OL LB)", FEED_FAILED },
		{ "VAR a ups.status \"FSD OL\"", "on battery (FSD OL)", FEED_FAILED },
		{ "VAR a ups.status \"BLOB\"", "upsd says BLOB", FEED_UNKNOWN },
		{ "VAR a ups.status \"\"", "upsd says ", FEED_UNKNOWN },
		{ "VAR a ups.status \"OB \033[1m\"", "on battery (OB ?[1m)", FEED_FAILED },
		{ "ERR DATA-STALE", "upsd says ERR DATA-STALE", FEED_UNKNOWN },
		{ "ERR \033", "upsd says ERR ?", FEED_UNKNOWN },
	};
	static const char *const others[] = { "",
					      "OK",
					      "VAR b ups.status \"OB\"",
					      "VAR a ups.load \"OB\"",
					      "VAR a ups.status OB",
					      "VAR a ups.status \"OB" };
	FeedSeen seen;
	char words[96];

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		assert_int_equal(nut_parse_answer(cases[i].line, "a", &seen, words, sizeof(words)),
				 0);
		assert_int_equal(seen, cases[i].seen);
		assert_string_equal(words, cases[i].words);
	}
	for (size_t i = 0; i < ELEMENTSOF(others); i++)
		assert_int_equal(nut_parse_answer(others[i], "a", &seen, words, sizeof(words)),
				 -EINVAL);
}

static void a_ups_is_named_as_upsc_names_it_by_address_alone(void **state)
{
	static const char *const bad[] = {
		"",       "@localhost", "a@",  "a@host.example",    "a@127.0.0.1:port",
		"a@[::1", "a@[::1]x",   "a b", "a@1.2.3.4:99999999"
	};
	NutAddress a;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(bad); i++)
		if (nut_address_parse(bad[i], &a) != -EINVAL)
			fail_msg("\"%s\" is taken", bad[i]);
	assert_int_equal(nut_address_parse("a", &a), 0);
	assert_string_equal(a.ups, "a");
	assert_int_equal(((struct sockaddr_in *)&a.socket)->sin_port, htons(3493));
	assert_int_equal(((struct sockaddr_in *)&a.socket)->sin_addr.s_addr,
			 htonl(INADDR_LOOPBACK));
	assert_int_equal(nut_address_parse("rack-1@[::1]:40", &a), 0);
	assert_int_equal(a.socket.ss_family, AF_INET6);
	assert_int_equal(((struct sockaddr_in6 *)&a.socket)->sin6_port, htons(40));
}

/* DIRECTORY/PATH with this text */
static void put(const char *directory, const char *path, const char *text)
{
	_cleanup_free_ char *full = text_printf("%s/%s", directory, path);
	char *slash = strrchr(full, '/');

	*slash = '\0';
	assert_true(mkdir_parents(full, 0755) >= 0);
	*slash = '/';
	assert_int_equal(write_file_atomic(full, text, 0644), 0);
}

static void remove_tree(const char *directory)
{
	_cleanup_free_ char *command = text_printf("rm -r '%s'", directory);

	assert_int_equal(system(command), 0);
}

static void the_kernel_says_which_supply_is_offline_and_which_alarm_is_raised(void **state)
{
	char sysfs[] = "/tmp/signal-power-XXXXXX", words[256];
	char *fans[] = { "fan*_alarm", NULL }, *inputs[] = { "in1_alarm", "power?_alarm", NULL };

	(void)state;
	assert_non_null(mkdtemp(sysfs));
	put(sysfs, "class/power_supply/ADP1/online", "1\n");
	put(sysfs, "class/power_supply/BAT0/status", "Full\n");
	put(sysfs, "class/hwmon/hwmon0/name", "coretemp\n");
	put(sysfs, "class/hwmon/hwmon0/in1_alarm", "1\n");
	put(sysfs, "class/hwmon/hwmon1/name", "pmbus\n");
	put(sysfs, "class/hwmon/hwmon1/in1_alarm", "0\n");
	put(sysfs, "class/hwmon/hwmon1/in1_input", "1\n");
	put(sysfs, "class/hwmon/hwmon2/name", "pmbus\n");
	put(sysfs, "class/hwmon/hwmon2/power2_alarm", "0\n");
	assert_int_equal(supply_seen(sysfs, "ADP1", words, sizeof(words)), FEED_SOUND);
	assert_int_equal(supply_seen(sysfs, "BAT0", words, sizeof(words)), FEED_SOUND);
	assert_int_equal(supply_seen(sysfs, "ADP2", words, sizeof(words)), FEED_UNKNOWN);
	assert_non_null(strstr(words, "class/power_supply/ADP2 has neither"));
	assert_int_equal(alarm_seen(sysfs, "pmbus", inputs, words, sizeof(words)), FEED_SOUND);
	assert_int_equal(alarm_seen(sysfs, "pmbus", NULL, words, sizeof(words)), FEED_SOUND);
	assert_int_equal(alarm_seen(sysfs, "pmbus", fans, words, sizeof(words)), FEED_UNKNOWN);
	assert_int_equal(alarm_seen(sysfs, "acbel", NULL, words, sizeof(words)), FEED_UNKNOWN);
	assert_non_null(strstr(words, "no chip acbel"));

	put(sysfs, "class/power_supply/ADP1/online", "0\n");
	put(sysfs, "class/power_supply/BAT0/status", "Discharging\n");
	put(sysfs, "class/hwmon/hwmon2/power2_alarm", "1\n");
	assert_int_equal(supply_seen(sysfs, "ADP1", words, sizeof(words)), FEED_FAILED);
	assert_string_equal(words, "offline");
	assert_int_equal(supply_seen(sysfs, "BAT0", words, sizeof(words)), FEED_FAILED);
	assert_int_equal(alarm_seen(sysfs, "pmbus", inputs, words, sizeof(words)), FEED_FAILED);
	assert_string_equal(words, "raised (power2_alarm)");
	remove_tree(sysfs);
}

static void assert_wishes(const PowerConfig *c, size_t feed, const char *wanted)
{
	_cleanup_(wishes_done) Wishes wishes = { 0 };
	char got[2000] = "", target[100];

	assert_int_equal(feed_wishes(c, &c->feeds[feed], "down", &wishes), 0);
	for (size_t i = 0; i < wishes.n; i++) {
		const Wish *w = &wishes.list[i];
		size_t n = strlen(got);

		assert_string_equal(w->class, "emergency");
		snprintf(got + n, sizeof(got) - n, "%s %g%s %s\n",
			 wish_target_words(w, target, sizeof(target)), w->limit,
			 w->unit == LIMIT_WATTS ? "W" : "%", w->reason);
	}
	assert_string_equal(got, wanted);
}

static void a_feed_that_fails_limits_the_node_or_what_hangs_on_its_rails(void **state)
{
	_cleanup_(power_config_freep) PowerConfig *c = parse("[power]\n"
							     "back_for = 1min\n"
							     "lost_after = 2min\n"
							     "poll = 500ms\n"
							     "[ups a@localhost]\n"
							     "limit = 300 W\n"
							     "[supply ADP1]\n"
							     "limit = 50%\n"
							     "rails = left, right\n"
							     "[alarm psu2]\n"
							     "chip = pmbus@3-0058\n"
							     "alarms = in1_alarm\n"
							     "limit = 40W\n"
							     "rails = right\n"
							     "[rail left]\n"
							     "devices = sda nvme0\n"
							     "[rail right]\n"
							     "group = rack1\n",
							     0);

	(void)state;
	assert_int_equal(c->rules.back_us, 60 * USEC_PER_SEC);
	assert_int_equal(c->rules.lost_us, 120 * USEC_PER_SEC);
	assert_int_equal(c->poll_us, 500 * USEC_PER_MSEC);
	assert_wishes(c, 0, "node 300W UPS a@localhost is down\n");
	assert_wishes(c, 1,
		      "device sda 50% supply ADP1 is down, rail left\n"
		      "device nvme0 50% supply ADP1 is down, rail left\n"
		      "group rack1 50% supply ADP1 is down, rail right\n");
	assert_wishes(c, 2, "group rack1 40W alarm psu2 is down, rail right\n");
}

static void what_is_wrong_or_incomplete_is_counted_and_left_out(void **state)
{
	_cleanup_(power_config_freep) PowerConfig *c = parse("[ups a@host.example]\n" /* 1 */
							     "limit = 30%\n"
							     "[ups b]\n" /* 2 */
							     "[ups c]\n"
							     "limit = low\n" /* 3, 4 */
							     "[supply d]\n"
							     "limit = 30%\n"
							     "rails = none\n" /* 5 */
							     "[supply e/f]\n" /* 6 */
							     "[alarm g]\n"
							     "limit = 30%\n" /* 7 */
							     "[supply h]\n"
							     "limit = 30W\n"
							     "rails = many\n" /* 8 */
							     "[rail many]\n"
							     "devices = sda sdb\n"
							     "[supply i]\n"
							     "limit = 30%\n"
							     "rails = empty\n" /* 9 */
							     "[rail empty]\n"
							     "[power]\n"
							     "poll = 0\n" /* 10 */
							     "[supply j]\n"
							     "limit = 30%\n",
							     10);

	(void)state;
	assert_int_equal(c->n_feeds, 1);
	assert_wishes(c, 0, "node 30% supply j is down\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_failure_ends_when_power_is_back_for_long_enough_or_nothing_is_known),
		cmocka_unit_test(answers_of_upsd_say_whether_a_ups_is_on_battery),
		cmocka_unit_test(a_ups_is_named_as_upsc_names_it_by_address_alone),
		cmocka_unit_test(the_kernel_says_which_supply_is_offline_and_which_alarm_is_raised),
		cmocka_unit_test(a_feed_that_fails_limits_the_node_or_what_hangs_on_its_rails),
		cmocka_unit_test(what_is_wrong_or_incomplete_is_counted_and_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
