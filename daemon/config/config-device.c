/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config/config-device.h"

#include "base/text.h"
#include "config/config-value.h"

static int set_manage(BlockConfig *d, const IniLine *l)
{
	bool manage;
	int r = config_set_flag(l, &manage);

	if (r >= 0)
		d->unmanaged = !manage;
	return r;
}

static int set_name_or_none(const IniLine *l, char **to)
{
	return *l->value ? config_set_name(l, to) : config_set_text(to, "");
}

static int set_profile(BlockConfig *d, const IniLine *l)
{
	return set_name_or_none(l, &d->profile);
}

static int set_group(BlockConfig *d, const IniLine *l)
{
	return set_name_or_none(l, &d->group);
}

static int set_wake_tested(BlockConfig *d, const IniLine *l)
{
	return config_set_flag(l, &d->wake_tested);
}

static int set_keep_awake(BlockConfig *d, const IniLine *l)
{
	return config_set_flag(l, &d->keep_awake);
}

static int set_redirect(BlockConfig *d, const IniLine *l)
{
	static const char *const components[] = { "",         "none", "bcache", "writecache",
						  "mergerfs", "md",   "nvmet" };

	for (size_t i = 0; i < ELEMENTSOF(components); i++)
		if (streq(l->value, components[i]))
			return config_set_text(&d->redirect, l->value);
	return ini_complain(l,
			    "redirect=%s: expected none, bcache, writecache, mergerfs, md or nvmet",
			    l->value);
}

int config_device_key(BlockConfig *d, const IniLine *l)
{
	static const struct {
		const char *name;
		int (*set)(BlockConfig *d, const IniLine *l);
	} keys[] = {
		{ "manage", set_manage },         { "profile", set_profile },
		{ "group", set_group },           { "wake_tested", set_wake_tested },
		{ "keep_awake", set_keep_awake }, { "redirect", set_redirect },
	};

	for (size_t i = 0; i < ELEMENTSOF(keys); i++)
		if (streq(keys[i].name, l->key))
			return keys[i].set(d, l);
	return ini_complain(l,
			    "unknown key \"%s\" in [%s]: manage, profile, group, wake_tested, "
			    "keep_awake and redirect are known",
			    l->key, l->section);
}

void config_device_done(BlockConfig *d)
{
	free(d->name);
	free(d->profile);
	free(d->group);
	free(d->redirect);
}
