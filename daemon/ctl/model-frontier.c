/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "ctl/model-curve.h"
#include "ctl/table.h"
#include "ctl/words.h"
#include "model/frontier.h"

/* All that the profile knows. */
static Offer whole_offer(const Profile *p)
{
	Offer o = { .mechanisms = MECHANISM_ALL & ~MECHANISM_POWER_LIMIT,
		    .depth_one = true,
		    .depth_min = 2,
		    .depth_max = p->kind == KIND_NVME ? 1023 : 32,
		    .chunk_min_kib = 4,
		    .chunk_max_kib = 1280 };

	for (unsigned i = 0; i < p->n_states; i++)
		if (p->states[i].present && p->states[i].operational)
			o.power_states |= 1u << i;
	for (Condition c = CONDITION_IDLE_A; c < _CONDITION_MAX; c++)
		if (p->conditions[c].present)
			o.conditions |= 1u << c;
	return o;
}

/* The keys are those of GetFrontier(). */
static json_object *candidate_json(const Profile *p, const Mix *mix, const Candidate *c)
{
	json_object *o = json_object_new_object();
	Candidate top = *c;
	char text[256];

	if (c->paced)
		candidate_at(p, mix, c, c->cap_hi_w, &top);
	json_put_text(o, "Setting", setting_text(text, sizeof(text), &c->setting));
	json_object_object_add(o, "PowerState", json_object_new_int(c->setting.power_state));
	json_put_number(o, "PowerLimit", c->setting.limit_w);
	json_put_text(o, "Condition", condition_name(c->setting.condition));
	json_put_count(o, "DepthLimit", c->setting.depth);
	json_put_count(o, "ChunkLimit", c->setting.chunk_kib);
	json_put_number(o, "Pace", c->setting.pace_w);
	json_put_number(o, "CapPower", c->cap_w);
	json_put_number(o, "ExpectedPower", c->expect_w);
	json_put_number(o, "Throughput", c->mb_s);
	json_put_number(o, "IOPS", c->iops);
	json_put_number(o, "P99", c->p99_us);
	json_put_number(o, "Error", c->error);
	json_put_flag(o, "Paced", c->paced);
	json_put_number(o, "CapPowerHigh", c->cap_hi_w);
	json_put_number(o, "ExpectedPowerHigh", top.expect_w);
	json_put_number(o, "ThroughputHigh", c->mb_s_hi);
	return o;
}

static json_object *of_profile(const Profile *p, const Mix *mix)
{
	json_object *o = json_object_new_object(), *present = json_object_new_object();
	json_object *all = json_object_new_array();
	const Offer offer = whole_offer(p);
	Candidate candidates[FRONTIER_MAX];
	size_t n;

	json_put_text(present, "Profile", p->name);
	json_put_text(present, "Kind", kind_name(p->kind));
	json_put_number(present, "IdlePower", p->idle_w);
	json_put_number(present, "RatedPower", p->rated_w);
	model_put_mix(present, mix);
	frontier_build(p, mix, &offer, 0, _CONDITION_MAX - 1, candidates, &n);
	for (size_t i = 0; i < n; i++)
		json_object_array_add(all, candidate_json(p, mix, &candidates[i]));
	json_object_object_add(o, "Present", present);
	json_object_object_add(o, "Candidates", all);
	return o;
}

static int of_device(Ctl *c, const char *device, json_object **ret)
{
	_cleanup_message_ sd_bus_message *reply = NULL;
	int status;

	if (c->model.workload)
		return complain(STATUS_USAGE,
				"--workload is for a profile: of the device %s the daemon knows "
				"what it does; storpowerctl model frontier PROFILE takes it",
				device);
	status = ctl_simple_call(c, &reply, "GetFrontier", "s", device);
	if (status)
		return status;
	*ret = json_object_new_object();
	json_object_object_add(*ret, "Present", json_from_message(reply));
	json_object_object_add(*ret, "Candidates", json_from_message(reply));
	return STATUS_OK;
}

static bool is_last(json_object *candidates, size_t i)
{
	return i + 1 == json_count(candidates);
}

static void add_row(Table *t, json_object *o, const char *high, const char *setting)
{
	char cap_key[32], expect_key[32], mb_s_key[32];
	char cap[32], expect[32], mb_s[32], iops[32], p99[32];
	double times;

	snprintf(cap_key, sizeof(cap_key), "CapPower%s", high);
	snprintf(expect_key, sizeof(expect_key), "ExpectedPower%s", high);
	snprintf(mb_s_key, sizeof(mb_s_key), "Throughput%s", high);
	times = *high ? json_number(o, mb_s_key) / json_number(o, "Throughput") : 1;
	table_row(t, format_watts(cap, sizeof(cap), json_number(o, cap_key)),
		  format_watts(expect, sizeof(expect), json_number(o, expect_key)),
		  format_number(mb_s, sizeof(mb_s), json_number(o, mb_s_key)),
		  format_number(iops, sizeof(iops), times * json_number(o, "IOPS")),
		  *high ? "" : format_wait(p99, sizeof(p99), json_number(o, "P99")), setting);
}

