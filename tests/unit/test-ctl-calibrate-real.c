/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The rig of real drives: fio on a file of this test's own, and a daemon that this test plays. */

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/file.h"
#include "ctl/calibrate-progress.h"
#include "ctl/calibrate-real.h"

#define FILE_BYTES (8 << 20)

/* What the daemon is asked to hold, and gives back, as one letter each through a pipe: the number
 * of the state, or "r". */
typedef struct Daemon {
	pid_t pid;
	int told;
	sd_bus *bus; /* this test's end */
} Daemon;

typedef struct Play {
	int told;
	bool limited, overruled, refuses;
	uint64_t cookie;
} Play;

static void append_device(sd_bus_message *m, const char *name, double watts)
{
	char path[64];

	snprintf(path, sizeof(path), "/org/storpower1/device/%s", name);
	sd_bus_message_open_container(m, 'e', "oa{sa{sv}}");
	sd_bus_message_append(m, "o", path);
	sd_bus_message_append(m, "a{sa{sv}}", 1, BUS_DEVICE, 2, "Name", "s", name, "SensedPower",
			      "d", watts);
	sd_bus_message_close_container(m);
}

static void answer_devices(sd_bus_message *m)
{
	sd_bus_message_open_container(m, 'a', "{oa{sa{sv}}}");
	append_device(m, "nvme0", 7.5);
	append_device(m, "nvme1", NAN);
	sd_bus_message_close_container(m);
}

static void answer_state(const Play *p, sd_bus_message *m)
{
	sd_bus_message_open_container(m, 'a', "{sv}");
	sd_bus_message_append(m, "{sv}", "Sensors", "a(ssssds)", 0);
	sd_bus_message_open_container(m, 'e', "sv");
	sd_bus_message_append(m, "s", "Claims");
	sd_bus_message_open_container(m, 'v', "aa{sv}");
	sd_bus_message_open_container(m, 'a', "a{sv}");
	if (p->cookie)
		sd_bus_message_append(m, "a{sv}", 4, "Cookie", "t", p->cookie, "Active", "b", 1,
				      "InForce", "b", !p->overruled, "PowerState", "i", 0);
	if (p->limited)
		sd_bus_message_append(m, "a{sv}", 3, "Cookie", "t", (uint64_t)99, "Active", "b", 1,
				      "PowerState", "i", -1);
	sd_bus_message_close_container(m);
	sd_bus_message_close_container(m);
	sd_bus_message_close_container(m);
	sd_bus_message_close_container(m);
}

static void tell(const Play *p, char letter)
{
	if (write(p->told, &letter, 1) != 1)
		_exit(1);
}

/* The option power-state of a claim on nvme0 that holds nothing else back. */
static int wanted_state(sd_bus_message *m)
{
	_cleanup_json_ json_object *options = NULL;
	const char *unit;
	double value;

	if (sd_bus_message_read(m, "ds", &value, &unit) < 0 || value != 100 || !streq(unit, "%"))
		_exit(1);
	options = json_from_message(m);
	if (!streq(json_text(options, "device"), "nvme0"))
		_exit(1);
	return (int)json_number(options, "power-state");
}

static int answer(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	_cleanup_message_ sd_bus_message *reply = NULL;
	const char *member = sd_bus_message_get_member(m);
	Play *p = userdata;

	(void)error;
	if (p->refuses && streq(member, "SetBudget"))
		return sd_bus_reply_method_errorf(m, "org.storpower1.Error.InvalidOption",
						  "\"power-state\" is no option");
	sd_bus_message_new_method_return(m, &reply);
	if (streq(member, "SetBudget")) {
		tell(p, (char)('0' + wanted_state(m)));
		p->cookie++;
		sd_bus_message_append(reply, "t", p->cookie);
	} else if (streq(member, "Release")) {
		tell(p, 'r');
	} else if (streq(member, "GetManagedObjects")) {
		answer_devices(reply);
	} else if (streq(member, "GetAll")) {
		answer_state(p, reply);
	}
	sd_bus_send(NULL, reply, NULL);
	return 1;
}

static void play(int fd, Play *p)
{
	const sd_id128_t id = { .qwords = { 1, 2 } };
	sd_bus *bus = NULL;

	if (sd_bus_new(&bus) < 0 || sd_bus_set_fd(bus, fd, fd) < 0 ||
	    sd_bus_set_server(bus, 1, id) < 0 || sd_bus_set_anonymous(bus, 1) < 0 ||
	    sd_bus_start(bus) < 0 || sd_bus_add_filter(bus, NULL, answer, p) < 0)
		_exit(1);
	while (sd_bus_process(bus, NULL) >= 0)
		if (sd_bus_wait(bus, UINT64_MAX) < 0)
			break;
	_exit(0);
}

