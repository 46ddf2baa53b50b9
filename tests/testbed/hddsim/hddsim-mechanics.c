/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The arm and the spindle: one thing at a time, in the order of arrival, each at its time. */

#include "hddsim.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/text.h"

#define DEPTH_MAX 32U

void mechanics_submit(Sim *s, Command *c)
{
	c->arrived_us = s->now_us;
	*s->queue_end = c;
	s->queue_end = &c->next;
	s->queued++;
}

/* Sorting helps: 32 outstanding are served in 45 % of the time each (the profiles' rule R2). */
static double seek_factor(unsigned queued)
{
	return 1 - 0.55 * (MIN(queued, DEPTH_MAX) - 1) / (DEPTH_MAX - 1);
}

static bool seeks(const Sim *s, const Command *c)
{
	return c->blocks && c->block != s->next_block;
}

static uint64_t service_us(const Sim *s, const Command *c)
{
	double us = (double)c->blocks * BLOCK_BYTES / s->options.mb_s;

	if (seeks(s, c))
		us += (double)s->options.seek_us * seek_factor(s->queued);
	return (uint64_t)llround(us);
}

/* Random IO takes the rated watts; when the arm rests, 60 % of what they are above idle (R3). */
static double service_watts(const Sim *s, const Command *c)
{
	const Options *o = &s->options;
	double idle_w = o->conditions[CONDITION_ACTIVE].watts;
	double busy_w = c->mechanics == MECHANICS_READ ? o->read_w : o->write_w;

	return seeks(s, c) ? busy_w : idle_w + 0.6 * (busy_w - idle_w);
}

static void transfer(Sim *s, Command *c)
{
	off_t offset = (off_t)c->block * BLOCK_BYTES;
	ssize_t want = (ssize_t)c->blocks * BLOCK_BYTES, n;

	if (c->mechanics == MECHANICS_READ) {
		n = preadv(s->backing_fd, c->iov, c->n_iov, offset);
		c->data_bytes = (uint32_t)want;
		s->reads++;
	} else {
		n = pwritev(s->backing_fd, c->iov, c->n_iov, offset);
		s->writes++;
	}
	if (n != want) {
		log_warning_errno(n < 0 ? errno : EIO, "Backing store, block %llu",
				  (unsigned long long)c->block);
		command_fail(c, 0x03, 0x11, 0x00); /* unrecovered read error */
	}
	s->next_block = c->block + c->blocks;
}

static void finish(Sim *s)
{
	Command *c = s->queue;

	s->queue = c->next;
	if (!s->queue)
		s->queue_end = &s->queue;
	s->queued--;
	s->free_us = s->now_us;
	s->state.idle_since_us = s->now_us;
	command_complete(s, c);
}

static void move(Sim *s, Condition target, const char *why)
{
	command_log(s, "condition %s -> %s %s", condition_name(s->state.condition),
		    condition_name(target), why);
	state_move(&s->state, target, streq(why, "timer"), s->now_us);
}

static void begin_power(Sim *s, Command *c)
{
	if (c->target != s->state.condition)
		move(s, c->target, "command");
	s->state.by_timer = false;
	s->state.timers_held = c->holds_timers && c->target != CONDITION_ACTIVE;
	c->done_us = c->immediate || !s->state.moving ? s->now_us : s->state.moving_until_us;
}

/* An IO to a disk that is not active: either it wakes, or it never will. */
static void begin_wake(Sim *s, Command *c)
{
	State *state = &s->state;

	if (state->condition == CONDITION_STOPPED) {
		command_fail(c, 0x02, 0x04, 0x02); /* initializing command required */
		finish(s);
	} else if (state_spun_down(state) && state->faults.no_wake_us) {
		command_log(s, "does not wake");
		c->begun = c->fails = true;
		c->done_us = s->now_us + state->faults.no_wake_us;
	} else {
		state->wakes++;
		move(s, CONDITION_ACTIVE, "io");
		state->timers_held = false;
	}
}

static void begin(Sim *s, Command *c)
{
	if (c->mechanics == MECHANICS_POWER) {
		c->begun = true;
		begin_power(s, c);
	} else if (s->state.condition != CONDITION_ACTIVE) {
		begin_wake(s, c);
	} else {
		/* what waited in the queue follows without a gap, however late we were told */
		uint64_t start_us = MIN(MAX(c->arrived_us, s->free_us), s->now_us);

		c->begun = true;
		c->done_us = MAX(start_us + service_us(s, c), s->now_us);
		state_serve(&s->state, service_watts(s, c), s->now_us);
	}
}

static void end(Sim *s, Command *c)
{
	state_serve(&s->state, 0, s->now_us);
	if (c->fails)
		command_fail(c, 0x04, 0x44, 0x00); /* internal target failure */
	else if (c->mechanics != MECHANICS_POWER && c->blocks)
		transfer(s, c);
	finish(s);
}

uint64_t mechanics_next_us(const Sim *s)
{
	Condition ignored;

	if (s->queue && s->queue->begun)
		return s->queue->done_us;
	if (s->state.moving)
		return s->state.moving_until_us;
	return s->queue ? s->now_us : state_timer_us(&s->state, &ignored);
}

static void step(Sim *s)
{
	State *state = &s->state;
	Condition target;

	/* first settle: a command that waits for its own movement ends at the same moment */
	if (state->moving && state->moving_until_us <= s->now_us) {
		state_settle(state, s->now_us);
		s->free_us = s->now_us;
	} else if (s->queue && s->queue->begun) {
		end(s, s->queue);
	} else if (s->queue) {
		begin(s, s->queue);
	} else if (state_timer_us(state, &target) <= s->now_us) {
		move(s, target, "timer");
	}
}

void mechanics_advance(Sim *s, uint64_t now_us)
{
	uint64_t next_us;

	while ((next_us = mechanics_next_us(s)) <= now_us) {
		s->now_us = MAX(s->now_us, next_us);
		step(s);
	}
	s->now_us = MAX(s->now_us, now_us);
}
