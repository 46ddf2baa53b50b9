/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/words.h"

#include <langinfo.h>
#include <math.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "ctl/table.h"

#define NARROWEST 20
#define IDLE_MB_S 0.01

size_t words_terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= NARROWEST)
		return size.ws_col;
	return 80;
}

bool words_utf8(void)
{
	return streq(nl_langinfo(CODESET), "UTF-8");
}

const char *words_ellipsis(void)
{
	return words_utf8() ? "…" : "...";
}

const char *ctl_user(void)
{
	const char *name = getenv("SUDO_USER");
	const struct passwd *pw = name ? NULL : getpwuid(getuid());

	if (name)
		return name;
	return pw ? pw->pw_name : "unknown";
}

const char *words_plus_minus(void)
{
	return words_utf8() ? "±" : "+/-";
}

char *words_latency(char *buf, size_t size, double us)
{
	char number[32];
	double ms = us / 1000;

	if (!(us > 0))
		snprintf(buf, size, "-");
	else if (ms < 1)
		snprintf(buf, size, "%.0f us", us);
	else
		snprintf(buf, size, "%s ms", format_number(number, sizeof(number), ms));
	return buf;
}

char *words_share(char *buf, size_t size, double part, double whole)
{
	double percent = 100 * fmin(part / whole, 1);

	if (whole > IDLE_MB_S)
		snprintf(buf, size, percent < 10 ? "%.1f %%" : "%.0f %%", percent);
	else
		snprintf(buf, size, "-");
	return buf;
}

char *words_hour(char *buf, size_t size, double from_now_s)
{
	time_t now = time(NULL), then = now + (time_t)ceil(from_now_s);
	struct tm today, tm;

	localtime_r(&now, &today);
	localtime_r(&then, &tm);
	(void)strftime(buf, size,
		       tm.tm_yday == today.tm_yday && tm.tm_year == today.tm_year ? "%H:%M"
										  : "%F %H:%M",
		       &tm);
	return buf;
}

char *words_span(char *buf, size_t size, double s)
{
	if (isnan(s))
		return format_duration(buf, size, USEC_NEVER);
	return format_duration(buf, size, (uint64_t)(s < 1 ? 1 : s) * USEC_PER_SEC);
}

bool words_idle(json_object *d)
{
	return json_number(d, "Pace") > 0 && !(json_number(d, "FullThroughput") > IDLE_MB_S);
}

/* ", about 6 MB/s" */
static const char *about(char *buf, size_t size, double mb_s)
{
	*buf = '\0';
	if (mb_s > IDLE_MB_S)
		snprintf(buf, size, mb_s < 1 ? ", about %.2f MB/s" : ", about %.0f MB/s", mb_s);
	return buf;
}

/* The setting; shown: the watts and the rate. */
static void describe(char *buf, size_t size, const char *setting, const double shown[2])
{
	static const char held[] = "IO held to ", idle[] = " above idle";
	const char *at = strstr(setting, held), *rest = at ? strstr(at, idle) : NULL;
	char watts[32], mb[64];

	about(mb, sizeof(mb), shown[1]);
	if (rest)
		snprintf(buf, size, "%.*s%s%s%s%s%s", (int)(at - setting), setting, held,
			 format_watts(watts, sizeof(watts), shown[0]), idle, mb,
			 rest + strlen(idle));
	else
		snprintf(buf, size, "%s%s", setting, mb);
}

static char *in_words(char buf[WORDS_SIZE], json_object *d, const double shown[2],
		      const char *reason)
{
	const char *setting = json_text(d, "Setting");
	char text[WORDS_SIZE / 2];

	describe(text, sizeof(text), setting, shown);
	if (*json_text(d, "Problem"))
		snprintf(buf, WORDS_SIZE, "%s", json_text(d, "Problem"));
	else if (*json_text(d, "Advised"))
		snprintf(buf, WORDS_SIZE, "advised, not set: %s", json_text(d, "Advised"));
	else if (words_idle(d))
		snprintf(buf, WORDS_SIZE, "idle: the limit costs it nothing");
	else if (streq(setting, "as found") && strstr(reason, setting))
		snprintf(buf, WORDS_SIZE, "%s", reason);
	else
		snprintf(buf, WORDS_SIZE, "%s%s%s", text, *reason ? "; " : "", reason);
	return buf;
}

char *words_setting(char buf[WORDS_SIZE], json_object *d, double pace_w, double mb_s)
{
	const char *reason = json_text(d, "Reason");

	return in_words(buf, d, (double[]){ pace_w, mb_s },
			streq(reason, "its share of the budget") ? "" : reason);
}

char *words_explained(char buf[WORDS_SIZE], json_object *d, double pace_w, double mb_s)
{
	return in_words(buf, d, (double[]){ pace_w, mb_s }, json_text(d, "Reason"));
}

size_t text_width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

size_t text_break(const char *s, size_t width)
{
	size_t at, columns = 0, blank = 0;

	for (at = 0; s[at]; at++) {
		bool begins = (s[at] & 0xc0) != 0x80;

		if (s[at] == ' ')
			blank = at;
		if (begins && ++columns > width)
			return blank ?: at;
	}
	return at;
}

void print_wrapped(const char *label, size_t label_width, const char *text, size_t width)
{
	size_t left = width > label_width + NARROWEST ? width - label_width : NARROWEST;

	printf("%*s", (int)label_width, label);
	for (;;) {
		size_t n = text_break(text, left);

		printf("%.*s\n", (int)n, text);
		text += n;
		while (*text == ' ')
			text++;
		if (!*text)
			return;
		printf("%*s", (int)label_width, "");
	}
}

void print_learned(json_object *d)
{
	json_object *learned = json_member(d, "Learned");

	for (size_t i = 0; i < json_count(learned); i++) {
		json_object *l = json_object_array_get_idx(learned, i);
		char mb_s[32], model[32];

		printf("%12s  serves %s MB/s at %s where the model says %s\n", i ? "" : "Learned",
		       format_number(mb_s, sizeof(mb_s), json_number(l, "Throughput")),
		       json_text(l, "Setting"),
		       format_number(model, sizeof(model), json_number(l, "ModelThroughput")));
	}
}
