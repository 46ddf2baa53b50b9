/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "ctl/ctl-model.h"
#include "ctl/table.h"
#include "ctl/words.h"

static bool same_place(const Point *a, const Point *b)
{
	return a->power_state == b->power_state && a->depth == b->depth &&
	       a->chunk_kib == b->chunk_kib && a->read_share == b->read_share &&
	       a->pattern == b->pattern;
}

static const Point *find_point(const Profile *p, const Point *place)
{
	for (size_t i = 0; i < p->n_points; i++)
		if (same_place(&p->points[i], place))
			return &p->points[i];
	return NULL;
}

static const Point *find_mix(const Profile *p, const Point *place)
{
	for (size_t i = 0; i < p->n_mixes; i++)
		if (same_place(&p->mixes[i].at, place))
			return &p->mixes[i].at;
	return NULL;
}

static void put_pair(json_object *o, const char *key, double a, double b)
{
	json_object *pair = json_object_new_object();

	json_put_number(pair, "A", a);
	json_put_number(pair, "B", b);
	json_put_number(pair, "Ratio", b / a);
	json_object_object_add(o, key, pair);
}

static json_object *compare_points(const Point *a, const Point *b)
{
	json_object *o = json_object_new_object();

	json_object_object_add(o, "PowerState", json_object_new_int(a->power_state));
	json_put_count(o, "Depth", a->depth);
	json_put_count(o, "Chunk", a->chunk_kib);
	json_put_number(o, "ReadShare", a->read_share);
	json_put_text(o, "Pattern", a->pattern == RANDOM_IO ? "random" : "sequential");
	json_put_text(o, "IO", model_io_name(a));
	put_pair(o, "Power", a->watts, b->watts);
	put_pair(o, "Throughput", a->mb_s, b->mb_s);
	put_pair(o, "PerJoule", a->mb_s / a->watts, b->mb_s / b->watts);
	json_put_flag(o, "Estimated", a->estimated || b->estimated);
	return o;
}

/* The points that both hold: what lies between them is nobody's measurement. */
static json_object *points_of_both(const Profile *a, const Profile *b)
{
	json_object *all = json_object_new_array();

	for (size_t i = 0; i < a->n_points; i++) {
		const Point *p = &a->points[i], *other = find_point(b, p);

		if (other)
			json_object_array_add(all, compare_points(p, other));
	}
	for (size_t i = 0; i < a->n_mixes; i++) {
		const Point *p = &a->mixes[i].at, *other = find_mix(b, p);

		if (other)
			json_object_array_add(all, compare_points(p, other));
	}
	return all;
}

static json_object *energies_of_both(const Profile *a, const Profile *b)
{
	json_object *all = json_object_new_array();

	for (Direction d = 0; d < _DIRECTION_MAX; d++)
		for (Pattern t = 0; t < _PATTERN_MAX; t++) {
			json_object *o = json_object_new_object();
			Point place = { .read_share = d == READ_IO, .pattern = t };

			json_put_text(o, "IO", model_io_name(&place));
			put_pair(o, "PerIO", a->energy[d][t].io_j, b->energy[d][t].io_j);
			put_pair(o, "PerPage", a->energy[d][t].page_j, b->energy[d][t].page_j);
			json_object_array_add(all, o);
		}
	return all;
}

static json_object *compare(const Profile *a, const Profile *b)
{
	json_object *o = json_object_new_object();

	json_put_text(o, "A", a->name);
	json_put_text(o, "B", b->name);
	json_object_object_add(o, "Points", points_of_both(a, b));
	put_pair(o, "IdlePower", a->idle_w, b->idle_w);
	put_pair(o, "OperatingPower", profile_operating_w(a), profile_operating_w(b));
	json_object_object_add(o, "Energies", energies_of_both(a, b));
	return o;
}

typedef struct Texts {
	char a[32], b[32], ratio[32];
} Texts;

/* Ratios may be small, and so may energies. */
static void figure(char *buf, size_t size, double v)
{
	if (isfinite(v) && v != 0 && fabs(v) < 0.1)
		snprintf(buf, size, "%.2g", v);
	else
		format_number(buf, size, isfinite(v) ? v : NAN);
}

