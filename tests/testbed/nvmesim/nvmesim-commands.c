/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What can be said on the control socket. */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"

#include "nvmesim.h"

#define ARGUMENTS_MAX 3

static int complain(FILE *answer, const char *text)
{
	fprintf(answer, "error: %s\n", text);
	return -EINVAL;
}

static int command_state(Sim *s, char **arguments, FILE *f)
{
	const Counters *c = &s->counters;

	(void)arguments;
	fprintf(f, "ps=%u\nhint=%u\nlimit=%.4f\nocp=%.0f\ncap=%.4f\n", s->ps, s->hint, s->limit_w,
		s->ocp_w, power_cap_w(s));
	fprintf(f, "sets=%" PRIu64 "\nsaved=%" PRIu64 "\ncommands=%" PRIu64 "\n", c->sets, c->saved,
		c->commands);
	fprintf(f, "ios=%" PRIu64 "\nbytes=%" PRIu64 "\n", c->ios[READS] + c->ios[WRITES],
		c->bytes[READS] + c->bytes[WRITES]);
	fprintf(f, "reads=%" PRIu64 "\nread_bytes=%" PRIu64 "\n", c->ios[READS], c->bytes[READS]);
	fprintf(f, "writes=%" PRIu64 "\nwrite_bytes=%" PRIu64 "\n", c->ios[WRITES],
		c->bytes[WRITES]);
	fprintf(f, "watts=%.3f\n", energy_watts(s));
	fprintf(f, "joules=%.3f\n", s->energy.joules);
	fprintf(f, "depth=%u\ndepth_max=%u\n", s->depth, c->depth_max);
	fprintf(f, "connects=%" PRIu64 "\nresets=%" PRIu64 "\nwakes=%" PRIu64 "\n", c->connects,
		c->resets, c->wakes);
	fprintf(f, "port=%u\nscale=%g\nhung=%d\n", s->options.port, s->options.scale, s->hung);
	return 0;
}

static int command_reset(Sim *s, char **arguments, FILE *f)
{
	(void)arguments;
	(void)f;
	log_event(s, "reset");
	tcp_close_all(s, NULL, "reset");
	features_reset(s);
	s->cc = s->csts = 0;
	s->counters.resets++;
	return 0;
}

/* "02h" or "0x02", as specifications and programs write it. */
static int parse_hex(const char *text, unsigned long max, unsigned long *ret)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(text, &end, 16);
	if (end == text || errno || v > max || (*end && !streq(end, "h")))
		return -EINVAL;
	*ret = v;
	return 0;
}

static Fault *find_fault(Sim *s, const char *argument)
{
	unsigned long id;

	return argument && parse_hex(argument, 255, &id) >= 0 ? &s->faults[id] : NULL;
}

static int command_refuse(Sim *s, char **arguments, FILE *f)
{
	Fault *fault = find_fault(s, arguments[0]);
	unsigned long status;

	if (!fault || !arguments[1] || parse_hex(arguments[1], 0x7ff, &status) < 0)
		return complain(f, "say: refuse 02h 0x10e (a status of up to 0x7ff; 0: no more)");
	fault->refuse = (uint16_t)status;
	return 0;
}

static int set_mode(Sim *s, char **arguments, FILE *f, FaultMode mode)
{
	Fault *fault = find_fault(s, arguments[0]);

	if (!fault)
		return complain(f, "say for which feature: 02h");
	fault->mode = mode;
	return 0;
}

static int command_ignore(Sim *s, char **arguments, FILE *f)
{
	return set_mode(s, arguments, f, FAULT_IGNORE);
}

static int command_lie(Sim *s, char **arguments, FILE *f)
{
	return set_mode(s, arguments, f, FAULT_LIE);
}

static int command_slow(Sim *s, char **arguments, FILE *f)
{
	Fault *fault = find_fault(s, arguments[0]);
	uint64_t us;

	if (!fault || !arguments[1] || parse_duration_us(arguments[1], &us) < 0)
		return complain(f, "say: slow 02h 2000ms");
	fault->slow_ns = us * 1000;
	return 0;
}

static int command_hang(Sim *s, char **arguments, FILE *f)
{
	(void)arguments;
	(void)f;
	log_event(s, "hang");
	s->hung = true;
	return 0;
}

/* What was held up does not count as work done meanwhile. */
static int command_resume(Sim *s, char **arguments, FILE *f)
{
	(void)arguments;
	(void)f;
	log_event(s, "resume");
	s->hung = false;
	s->pipe_free_ns = MAX(s->pipe_free_ns, now_ns());
	return 0;
}

static int command_clear(Sim *s, char **arguments, FILE *f)
{
	memset(s->faults, 0, sizeof(s->faults));
	return command_resume(s, arguments, f);
}

static int command_quit(Sim *s, char **arguments, FILE *f)
{
	(void)arguments;
	(void)f;
	s->quit = true;
	return 0;
}

static const struct {
	const char *name;
	int (*run)(Sim *s, char **arguments, FILE *answer);
} commands[] = {
	{ "state", command_state },   { "reset", command_reset },
	{ "refuse", command_refuse }, { "ignore", command_ignore },
	{ "lie", command_lie },       { "slow", command_slow },
	{ "hang", command_hang },     { "resume", command_resume },
	{ "quit", command_quit },     { "clear-faults", command_clear },
};

int control_command(Sim *s, char *line, FILE *answer)
{
	char *words[ARGUMENTS_MAX + 2] = { NULL }, *rest = line;
	size_t n = 0;

	for (char *word; n < ARGUMENTS_MAX + 1 && (word = strtok_r(rest, " \t\r", &rest)); n++)
		words[n] = word;
	if (!n)
		return complain(answer, "empty command");
	for (size_t i = 0; i < ELEMENTSOF(commands); i++)
		if (streq(words[0], commands[i].name))
			return commands[i].run(s, words + 1, answer);
	fprintf(answer, "error: unknown command \"%s\"; there are:", words[0]);
	for (size_t i = 0; i < ELEMENTSOF(commands); i++)
		fprintf(answer, " %s", commands[i].name);
	fputc('\n', answer);
	return -EINVAL;
}
