/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads of a raid1 go to its other legs while this one is write-mostly (drivers/md/raid1.c,
 * read_balance). Writes still reach every leg and wake it.
 *
 * The flag is kept in the superblocks: setting it and taking it back writes to all members, which
 * wakes a disk that sleeps, and it outlives a reboot.
 *
 * What is known of arrays is in SYSFS/class/block/ARRAY/md (Documentation/admin-guide/md.rst). All
 * of it is memory; reading it wakes nothing. */

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/sysfs.h"
#include "base/text.h"
#include "knob/attribute.h"
#include "knob/value-words.h"
#include "redirect/component.h"
#include "redirect/knob-registry.h"
#include "stack/topology-read.h"

#define BALANCED     "balanced"
#define WRITE_MOSTLY "write_mostly"
#define STATE_MAX    256

/* A place that the disk has in an array. */
typedef struct Member {
	char array[64];   /* "md0" */
	char key[128];    /* "md0/dev-sda1" */
	char folder[256]; /* the array's, as an attribute of the disk: "sda1/holders/md0/md" */
	char level[32];   /* of the array: "raid1"; "" for none */
} Member;

typedef struct Members {
	OwnNodes own;
	Member *list;
	size_t n;
} Members;

static void members_done(Members *m)
{
	own_nodes_done(&m->own);
	free(m->list);
}

static int read_of(Device *d, const Member *m, const char *attr, char *buf, size_t size)
{
	_cleanup_free_ char *path = text_printf("%s/%s", m->folder, attr);

	return path ? attribute_read(d, path, buf, size) : -ENOMEM;
}

static int read_state(Device *d, const Member *m, char buf[STATE_MAX])
{
	char attr[sizeof(m->key)];

	snprintf(attr, sizeof(attr), "%s/state", base_name(m->key));
	return read_of(d, m, attr, buf, STATE_MAX);
}

static bool is_raid1(const Member *m)
{
	return streq(m->level, "raid1");
}

typedef struct Search {
	Device *device;
	const char *node;
	Members *to;
} Search;

/* A holder of the node is an array if the node is among its members. */
static int take_holder(const char *holder, void *userdata)
{
	const Search *s = userdata;
	const char *array = base_name(holder), *name = base_name(s->node);
	_cleanup_free_ char *member = text_printf("%s/md/dev-%s", holder, name);
	_cleanup_free_ char *folder = text_printf("holders/%s/md", array);
	Member *m;

	if (!member || !folder)
		return -ENOMEM;
	if (access(member, F_OK) < 0)
		return 0;
	m = ARRAY_GROW(s->to->list, s->to->n);
	if (!m)
		return -ENOMEM;
	snprintf(m->array, sizeof(m->array), "%s", array);
	snprintf(m->key, sizeof(m->key), "%s/dev-%s", array, name);
	if (own_node_attribute(s->node, folder, m->folder, sizeof(m->folder)) < 0)
		return -ENAMETOOLONG;
	if (read_of(s->device, m, "level", m->level, sizeof(m->level)) < 0)
		*m->level = '\0';
	return 0;
}

/* Belongs to an array, running or not, as far as udev has read it. */
static bool has_superblock(const OwnNodes *own, const char *node)
{
	_cleanup_free_ char *type =
		topology_property(own->sysfs_root, base_name(node), "ID_FS_TYPE");

	return type && streq(type, "linux_raid_member");
}

/* Finds at least one member. -ENOENT: the disk is a member of nothing; -ENXIO: the array that it
 * belongs to does not run. Call members_done() in any case. */
