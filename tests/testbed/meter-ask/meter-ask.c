/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* meter-ask /dev/NAME JOULES_PER_S: watches a disk with the eBPF meter until the end of standard
 * input, each IO at 1 mJ. Prints "ready", each overrun as "JOULES WINDOW_S AFTER_S" and at the end
 * "total JOULES". */

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/text.h"
#include "meter/meter.h"

#define IO_J 1e-3

static void print_overrun(dev_t devnum, double joules, double seconds, void *userdata)
{
	const uint64_t *begin_us = userdata;

	(void)devnum;
	printf("%.4f %.3f %.3f\n", joules, seconds,
	       (double)(clock_now_us(&clock_boottime) - *begin_us) / USEC_PER_SEC);
}

/* Nothing but an overrun wakes it, or the end of standard input. */
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
			r = meter_process(m, print_overrun, &begin_us);
		if (r < 0)
			return r;
	} while (!fds[1].revents);
	r = meter_read(m, d, &c);
	if (r == 0)
		printf("total %.4f\n", c.joules);
	return r;
}

static int ask(const char *path, double joules_per_s)
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
		r = meter_set_cap(m, &d, joules_per_s);
	return r < 0 ? r : watch(m, &d);
}

int main(int argc, char **argv)
{
	double joules_per_s;
	int r = -EINVAL;

	if (argc == 3 && parse_double(argv[2], &joules_per_s) == 0)
		r = ask(argv[1], joules_per_s);
	if (r < 0)
		log_error_errno(r, "meter-ask /dev/NAME JOULES_PER_S");
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
