/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Whether a unit runs or will: what systemd answers on the bus counts. A thread of the test answers
 * for it. */

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "base/clock.h"
#include "ctl/doctor.h"

#define UNIT_PATH "/org/freedesktop/systemd1/unit/"

static int answer_state(sd_bus_message *m, const char *unit)
{
	const char *state = streq(unit, "on.service")        ? "enabled"
			    : streq(unit, "wanted.service")  ? "enabled-runtime"
			    : streq(unit, "by-hand.service") ? "disabled"
			    : streq(unit, "masked.service")  ? "masked"
							     : NULL;

	if (!state)
		return sd_bus_reply_method_errorf(m, "org.freedesktop.DBus.Error.FileNotFound",
						  "There is no such unit");
	return sd_bus_reply_method_return(m, "s", state);
}

static int answer_path(sd_bus_message *m, const char *unit)
{
	if (streq(unit, "by-hand.service"))
		return sd_bus_reply_method_return(m, "o", UNIT_PATH "byhand");
	if (streq(unit, "wanted.service"))
		return sd_bus_reply_method_return(m, "o", UNIT_PATH "wanted");
	return sd_bus_reply_method_errorf(m, "org.freedesktop.systemd1.NoSuchUnit",
					  "It is not loaded");
}

static int answer(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	const char *text = NULL;

	(void)userdata;
	(void)error;
	if (sd_bus_message_is_method_call(m, "org.freedesktop.DBus.Properties", "Get"))
		return sd_bus_reply_method_return(
			m, "v", "s",
			streq(sd_bus_message_get_path(m), UNIT_PATH "byhand") ? "active"
									      : "failed");
	if (sd_bus_message_read(m, "s", &text) < 0)
		return 0;
	if (streq(sd_bus_message_get_member(m), "GetUnitFileState"))
		return answer_state(m, text);
	if (streq(sd_bus_message_get_member(m), "GetUnit"))
		return answer_path(m, text);
	return 0;
}

static void *serve(void *arg)
{
	sd_bus *bus = NULL;
	sd_id128_t id;
	int fd = (int)(intptr_t)arg, r;

	assert_true(sd_id128_randomize(&id) >= 0);
	assert_true(sd_bus_new(&bus) >= 0);
	assert_true(sd_bus_set_fd(bus, fd, fd) >= 0);
	assert_true(sd_bus_set_server(bus, 1, id) >= 0);
	assert_true(sd_bus_set_anonymous(bus, 1) >= 0);
	assert_true(sd_bus_add_filter(bus, NULL, answer, NULL) >= 0);
	assert_true(sd_bus_start(bus) >= 0);
	do {
		r = sd_bus_process(bus, NULL);
		if (r == 0)
			r = sd_bus_wait(bus, UINT64_MAX);
	} while (r >= 0 || r == -EINTR);
	sd_bus_flush_close_unref(bus);
	return NULL;
}

static void systemd_tells_what_runs_and_what_is_enabled(void **state)
{
	sd_bus *bus = NULL;
	pthread_t thread;
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	assert_int_equal(pthread_create(&thread, NULL, serve, (void *)(intptr_t)fds[0]), 0);
	assert_true(sd_bus_new(&bus) >= 0);
	assert_true(sd_bus_set_fd(bus, fds[1], fds[1]) >= 0);
	assert_true(sd_bus_start(bus) >= 0);
	assert_int_equal(doctor_unit(bus, "", "on.service"), UNIT_ENABLED);
	assert_int_equal(doctor_unit(bus, "", "wanted.service"), UNIT_ENABLED);
	assert_int_equal(doctor_unit(bus, "", "by-hand.service"), UNIT_RUNS);
	assert_int_equal(doctor_unit(bus, "", "masked.service"), UNIT_OFF);
	assert_int_equal(doctor_unit(bus, "", "nosuch.service"), UNIT_OFF);
	sd_bus_close_unref(bus);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void a_line_is_found_but_for_what_makes_it_harmless(void **state)
{
	char path[] = "/tmp/storpower-doctor-XXXXXX";
	int fd = mkstemp(path);
	_cleanup_free_ char *line = NULL, *none = NULL;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(dprintf(fd, "# a\n/dev/sda -n standby\n/dev/sdb -a"), 35);
	line = doctor_line(path, "^/dev/", " -n ");
	none = doctor_line(path, "^/dev/", " -[na] ?");
	assert_string_equal(line, "/dev/sdb -a");
	assert_null(none);
	assert_null(doctor_line("/nosuch/file", ".", NULL));
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(systemd_tells_what_runs_and_what_is_enabled),
		cmocka_unit_test(a_line_is_found_but_for_what_makes_it_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
