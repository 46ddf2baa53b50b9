/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/power-wishes.h"

#include <errno.h>

/* rail, device, group: NULL where it has none */
static int add(const Feed *f, const char *rail, const WishTarget *target, const char *how,
	       Wishes *wishes)
{
	_cleanup_free_ char *key =
		text_printf("%s %s %s", feed_kind_name(f->kind), f->name, rail ?: "");
	_cleanup_free_ char *reason = text_printf(
		"%s %s is %s%s%s", f->kind == FEED_UPS ? "UPS" : feed_kind_name(f->kind), f->name,
		how, rail ? ", rail " : "", rail ?: "");
	const Wish like = { .key = key,
			    .target = *target,
			    .limit = f->limit,
			    .unit = f->unit,
			    .class = "emergency",
			    .reason = reason };
	Wish wish;

	if (!key || !reason || wish_copy(&like, &wish) < 0)
		return -ENOMEM;
	return wishes_add(wishes, &wish);
}

static int add_rail(const Feed *f, const Rail *rail, const char *how, Wishes *wishes)
{
	int r = 0;

	if (rail->group)
		r = add(f, rail->name, &(WishTarget){ .group = rail->group }, how, wishes);
	for (char **d = rail->devices; r >= 0 && d && *d; d++)
		r = add(f, rail->name, &(WishTarget){ .device = *d }, how, wishes);
	return r;
}

int feed_wishes(const PowerConfig *c, const Feed *f, const char *how, Wishes *wishes)
{
	int r = 0;

	if (!f->rails)
		return add(f, NULL, &(WishTarget){ 0 }, how, wishes);
	for (char **name = f->rails; r >= 0 && *name; name++)
		r = add_rail(f, power_config_rail(c, *name), how, wishes);
	return r;
}
