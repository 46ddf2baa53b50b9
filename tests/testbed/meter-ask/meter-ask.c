/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* meter-ask /dev/NAME JOULES_PER_S|wake: watches a disk with the eBPF meter until the end of
 * standard input, each IO at 1 mJ. Prints "ready", each overrun as "JOULES WINDOW_S AFTER_S" and at
 * the end "total JOULES".
 *
 * With "wake" it reads from the disk itself and sends it a command, which is not to be told, before
 * it says "ready"; then prints each wake-up as "wake io|command read|write BYTES CGROUP PROCESS".
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/text.h"
#include "hw/scsi-command.h"
#include "meter/meter.h"

#define IO_J 1e-3
#define READ 4096

static void print_overrun(dev_t devnum, double joules, double seconds, void *userdata)
{
	const uint64_t *begin_us = userdata;

	(void)devnum;
	printf("%.4f %.3f %.3f\n", joules, seconds,
	       (double)(clock_now_us(&clock_boottime) - *begin_us) / USEC_PER_SEC);
}

static void print_wake(const MeterWake *w, void *userdata)
{
	(void)userdata;
	printf("wake %s %s %llu %s %s\n", w->passed_through ? "command" : "io",
	       w->direction == READ_IO ? "read" : "write", (unsigned long long)w->bytes, w->name,
	       w->process);
}

/* Nothing but an overrun or a wake-up wakes it, or the end of standard input. */
static int watch(Meter *m, Device *d)
{
	uint64_t begin_us = clock_now_us(&clock_boottime);
	struct pollfd fds[] = { { .fd = meter_fd(m), .events = POLLIN },
				{ .fd = STDIN_FILENO, .events = POLLIN } };
	DeviceCounters c;
	int r;

	puts("ready");
	fflush(stdout);
	do {
		r = poll(fds, ELEMENTSOF(fds), -1);
		if (r > 0)
			r = meter_process(m, print_overrun, print_wake, &begin_us);
		if (r < 0)
			return r;
	} while (!fds[1].revents);
	r = meter_read(m, d, &c);
	if (r == 0)
		printf("total %.4f\n", c.joules);
	return r;
}

/* TEST UNIT READY; only a SCSI disk takes it. */
static int touch(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	_cleanup_free_ void *buffer = aligned_alloc(READ, READ);
	ScsiCommand c = { .cdb_size = 6, .timeout_s = COMMAND_SECONDS };

	if (fd < 0 || !buffer || pread(fd, buffer, READ, 0) != READ)
		return -EIO;
	scsi_command_send(fd, &c);
	return 0;
}

static int begin(Meter *m, const Device *d, const char *what)
{
	double joules_per_s;
	int r;

	if (!streq(what, "wake")) {
		r = parse_double(what, &joules_per_s);
		return r < 0 ? r : meter_set_cap_window(m, d, joules_per_s, 100 * USEC_PER_MSEC);
	}
	r = meter_watch_wake(m, d, true);
	return r < 0 ? r : touch(d->name);
}

static int ask(const char *path, const char *what)
{
	static const Energy energy = { .io_j = IO_J };
	Profile p = { .energy = { { energy, energy }, { energy, energy } } };
	Device d = { .name = (char *)path, .profile = &p, .ops = &(DeviceOps){ 0 } };
	_cleanup_(meter_closep) Meter *m = NULL;
	_cleanup_free_ char *why_not = NULL;
	struct stat st;
	int r;

	if (stat(path, &st) < 0)
		return -errno;
	d.devnum = st.st_rdev;
	r = meter_open(true, &m, &why_not);
	if (r < 0)
		return r;
	if (why_not) {
		log_error("meter-ask: %s", why_not);
		return -EOPNOTSUPP;
	}
	r = meter_add(m, &d);
	if (r == 0)
		r = begin(m, &d, what);
	return r < 0 ? r : watch(m, &d);
}

int main(int argc, char **argv)
{
	int r = argc == 3 ? ask(argv[1], argv[2]) : -EINVAL;

	if (r < 0)
		log_error_errno(r, "meter-ask /dev/NAME JOULES_PER_S|wake");
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
