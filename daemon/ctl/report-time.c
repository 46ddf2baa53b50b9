/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/report-time.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/text.h"

static void local(int64_t time_s, struct tm *ret)
{
	const time_t t = (time_t)time_s;

	localtime_r(&t, ret);
}

int64_t report_offset(int64_t time_s)
{
	struct tm tm;

	local(time_s, &tm);
	return tm.tm_gmtoff;
}

/* The beginning of the day so many days from that of now. */
static int64_t midnight(int64_t now_s, int days)
{
	struct tm tm;

	local(now_s, &tm);
	tm.tm_mday += days;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_isdst = -1;
	return mktime(&tm);
}

static int parse_ago(const char *text, int64_t now_s, int64_t *ret_s)
{
	uint64_t us;
	int r = parse_duration_us(text, &us);

	if (r < 0)
		return -EINVAL;
	*ret_s = now_s - (int64_t)(us / USEC_PER_SEC);
	return 0;
}

static int parse_epoch(const char *text, int64_t *ret_s)
{
	unsigned long epoch;

	/* the year 9999: later ones have no date of ten characters */
	if (parse_unsigned(text, 253402300799UL, &epoch) < 0)
		return -EINVAL;
	*ret_s = (int64_t)epoch;
	return 0;
}

/* A date that there is none, such as February 30, becomes another one. */
static int to_epoch(const struct tm *tm, bool utc, int64_t *ret_s)
{
	struct tm is = *tm;
	time_t t;

	is.tm_isdst = -1;
	t = utc ? timegm(&is) : mktime(&is);
	if (is.tm_mday != tm->tm_mday || is.tm_mon != tm->tm_mon || is.tm_year != tm->tm_year)
		return -EINVAL;
	*ret_s = t;
	return 0;
}

static int parse_date(const char *text, int64_t now_s, int64_t *ret_s)
{
	static const char *const forms[] = { "%Y-%m-%d",          "%Y-%m-%d %H:%M",
					     "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M",
					     "%Y-%m-%dT%H:%M:%S", "%H:%M",
					     "%H:%M:%S" };

	for (size_t i = 0; i < ELEMENTSOF(forms); i++) {
		struct tm tm;
		const char *end;

		local(now_s, &tm);
		tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
		end = strptime(text, forms[i], &tm);
		if (end && (!*end || streq(end, "Z")))
			return to_epoch(&tm, *end, ret_s);
	}
	return -EINVAL;
}

int report_parse_time(const char *text, int64_t now_s, int64_t *ret_s)
{
	if (*text == '-')
		return parse_ago(text + 1, now_s, ret_s);
	if (*text == '@')
		return parse_epoch(text + 1, ret_s);
	if (streq(text, "now"))
		*ret_s = now_s;
	else if (streq(text, "today"))
		*ret_s = midnight(now_s, 0);
	else if (streq(text, "yesterday"))
		*ret_s = midnight(now_s, -1);
	else
		return parse_date(text, now_s, ret_s);
	return 0;
}

int64_t report_align(int64_t time_s, int64_t now_s)
{
	int64_t last;

	do {
		last = time_s;
		time_s = ledger_align(THING_CGROUP, ledger_align(THING_NODE, time_s, now_s), now_s);
	} while (time_s != last);
	return time_s;
}

/* How long the spans are that the ledger still knows of the node at that time. It tells what is
 * known of a time of an age: this one is the last second of all spans. */
static int64_t known_step(int64_t time_s, int64_t now_s)
{
	const int64_t last = 1000LL * 30 * DAY_S - 1;

	return last - ledger_align(THING_NODE, last, now_s + last - time_s) + 1;
}

static TimePiece piece_at(int64_t time_s, int64_t now_s, unsigned step_s)
{
	const int64_t known = known_step(time_s, now_s), offset = report_offset(time_s);

	return (TimePiece){ .step_s = (unsigned)MAX((int64_t)step_s, known),
			    .offset_s = offset - (offset % known + known) % known };
}

static bool goes_on(const TimePiece *p, int64_t time_s, int64_t now_s)
{
	const TimePiece next = piece_at(time_s, now_s, p->step_s);

	return next.step_s == p->step_s && next.offset_s == p->offset_s;
}

/* The first time up to until_s at which it does not go on. */
static int64_t end_of(const TimePiece *p, int64_t since_s, int64_t until_s, int64_t now_s)
{
	int64_t in = since_s, out = until_s;

	for (; in < until_s; in = out) {
		out = MIN(in + DAY_S, until_s);
		if (!goes_on(p, out, now_s))
			break;
	}
	while (in < until_s && out - in > 1) {
		const int64_t middle = in + (out - in) / 2;

		*(goes_on(p, middle, now_s) ? &in : &out) = middle;
	}
	return out;
}

TimePiece report_piece(int64_t since_s, int64_t until_s, int64_t now_s, unsigned step_s)
{
	const int64_t known = known_step(since_s, now_s);
	TimePiece p = piece_at(since_s, now_s, step_s);

	p.since_s = since_s;
	p.until_s = end_of(&p, since_s, until_s, now_s);
	/* what is known by the hour begins and ends with one */
	p.until_s = MIN(until_s, (p.until_s + known - 1) / known * known);
	return p;
}

char *report_step_name(char *buf, size_t size, int64_t time_s, const TimePiece *of)
{
	const time_t t = (time_t)(time_s + of->offset_s);
	struct tm tm;

	gmtime_r(&t, &tm);
	(void)strftime(buf, size, of->step_s % DAY_S == 0 ? "%F" : "%F %H:%M", &tm);
	return buf;
}

char *report_time_text(char *buf, size_t size, int64_t time_s)
{
	struct tm tm;

	local(time_s, &tm);
	(void)strftime(buf, size, tm.tm_sec ? "%F %T" : "%F %H:%M", &tm);
	return buf;
}