static int find_members(Device *d, Members *to)
{
	int r = own_nodes_find(d, &to->own);
	bool any = false;

	for (size_t i = 0; i < to->own.paths.n && r >= 0; i++) {
		const char *node = to->own.paths.list[i];
		_cleanup_free_ char *folder = own_node_folder(&to->own, node);
		_cleanup_free_ char *holders = folder ? text_printf("%s/holders", folder) : NULL;

		r = holders ? folder_each(holders, take_holder, &(Search){ d, node, to }) : -ENOMEM;
		any = any || has_superblock(&to->own, node);
	}
	if (r < 0 || to->n)
		return MIN(r, 0);
	return any ? -ENXIO : -ENOENT;
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

static int read_value(Device *d, const Members *members, KnobValue *ret)
{
	KnobValue v = { "" };

	for (size_t i = 0; i < members->n; i++) {
		const Member *m = &members->list[i];
		char state[STATE_MAX];
		int r;

		if (!is_raid1(m))
			continue;
		r = read_state(d, m, state);
		if (r >= 0)
			r = value_add_word(&v, m->key,
					   has_flag(state, WRITE_MOSTLY) ? WRITE_MOSTLY : BALANCED);
		if (r < 0)
			return r;
	}
	return value_print(ret, "%s", *v.text ? v.text : VALUE_NONE);
}

static int md_read(Device *d, KnobValue *ret)
{
	_cleanup_(members_done) Members members = {};
	int r = find_members(d, &members);

	if (r >= 0)
		r = read_value(d, &members, ret);
	/* taken out of its array, it has no superblock that remembers */
	return r == -ENOENT ? value_print(ret, VALUE_NONE) : r;
}

typedef struct Legs {
	const Members *members;
	const char *array;
} Legs;

static bool is_own(const Legs *l, const char *name)
{
	for (size_t i = 0; i < l->members->n; i++) {
		const Member *m = &l->members->list[i];

		if (streq(m->array, l->array) && streq(base_name(m->key), name))
			return true;
	}
	return false;
}

/* 1: reads would go to this member of the array. */
static int takes_reads(const char *folder, void *userdata)
{
	_cleanup_free_ char *path = text_printf("%s/state", folder);
	const char *name = base_name(folder);
	char state[STATE_MAX];

	if (strncmp(name, "dev-", strlen("dev-")) != 0 || is_own(userdata, name))
		return 0;
	/* one that is being taken out serves nobody any more */
	return path && read_attribute(path, state, sizeof(state)) >= 0 &&
	       has_flag(state, "in_sync") && !has_flag(state, "faulty") &&
	       !has_flag(state, WRITE_MOSTLY);
}

static bool has_other_leg(const Members *members, const char *array)
{
	_cleanup_free_ char *md =
		text_printf("%s/class/block/%s/md", members->own.sysfs_root, array);

	return md && folder_each(md, takes_reads, &(Legs){ members, array }) > 0;
}

static int refuse(const Member *m, char **ret_why_not)
{
	if (is_raid1(m))
		return not_offered(ret_why_not,
				   "%s has no other leg that is in sync and takes reads", m->array);
	return not_offered(ret_why_not, "%s is %s: only a raid1's other legs can serve all reads",
			   m->array, *m->level ? m->level : "of no level");
}

static int md_probe(Device *d, Offer *offer, char **ret_why_not)
{
	_cleanup_(members_done) Members members = {};
	int r = redirect_allowed(d, "md", ret_why_not);

	if (r < 0)
		return r;
	r = find_members(d, &members);
	if (r == -ENOENT)
		return not_offered(ret_why_not, "the disk is in no md array");
	if (r < 0)
		return not_offered(ret_why_not, "its md array cannot be asked: %s", strerror(-r));
	for (size_t i = 0; i < members.n; i++) {
		const Member *m = &members.list[i];

		if (!is_raid1(m) || !has_other_leg(&members, m->array))
			continue;
		offer->mechanisms |= MECHANISM_REDIRECT;
		offer->redirects_reads = true;
		return 0;
	}
	return refuse(&members.list[0], ret_why_not);
}

static int add_write_mostly(void *userdata, const char *key, const char *word)
{
	(void)word;
	return value_add_word(userdata, key, WRITE_MOSTLY);
}

static int md_want(const Device *d, const Setting *s, const Mix *mix, const KnobValue *original,
		   KnobValue *ret)
{
	(void)d, (void)mix;
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

/* Kernel names may have changed over a reboot. A word whose member is not there is given to the
 * next member that no word names. Where none is left its array is gone, and its superblock stays as
 * it is. */
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

typedef struct Writing {
	Device *device;
	const Members *members;
} Writing;

/* Each write goes to the superblock of every member. */
static int write_member(Device *d, const Member *m, const char *word)
{
	_cleanup_free_ char *path = text_printf("%s/%s/state", m->folder, base_name(m->key));
	bool mostly = streq(word, WRITE_MOSTLY);
	char state[STATE_MAX];
	int r = read_state(d, m, state);

	if (r == -ENOENT) /* gone meanwhile */
		return 0;
	if (r < 0 || has_flag(state, WRITE_MOSTLY) == mostly)
		return r;
	return path ? d->ops->attr_write(d, path, mostly ? "writemostly" : "-writemostly")
		    : -ENOMEM;
}

static int write_word(void *userdata, const char *key, const char *word)
{
	const Writing *w = userdata;

	for (size_t i = 0; i < w->members->n; i++)
		if (streq(w->members->list[i].key, key))
			return write_member(w->device, &w->members->list[i], word);
	return 0;
}

static int md_write(Device *d, const KnobValue *value)
{
	_cleanup_(members_done) Members members = {};
	KnobValue found, v;
	int r = find_members(d, &members);

	if (r == -ENOENT)
		return 0;
	if (r >= 0)
		r = read_value(d, &members, &found);
	if (r >= 0)
		r = with_present_names(value, &found, &v);
	return r < 0 ? r : value_each_word(&v, write_word, &(Writing){ d, &members });
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
