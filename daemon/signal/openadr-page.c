/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/openadr-page.h"

#include <errno.h>
#include <string.h>

#include "signal/openadr-json.h"

static json_object *list_of(const char *page, size_t *ret_n)
{
	json_object *list = json_tokener_parse(page);

	if (json_object_is_type(list, json_type_array)) {
		*ret_n = json_object_array_length(list);
		return list;
	}
	json_object_put(list);
	return NULL;
}

static bool is_wanted(const OpenadrConfig *c, const char *id, const char *name)
{
	for (char *const *p = c->programs; p && *p; p++)
		if (streq(*p, id) || (name && streq(*p, name)))
			return true;
	return false;
}

int openadr_page_programs(const char *page, const OpenadrConfig *c, char ***ids, size_t *ret_n)
{
	size_t n = 0;
	_cleanup_json_ json_object *list = list_of(page, &n);
	int r = list ? 0 : -EBADMSG;

	for (size_t i = 0; r >= 0 && i < n; i++) {
		json_object *o = json_object_array_get_idx(list, i);
		const char *id = json_text(o, "id");

		if (id && is_wanted(c, id, json_text(o, "programName")))
			r = strv_add(ids, id);
	}
	*ret_n = n;
	return r;
}

int openadr_page_events(const char *page, const OpenadrConfig *c, OpenadrEvents *events,
			OpenadrComplain complain, void *userdata, size_t *ret_n)
{
	size_t n = 0;
	_cleanup_json_ json_object *list = list_of(page, &n);
	int r = list ? 0 : -EBADMSG;

	for (size_t i = 0; r >= 0 && i < n; i++) {
		char why[300];

		r = openadr_events_add(events, json_object_array_get_idx(list, i), c->ven ?: "",
				       why, sizeof(why));
		if (r != -EBADMSG)
			continue;
		complain(userdata, why);
		r = 0;
	}
	*ret_n = n;
	return r;
}
