/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "ctl/ctl.h"

/* Ten digits are printed instead of json-c's seventeen. */
json_object *json_from_double(double d)
{
	json_object *o;

	if (!isfinite(d))
		return NULL;
	o = json_object_new_double(d);
	json_object_set_serializer(o, json_object_double_to_json_string, (void *)"%.10g", NULL);
	return o;
}

void json_put_number(json_object *o, const char *key, double v)
{
	json_object_object_add(o, key, json_from_double(v));
}

void json_put_text(json_object *o, const char *key, const char *text)
{
	json_object_object_add(o, key, text ? json_object_new_string(text) : NULL);
}

void json_put_count(json_object *o, const char *key, uint64_t n)
{
	json_object_object_add(o, key, json_object_new_uint64(n));
}

void json_put_flag(json_object *o, const char *key, bool yes)
{
	json_object_object_add(o, key, json_object_new_boolean(yes));
}

static json_object *from_basic(sd_bus_message *m, char type)
{
	union {
		int b;
		int32_t i;
		uint32_t u;
		int64_t x;
		uint64_t t;
		double d;
		const char *s;
	} v = {};

	if (sd_bus_message_read_basic(m, type, &v) < 0)
		return NULL;
	switch (type) {
	case 'b': return json_object_new_boolean(v.b);
	case 'i': return json_object_new_int(v.i);
	case 'u': return json_object_new_int64(v.u);
	case 'x': return json_object_new_int64(v.x);
	/* what has no bound, as with numbers */
	case 't': return v.t == UINT64_MAX ? NULL : json_object_new_uint64(v.t);
	case 'd': return json_from_double(v.d);
	default: return json_object_new_string(v.s);
	}
}

static json_object *from_dictionary(sd_bus_message *m, const char *contents)
{
	json_object *o = json_object_new_object();
	char entry[256];
	const char *key;

	/* "{sv}" -> "sv": what enter_container() wants to hear */
	snprintf(entry, sizeof(entry), "%.*s", (int)strlen(contents) - 2, contents + 1);
	while (sd_bus_message_enter_container(m, 'e', entry) > 0) {
		if (sd_bus_message_read_basic(m, *entry, &key) < 0)
			break;
		json_object_object_add(o, key, json_from_message(m));
		sd_bus_message_exit_container(m);
	}
	return o;
}

static json_object *from_sequence(sd_bus_message *m)
{
	json_object *o = json_object_new_array();

	while (sd_bus_message_at_end(m, false) == 0)
		json_object_array_add(o, json_from_message(m));
	return o;
}

/* What the daemon sends is well-formed, or sd-bus would have refused it; a type this does not know
 * ends a container early. */
json_object *json_from_message(sd_bus_message *m)
{
	const char *contents;
	json_object *o;
	char type;

	if (sd_bus_message_peek_type(m, &type, &contents) <= 0)
		return NULL;
	if (!strchr("avr", type))
		return from_basic(m, type);
	if (sd_bus_message_enter_container(m, type, contents) <= 0)
		return NULL;
	if (type == 'v')
		o = json_from_message(m);
	else if (*contents == '{')
		o = from_dictionary(m, contents);
	else
		o = from_sequence(m);
	sd_bus_message_exit_container(m);
	return o;
}

json_object *json_with_keys(json_object *rows, const char *const *keys)
{
	json_object *all = json_object_new_array();

	for (size_t i = 0; i < json_count(rows); i++) {
		json_object *row = json_object_array_get_idx(rows, i);
		json_object *o = json_object_new_object();

		for (size_t k = 0; keys[k]; k++)
			json_object_object_add(o, keys[k],
					       json_object_get(json_object_array_get_idx(row, k)));
		json_object_array_add(all, o);
	}
	json_object_put(rows);
	return all;
}

void json_print(const Ctl *c, json_object *o)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE |
		    (c->json_pretty ? JSON_C_TO_STRING_PRETTY : JSON_C_TO_STRING_PLAIN);

	puts(json_object_to_json_string_ext(o, flags));
}

size_t json_count(json_object *array)
{
	return json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}

json_object *json_member(json_object *o, const char *key)
{
	json_object *member = NULL;

	json_object_object_get_ex(o, key, &member);
	return member;
}

const char *json_text(json_object *o, const char *key)
{
	json_object *member = json_member(o, key);

	return member ? json_object_get_string(member) : "";
}

double json_number(json_object *o, const char *key)
{
	json_object *member = json_member(o, key);

	return member ? json_object_get_double(member) : NAN;
}

bool json_true(json_object *o, const char *key)
{
	return json_object_get_boolean(json_member(o, key));
}