static void start_daemon(Daemon *d, Play p)
{
	int ends[2], told[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(pipe2(told, O_CLOEXEC | O_NONBLOCK), 0);
	d->pid = fork();
	assert_true(d->pid >= 0);
	if (d->pid == 0) {
		close(ends[0]);
		p.told = told[1];
		play(ends[1], &p);
	}
	close(ends[1]);
	close(told[1]);
	d->told = told[0];
	assert_true(sd_bus_new(&d->bus) >= 0);
	assert_true(sd_bus_set_fd(d->bus, ends[0], ends[0]) >= 0);
	assert_true(sd_bus_set_anonymous(d->bus, 1) >= 0);
	assert_true(sd_bus_start(d->bus) >= 0);
}

/* Returns all that it was told. */
static void end_daemon(Daemon *d, char *ret_told, size_t size)
{
	ssize_t n;
	int status;

	sd_bus_flush_close_unref(d->bus);
	assert_int_equal(waitpid(d->pid, &status, 0), d->pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	n = read(d->told, ret_told, size - 1);
	ret_told[MAX(n, 0)] = '\0';
	close(d->told);
}

/* Not in /tmp: a tmpfs may not know direct IO. */
static char path[] = "build/drive-XXXXXX";

static int make_file(void **state)
{
	static char bytes[FILE_BYTES];
	int fd = mkstemp(path), r;

	(void)state;
	memset(bytes, 'x', sizeof(bytes));
	r = fd < 0 ? -1 : write_all(fd, bytes, sizeof(bytes));
	return fd < 0 ? -1 : close(fd) < 0 ? -1 : r;
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static RealRig rig_on(Ctl *c, Daemon *d, int signals)
{
	RealRig r = { .ctl = c,
		      .meter = { .device = "nvme0" },
		      .job = { .path = path, .engine = "libaio", .processors = 1 },
		      .signals = signals };

	c->bus = d->bus;
	return r;
}

static int no_signals(void)
{
	sigset_t mask;

	sigemptyset(&mask);
	return signalfd(-1, &mask, SFD_CLOEXEC);
}

static Calibration small_calibration(void)
{
	return (Calibration){
		.subject = { .kind = KIND_NVME, .sensor_error = 0.01, .n_states = 2 },
		.plan = { .grid = { .states = { 0, 1 },
				    .depths = { 4 },
				    .chunks_kib = { 4 },
				    .streams = { { 1, RANDOM_IO } },
				    .n_states = 2,
				    .n_depths = 1,
				    .n_chunks = 1,
				    .n_streams = 1 },
			  .goal = { .runs = 2 },
			  .most = 6,
			  .sure = 1 },
		.idle_w = 5,
	};
}

static void fio_measures_in_each_state_and_the_state_is_given_back(void **state)
{
	_cleanup_close_ int signals = no_signals();
	Calibration c = small_calibration();
	char told[16];
	Ctl ctl = {};
	Daemon d;
	RealRig real;
	Rig rig;

	(void)state;
	start_daemon(&d, (Play){});
	real = rig_on(&ctl, &d, signals);
	rig = calibrate_real_rig(&real);
	assert_int_equal(calibrate_run(&rig, &c, NULL, NULL, NULL), 0);
	assert_int_equal(c.n_points, 2);
	for (size_t i = 0; i < c.n_points; i++) {
		assert_float_equal(c.points[i].at.watts, 7.5, 1e-9);
		assert_true(c.points[i].at.iops > 0 && c.points[i].at.p99_us > 0);
		assert_true(c.points[i].rounds >= 5);
	}
	assert_true(c.points[0].at.power_state != c.points[1].at.power_state);
	calibrate_real_rig_done(&real);
	end_daemon(&d, told, sizeof(told));
	assert_true(streq(told, "0r1r") || streq(told, "1r0r"));
	calibration_done(&c);
}

static void ends_it(Play play)
{
	_cleanup_close_ int signals = no_signals();
	Calibration c = small_calibration();
	char told[16];
	Ctl ctl = {};
	Daemon d;
	RealRig real;
	Rig rig;

	start_daemon(&d, play);
	real = rig_on(&ctl, &d, signals);
	rig = calibrate_real_rig(&real);
	assert_int_equal(calibrate_run(&rig, &c, NULL, NULL, NULL), -EBUSY);
	assert_null(real.fio);
	end_daemon(&d, told, sizeof(told));
	assert_int_equal(strlen(told), 2);
	assert_int_equal(told[1], 'r');
	calibration_done(&c);
}

static void a_limit_that_comes_into_force_ends_it(void **state)
{
	(void)state;
	ends_it((Play){ .limited = true });
}

static void a_state_that_is_no_longer_pinned_ends_it(void **state)
{
	(void)state;
	ends_it((Play){ .overruled = true });
}

static void a_signal_ends_it_and_all_is_put_back(void **state)
{
	Calibration c = small_calibration();
	char told[16];
	sigset_t mask, before;
	Ctl ctl = {};
	Daemon d;
	RealRig real;
	Rig rig;
	int signals;

	(void)state;
	start_daemon(&d, (Play){});
	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	assert_int_equal(sigprocmask(SIG_BLOCK, &mask, &before), 0);
	signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	raise(SIGTERM);
	real = rig_on(&ctl, &d, signals);
	rig = calibrate_real_rig(&real);
	assert_int_equal(calibrate_run(&rig, &c, NULL, NULL, NULL), -EINTR);
	assert_null(real.fio);
	assert_int_equal(
		read(signals, &(struct signalfd_siginfo){}, sizeof(struct signalfd_siginfo)),
		sizeof(struct signalfd_siginfo));
	assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
	close(signals);
	end_daemon(&d, told, sizeof(told));
	assert_int_equal(strlen(told), 2);
	assert_int_equal(told[1], 'r');
	calibration_done(&c);
}

static void a_daemon_that_holds_no_state_measures_none(void **state)
{
	_cleanup_close_ int signals = no_signals();
	Calibration c = small_calibration();
	char told[16];
	Ctl ctl = {};
	Daemon d;
	RealRig real;
	Rig rig;

	(void)state;
	start_daemon(&d, (Play){ .refuses = true });
	real = rig_on(&ctl, &d, signals);
	rig = calibrate_real_rig(&real);
	assert_int_equal(calibrate_run(&rig, &c, NULL, NULL, NULL), -EIO);
	end_daemon(&d, told, sizeof(told));
	assert_string_equal(told, "");
	calibration_done(&c);
}

static const char devices_text[] =
	"[{\"Name\":\"nvme0\",\"SensedPower\":12,\"SensedPowerError\":0.6,\"SensedBy\":\"riser\","
	"\"SensedOf\":\"group\"},{\"Name\":\"nvme1\",\"SensedPower\":null,\"SensedBy\":\"\"},"
	"{\"Name\":\"nvme2\",\"SensedPower\":8,\"SensedPowerError\":0.16,\"SensedBy\":\"slot\","
	"\"SensedOf\":\"device\"}]";

static void watts_are_as_the_daemon_tells_of_the_nearest_sensor(void **state)
{
	_cleanup_json_ json_object *devices = json_tokener_parse(devices_text);
	CalibrateMeter m;

	(void)state;
	assert_true(calibrate_find_meter(json_object_array_get_idx(devices, 0), &m));
	assert_true(m.shared);
	assert_string_equal(m.sensor, "riser");
	assert_float_equal(calibrate_read_meter(&m, devices), 12, 1e-9);
	assert_float_equal(calibrate_meter_error(&m, devices), 0.05, 1e-9);
	assert_false(calibrate_find_meter(json_object_array_get_idx(devices, 1), &m));
	assert_true(calibrate_find_meter(json_object_array_get_idx(devices, 2), &m));
	assert_false(m.shared);
	snprintf(m.device, sizeof(m.device), "gone");
	assert_true(isnan(calibrate_read_meter(&m, devices)));
}

static void progress_is_a_line_that_says_what_was_found_and_what_is_left(void **state)
{
	const CalibratePoint p = { .at = { .power_state = 1,
					   .depth = 16,
					   .chunk_kib = 64,
					   .read_share = 1,
					   .mb_s = 1234.5,
					   .watts = 8.25 } };
	const CalibrateProgress half = { 60, 120, 780, 3, &p }, idle = { 0, 120, NAN, 3, NULL };
	Calibration c = { .idle_w = 5.25 };
	ProgressBar bar = { &c, true, 80 };
	char line[320];

	(void)state;
	assert_string_equal(progress_line(line, sizeof(line), &bar, &idle), "It idles at 5.25 W");
	assert_string_equal(progress_line(line, sizeof(line), &bar, &half),
			    "[##########----------] 60 of 120, at most 13min left  ps 1, depth 16, "
			    "64 KiB random reads: 1234.5 MB/s, 8.25 W, not settled");
	bar.terminal = false;
	assert_string_equal(progress_line(line, sizeof(line), &bar, &half),
			    "60 of 120, at most 13min left: ps 1, depth 16, 64 KiB random reads: "
			    "1234.5 MB/s, 8.25 W, not settled");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fio_measures_in_each_state_and_the_state_is_given_back),
		cmocka_unit_test(a_limit_that_comes_into_force_ends_it),
		cmocka_unit_test(a_state_that_is_no_longer_pinned_ends_it),
		cmocka_unit_test(a_signal_ends_it_and_all_is_put_back),
		cmocka_unit_test(a_daemon_that_holds_no_state_measures_none),
		cmocka_unit_test(watts_are_as_the_daemon_tells_of_the_nearest_sensor),
		cmocka_unit_test(progress_is_a_line_that_says_what_was_found_and_what_is_left),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
