/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads of a raid1 go to its other legs while this one is write-mostly (drivers/md/raid1.c,
 * read_balance). Writes still reach every leg and wake it.
 *
 * The flag is kept in the superblocks: setting it and taking it back writes to all members, which
 * wakes a disk that sleeps, and it outlives a reboot. */

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "knob/attribute.h"
#include "knob/value-words.h"
#include "redirect/knob-registry.h"
#include "redirect/redirect-allowed.h"

#define MD           "md"
#define BALANCED     "balanced"
#define WRITE_MOSTLY "write_mostly"
#define STATE_MAX    256

static int upper_text(Device *d, const char *what, const char *attr, char *buf, size_t size)
{
	char path[128];

	if (!d->ops->upper_read)
		return -ENOENT;
	if (snprintf(path, sizeof(path), "%s%s%s", what, *attr ? "/" : "", attr) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	return d->ops->upper_read(d, MD, path, buf, size);
}

/* In "in_sync,write_mostly" */
static bool has_flag(const char *state, const char *flag)
{
	size_t n = strlen(flag);

	for (;; state++) {
		if (strncmp(state, flag, n) == 0 && (!state[n] || state[n] == ','))
			return true;
		state = strchr(state, ',');
		if (!state)
			return false;
	}
}

/* "md0" of "md0/dev-sda1" */
static char *array_of(const char *member, char *buf, size_t size)
{
	snprintf(buf, size, "%.*s", (int)strcspn(member, "/"), member);
	return buf;
}

static bool is_raid1(Device *d, const char *member)
{
	char array[64], level[32];

	return upper_text(d, array_of(member, array, sizeof(array)), "level", level,
			  sizeof(level)) >= 0 &&
	       streq(level, "raid1");
}

/* At least one. -ENOENT: it is a member of nothing; -ENXIO: what it belongs to does not run. */
static int list_members(Device *d, char ***ret)
{
	_cleanup_(strv_freep) char **members = NULL;
	char text[1024];
	int r = upper_text(d, "members", "", text, sizeof(text));

	if (r < 0)
		return r;
	members = strv_split(text);
	if (!members || !*members)
		return members ? -ENXIO : -ENOMEM;
	*ret = TAKE_PTR(members);
	return 0;
}

static int md_read(Device *d, KnobValue *ret)
{
	_cleanup_(strv_freep) char **members = NULL;
	KnobValue v = { "" };
	int r = -EOPNOTSUPP;

	if (d->ops->upper_read)
		r = list_members(d, &members);
	for (char **m = members; r >= 0 && *m; m++) {
		char state[STATE_MAX];

		if (!is_raid1(d, *m))
			continue;
		r = upper_text(d, *m, "state", state, sizeof(state));
		if (r >= 0)
			r = value_add_word(&v, *m,
					   has_flag(state, WRITE_MOSTLY) ? WRITE_MOSTLY : BALANCED);
	}
	if (r < 0 && r != -ENOENT)
		return r;
	/* taken out of its array, it has no superblock that remembers */
	*ret = *v.text && r >= 0 ? v : (KnobValue){ VALUE_NONE };
	return 0;
}

/* Is there a leg that reads would go to? */
static bool has_other_leg(Device *d, const char *member)
{
	_cleanup_free_ char *text = malloc(4096);
	char array[64];

	array_of(member, array, sizeof(array));
	if (!text || upper_text(d, array, "others", text, 4096) < 0)
		return false;
	for (char *save, *state = strtok_r(text, " ", &save); state;
	     state = strtok_r(NULL, " ", &save))
		if (has_flag(state, "in_sync") && !has_flag(state, "faulty") &&
		    !has_flag(state, WRITE_MOSTLY))
			return true;
	return false;
}

static int refuse(Device *d, const char *member, char **ret_why_not)
{
	char array[64], level[32] = "";

	array_of(member, array, sizeof(array));
	if (is_raid1(d, member))
		return not_offered(ret_why_not,
				   "%s has no other leg that is in sync and takes reads", array);
	(void)upper_text(d, array, "level", level, sizeof(level));
	return not_offered(ret_why_not, "%s is %s: only a raid1's other legs can serve all reads",
			   array, *level ? level : "of no level");
}

static int md_probe(Device *d, Offer *offer, char **ret_why_not)
{
	_cleanup_(strv_freep) char **members = NULL;
	int r = redirect_allowed(d, MD, ret_why_not);

	if (r < 0)
		return r;
	r = list_members(d, &members);
	if (r == -ENOENT)
		return not_offered(ret_why_not, "the disk is in no md array");
	if (r < 0)
		return not_offered(ret_why_not, "its md array cannot be asked: %s", strerror(-r));
	for (char **m = members; *m; m++) {
		if (!is_raid1(d, *m) || !has_other_leg(d, *m))
			continue;
		offer->mechanisms |= MECHANISM_REDIRECT;
		offer->redirects_reads = true;
		return 0;
	}
	return refuse(d, *members, ret_why_not);
}

static int add_write_mostly(void *userdata, const char *key, const char *word)
{
	(void)word;
	return value_add_word(userdata, key, WRITE_MOSTLY);
}

static int md_want(const Device *d, const Setting *s, const Mix *mix, const KnobValue *original,
		   KnobValue *ret)
{
	(void)d;
	(void)mix;
	if (s->redirect == REDIRECT_HOLD)
		return value_hold_words(original, add_write_mostly, ret);
	*ret = *original;
	return 0;
}

static bool same_key(const char *word, const char *other)
{
	size_t n = strcspn(word, "=");

	return word[n] && strncmp(word, other, n + 1) == 0;
}

static const char *find_key(char **words, const char *word)
{
	for (char **w = words; *w; w++)
		if (same_key(word, *w))
			return *w;
	return NULL;
}

/* Kernel names may be others after a reboot: a word whose member is not there is that of the next
 * one that no word names; none is left: its array is gone, and its superblock is what it is. */
static int with_present_names(const KnobValue *value, const KnobValue *found, KnobValue *ret)
{
	_cleanup_(strv_freep) char **words = strv_split(value->text);
	_cleanup_(strv_freep) char **present = strv_split(found->text);
	char **next = present;
	KnobValue v = { "" };
	int r = words && present ? 0 : -ENOMEM;

	for (char **w = words; r >= 0 && *w; w++) {
		const char *name = find_key(present, *w);
		char key[128];

		while (!name && *next && (find_key(words, *next) || streq(*next, VALUE_NONE)))
			next++;
		if (!name && *next)
			name = *next++;
		if (!name || !strchr(*w, '='))
			continue;
		snprintf(key, sizeof(key), "%.*s", (int)strcspn(name, "="), name);
		r = value_add_word(&v, key, strchr(*w, '=') + 1);
	}
	if (r >= 0)
		*ret = v;
	return r;
}

static bool md_fulfils(const Device *d, const KnobValue *wanted, const KnobValue *found)
{
	KnobValue v;

	return with_present_names(wanted, found, &v) >= 0 && value_words_fulfil(d, &v, found);
}

static int write_member(void *userdata, const char *key, const char *word)
{
	Device *d = userdata;
	bool mostly = streq(word, WRITE_MOSTLY);
	char state[STATE_MAX], path[128];
	int r = upper_text(d, key, "state", state, sizeof(state));

	/* gone meanwhile */
	if (r == -ENOENT)
		return 0;
	/* each write is one to every member's superblock */
	if (r < 0 || has_flag(state, WRITE_MOSTLY) == mostly)
		return r;
	snprintf(path, sizeof(path), "%s/state", key);
	return d->ops->upper_write(d, MD, path, mostly ? "writemostly" : "-writemostly");
}

static int md_write(Device *d, const KnobValue *value)
{
	KnobValue found, v;
	int r;

	if (!d->ops->upper_read || !d->ops->upper_write)
		return -EOPNOTSUPP;
	r = md_read(d, &found);
	if (r >= 0)
		r = with_present_names(value, &found, &v);
	return r < 0 ? r : value_each_word(&v, write_member, d);
}

const Knob knob_redirect_md = {
	.name = "redirect-md",
	.mechanism = MECHANISM_REDIRECT,
	.exactness = ADVISORY,
	.slow = true,  /* the superblocks are written */
	.wakes = true, /* the flag lies in the superblock of every member */
	.survives_reboot = true,
	.probe = md_probe,
	.read = md_read,
	.want = md_want,
	.write = md_write,
	.fulfils = md_fulfils,
};
