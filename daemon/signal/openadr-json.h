/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <json-c/json.h>

#include "base/cleanup.h"

static inline void json_putp(json_object **o)
{
	json_object_put(*o);
}

#define _cleanup_json_ _cleanup_(json_putp)

/* A member of an object; NULL: there is none, or it is null, or `o` is no object. */
static inline json_object *json_member(json_object *o, const char *name)
{
	json_object *v = NULL;

	return json_object_is_type(o, json_type_object) && json_object_object_get_ex(o, name, &v)
		       ? v
		       : NULL;
}

/* The same, as a text; NULL: it is none. */
static inline const char *json_text(json_object *o, const char *name)
{
	json_object *v = json_member(o, name);

	return json_object_is_type(v, json_type_string) ? json_object_get_string(v) : NULL;
}
