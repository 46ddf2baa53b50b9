/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/log.h"
#include "signal/power-config.h"

static bool complain(const Feed *f, const char *what)
{
	log_warning("[%s %s]: %s; it is not looked at", feed_kind_name(f->kind), f->name, what);
	return false;
}

static bool rail_is_usable(const PowerConfig *c, const Feed *f, const char *name)
{
	const Rail *rail = power_config_rail(c, name);

	if (!rail)
		return complain(f, "one of its rails has no section [rail NAME]");
	if (!rail->group && !rail->devices)
		return complain(f, "one of its rails has neither group= nor devices=");
	if (rail->devices && rail->devices[1] && f->unit == LIMIT_WATTS)
		return complain(
			f, "a limit in watts is of one device or a group, and its rail has several "
			   "devices: say so many per cent, or group=");
	return true;
}

bool feed_is_complete(const PowerConfig *c, const Feed *f)
{
	if (!f->limited)
		return complain(f, "limit= is missing (70% or 350W, while it fails)");
	if (f->kind == FEED_ALARM && !f->chip)
		return complain(f, "chip= is missing (what /sys/class/hwmon/hwmonN/name says)");
	for (char **rail = f->rails; rail && *rail; rail++)
		if (!rail_is_usable(c, f, *rail))
			return false;
	return true;
}
