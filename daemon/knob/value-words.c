/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "knob/value-words.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"

int value_add_word(KnobValue *v, const char *key, const char *word)
{
	size_t n = strlen(v->text), room = sizeof(v->text) - n;
	int added = snprintf(v->text + n, room, "%s%s=%s", n ? " " : "", key, word);

	if ((size_t)added < room)
		return 0;
	v->text[n] = '\0';
	return -ENOBUFS;
}

int value_each_word(const KnobValue *v, ValueVisit visit, void *userdata)
{
	_cleanup_(strv_freep) char **words = strv_split(v->text);
	int r = words ? 0 : -ENOMEM;

	for (char **w = words; r >= 0 && *w; w++) {
		char *equals = strchr(*w, '=');

		if (!equals)
			continue;
		*equals = '\0';
		r = visit(userdata, *w, equals + 1);
	}
	return r;
}

int value_hold_words(const KnobValue *original, ValueVisit add, KnobValue *ret)
{
	KnobValue v = { "" };
	int r = value_each_word(original, add, &v);

	if (r < 0)
		return r;
	*ret = *v.text ? v : *original;
	return 0;
}

typedef struct Wanted {
	const char *key, *word;
} Wanted;

static int refuse_other_word(void *userdata, const char *key, const char *word)
{
	const Wanted *w = userdata;

	return streq(w->key, key) && !streq(w->word, word) ? -EREMOTEIO : 0;
}

static int check_wanted_word(void *userdata, const char *key, const char *word)
{
	return value_each_word(userdata, refuse_other_word, &(Wanted){ key, word });
}

bool value_words_fulfil(const Device *d, const KnobValue *wanted, const KnobValue *found)
{
	(void)d;
	return value_each_word(wanted, check_wanted_word, (void *)found) >= 0;
}
