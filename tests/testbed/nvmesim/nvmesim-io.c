/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The drive's timing. IOs pass one after the other through the drive's bandwidth, each taking the
 * longest of: its bytes at the state's MB/s, its place among the IOPS, and its joules at the watts
 * that the state and the limits leave above idle. Then each takes the state's latency beside the
 * others; no more than `units` are in work at once. So depth 1 gives size / (latency + transfer),
 * depth n at most n times that, up to the ceilings. With a latency_deviation the latencies are
 * drawn from a lognormal distribution about the state's.
 *
 * An IO is priced when it starts, not when it arrives: a new limit holds from the next IO on. */

#include <math.h>
#include <stdlib.h>

#include "base/splitmix.h"
#include "nvmesim.h"

#define PAGE_BYTES 4096

static double io_joules(const Drive *d, const Job *j)
{
	return d->io_j[j->direction] + d->page_j[j->direction] * j->bytes / PAGE_BYTES;
}

static uint64_t transfer_ns(const Sim *s, const Job *j)
{
	const Drive *d = &s->drive;
	double seconds = j->bytes / (d->states[s->ps].mb_s[j->direction] * 1e6);

	if (d->max_iops[j->direction] > 0)
		seconds = MAX(seconds, 1 / d->max_iops[j->direction]);
	seconds = MAX(seconds, io_joules(d, j) / (power_cap_w(s) - d->idle_w));
	return (uint64_t)(seconds * 1e9);
}

/* From 0 to 1, without the ends; the same ones in every run. */
static double draw(Sim *s)
{
	return ((double)(splitmix(++s->draws * SPLITMIX_STEP) >> 11) + 0.5) * 0x1p-53;
}

static uint64_t latency_ns(Sim *s, unsigned direction)
{
	double ns = s->drive.states[s->ps].latency_us[direction] * 1000, variance, normal;

	if (!(s->drive.deviation > 0))
		return (uint64_t)ns;
	variance = log1p(s->drive.deviation * s->drive.deviation);
	normal = sqrt(-2 * log(draw(s))) * cos(2 * M_PI * draw(s)); /* Box and Muller */
	return (uint64_t)(ns * exp(sqrt(variance) * normal - variance / 2));
}

void job_add(Sim *s, Job *j)
{
	Job *after = TAILQ_LAST(&s->jobs, JobList);

	while (after && after->due_ns > j->due_ns)
		after = TAILQ_PREV(after, JobList, link);
	if (after)
		TAILQ_INSERT_AFTER(&s->jobs, after, j, link);
	else
		TAILQ_INSERT_HEAD(&s->jobs, j, link);
}

static void io_end(Sim *s)
{
	s->depth--;
	if (!s->depth)
		s->idle_since_ns = now_ns();
}

static void io_done(Sim *s, Job *j)
{
	_cleanup_free_ Job *job = j;
	bool reads = job->direction == READS;

	if (s->in_service == s->drive.units)
		s->unit_free_ns = job->due_ns;
	s->in_service--;
	io_end(s);
	s->counters.ios[job->direction]++;
	s->counters.bytes[job->direction] += job->bytes;
	energy_add_io(s, io_joules(&s->drive, job));
	command_reply(s, &job->command, OK, 0, reads ? s->disk + job->offset : NULL,
		      reads ? job->bytes : 0);
}

static void io_start(Sim *s, Job *j)
{
	uint64_t start;

	power_wake(s);
	start = MAX(j->command.arrived_ns, s->ready_ns);
	/* from where the one before ended, not from now: lateness must not add up */
	start = MAX(start, MAX(s->pipe_free_ns, s->unit_free_ns));
	s->pipe_free_ns = start + transfer_ns(s, j);
	j->due_ns = s->pipe_free_ns + latency_ns(s, j->direction);
	s->in_service++;
	job_add(s, j);
}

static bool can_start(const Sim *s)
{
	return !TAILQ_EMPTY(&s->waiting) && s->in_service < s->drive.units;
}

void io_pump(Sim *s)
{
	Job *j;

	while ((j = TAILQ_FIRST(&s->jobs)) && j->due_ns <= now_ns()) {
		TAILQ_REMOVE(&s->jobs, j, link);
		j->done(s, j);
	}
	while (can_start(s) && MAX(s->pipe_free_ns, s->ready_ns) <= now_ns()) {
		j = TAILQ_FIRST(&s->waiting);
		TAILQ_REMOVE(&s->waiting, j, link);
		io_start(s, j);
	}
}

uint64_t io_next_ns(const Sim *s)
{
	uint64_t next = can_start(s) ? MAX(s->pipe_free_ns, s->ready_ns) : NEVER;

	return TAILQ_EMPTY(&s->jobs) ? next : MIN(next, TAILQ_FIRST(&s->jobs)->due_ns);
}

static uint16_t check(const Sim *s, const Command *c, uint32_t bytes, size_t n)
{
	uint64_t sectors = s->options.size_bytes / SECTOR_BYTES, lba = get64(c->sqe + 40);

	if (get32(c->sqe + 4) != 1)
		return INVALID_NAMESPACE;
	if (bytes > IO_MAX_BYTES || command_length(c) != bytes)
		return INVALID_FIELD;
	if (lba >= sectors || bytes / SECTOR_BYTES > sectors - lba)
		return LBA_OUT_OF_RANGE;
	return c->sqe[0] == 1 && n != bytes ? SGL_LENGTH_INVALID : OK;
}

static void read_or_write(Sim *s, const Command *c, const uint8_t *data, size_t n)
{
	uint32_t bytes = ((cdw(c, 12) & 0xffff) + 1) * SECTOR_BYTES;
	uint16_t status = check(s, c, bytes, n);
	Job *j = status ? NULL : calloc(1, sizeof(*j));

	if (!j) {
		command_reply(s, c, status ?: INVALID_FIELD, 0, NULL, 0);
		return;
	}
	j->done = io_done;
	j->command = *c;
	j->direction = c->sqe[0] == 1 ? WRITES : READS;
	j->offset = get64(c->sqe + 40) * SECTOR_BYTES;
	j->bytes = bytes;
	if (j->direction == WRITES)
		memcpy(s->disk + j->offset, data, bytes);
	s->depth++;
	s->counters.depth_max = MAX(s->counters.depth_max, s->depth);
	TAILQ_INSERT_TAIL(&s->waiting, j, link);
	io_pump(s);
}

void io_command(Sim *s, const Command *c, const uint8_t *data, size_t n)
{
	if (c->sqe[0] == 1 || c->sqe[0] == 2)
		read_or_write(s, c, data, n);
	else /* a flush has nothing to do: there is no volatile cache */
		command_reply(s, c, c->sqe[0] ? INVALID_OPCODE : OK, 0, NULL, 0);
}

/* IOs in work run on, unanswered; waiting ones are gone. */
void jobs_orphan(Sim *s, const Conn *c)
{
	Job *j, *next;

	TAILQ_FOREACH(j, &s->jobs, link)
	if (j->command.conn == c)
		j->command.conn = NULL;
	for (j = TAILQ_FIRST(&s->waiting); j; j = next) {
		next = TAILQ_NEXT(j, link);
		if (j->command.conn != c)
			continue;
		TAILQ_REMOVE(&s->waiting, j, link);
		free(j);
		io_end(s);
	}
}

void jobs_free(JobList *l)
{
	Job *j;

	while ((j = TAILQ_FIRST(l))) {
		TAILQ_REMOVE(l, j, link);
		free(j);
	}
}
