/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdarg.h>

#include "ctl/ctl-model.h"
#include "ctl/table.h"
#include "ctl/words.h"

#define LABEL_WIDTH 14 /* as "show" has it */

static json_object *states_json(const Profile *p)
{
	json_object *all = json_object_new_array();

	for (unsigned i = 0; i < p->n_states; i++) {
		const PowerState *ps = &p->states[i];
		json_object *o = json_object_new_object();

		if (!ps->present) {
			json_object_put(o);
			continue;
		}
		json_put_count(o, "Number", i);
		json_put_number(o, "MaxPower", ps->max_w);
		json_put_count(o, "EntryUSec", ps->entry_us);
		json_put_count(o, "ExitUSec", ps->exit_us);
		json_put_flag(o, "Operational", ps->operational);
		json_put_flag(o, "Estimated", ps->estimated);
		json_object_array_add(all, o);
	}
	return all;
}

static json_object *conditions_json(const Profile *p)
{
	json_object *all = json_object_new_array();

	for (Condition c = CONDITION_IDLE_A; c < _CONDITION_MAX; c++) {
		const ConditionPower *w = &p->conditions[c];
		json_object *o;

		if (!w->present)
			continue;
		o = json_object_new_object();
		json_put_text(o, "Name", condition_name(c));
		json_put_number(o, "Power", w->watts);
		json_put_number(o, "EnterSeconds", w->enter_s);
		json_put_number(o, "RecoverySeconds", w->recovery_s);
		json_put_number(o, "WakePower", w->wake_w > 0 ? w->wake_w : NAN);
		json_put_number(o, "WakeSeconds", w->wake_s > 0 ? w->wake_s : NAN);
		json_put_number(o, "BreakEvenSeconds", condition_break_even_s(p, c));
		json_put_flag(o, "Estimated", w->estimated);
		json_object_array_add(all, o);
	}
	return all;
}

static json_object *energies_json(const Profile *p)
{
	json_object *all = json_object_new_array();

	for (Direction d = 0; d < _DIRECTION_MAX; d++)
		for (Pattern t = 0; t < _PATTERN_MAX; t++) {
			json_object *o = json_object_new_object();
			Point place = { .read_share = d == READ_IO, .pattern = t };

			json_put_text(o, "IO", model_io_name(&place));
			json_put_number(o, "PerIO", p->energy[d][t].io_j);
			json_put_number(o, "PerPage", p->energy[d][t].page_j);
			json_object_array_add(all, o);
		}
	return all;
}

static json_object *points_json(const Profile *p)
{
	json_object *all = json_object_new_array();

	for (size_t i = 0; i < p->n_points; i++)
		json_object_array_add(all, model_point_json(&p->points[i]));
	return all;
}

static json_object *mixes_json(const Profile *p)
{
	json_object *all = json_object_new_array();

	for (size_t i = 0; i < p->n_mixes; i++) {
		json_object *o = model_point_json(&p->mixes[i].at);

		json_put_number(o, "ThroughputPart", p->mixes[i].mb_s_part);
		json_put_number(o, "PowerPart", p->mixes[i].watts_part);
		json_object_array_add(all, o);
	}
	return all;
}

static json_object *sheet_json(const Sheet *s)
{
	static const char *const names[_DIRECTION_MAX][2] = {
		[READ_IO] = { "ReadThroughput", "ReadIOPS" },
		[WRITE_IO] = { "WriteThroughput", "WriteIOPS" },
	};
	json_object *o = json_object_new_object();

	json_put_text(o, "Interface", interface_name(s->interface));
	for (Direction d = 0; d < _DIRECTION_MAX; d++) {
		json_put_number(o, names[d][0], s->mb_s[d] > 0 ? s->mb_s[d] : NAN);
		json_put_number(o, names[d][1], s->iops[d] > 0 ? s->iops[d] : NAN);
	}
	return o;
}

static json_object *whole_json(const Profile *p)
{
	json_object *o = model_profile_json(p), *models = json_object_new_array();

	for (char **m = p->models; *m; m++)
		json_object_array_add(models, json_object_new_string(*m));
	json_object_object_add(o, "Match", models);
	json_put_flag(o, "RatedEstimated", p->estimated_figures & FIGURE_RATED);
	json_put_flag(o, "IdleEstimated", p->estimated_figures & FIGURE_IDLE);
	json_put_flag(o, "LinkSavingEstimated", p->estimated_figures & FIGURE_LINK_SAVING);
	json_object_object_add(o, "Sheet", sheet_json(&p->sheet));
	json_put_number(o, "LinkSaving", p->link_saving_w);
	json_put_number(o, "LinkRecoverySeconds", p->link_recovery_s);
	json_put_number(o, "RatedCycles", p->rated_cycles_start > 0 ? p->rated_cycles_start : NAN);
	json_object_object_add(o, "PowerStates", states_json(p));
	json_object_object_add(o, "Conditions", conditions_json(p));
	json_object_object_add(o, "Energies", energies_json(p));
	json_put_number(o, "EnergyError", p->energy_error);
	json_object_object_add(o, "Points", points_json(p));
	json_object_object_add(o, "Mixes", mixes_json(p));
	return o;
}

