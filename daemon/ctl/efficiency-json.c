/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* storpowerctl efficiency --json. */

#include "ctl/ctl-efficiency.h"

static json_object *io_json(const EfficiencyReport *r, const Efficiency *e, const Mix *mix)
{
	json_object *o = json_object_new_object();

	model_put_mix(o, mix);
	json_put_number(o, "Throughput", e->mb_s);
	json_put_number(o, "IOPS", e->iops);
	json_put_number(o, "Power", e->watts);
	json_put_number(o, "Error", e->error);
	json_put_flag(o, "Estimated", e->estimated);
	json_put_number(o, "PerJoule", e->mb_j);
	json_put_number(o, "IOPerJoule", e->io_j);
	json_put_number(o, "KgPerPB", efficiency_kg_per_pb(e->mb_s, e->watts, r->g_kwh));
	json_put_number(o, "KgPerGigaIO", efficiency_kg_per_giga_io(e->iops, e->watts, r->g_kwh));
	return o;
}

static json_object *size_json(const EfficiencyReport *r, const EfficiencyRow *row, IoSize size)
{
	json_object *o = json_object_new_object();

	for (IoKind k = 0; k < _IO_KIND_MAX; k++) {
		const Mix mix = efficiency_mix(size, k);

		json_object_object_add(o, efficiency_kind_name(k),
				       io_json(r, &row->at[size][k], &mix));
	}
	json_put_number(o, size == LARGE_IO ? "BothPerJoule" : "BothIOPerJoule", row->both[size]);
	return o;
}

static json_object *year_json(const EfficiencyReport *r, double watts)
{
	json_object *o = json_object_new_object();

	json_put_number(o, "Power", watts);
	json_put_number(o, "Cost", efficiency_year_cost(watts, r->price_kwh));
	json_put_number(o, "Kg", efficiency_year_kg(watts, r->g_kwh));
	json_put_number(o, "KilowattPerPB", efficiency_per_joule(watts, r->usable_tb));
	json_put_number(o, "TonnesPerPB", efficiency_year_t_per_pb(watts, r->usable_tb, r->g_kwh));
	return o;
}

json_object *efficiency_json(EfficiencyReport *r)
{
	json_object *all = json_object_new_array();

	efficiency_sort(r, LARGE_IO);
	for (size_t i = 0; i < r->n; i++) {
		const EfficiencyRow *row = &r->rows[i];
		json_object *o = json_object_new_object();

		json_put_text(o, "Profile", row->profile->name);
		json_put_text(o, "Kind", kind_name(row->profile->kind));
		for (IoSize s = 0; s < _IO_SIZE_MAX && !r->workload; s++)
			json_object_object_add(o, efficiency_size_name(s), size_json(r, row, s));
		if (r->workload)
			json_object_object_add(o, "Workload", io_json(r, &row->asked, &r->mix));
		json_object_object_add(o, "IdleYear", year_json(r, row->profile->idle_w));
		json_object_object_add(o, "FullYear", year_json(r, row->full_w));
		json_put_number(o, "UsableTB", r->usable_tb);
		json_object_array_add(all, o);
	}
	return all;
}
