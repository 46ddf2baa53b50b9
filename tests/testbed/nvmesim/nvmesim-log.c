/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The log that a test asserts on: what went over the wire, and when. Times are of the command's
 * arrival (an event's own), in seconds of CLOCK_MONOTONIC and CLOCK_BOOTTIME. */

#include <inttypes.h>
#include <stdarg.h>

#include "nvmesim.h"

static void print_time(FILE *f, uint64_t ago_ns)
{
	uint64_t mono = now_ns() - ago_ns, boot = clock_ns(CLOCK_BOOTTIME) - ago_ns;

	fprintf(f, "mono=%.6f boot=%.6f ", (double)mono / 1e9, (double)boot / 1e9);
}

void log_command(Sim *s, const Command *c, uint16_t status)
{
	uint64_t took_ns = now_ns() - c->arrived_ns;

	if (!s->log)
		return;
	print_time(s->log, took_ns);
	fprintf(s->log, "op=0x%02x nsid=0x%x", c->sqe[0], get32(c->sqe + 4));
	for (unsigned n = 10; n < 16; n++)
		fprintf(s->log, " cdw%u=0x%x", n, cdw(c, n));
	fprintf(s->log, " status=0x%x took_us=%" PRIu64 "\n", status, took_ns / 1000);
	fflush(s->log);
}

void log_event(Sim *s, const char *format, ...)
{
	va_list ap;

	if (!s->log)
		return;
	print_time(s->log, 0);
	fputs("event=", s->log);
	va_start(ap, format);
	vfprintf(s->log, format, ap);
	va_end(ap);
	fputc('\n', s->log);
	fflush(s->log);
}
