/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* storpowerctl report --json. */

#include "ctl/report.h"

static json_object *figures_json(const ReportFigures *f, bool of_node)
{
	json_object *o = json_object_new_object();

	for (const ReportField *field = report_fields; field->json; field++)
		if (of_node || !field->of_node)
			json_put_number(o, field->json, report_field(field, f));
	return o;
}

static void put_row(json_object *all, const Report *r, const ReportRow *row)
{
	ReportFigures f;
	json_object *o;

	report_row_figures(r, row, &f);
	o = figures_json(&f, report_by_time(r->by) || r->by == BY_NODE);
	json_put_text(o, "Name", row->name);
	if (r->by == BY_DEVICE)
		json_put_text(o, "Model", row->detail);
	if (report_by_time(r->by))
		json_put_count(o, "Time", (uint64_t)row->time_s);
	json_object_array_add(all, o);
}

static json_object *rows_json(const Report *r)
{
	json_object *all = json_object_new_array();

	for (size_t i = 0; i < r->rows.n; i++)
		put_row(all, r, &r->rows.all[i]);
	return all;
}

static json_object *claims_json(const Report *r)
{
	json_object *all = json_object_new_array();
	uint64_t cookie;
	int64_t created_s;

	for (size_t i = 0; i < r->claims.n; i++) {
		const ReportRow *row = &r->claims.all[i];
		json_object *o;

		if (!report_claim_key(row->key, &cookie, &created_s))
			continue;
		o = json_object_new_object();
		json_put_count(o, "Cookie", cookie);
		json_put_count(o, "Created", (uint64_t)created_s);
		json_put_text(o, "Reason", row->name);
		json_put_text(o, "Source", row->source);
		json_put_text(o, "Scope", row->scope);
		json_object_array_add(all, o);
	}
	return all;
}

int report_json(const Ctl *c, const Report *r)
{
	_cleanup_json_ json_object *o = json_object_new_object();
	ReportFigures total;

	report_total_figures(r, &total);
	json_put_count(o, "Since", (uint64_t)r->since_s);
	json_put_count(o, "Until", (uint64_t)r->until_s);
	json_put_text(o, "By", report_by_name(r->by));
	json_put_text(o, "Currency", *r->currency ? r->currency : NULL);
	json_put_flag(o, "RequestsAreIOs", !report_counts_requests(&r->total));
	json_object_object_add(o, "Total", figures_json(&total, true));
	json_object_object_add(o, "Rows", rows_json(r));
	json_object_object_add(o, "Claims", claims_json(r));
	json_print(c, o);
	return STATUS_OK;
}