static _printf_(3, 4) void print_line(const Ctl *c, const char *label, const char *format, ...)
{
	char text[512], left[LABEL_WIDTH + 1];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	snprintf(left, sizeof(left), "%12s  ", label);
	print_wrapped(left, LABEL_WIDTH, text, c->width);
}

/* Behind a figure that no source gives. */
static const char *guess_of(const Profile *p, Figure figure)
{
	return p->estimated_figures & figure ? " (estimated)" : "";
}

/* "6800 MB/s and 1 M IOPS" */
static char *promise(char *buf, size_t size, const Sheet *s, Direction d)
{
	char iops[32] = "", mb_s[32] = "";

	if (s->mb_s[d] > 0)
		format_number(mb_s, sizeof(mb_s), s->mb_s[d]);
	if (s->iops[d] > 0)
		format_number(iops, sizeof(iops), s->iops[d]);
	snprintf(buf, size, "%s%s%s%s%s", mb_s, *mb_s ? " MB/s" : "", *mb_s && *iops ? " and " : "",
		 iops, *iops ? " IOPS" : "");
	return buf;
}

static void print_sheet(const Ctl *c, const Sheet *s)
{
	char reads[96], writes[96];

	if (s->interface != INTERFACE_UNKNOWN)
		print_line(c, "Interface", "%s, which carries %.0f MB/s each way",
			   interface_name(s->interface), interface_mb_s(s->interface));
	promise(reads, sizeof(reads), s, READ_IO);
	promise(writes, sizeof(writes), s, WRITE_IO);
	if (*reads || *writes)
		print_line(c, "Sheet", "%s%s%s%s%s", *reads ? "reads " : "", reads,
			   *reads && *writes ? ", " : "", *writes ? "writes " : "", writes);
}

static void print_powers(const Ctl *c, const Profile *p)
{
	char rated[32], operating[32], idle[32], error[32];

	print_line(c, "Rated", "%s, the ceiling: it never draws more%s",
		   format_watts(rated, sizeof(rated), p->rated_w), guess_of(p, FIGURE_RATED));
	print_line(c, "Operating", "%s, drawn at most in operation",
		   format_watts(operating, sizeof(operating), profile_operating_w(p)));
	print_line(c, "Idle", "%s, awake and without IO%s",
		   format_watts(idle, sizeof(idle), p->idle_w), guess_of(p, FIGURE_IDLE));
	print_line(c, "Error", "%s%s of the watts; estimated points have their own",
		   words_plus_minus(), model_percent(error, sizeof(error), p->error));
}

static void print_header(const Ctl *c, const Profile *p)
{
	char saving[32], wait[32];

	puts(p->name);
	print_line(c, "File", "%s", p->path);
	for (char **m = p->models; *m; m++)
		print_line(c, m == p->models ? "Models" : "", "%s", *m);
	print_line(c, "Kind", "%s", kind_name(p->kind));
	print_powers(c, p);
	print_sheet(c, &p->sheet);
	if (p->link_saving_w > 0)
		print_line(c, "Link", "%s saved while it rests, %s to come back%s",
			   format_watts(saving, sizeof(saving), p->link_saving_w),
			   format_wait(wait, sizeof(wait), p->link_recovery_s * 1e6),
			   guess_of(p, FIGURE_LINK_SAVING));
	if (p->rated_cycles_start > 0)
		print_line(c, "Rated for", "%.0f start/stop cycles", p->rated_cycles_start);
}

static void print_states(const Ctl *c, const Profile *p)
{
	static const char *const columns[] = { ">POWER STATE", ">AT MOST", ">ENTRY", ">EXIT",
					       "SERVES IO",    "",         NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);

	if (p->n_states == 0)
		return;
	for (unsigned i = 0; i < p->n_states; i++) {
		const PowerState *ps = &p->states[i];
		char number[32], most[32], entry[32], exit[32];

		if (!ps->present)
			continue;
		snprintf(number, sizeof(number), "%u", i);
		table_row(t, number, format_watts(most, sizeof(most), ps->max_w),
			  format_wait(entry, sizeof(entry), ps->entry_us),
			  format_wait(exit, sizeof(exit), ps->exit_us),
			  ps->operational ? "yes" : "no", model_mark(ps->estimated));
	}
	putchar('\n');
	table_may_drop(t, c, "5");
	table_print(t, c);
}

