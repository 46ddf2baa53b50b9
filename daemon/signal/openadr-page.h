/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a VTN answers by the page: lists of programs and events. Pure. */

#include "signal/openadr-config.h"

#define OPENADR_PAGE 50 /* no VTN gives more at once */

/* Words for what could not be used, one after the other. */
typedef void (*OpenadrComplain)(void *userdata, const char *words);

/* What is known of the programs. */
typedef struct OpenadrPrograms {
	char **ids;               /* of those that are configured; NULL: of none */
	json_object *descriptors; /* by the program's id: what its payloads are */
} OpenadrPrograms;

void openadr_programs_done(OpenadrPrograms *p);

/* Adds the programs of the page. *ret_n: how many were on the page. -EBADMSG: it is no list. */
int openadr_page_programs(const char *page, const OpenadrConfig *c, OpenadrPrograms *programs,
			  size_t *ret_n);
/* Adds the events of the page; those that cannot be used are complained of and left out. */
int openadr_page_events(const char *page, const OpenadrConfig *c, const OpenadrPrograms *programs,
			OpenadrEvents *events, OpenadrComplain complain, void *userdata,
			size_t *ret_n);
