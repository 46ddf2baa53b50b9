/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Hosts of an NVMe-oF target take another path while this one is not optimized (NVMe Base 2.0,
 * 8.1 asymmetric namespace access). One that has no other still gets through, so no IO is lost. */

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "knob/attribute.h"
#include "knob/value-words.h"
#include "redirect/knob-registry.h"
#include "redirect/redirect-allowed.h"

#define NVMET         "nvmet"
#define OPTIMIZED     "optimized"
#define NON_OPTIMIZED "non-optimized"

static int ask(Device *d, const char *what, char *buf, size_t size)
{
	return d->ops->upper_read ? d->ops->upper_read(d, NVMET, what, buf, size) : -ENOENT;
}

static char *state_of(const char *export, char *buf, size_t size)
{
	snprintf(buf, size, "%s/ana_state", export);
	return buf;
}

/* "1/2=optimized 2/2=optimized": by port and ANA group */
static int nvmet_read(Device *d, KnobValue *ret)
{
	_cleanup_(strv_freep) char **exports = NULL;
	char text[KNOB_VALUE_MAX], path[64];
	KnobValue v = { "" };
	int r = -EOPNOTSUPP;

	if (d->ops->upper_read)
		r = ask(d, "exports", text, sizeof(text));
	if (r == -ENOENT)
		return value_print(ret, VALUE_NONE);
	exports = r < 0 ? NULL : strv_split(text);
	if (!exports)
		return r < 0 ? r : -ENOMEM;
	for (char **e = exports; r >= 0 && *e; e++) {
		r = ask(d, state_of(*e, path, sizeof(path)), text, sizeof(text));
		if (r >= 0)
			r = value_add_word(&v, *e, text);
	}
	return r < 0 ? r : value_print(ret, "%s", *v.text ? v.text : VALUE_NONE);
}

static int nvmet_probe(Device *d, Offer *offer, char **ret_why_not)
{
	char text[1024];
	KnobValue v;
	int r = redirect_allowed(d, NVMET, ret_why_not);

	if (r < 0)
		return r;
	r = ask(d, "others", text, sizeof(text));
	if (r == -ENOENT)
		return not_offered(ret_why_not, "no NVMe-oF namespace is on the disk");
	if (r >= 0 && *text)
		return not_offered(ret_why_not,
				   "its ANA group has others in it, too (%.100s): give the disk's "
				   "namespaces one of their own",
				   text);
	if (r >= 0)
		r = nvmet_read(d, &v);
	if (r < 0)
		return not_offered(ret_why_not, "its ANA states cannot be read: %s", strerror(-r));
	if (streq(v.text, VALUE_NONE))
		return not_offered(ret_why_not, "no NVMe-oF port gives access to it");
	offer->mechanisms |= MECHANISM_REDIRECT;
	offer->redirects_reads = offer->redirects_writes = true;
	return 0;
}

/* A path that is closed stays so. */
static int add_held(void *userdata, const char *key, const char *word)
{
	return value_add_word(userdata, key, streq(word, OPTIMIZED) ? NON_OPTIMIZED : word);
}

static int nvmet_want(const Device *d, const Setting *s, const Mix *mix, const KnobValue *original,
		      KnobValue *ret)
{
	(void)d;
	(void)mix;
	if (s->redirect == REDIRECT_HOLD)
		return value_hold_words(original, add_held, ret);
	*ret = *original;
	return 0;
}

/* Each state that is written is told to all hosts. */
static int write_state(void *userdata, const char *key, const char *word)
{
	Device *d = userdata;
	char path[64], now[64];
	int r = ask(d, state_of(key, path, sizeof(path)), now, sizeof(now));

	/* the port or the group was removed */
	if (r == -ENOENT)
		return 0;
	return r < 0 || streq(now, word) ? r : d->ops->upper_write(d, NVMET, path, word);
}

static int nvmet_write(Device *d, const KnobValue *value)
{
	if (!d->ops->upper_read || !d->ops->upper_write)
		return -EOPNOTSUPP;
	return value_each_word(value, write_state, d);
}

const Knob knob_redirect_nvmet = {
	.name = "redirect-nvmet",
	.mechanism = MECHANISM_REDIRECT,
	.exactness = ADVISORY,
	.probe = nvmet_probe,
	.read = nvmet_read,
	.want = nvmet_want,
	.write = nvmet_write,
	.fulfils = value_words_fulfil,
};
