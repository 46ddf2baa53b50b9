/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdarg.h>

#include "base/clock.h"
#include "ctl/table.h"
#include "ctl/words.h"

bool ctl_is_advised(json_object *state)
{
	return streq(json_text(state, "Mode"), "advise");
}

static const char *watts_of(char *buf, size_t size, json_object *advice, const char *key)
{
	return format_watts(buf, size, json_number(advice, key));
}

/* Where the lines go; the first has a label. */
typedef struct Lines {
	const Ctl *ctl;
	size_t indent, n;
} Lines;

static void say(Lines *l, const char *format, ...) _printf_(2, 3);
static void say(Lines *l, const char *format, ...)
{
	char text[256], label[32];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	snprintf(label, sizeof(label), "%*s  ", (int)l->indent - 2, l->n++ ? "" : "Advised");
	print_wrapped(label, l->indent, text, l->ctl->width);
}

static void print_now(Lines *l, json_object *a)
{
	char cap[32], saved[32], least[32], lost[32];

	say(l, "%s devices would be set; all could draw %s at most", json_text(a, "Devices"),
	    watts_of(cap, sizeof(cap), a, "CapPower"));
	say(l, "now: %s less, %s at the least, for %s MB/s less",
	    watts_of(saved, sizeof(saved), a, "SavedPower"),
	    watts_of(least, sizeof(least), a, "LeastSavedPower"),
	    format_number(lost, sizeof(lost), json_number(a, "LostThroughput")));
}

static void print_so_far(Lines *l, json_object *a)
{
	double seconds = json_number(a, "Seconds");
	char in[32], mean[32];

	format_duration(in, sizeof(in), (uint64_t)(seconds * USEC_PER_SEC));
	say(l, "in %s: %.0f J saved, %s on average, for %.0f MB less", in,
	    json_number(a, "SavedEnergy"), watts_of(mean, sizeof(mean), a, "MeanSavedPower"),
	    json_number(a, "LostData"));
	say(l, "settings changed: %s; disks stopped: %s", json_text(a, "Changes"),
	    json_text(a, "Stops"));
}

void print_advice(const Ctl *c, json_object *state, size_t indent)
{
	json_object *a = json_member(state, "Advice");
	Lines l = { c, indent, 0 };
	char watts[32];

	if (!ctl_is_advised(state))
		return;
	if (json_number(a, "CapPower") > 0)
		print_now(&l, a);
	if (json_number(a, "Shortfall") > 0)
		say(&l, "the limit is %s below what the devices can be brought down to",
		    watts_of(watts, sizeof(watts), a, "Shortfall"));
	if (json_number(a, "Seconds") > 0)
		print_so_far(&l, a);
}

int verb_mode(Ctl *c)
{
	_cleanup_json_ json_object *state = NULL;
	int status;

	if (c->n_args > 0)
		return ctl_simple_call(c, NULL, "SetMode", "s", c->args[0]);
	status = ctl_get_state(c, &state);
	if (status)
		return status;
	if (c->json)
		json_print(c, json_member(state, "Mode"));
	else
		puts(json_text(state, "Mode"));
	return STATUS_OK;
}
