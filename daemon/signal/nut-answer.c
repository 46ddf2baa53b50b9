/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "base/printable.h"
#include "base/text.h"
#include "signal/nut.h"

static bool has_word(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = words; *at; at += strspn(at, " ")) {
		size_t length = strcspn(at, " ");

		if (length == n && strncmp(at, word, n) == 0)
			return true;
		at += length;
	}
	return false;
}

/* OB: on battery; LB: it is low; FSD: shutdown is forced. OL: on line. Of others, such as OFF,
 * BYPASS or WAIT, nobody knows what they mean for the load. */
static FeedSeen seen_of(const char *status)
{
	static const char *const failed[] = { "OB", "LB", "FSD" };

	for (size_t i = 0; i < ELEMENTSOF(failed); i++)
		if (has_word(status, failed[i]))
			return FEED_FAILED;
	return has_word(status, "OL") ? FEED_SOUND : FEED_UNKNOWN;
}

/* VAR UPS ups.status "OB DISCHRG", or ERR DRIVER-NOT-CONNECTED */
int nut_parse_answer(const char *line, const char *ups, FeedSeen *ret_seen, char *words,
		     size_t size)
{
	_cleanup_free_ char *begin = text_printf("VAR %s ups.status \"", ups), *status = NULL;
	const char *text;

	if (!begin)
		return -ENOMEM;
	if (strncmp(line, "ERR ", 4) == 0) {
		*ret_seen = FEED_UNKNOWN;
		snprintf(words, size, "upsd says %s", line);
		make_printable(words);
		return 0;
	}
	text = strncmp(line, begin, strlen(begin)) == 0 ? line + strlen(begin) : NULL;
	if (!text || !strchr(text, '"'))
		return -EINVAL;
	status = strndup(text, strcspn(text, "\""));
	if (!status)
		return -ENOMEM;
	*ret_seen = seen_of(status);
	snprintf(words, size, *ret_seen == FEED_FAILED ? "on battery (%s)" : "upsd says %s",
		 status);
	make_printable(words);
	return 0;
}