static void format_pair(Texts *t, json_object *o, const char *key, double times)
{
	json_object *pair = json_member(o, key);

	figure(t->a, sizeof(t->a), times * json_number(pair, "A"));
	figure(t->b, sizeof(t->b), times * json_number(pair, "B"));
	figure(t->ratio, sizeof(t->ratio), json_number(pair, "Ratio"));
}

static void print_points(const Ctl *c, json_object *points)
{
	static const char *const columns[] = { "IO",         ">DEPTH",     ">CHUNK",   ">PS",
					       ">A, W",      ">B",         ">B/A, W",  ">A, MB/S",
					       ">B",         ">B/A, MB/S", ">A, MB/J", ">B",
					       ">B/A, MB/J", "",           NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);

	for (size_t i = 0; i < json_count(points); i++) {
		json_object *o = json_object_array_get_idx(points, i);
		Texts w, mb_s, mb_j;
		char depth[32], chunk[32], state[32];

		format_pair(&w, o, "Power", 1);
		format_pair(&mb_s, o, "Throughput", 1);
		format_pair(&mb_j, o, "PerJoule", 1);
		snprintf(depth, sizeof(depth), "%.0f", json_number(o, "Depth"));
		snprintf(chunk, sizeof(chunk), "%.0fK", json_number(o, "Chunk"));
		snprintf(state, sizeof(state), "%.0f", json_number(o, "PowerState"));
		table_row(t, json_text(o, "IO"), depth, chunk, streq(state, "0") ? "-" : state, w.a,
			  w.b, w.ratio, mb_s.a, mb_s.b, mb_s.ratio, mb_j.a, mb_j.b, mb_j.ratio,
			  model_mark(json_true(o, "Estimated")));
	}
	table_may_drop(t, c, "3 11 8 5 10 7 4 13");
	table_print(t, c);
}

static void add_summary(Table *t, json_object *o, const char *key, const char *what, double times)
{
	Texts texts;

	format_pair(&texts, o, key, times);
	table_row(t, what, texts.a, texts.b, texts.ratio);
}

static void print_summary(const Ctl *c, json_object *o)
{
	static const char *const columns[] = { "OF THE WHOLE", ">A", ">B", ">B/A", NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);
	json_object *energies = json_member(o, "Energies");
	char what[64];

	add_summary(t, o, "IdlePower", "idle, W", 1);
	add_summary(t, o, "OperatingPower", "operating, W", 1);
	for (size_t i = 0; i < json_count(energies); i++) {
		json_object *e = json_object_array_get_idx(energies, i);

		snprintf(what, sizeof(what), "%s, uJ an IO", json_text(e, "IO"));
		add_summary(t, e, "PerIO", what, 1e6);
		snprintf(what, sizeof(what), "%s, uJ per 4 KiB", json_text(e, "IO"));
		add_summary(t, e, "PerPage", what, 1e6);
	}
	putchar('\n');
	table_print(t, c);
}

static void print_all(const Ctl *c, json_object *o)
{
	json_object *points = json_member(o, "Points");

	printf("A is %s, B is %s\n\n", json_text(o, "A"), json_text(o, "B"));
	if (json_count(points))
		print_points(c, points);
	else
		print_wrapped("", 0,
			      "They have no point in common: same power state, depth, chunk, "
			      "direction, pattern and mix.",
			      c->width);
	print_summary(c, o);
}

int model_compare(Ctl *c)
{
	_cleanup_(profile_store_freep) ProfileStore *s = NULL;
	_cleanup_(model_found_done) ModelFound a = {}, b = {};
	_cleanup_json_ json_object *o = NULL;
	int status = model_read_store(c, &s);

	if (!status)
		status = model_find(c, s, c->args[0], &a) ?: model_need_profile(&a, c->args[0]);
	if (!status)
		status = model_find(c, s, c->args[1], &b) ?: model_need_profile(&b, c->args[1]);
	if (status)
		return status;
	o = compare(a.profile, b.profile);
	if (c->json) {
		json_print(c, o);
		return STATUS_OK;
	}
	pager_open(c);
	print_all(c, o);
	return STATUS_OK;
}
