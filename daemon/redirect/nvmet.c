/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Hosts of an NVMe-oF target take another path while this one is not optimized (NVMe Base 2.0,
 * 8.1 asymmetric namespace access). One that has no other still gets through, so no IO is lost.
 *
 * By which ports and ANA groups the disk's namespaces are reached is in SYSFS/kernel/config/nvmet
 * (drivers/nvme/target/configfs.c). A state is one of a port and a group, so all that the port
 * exports in that group changes with it. */

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <string.h>

#include "base/file.h"
#include "base/sysfs.h"
#include "base/text.h"
#include "knob/attribute.h"
#include "knob/value-words.h"
#include "redirect/component.h"
#include "redirect/knob-registry.h"

#define OPTIMIZED     "optimized"
#define NON_OPTIMIZED "non-optimized"

/* A namespace that a port gives access to. */
typedef struct Export {
	char port[16], subsystem[256], id[16];
	char group[16];
	char device[256];
	bool own; /* lies on the disk */
} Export;

typedef struct Target {
	OwnNodes own;
	char *root;   /* SYSFS/kernel/config/nvmet */
	bool any_own; /* a namespace lies on the disk, exported or not */
	Export *exports;
	size_t n_exports;
} Target;

static void target_done(Target *t)
{
	own_nodes_done(&t->own);
	free(t->root);
	free(t->exports);
}

/* Calls back for each path below the target's root that matches, until one fails. */
static int each_path(Target *t, const char *pattern, int (*f)(Target *t, const char *path))
{
	_cleanup_free_ char *whole = text_printf("%s/%s", t->root, pattern);
	_cleanup_(globfree) glob_t found = {};
	int r = whole ? 0 : -ENOMEM;

	if (r >= 0 && glob(whole, 0, NULL, &found) == GLOB_NOSPACE)
		r = -ENOMEM;
	for (size_t i = 0; i < found.gl_pathc && r >= 0; i++)
		r = f(t, found.gl_pathv[i]);
	return r;
}

static int read_text(const char *folder, const char *attr, char *buf, size_t size)
{
	_cleanup_free_ char *path = text_printf("%s/%s", folder, attr);

	return path ? read_attribute(path, buf, size) : -ENOMEM;
}

/* A device path may be one of /dev/disk/by-id. */
static bool is_own(const Target *t, const char *device)
{
	_cleanup_free_ char *real = realpath(device, NULL);

	return own_nodes_have(&t->own, base_name(real ?: device));
}

static int take_own(Target *t, const char *folder)
{
	char device[PATH_MAX];

	if (read_text(folder, "device_path", device, sizeof(device)) >= 0 && is_own(t, device))
		t->any_own = true;
	return 0;
}

static char *state_path(const Target *t, const char *port, const char *group)
{
	return text_printf("%s/ports/%s/ana_groups/%s/ana_state", t->root, port, group);
}

/* A port without that group never gives access to what is in it. */
static int take_export(Target *t, const char *folder)
{
	_cleanup_free_ char *state = NULL;
	char device[PATH_MAX];
	Export e = {}, *new;

	/* it goes while we look */
	if (sscanf(folder + strlen(t->root), "/ports/%15[^/]/subsystems/%255[^/]/namespaces/%15s",
		   e.port, e.subsystem, e.id) != 3 ||
	    read_text(folder, "device_path", device, sizeof(device)) < 0 ||
	    read_text(folder, "ana_grpid", e.group, sizeof(e.group)) < 0)
		return 0;
	state = state_path(t, e.port, e.group);
	if (!state || access(state, F_OK) < 0)
		return state ? 0 : -ENOMEM;
	e.own = is_own(t, device);
	snprintf(e.device, sizeof(e.device), "%.*s", (int)sizeof(e.device) - 1, device);
	new = ARRAY_GROW(t->exports, t->n_exports);
	if (!new)
		return -ENOMEM;
	*new = e;
	return 0;
}