static void print_candidates(const Ctl *c, json_object *candidates)
{
	static const char *const columns[] = { ">AT MOST", ">EXPECTED", ">MB/S", ">IOPS",
					       ">P99",     "SETTING",   NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);

	for (size_t i = 0; i < json_count(candidates); i++) {
		json_object *o = json_object_array_get_idx(candidates, i);
		const char *setting = json_text(o, "Setting");
		bool as_found = is_last(candidates, i);

		add_row(t, o, "", as_found ? "as found: nothing is held back" : setting);
		if (json_true(o, "Paced"))
			add_row(t, o, "High", "up to here, the more IO is let through");
	}
	if (c->width < WORDS_NARROW)
		table_may_drop(t, c, "3 4");
	table_print(t, c);
}

static void print_one(const char *label, json_object *present, const char *watts_key,
		      const char *mb_s_key, const char *setting_key)
{
	char watts[32], mb_s[32];

	if (isnan(json_number(present, watts_key)))
		return;
	printf("%12s  %s, %s MB/s: %s\n", label,
	       format_watts(watts, sizeof(watts), json_number(present, watts_key)),
	       format_number(mb_s, sizeof(mb_s), json_number(present, mb_s_key)),
	       json_text(present, setting_key));
}

bool model_is_held_back(json_object *present)
{
	const char *setting = json_text(present, "PlannedSetting");

	return *setting && !streq(setting, "as found");
}

static void print_head(const Ctl *c, const char *name, json_object *present)
{
	Mix mix = model_mix_from_json(present);
	const char *profile = json_text(present, "Profile");
	bool assumed = json_member(present, "MixSeen") && !json_true(present, "MixSeen");
	char workload[256], text[320];

	if (streq(name, profile))
		puts(name);
	else
		printf("%s (%s)\n", name, profile);
	model_workload_text(workload, sizeof(workload), &mix);
	snprintf(text, sizeof(text), "%s%s", workload,
		 assumed ? "; assumed, as it has done no IO yet" : "");
	print_wrapped("    Workload  ", 14, text, c->width);
	print_one("Now", present, "Power", "Throughput", "Setting");
	if (model_is_held_back(present))
		print_one("Planned", present, "PlannedPower", "PlannedThroughput",
			  "PlannedSetting");
	else if (json_member(present, "PlannedSetting"))
		puts("     Planned  as found: nothing is held back");
	putchar('\n');
}

static void print_all(const Ctl *c, const char *name, json_object *frontier,
		      const ModelCurve *curve)
{
	pager_open(c);
	print_head(c, name, json_member(frontier, "Present"));
	print_candidates(c, json_member(frontier, "Candidates"));
	if (c->terminal && words_utf8())
		model_chart_print(c, curve);
}

/* name: of the device or the profile. */
static int show(const Ctl *c, const char *name, json_object *frontier, const Profile *p)
{
	_cleanup_(model_curve_done) ModelCurve curve = {};
	char workload[256], title[512];
	Mix mix = model_mix_from_json(json_member(frontier, "Present"));

	if (c->json && !c->model.plot) {
		json_print(c, frontier);
		return STATUS_OK;
	}
	model_curve_make(frontier, p, &curve);
	if (!c->model.plot) {
		print_all(c, name, frontier, &curve);
		return STATUS_OK;
	}
	snprintf(title, sizeof(title), "%s: %s", name,
		 model_workload_text(workload, sizeof(workload), &mix));
	return model_plot(c->model.plot, title, &curve);
}

int model_frontier(Ctl *c)
{
	_cleanup_(profile_store_freep) ProfileStore *s = NULL;
	_cleanup_(model_found_done) ModelFound f = {};
	_cleanup_json_ json_object *frontier = NULL;
	Mix mix;
	int status = model_workload(c, &mix) ?: model_read_store(c, &s);

	if (!status)
		status = model_find(c, s, c->args[0], &f);
	if (status)
		return status;
	if (!f.device) {
		frontier = of_profile(f.profile, &mix);
		return show(c, f.profile->name, frontier, f.profile);
	}
	status = of_device(c, json_text(f.device, "Name"), &frontier);
	return status ?: show(c, json_text(f.device, "Name"), frontier, f.profile);
}
