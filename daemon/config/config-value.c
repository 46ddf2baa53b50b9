/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config/config-value.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"

bool config_is_name(const char *s)
{
	return *s && *s != '.' && !strpbrk(s, "/ \t=");
}

int config_set_text(char **to, const char *value)
{
	char *copy = *value ? strdup(value) : NULL;

	if (*value && !copy)
		return -ENOMEM;
	free(*to);
	*to = copy;
	return 0;
}

int config_set_name(const IniLine *l, char **to)
{
	if (!config_is_name(l->value))
		return ini_complain(l, "%s=%s: expected a name without blanks or slashes", l->key,
				    l->value);
	return config_set_text(to, l->value);
}

int config_set_flag(const IniLine *l, bool *to)
{
	if (parse_bool(l->value, to) < 0)
		return ini_complain(l, "%s=%s: expected yes or no", l->key, l->value);
	return 0;
}

int config_set_watts(const IniLine *l, double *to)
{
	LimitUnit unit;
	double watts;

	if (parse_limit(l->value, &watts, &unit) < 0 || unit != LIMIT_WATTS)
		return ini_complain(l, "%s=%s: expected watts such as 40W", l->key, l->value);
	*to = watts;
	return 0;
}