static void print_conditions(const Ctl *c, const Profile *p)
{
	static const char *const columns[] = { "CONDITION", ">DRAWS",  ">SAVES AFTER",
					       ">RECOVERY", ">WAKING", ">PAYS",
					       "",          NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);
	bool any = false;

	for (Condition k = CONDITION_IDLE_A; k < _CONDITION_MAX; k++) {
		const ConditionPower *w = &p->conditions[k];
		double pays_s = condition_break_even_s(p, k);
		char draws[32], enter[32], recovery[32], wake[32] = "", pays[32];

		if (!w->present)
			continue;
		any = true;
		if (w->wake_w > 0)
			format_watts(wake, sizeof(wake), w->wake_w);
		table_row(t, condition_name(k), format_watts(draws, sizeof(draws), w->watts),
			  format_wait(enter, sizeof(enter), w->enter_s * 1e6),
			  format_wait(recovery, sizeof(recovery), w->recovery_s * 1e6), wake,
			  isinf(pays_s) ? "never" : format_wait(pays, sizeof(pays), pays_s * 1e6),
			  model_mark(w->estimated));
	}
	if (!any)
		return;
	putchar('\n');
	table_may_drop(t, c, "4 2 6");
	table_print(t, c);
}

static void print_energies(const Ctl *c, const Profile *p)
{
	static const char *const columns[] = { "ENERGY ABOVE IDLE", ">AN IO", ">EACH 4 KIB", NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);
	char error[32];

	for (Direction d = 0; d < _DIRECTION_MAX; d++)
		for (Pattern k = 0; k < _PATTERN_MAX; k++) {
			Point place = { .read_share = d == READ_IO, .pattern = k };
			char io[32], page[32];

			table_row(t, model_io_name(&place),
				  model_joules(io, sizeof(io), p->energy[d][k].io_j),
				  model_joules(page, sizeof(page), p->energy[d][k].page_j));
		}
	putchar('\n');
	table_print(t, c);
	printf("All of them %s%s.\n", words_plus_minus(),
	       model_percent(error, sizeof(error), p->energy_error));
}

static void add_point(Table *t, const Point *p)
{
	char state[32], depth[32], chunk[32], watts[32], mb_s[32], iops[32], p99[32] = "",
									     error[32];

	snprintf(state, sizeof(state), p->power_state ? "%d" : "-", p->power_state);
	snprintf(depth, sizeof(depth), "%u", p->depth);
	snprintf(chunk, sizeof(chunk), "%uK", p->chunk_kib);
	if (p->p99_us > 0)
		format_wait(p99, sizeof(p99), p->p99_us);
	table_row(t, model_io_name(p), depth, chunk, state,
		  format_number(watts, sizeof(watts), p->watts),
		  format_number(mb_s, sizeof(mb_s), p->mb_s),
		  format_number(iops, sizeof(iops), p->iops), p99,
		  model_percent(error, sizeof(error), p->error), model_mark(p->estimated));
}

static void print_points(const Ctl *c, const Profile *p)
{
	static const char *const columns[] = { "POINT",  ">DEPTH", ">CHUNK", ">PS",
					       ">WATTS", ">MB/S",  ">IOPS",  ">P99",
					       ">ERROR", "",       NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);

	for (size_t i = 0; i < p->n_points; i++)
		add_point(t, &p->points[i]);
	putchar('\n');
	table_may_drop(t, c, "3 7 6 8");
	table_print(t, c);
}

static void print_mixes(const Ctl *c, const Profile *p)
{
	static const char *const columns[] = { "MIX",    ">READS", ">DEPTH", ">CHUNK",
					       ">PS",    ">WATTS", ">MB/S",  ">OF PARTS, MB/S",
					       ">WATTS", "",       NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);

	if (p->n_mixes == 0)
		return;
	for (const MixPoint *m = p->mixes; m < p->mixes + p->n_mixes; m++) {
		char reads[32], depth[32], chunk[32], state[32], watts[32], mb_s[32], part[32],
			w_part[32];

		snprintf(depth, sizeof(depth), "%u", m->at.depth);
		snprintf(chunk, sizeof(chunk), "%uK", m->at.chunk_kib);
		snprintf(state, sizeof(state), m->at.power_state ? "%d" : "-", m->at.power_state);
		table_row(t, model_io_name(&m->at),
			  model_percent(reads, sizeof(reads), m->at.read_share), depth, chunk,
			  state, format_number(watts, sizeof(watts), m->at.watts),
			  format_number(mb_s, sizeof(mb_s), m->at.mb_s),
			  model_percent(part, sizeof(part), m->mb_s_part),
			  model_percent(w_part, sizeof(w_part), m->watts_part),
			  model_mark(m->at.estimated));
	}
	putchar('\n');
	table_may_drop(t, c, "4 9 8 7");
	table_print(t, c);
}

static int print_profile(const Ctl *c, const Profile *p)
{
	pager_open(c);
	print_header(c, p);
	print_states(c, p);
	print_conditions(c, p);
	print_energies(c, p);
	print_points(c, p);
	print_mixes(c, p);
	return STATUS_OK;
}

int model_show(Ctl *c)
{
	_cleanup_(profile_store_freep) ProfileStore *s = NULL;
	_cleanup_(model_found_done) ModelFound f = {};
	_cleanup_json_ json_object *o = NULL;
	int status = model_read_store(c, &s) ?: model_find(c, s, c->args[0], &f);

	if (!status)
		status = model_need_profile(&f, c->args[0]);
	if (status)
		return status;
	if (!c->json)
		return print_profile(c, f.profile);
	o = whole_json(f.profile);
	json_print(c, o);
	return STATUS_OK;
}
