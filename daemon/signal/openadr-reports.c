/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/openadr-reports.h"

#include "base/text.h"

void openadr_reports_done(OpenadrReports *r)
{
	strv_free(r->list);
	*r = (OpenadrReports){ 0 };
}

const char *openadr_reports_first(const OpenadrReports *r)
{
	return r->list ? r->list[0] : NULL;
}

static void drop(char **at)
{
	free(*at);
	for (; *at; at++)
		at[0] = at[1];
}

void openadr_reports_drop_first(OpenadrReports *r)
{
	if (openadr_reports_first(r))
		drop(r->list);
}

int openadr_reports_add(OpenadrReports *r, const char *json, bool first_is_told)
{
	int e = strv_add(&r->list, json);

	if (e >= 0 && strv_length(r->list) > OPENADR_REPORTS_MAX)
		drop(&r->list[first_is_told ? 1 : 0]);
	return e;
}

bool openadr_report_is_settled(long status)
{
	switch (status) {
	case 401: /* Unauthorized */
	case 408: /* Request Timeout */
	case 425: /* Too Early */
	case 429: /* Too Many Requests */ return false;
	default: return (status >= 200 && status < 300) || (status >= 400 && status < 500);
	}
}
