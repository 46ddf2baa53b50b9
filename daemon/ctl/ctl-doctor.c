/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <string.h>

#include "ctl/doctor.h"
#include "ctl/words.h"

#define INDENT 11
#define TEXT   512

static const struct {
	const char *name;
	int status;
} grades[_GRADE_MAX] = {
	[GRADE_OK] = { "ok", STATUS_OK },
	[GRADE_NOTE] = { "note", STATUS_OK },
	[GRADE_MISSING] = { "missing", STATUS_DEGRADED },
	[GRADE_RIVAL] = { "rival", STATUS_DIFFERENT },
	[GRADE_DOWN] = { "down", STATUS_NO_DAEMON },
};

const char *grade_name(Grade g)
{
	return grades[g].name;
}

void doctor_find(Doctor *d, Grade grade, const char *topic, const char *fix, const char *format,
		 ...)
{
	json_object *o = json_object_new_object();
	char text[TEXT];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	json_put_text(o, "Topic", topic);
	json_put_text(o, "Grade", grade_name(grade));
	json_put_text(o, "Text", text);
	json_put_text(o, "Fix", fix ?: "");
	json_object_array_add(d->findings, o);
}

static size_t count(const Doctor *d, Grade g)
{
	size_t n = 0;

	for (size_t i = 0; i < json_count(d->findings); i++)
		n += streq(json_text(json_object_array_get_idx(d->findings, i), "Grade"),
			   grade_name(g));
	return n;
}

static Grade worst(const Doctor *d)
{
	for (Grade g = _GRADE_MAX - 1; g > GRADE_OK; g--)
		if (count(d, g))
			return g;
	return GRADE_OK;
}

/* A command that does not fit goes on behind its "&&", where a shell lets it. */
static void print_fix(const char *fix)
{
	const char *and = strstr(fix, " && ");

	if (and)
		printf("%*sfix: %.*s &&\n%*s     %s\n", INDENT, "", (int)(and-fix), fix, INDENT, "",
		       and+4);
	else
		printf("%*sfix: %s\n", INDENT, "", fix);
}

static void print_topic(const Doctor *d, const char *topic)
{
	puts(topic);
	for (size_t i = 0; i < json_count(d->findings); i++) {
		json_object *o = json_object_array_get_idx(d->findings, i);
		char label[INDENT + 1];

		if (!streq(json_text(o, "Topic"), topic))
			continue;
		snprintf(label, sizeof(label), "  %-*s", INDENT - 2, json_text(o, "Grade"));
		print_wrapped(label, INDENT, json_text(o, "Text"), d->ctl->width);
		if (*json_text(o, "Fix"))
			print_fix(json_text(o, "Fix"));
	}
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

static void print_sum(const Doctor *d)
{
	size_t rivals = count(d, GRADE_RIVAL), missing = count(d, GRADE_MISSING);

	if (worst(d) <= GRADE_NOTE)
		puts("All is well.");
	if (count(d, GRADE_DOWN))
		puts("storpowerd does not run.");
	if (rivals)
		printf("%zu rival%s set%s what storpower sets.\n", rivals, plural(rivals),
		       rivals == 1 ? "s" : "");
	if (missing)
		printf("%zu thing%s %s missing or amiss.\n", missing, plural(missing),
		       missing == 1 ? "is" : "are");
}

static void print_all(const Doctor *d)
{
	pager_open(d->ctl);
	print_topic(d, "Daemon");
	print_topic(d, "Node");
	print_topic(d, "Drives");
	if (json_count(d->drives))
		doctor_print_drives(d);
	print_topic(d, "Rivals");
	putchar('\n');
	print_sum(d);
}

static void print_json(const Doctor *d)
{
	_cleanup_json_ json_object *all = json_object_new_object();

	json_put_text(all, "Verdict", grade_name(worst(d)));
	json_object_object_add(all, "Findings", json_object_get(d->findings));
	json_object_object_add(all, "Drives", json_object_get(d->drives));
	json_print(d->ctl, all);
}

int verb_doctor(Ctl *c)
{
	_cleanup_json_ json_object *findings = json_object_new_array();
	_cleanup_json_ json_object *drives = json_object_new_array();
	Doctor d = { .ctl = c,
		     .root = getenv("STORPOWER_ROOT") ?: "",
		     .findings = findings,
		     .drives = drives };
	int status;

	doctor_look_at_daemon(&d);
	doctor_look_at_host(&d);
	doctor_look_at_hooks(&d);
	status = doctor_look_at_drives(&d);
	if (!status) {
		doctor_look_for_rivals(&d);
		(c->json ? print_json : print_all)(&d);
		status = grades[worst(&d)].status;
	}
	json_object_put(d.state);
	json_object_put(d.devices);
	return status;
}
