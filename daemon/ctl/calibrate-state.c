/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "ctl/calibrate.h"

#define FORMAT 1

static json_object *counts(const unsigned *axis, size_t n)
{
	json_object *all = json_object_new_array();

	for (size_t i = 0; i < n; i++)
		json_object_array_add(all, json_object_new_int64(axis[i]));
	return all;
}

static json_object *states_of(const DesignGrid *g)
{
	json_object *all = json_object_new_array();

	for (size_t i = 0; i < g->n_states; i++)
		json_object_array_add(all, json_object_new_int(g->states[i]));
	return all;
}

static json_object *streams_of(const DesignGrid *g)
{
	json_object *all = json_object_new_array();

	for (size_t i = 0; i < g->n_streams; i++) {
		json_object *o = json_object_new_object();

		json_put_number(o, "ReadShare", g->streams[i].read_share);
		json_put_flag(o, "Random", g->streams[i].pattern == RANDOM_IO);
		json_object_array_add(all, o);
	}
	return all;
}

/* All that must be the same for points to belong together. */
static json_object *identity_of(const Calibration *c)
{
	const DesignGrid *g = &c->plan.grid;
	json_object *o = json_object_new_object();

	json_put_count(o, "StorpowerCalibration", FORMAT);
	json_put_text(o, "Model", c->subject.model);
	json_put_text(o, "Firmware", c->subject.firmware);
	json_put_text(o, "Serial", c->subject.serial);
	json_put_text(o, "Sensor", c->subject.sensor);
	json_put_count(o, "Seed", c->plan.seed);
	json_object_object_add(o, "States", states_of(g));
	json_object_object_add(o, "Depths", counts(g->depths, g->n_depths));
	json_object_object_add(o, "Chunks", counts(g->chunks_kib, g->n_chunks));
	json_object_object_add(o, "Streams", streams_of(g));
	return o;
}

static const char *line_of(json_object *o)
{
	return json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
							 JSON_C_TO_STRING_NOSLASHESCAPE);
}

int calibrate_state_begin(const Calibration *c, const char *path)
{
	_cleanup_json_ json_object *o = identity_of(c);
	_cleanup_free_ char *text = NULL;

	json_put_number(o, "IdlePower", c->idle_w);
	json_put_number(o, "IdleError", c->idle_error);
	text = text_printf("%s\n", line_of(o));
	return text ? write_file_atomic(path, text, 0600) : -ENOMEM;
}

int calibrate_state_add(const char *path, const CalibratePoint *p)
{
	_cleanup_json_ json_object *o = json_object_new_object();
	_cleanup_free_ char *text = NULL;

	json_put_number(o, "PowerState", p->at.power_state);
	json_put_number(o, "Depth", p->at.depth);
	json_put_number(o, "Chunk", p->at.chunk_kib);
	json_put_number(o, "ReadShare", p->at.read_share);
	json_put_flag(o, "Random", p->at.pattern == RANDOM_IO);
	json_put_number(o, "Power", p->at.watts);
	json_put_number(o, "Throughput", p->at.mb_s);
	json_put_number(o, "IOPS", p->at.iops);
	json_put_number(o, "P50", p->p50_us);
	json_put_number(o, "P99", p->at.p99_us);
	json_put_number(o, "PowerError", p->at.error);
	json_put_number(o, "ThroughputError", p->mb_s_error);
	json_put_count(o, "Rounds", p->rounds);
	json_put_flag(o, "Settled", p->settled);
	text = text_printf("%s\n", line_of(o));
	return text ? append_file_synced(path, text) : -ENOMEM;
}

/* The idle watts are taken besides. */
static int take_header(Calibration *c, const char *line)
{
	_cleanup_json_ json_object *was = json_tokener_parse(line), *is = identity_of(c);

	if (!was)
		return -EBADMSG;
	json_object_object_foreach(
		is, key,
		value) if (!streq(line_of(value), line_of(json_member(was, key)))) return -ESTALE;
	c->idle_w = json_number(was, "IdlePower");
	c->idle_error = json_number(was, "IdleError");
	return c->idle_w > 0 ? 0 : -EBADMSG;
}

static bool is_point(json_object *o)
{
	static const char *const numbers[] = { "PowerState", "Depth", "Chunk",  "ReadShare",
					       "Power",      "IOPS",  "Rounds", "Throughput" };

	for (size_t i = 0; i < ELEMENTSOF(numbers); i++)
		if (isnan(json_number(o, numbers[i])))
			return false;
	return true;
}

/* A point that is there already was measured again; beyond those that are, nothing more is. */
static CalibratePoint *room_for(Calibration *c, const Point *at, CalibratePoint *spare)
{
	if (!calibrate_first_of(c, at))
		return ARRAY_GROW(c->points, c->n_points);
	return c->n_repeats < CALIBRATE_REPEATS ? &c->repeats[c->n_repeats++] : spare;
}

static int take_point(Calibration *c, const char *line)
{
	_cleanup_json_ json_object *o = json_tokener_parse(line);
	CalibratePoint new, spare, *p;

	if (!is_point(o))
		return -EBADMSG;
	new = (CalibratePoint){
		.at = { .power_state = (int)json_number(o, "PowerState"),
			.depth = (unsigned)json_number(o, "Depth"),
			.chunk_kib = (unsigned)json_number(o, "Chunk"),
			.read_share = json_number(o, "ReadShare"),
			.direction = json_number(o, "ReadShare") > 0 ? READ_IO : WRITE_IO,
			.pattern = json_true(o, "Random") ? RANDOM_IO : SEQUENTIAL_IO,
			.watts = json_number(o, "Power"),
			.mb_s = json_number(o, "Throughput"),
			.iops = json_number(o, "IOPS"),
			.p99_us = json_number(o, "P99"),
			.error = json_number(o, "PowerError") },
		.p50_us = json_number(o, "P50"),
		.mb_s_error = json_number(o, "ThroughputError"),
		.rounds = (unsigned)json_number(o, "Rounds"),
		.settled = json_true(o, "Settled"),
	};
	p = room_for(c, &new.at, &spare);
	if (!p)
		return -ENOMEM;
	*p = new;
	return 0;
}

/* What is added next must begin a line of its own. */
static int drop_unfinished(const char *path, const char *text)
{
	const char *end = strrchr(text, '\n');
	_cleanup_free_ char *whole = NULL;

	if (end && !end[1])
		return 0;
	whole = strndup(text, end ? (size_t)(end + 1 - text) : 0);
	return whole ? write_file_atomic(path, whole, 0600) : -ENOMEM;
}

int calibrate_state_read(Calibration *c, const char *path)
{
	_cleanup_free_ char *text = NULL;
	bool header = true;
	char *at, *end;
	int r = read_file(path, &text);

	for (at = text; r >= 0 && (end = strchr(at, '\n')); at = end + 1) {
		*end = '\0';
		r = header ? take_header(c, at) : take_point(c, at);
		*end = '\n';
		header = false;
	}
	if (r >= 0)
		r = header ? -EBADMSG : drop_unfinished(path, text);
	return r;
}
