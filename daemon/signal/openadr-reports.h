/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reports that wait for the VTN, the oldest first. Pure. */

#include <stdbool.h>

#define OPENADR_REPORTS_MAX 64

typedef struct OpenadrReports {
	char **list; /* NULL-terminated JSON; NULL: none */
} OpenadrReports;

void openadr_reports_done(OpenadrReports *r);
/* NULL: none waits. */
const char *openadr_reports_first(const OpenadrReports *r);
void openadr_reports_drop_first(OpenadrReports *r);
/* Of more than OPENADR_REPORTS_MAX the oldest is given up, but for the first while it is on its
 * way. -ENOMEM. */
int openadr_reports_add(OpenadrReports *r, const char *json, bool first_is_told);

/* Has the VTN taken the report, or refused it for what it is, so that it is not sent again? Another
 * token, more time or a VTN that is in order help against the others. */
bool openadr_report_is_settled(long status);
