/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a VTN answers by the page: lists of programs and events. Pure. */

#include "signal/openadr-config.h"

#define OPENADR_PAGE 50 /* no VTN gives more at once */

/* Words for what could not be used, one after the other. */
typedef void (*OpenadrComplain)(void *userdata, const char *words);

/* Adds the ids of those programs of the page that are configured. *ret_n: how many were on the
 * page. -EBADMSG: it is no list. */
int openadr_page_programs(const char *page, const OpenadrConfig *c, char ***ids, size_t *ret_n);
/* Adds the events of the page; those that cannot be used are complained of and left out. */
int openadr_page_events(const char *page, const OpenadrConfig *c, OpenadrEvents *events,
			OpenadrComplain complain, void *userdata, size_t *ret_n);
