/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/decisions.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "ctl/table.h"
#include "ctl/words.h"

#define HELD      "held to "
#define TEXT_SIZE 512

static uint64_t second_of(json_object *d)
{
	return json_object_get_uint64(json_member(d, "RealtimeUSec")) / USEC_PER_SEC;
}

/* "IO held to 1.24 W above idle" becomes "IO held above idle". */
static void without_watts(char buf[TEXT_SIZE], const char *s)
{
	size_t at = 0;

	while (*s && at + 1 < TEXT_SIZE) {
		const char *unit = strncmp(s, HELD, strlen(HELD)) ? NULL : strstr(s, "W above");

		if (unit) {
			at += (size_t)snprintf(buf + at, TEXT_SIZE - at, "held ");
			s = unit + strlen("W ");
		} else {
			buf[at++] = *s++;
		}
	}
	buf[MIN(at, (size_t)TEXT_SIZE - 1)] = '\0';
}

static bool alike(json_object *a, json_object *b)
{
	char x[TEXT_SIZE], y[TEXT_SIZE];
	const char *m = json_text(a, "Device"), *n = json_text(b, "Device");

	if (second_of(a) != second_of(b) || !*m || *m != *n || streq(m, n) ||
	    !streq(json_text(a, "Why"), json_text(b, "Why")))
		return false;
	without_watts(x, json_text(a, "What"));
	without_watts(y, json_text(b, "What"));
	return streq(x, y);
}

/* Takes those like the first out of the others. */
static json_object *take_alike(json_object *decisions, size_t first, bool *taken)
{
	json_object *d = json_object_array_get_idx(decisions, first);
	json_object *group = json_object_new_array();
	size_t n = json_count(decisions);

	for (size_t i = first; i < n; i++) {
		json_object *other = json_object_array_get_idx(decisions, i);

		if (second_of(other) != second_of(d))
			break;
		if (taken[i] || (i > first && !alike(d, other)))
			continue;
		taken[i] = true;
		json_object_object_add(other, "Name",
				       json_object_get(json_member(other, "Device")));
		json_object_array_add(group, json_object_get(other));
	}
	fold_sort(group);
	return group;
}

/* Today's hour, or the day with it. */
static void format_when(char *buf, size_t size, json_object *d)
{
	time_t now = time(NULL), then = (time_t)second_of(d);
	struct tm today, tm;

	localtime_r(&now, &today);
	localtime_r(&then, &tm);
	(void)strftime(buf, size,
		       tm.tm_yday == today.tm_yday && tm.tm_year == today.tm_year ? "%T" : "%F %T",
		       &tm);
}

static void add_row(Table *t, json_object *group)
{
	Fold f = { .devices = group, .n = json_count(group) };
	json_object *d = fold_first(&f);
	char when[32], name[96], what[TEXT_SIZE], text[2 * TEXT_SIZE];

	format_when(when, sizeof(when), d);
	if (f.n > 1) {
		snprintf(name, sizeof(name), "%s and %zu more", json_text(d, "Device"), f.n - 1);
		without_watts(what, json_text(d, "What"));
	} else {
		snprintf(name, sizeof(name), "%s", json_text(d, "Device"));
		snprintf(what, sizeof(what), "%s", json_text(d, "What"));
	}
	snprintf(text, sizeof(text), "%s (%s)", what, json_text(d, "Why"));
	table_row(t, when, *json_text(d, "Device") ? name : "(node)", text);
}

void print_decisions(const Ctl *c, json_object *decisions)
{
	static const char *const columns[] = { "TIME", "DEVICE", "DECISION, AND WHY", NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);
	size_t n = json_count(decisions);
	_cleanup_free_ bool *taken = calloc(n + 1, sizeof(*taken));

	for (size_t i = 0; taken && i < n; i++) {
		_cleanup_json_ json_object *group = NULL;

		if (taken[i])
			continue;
		group = take_alike(decisions, i, taken);
		add_row(t, group);
	}
	table_print(t, c);
}