/* -ENOENT: no namespace is on the disk. Call target_done() in any case. */
static int find_target(Device *d, Target *t)
{
	int r = own_nodes_find(d, &t->own);

	if (r < 0)
		return r;
	t->root = text_printf("%s/kernel/config/nvmet", t->own.sysfs_root);
	r = t->root ? each_path(t, "subsystems/*/namespaces/*", take_own) : -ENOMEM;
	if (r >= 0 && !t->any_own)
		return -ENOENT;
	return r < 0 ? r : each_path(t, "ports/*/subsystems/*/namespaces/*", take_export);
}

static bool same_group(const Export *a, const Export *b)
{
	return streq(a->port, b->port) && streq(a->group, b->group);
}

/* Of the disk's exports in one group of a port, the first. */
static const Export *first_own(const Target *t, const Export *of)
{
	for (size_t i = 0; i < t->n_exports; i++)
		if (t->exports[i].own && same_group(&t->exports[i], of))
			return &t->exports[i];
	return NULL;
}

/* What else a port exports in one of the disk's groups; NULL: nothing. */
static const Export *find_other(const Target *t)
{
	for (size_t i = 0; i < t->n_exports; i++)
		if (!t->exports[i].own && first_own(t, &t->exports[i]))
			return &t->exports[i];
	return NULL;
}

/* The state of one port and group, as a word of the value: "1/2=optimized". */
static int add_state(const Target *t, const Export *e, KnobValue *v)
{
	_cleanup_free_ char *path = state_path(t, e->port, e->group);
	_cleanup_free_ char *key = text_printf("%s/%s", e->port, e->group);
	char state[64];
	int r = path && key ? read_attribute(path, state, sizeof(state)) : -ENOMEM;

	return r < 0 ? r : value_add_word(v, key, state);
}

static int read_value(const Target *t, KnobValue *ret)
{
	KnobValue v = { "" };
	int r = 0;

	for (size_t i = 0; i < t->n_exports && r >= 0; i++)
		if (first_own(t, &t->exports[i]) == &t->exports[i])
			r = add_state(t, &t->exports[i], &v);
	return r < 0 ? r : value_print(ret, "%s", *v.text ? v.text : VALUE_NONE);
}

/* "1/2=optimized 2/2=optimized": by port and ANA group */
static int nvmet_read(Device *d, KnobValue *ret)
{
	_cleanup_(target_done) Target t = {};
	int r = find_target(d, &t);

	if (r == -ENOENT)
		return value_print(ret, VALUE_NONE);
	return r < 0 ? r : read_value(&t, ret);
}

static int nvmet_probe(Device *d, Offer *offer, char **ret_why_not)
{
	_cleanup_(target_done) Target t = {};
	const Export *other;
	KnobValue v;
	int r = redirect_allowed(d, "nvmet", ret_why_not);

	if (r < 0)
		return r;
	r = find_target(d, &t);
	if (r == -ENOENT)
		return not_offered(ret_why_not, "no NVMe-oF namespace is on the disk");
	other = r < 0 ? NULL : find_other(&t);
	if (other)
		return not_offered(ret_why_not,
				   "its ANA group has others in it, too (%.60s of %.60s namespace "
				   "%s): give the disk's namespaces one of their own",
				   other->device, other->subsystem, other->id);
	if (r >= 0)
		r = read_value(&t, &v);
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
	(void)d, (void)mix;
	if (s->redirect == REDIRECT_HOLD)
		return value_hold_words(original, add_held, ret);
	*ret = *original;
	return 0;
}

/* Writes a state, even where the disk is no longer exported. The target tells all hosts of each
 * state that is written. */
static int write_state(void *userdata, const char *key, const char *word)
{
	_cleanup_free_ char *path = NULL;
	char port[16], group[16], now[64];
	int end = 0, r;

	if (sscanf(key, "%15[0-9]/%15[0-9]%n", port, group, &end) != 2 || key[end])
		return 0;
	path = state_path(userdata, port, group);
	r = path ? read_attribute(path, now, sizeof(now)) : -ENOMEM;
	if (r == -ENOENT) /* the port or the group was removed */
		return 0;
	return r < 0 || streq(now, word) ? r : write_attribute(path, word);
}

static int nvmet_write(Device *d, const KnobValue *value)
{
	_cleanup_(target_done) Target t = {};
	int r = find_target(d, &t);

	if (r == -ENOENT)
		return 0;
	return r < 0 ? r : value_each_word(value, write_state, &t);
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
