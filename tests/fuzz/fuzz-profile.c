/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz-ini.h"
#include "model/profile.h"

static void put_states(FuzzReport *r, const Profile *p)
{
	for (unsigned i = 0; i < p->n_states; i++) {
		const PowerState *s = &p->states[i];

		if (!s->present)
			continue;
		fprintf(r->stream, "[power-state %u]\n", i);
		fuzz_put_fixed(r, "max", s->max_w, "W");
		fuzz_put_us(r, "entry", s->entry_us);
		fuzz_put_us(r, "exit", s->exit_us);
		fuzz_put_bool(r, "operational", s->operational);
		fuzz_put_bool(r, "estimated", s->estimated);
	}
}

static void put_conditions(FuzzReport *r, const Profile *p)
{
	for (Condition c = CONDITION_IDLE_A; c < _CONDITION_MAX; c++) {
		const ConditionPower *w = &p->conditions[c];

		if (!w->present)
			continue;
		fprintf(r->stream, "[condition %s]\n", condition_name(c));
		fuzz_put_fixed(r, "watts", w->watts, "W");
		fuzz_put_us(r, "enter", round(w->enter_s * 1e6));
		fuzz_put_us(r, "recovery", round(w->recovery_s * 1e6));
		fuzz_put_fixed(r, "wake_watts", w->wake_w, "W");
		fuzz_put_us(r, "wake_time", round(w->wake_s * 1e6));
		fuzz_put_bool(r, "estimated", w->estimated);
	}
}

/* An error beyond what a point can say is that of the profile. */
static void put_point(FuzzReport *r, const Point *q)
{
	double percent = fuzz_percent_of(q->error);

	fprintf(r->stream, "point=ps=%d qd=%u chunk=%uK %s:", q->power_state, q->depth,
		q->chunk_kib, q->pattern == RANDOM_IO ? "random" : "sequential");
	if (q->read_share > 0 && q->read_share < 1)
		fuzz_put_number(r, " read=", fuzz_percent_of(q->read_share), "%");
	else
		fputs(q->direction == READ_IO ? " read" : " write", r->stream);
	fuzz_put_number(r, " ", q->watts, "W");
	fuzz_put_number(r, " ", q->mb_s, "MB/s");
	fuzz_put_number(r, " ", q->iops, "iops");
	fuzz_put_number(r, " p99=", q->p99_us, "us");
	if (percent >= 0.1 && percent <= 100)
		fuzz_put_number(r, " error=", percent, "%");
	fputs(q->estimated ? " estimated\n" : "\n", r->stream);
}

static void put_energies(FuzzReport *r, const Profile *p)
{
	fputs("[energy]\n", r->stream);
	for (Direction d = 0; d < _DIRECTION_MAX; d++)
		for (Pattern t = 0; t < _PATTERN_MAX; t++) {
			const Energy *e = &p->energy[d][t];
			_cleanup_free_ char *key =
				text_printf("%s_%s_", d == READ_IO ? "read" : "write",
					    t == RANDOM_IO ? "random" : "sequential");

			fuzz_check(key && e->io_j >= 0 && e->page_j >= 0);
			r->unfit |= e->io_j > 1000 || e->page_j > 1000; /* fitted */
			fputs(key, r->stream);
			fuzz_put_fixed(r, "io", e->io_j, "J");
			fputs(key, r->stream);
			fuzz_put_fixed(r, "page", e->page_j, "J");
		}
	r->unfit |= p->energy_error > 1; /* fitted */
	fuzz_put_percent(r, "error", p->energy_error);
}

/* A figure that cannot be 0, which stands for one that is not given. */
static void put_given(FuzzReport *r, const char *key, double v, const char *unit)
{
	if (v > 0)
		fuzz_put_fixed(r, key, v, unit);
}

static void put_sheet(FuzzReport *r, const Profile *p)
{
	char figures[64];

	if (p->sheet.interface != INTERFACE_UNKNOWN)
		fuzz_put_text(r, "interface", interface_name(p->sheet.interface));
	put_given(r, "read_mb_s", p->sheet.mb_s[READ_IO], "");
	put_given(r, "write_mb_s", p->sheet.mb_s[WRITE_IO], "");
	put_given(r, "read_iops", p->sheet.iops[READ_IO], "");
	put_given(r, "write_iops", p->sheet.iops[WRITE_IO], "");
	if (p->estimated_figures)
		fuzz_put_text(r, "estimated",
			      figures_text(figures, sizeof(figures), p->estimated_figures));
}

static void put_emerald(FuzzReport *r, const Emerald *e)
{
	fputs("[emerald]\n", r->stream);
	put_given(r, "ready_idle_gb_w", e->ready_idle_gb_w, "");
	for (EmeraldLoad l = 0; l < _EMERALD_MAX; l++) {
		put_given(r, emerald_key(l), e->per_w[l], "");
		put_given(r, emerald_chunk_key(l), e->kib[l], "KiB");
	}
}

static char *report(const char *path, bool *ret_complaints)
{
	_cleanup_(profile_freep) Profile *p = NULL;
	FuzzReport r;

	(void)ret_complaints;
	if (profile_read(path, &p) < 0)
		return NULL;
	fuzz_check(p->rated_w > 0 && p->rated_w >= p->idle_w && p->idle_w >= 0);
	fuzz_report_begin(&r);
	fputs("[profile]\n", r.stream);
	for (char **m = p->models; *m; m++)
		fuzz_put_text(&r, "match", *m);
	fuzz_put_text(&r, "kind", kind_name(p->kind));
	fuzz_put_fixed(&r, "rated", p->rated_w, "W");
	fuzz_put_fixed(&r, "idle", p->idle_w, "W");
	fuzz_put_percent(&r, "error", p->error);
	fuzz_put_fixed(&r, "link_saving", p->link_saving_w, "W");
	fuzz_put_us(&r, "link_recovery", round(p->link_recovery_s * 1e6));
	fprintf(r.stream, "cycles=%.0f\n", p->rated_cycles_start);
	put_sheet(&r, p);
	put_states(&r, p);
	put_conditions(&r, p);
	fputs("[points]\n", r.stream);
	for (size_t i = 0; i < p->n_points; i++)
		put_point(&r, &p->points[i]);
	for (size_t i = 0; i < p->n_mixes; i++)
		put_point(&r, &p->mixes[i].at);
	put_energies(&r, p);
	put_emerald(&r, &p->emerald);
	return fuzz_report_end(&r);
}

static const FuzzIni ini = {
	.name = "fuzz.profile",
	.report = report,
	.free = (const char *const[]){ "match", "point", NULL },
	.defaults =
		(const char *const[][2]){
			{ "profile error", "10%" },
			{ "profile link_saving", "0W" },
			{ "profile link_recovery", "0" },
			{ "profile cycles", "0" },
			{ "power-state entry", "0" },
			{ "power-state exit", "0" },
			{ "power-state operational", "yes" },
			{ "power-state estimated", "no" },
			{ "condition enter", "0" },
			{ "condition recovery", "0" },
			{ "condition wake_watts", "0W" },
			{ "condition wake_time", "0" },
			{ "condition estimated", "no" },
			{ NULL },
		},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_ini(&ini, data, size);
	return 0;
}
