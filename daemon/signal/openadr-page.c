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

void openadr_programs_done(OpenadrPrograms *p)
{
	strv_free(p->ids);
	json_object_put(p->descriptors);
	*p = (OpenadrPrograms){ 0 };
}

static int add_program(json_object *o, const OpenadrConfig *c, OpenadrPrograms *programs)
{
	const char *id = json_text(o, "id");
	json_object *descriptors = json_member(o, "payloadDescriptors");

	if (id && descriptors &&
	    json_object_object_add(programs->descriptors, id, json_object_get(descriptors)) < 0) {
		json_object_put(descriptors);
		return -ENOMEM;
	}
	return id && is_wanted(c, id, json_text(o, "programName")) ? strv_add(&programs->ids, id)
								   : 0;
}

int openadr_page_programs(const char *page, const OpenadrConfig *c, OpenadrPrograms *programs,
			  size_t *ret_n)
{
	size_t n = 0;
	_cleanup_json_ json_object *list = list_of(page, &n);
	int r = list ? 0 : -EBADMSG;

	programs->descriptors = programs->descriptors ?: json_object_new_object();
	if (!programs->descriptors)
		return -ENOMEM;
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = add_program(json_object_array_get_idx(list, i), c, programs);
	*ret_n = n;
	return r;
}

int openadr_page_events(const char *page, const OpenadrConfig *c, const OpenadrPrograms *programs,
			OpenadrEvents *events, OpenadrComplain complain, void *userdata,
			size_t *ret_n)
{
	size_t n = 0;
	_cleanup_json_ json_object *list = list_of(page, &n);
	int r = list ? 0 : -EBADMSG;

	for (size_t i = 0; r >= 0 && i < n; i++) {
		json_object *o = json_object_array_get_idx(list, i);
		const char *program = json_text(o, "programID");
		char why[300];

		r = openadr_events_add(events, o, json_member(programs->descriptors, program ?: ""),
				       c->ven ?: "", why, sizeof(why));
		if (r != -EBADMSG)
			continue;
		complain(userdata, why);
		r = 0;
	}
	*ret_n = n;
	return r;
}
