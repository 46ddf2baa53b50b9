/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/calendar.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/timerfd.h>

#include <cmocka.h>

#include "signal/wall-timer.h"

#define MONDAY 1795392000 /* 2026-11-23T00:00:00Z */

static Calendar *parse(const char *text, size_t wanted_warnings)
{
	Calendar *c;
	size_t warnings;

	assert_int_equal(calendar_read_text("calendar.conf", text, &c, &warnings), 0);
	assert_int_equal(warnings, wanted_warnings);
	return c;
}

/* "TARGET LIMIT UNIT REASON", one line each */
static void assert_wishes(const Calendar *c, time_t now, const char *wanted)
{
	_cleanup_(wishes_done) Wishes wishes = { 0 };
	char got[2000] = "", target[100];
	time_t again;

	assert_int_equal(calendar_wishes(c, now, &wishes, &again), 0);
	assert_true(again > now && again <= now + 3600);
	for (size_t i = 0; i < wishes.n; i++) {
		const Wish *w = &wishes.list[i];
		size_t n = strlen(got);

		assert_string_equal(w->class, "schedule");
		snprintf(got + n, sizeof(got) - n, "%s %g%s %s\n",
			 wish_target_words(w, target, sizeof(target)), w->limit,
			 w->unit == LIMIT_WATTS ? "W" : "%", w->reason);
	}
	assert_string_equal(got, wanted);
}

static void every_open_window_is_a_wish_whichever_way_the_clock_went(void **state)
{
	_cleanup_(calendar_freep) Calendar *c = parse("[node]\n"
						      "limit = Mon..Fri 07:00..19:00 70%\n"
						      "limit = Mon 12:00..13:00 350 W\n"
						      "[group rack 1]\n"
						      "limit = 12:30..24:00   50%\n"
						      "[device sda]\n"
						      "limit=22:00..06:00 0.1kW\n",
						      0);

	(void)state;
	assert_wishes(c, MONDAY + 12 * 3600 + 1800,
		      "node 70% Mon..Fri 07:00..19:00\n"
		      "node 350W Mon 12:00..13:00\n"
		      "group rack 1 50% 12:30..24:00\n");
	assert_wishes(c, MONDAY + 23 * 3600,
		      "group rack 1 50% 12:30..24:00\n"
		      "device sda 100W 22:00..06:00\n");
	assert_wishes(c, MONDAY + 7 * 3600 - 1, "");
	assert_wishes(c, MONDAY + 7 * 3600, "node 70% Mon..Fri 07:00..19:00\n");
}

static void a_line_that_cannot_be_used_is_counted_and_the_others_count(void **state)
{
	_cleanup_(calendar_freep) Calendar *c = parse("limit = 00:00..24:00 10%\n"
						      "[node]\n"
						      "limit = 07:00..19:00\n"
						      "limit = 70%\n"
						      "limit =\n"
						      "limit = 07:00..19:00 70\n"
						      "limit = 07:00..19:00 170%\n"
						      "limit = Montag 70%\n"
						      "limit = 00:00..24:00 80%\n"
						      "limit = 00:00..24:00 80%\n"
						      "until = 5\n"
						      "[group]\n"
						      "limit = 00:00..24:00 20%\n"
						      "[node]\n"
						      "limit = 00:00..24:00 30%\n",
						      11);

	(void)state;
	assert_wishes(c, MONDAY, "node 80% 00:00..24:00\n");
}

static int settime_flags;
static bool clock_was_set;

int __real_timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old)
{
	settime_flags = flags;
	return __real_timerfd_settime(fd, flags, new, old);
}

ssize_t __real_read(int fd, void *buf, size_t n);
ssize_t __wrap_read(int fd, void *buf, size_t n);
ssize_t __wrap_read(int fd, void *buf, size_t n)
{
	ssize_t r = __real_read(fd, buf, n);

	if (!clock_was_set)
		return r;
	errno = ECANCELED;
	return -1;
}

static void on_time(void *userdata)
{
	(*(int *)userdata)++;
}

/* Nobody may set the clock of the machine for a test: what the kernel would say of it is put in its
 * mouth. */
static void the_calendar_is_looked_at_when_its_time_comes_and_when_the_clock_is_set(void **state)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	_cleanup_(wall_timer_freep) WallTimer *t = NULL;
	int calls = 0;

	(void)state;
	assert_int_equal(sd_event_new(&event), 0);
	assert_int_equal(wall_timer_new(event, on_time, &calls, &t), 0);
	assert_int_equal(sd_event_run(event, 0), 0);
	assert_int_equal(wall_timer_set(t, 1), 0);
	assert_int_equal(settime_flags, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET);
	assert_true(sd_event_run(event, UINT64_MAX) > 0);
	assert_int_equal(calls, 1);
	clock_was_set = true;
	assert_int_equal(wall_timer_set(t, 1), 0);
	assert_true(sd_event_run(event, UINT64_MAX) > 0);
	clock_was_set = false;
	assert_int_equal(calls, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_open_window_is_a_wish_whichever_way_the_clock_went),
		cmocka_unit_test(a_line_that_cannot_be_used_is_counted_and_the_others_count),
		cmocka_unit_test(
			the_calendar_is_looked_at_when_its_time_comes_and_when_the_clock_is_set),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
