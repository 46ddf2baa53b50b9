/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "ctl/ctl-model.h"

size_t model_estimated_points(const Profile *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_points; i++)
		n += p->points[i].estimated;
	return n;
}

json_object *model_profile_json(const Profile *p)
{
	json_object *o = json_object_new_object();

	json_put_text(o, "Profile", p->name);
	json_put_text(o, "Path", p->path);
	json_put_text(o, "Kind", kind_name(p->kind));
	json_put_number(o, "RatedPower", p->rated_w);
	json_put_number(o, "OperatingPower", profile_operating_w(p));
	json_put_number(o, "IdlePower", p->idle_w);
	json_put_number(o, "Error", p->error);
	json_put_count(o, "PointCount", p->n_points);
	json_put_count(o, "EstimatedPointCount", model_estimated_points(p));
	json_put_count(o, "MixCount", p->n_mixes);
	return o;
}

json_object *model_point_json(const Point *p)
{
	json_object *o = json_object_new_object();

	json_object_object_add(o, "PowerState", json_object_new_int(p->power_state));
	json_put_count(o, "Depth", p->depth);
	json_put_count(o, "Chunk", p->chunk_kib);
	json_put_number(o, "ReadShare", p->read_share);
	json_put_text(o, "Pattern", p->pattern == RANDOM_IO ? "random" : "sequential");
	json_put_number(o, "Power", p->watts);
	json_put_number(o, "Throughput", p->mb_s);
	json_put_number(o, "IOPS", p->iops);
	json_put_number(o, "P99", p->p99_us > 0 ? p->p99_us : NAN);
	json_put_number(o, "Error", p->error);
	json_put_flag(o, "Estimated", p->estimated);
	return o;
}

const char *model_io_name(const Point *p)
{
	bool random = p->pattern == RANDOM_IO;

	if (p->read_share > 0 && p->read_share < 1)
		return random ? "mixed random" : "mixed sequential";
	if (p->read_share > 0)
		return random ? "read random" : "read sequential";
	return random ? "write random" : "write sequential";
}

char *model_percent(char *buf, size_t size, double share)
{
	snprintf(buf, size, "%.3g %%", 100 * share);
	return buf;
}

char *model_joules(char *buf, size_t size, double joules)
{
	if (joules < 1e-3)
		snprintf(buf, size, "%.3g uJ", 1e6 * joules);
	else
		snprintf(buf, size, "%.3g mJ", 1e3 * joules);
	return buf;
}

const char *model_mark(bool estimated)
{
	return estimated ? "est." : " ";
}
