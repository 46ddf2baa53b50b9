/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* storpowerctl efficiency: what devices give for a joule, the best first. */

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "ctl/ctl-efficiency.h"

/* Enough to saturate any of them. */
#define DEPTH            64
#define LARGE_KIB        256
#define SMALL_KIB        4
#define MIXED_READS      0.5
#define GB_PER_TB        1e3
#define BY_FALLING(a, b) ((a) < (b) ? 1 : (a) > (b) ? -1 : 0)

Mix efficiency_mix(IoSize size, IoKind kind)
{
	const double kib = size == LARGE_IO ? LARGE_KIB : SMALL_KIB;

	return (Mix){ .read_share = kind == IO_READ    ? 1
				    : kind == IO_WRITE ? 0
						       : MIXED_READS,
		      .random_share = size == LARGE_IO ? 0 : 1,
		      .read_kib = kib,
		      .write_kib = kib,
		      .depth = DEPTH };
}

const char *efficiency_kind_name(IoKind kind)
{
	return kind == IO_READ ? "Read" : kind == IO_WRITE ? "Write" : "Mixed";
}

const char *efficiency_size_name(IoSize size)
{
	return size == LARGE_IO ? "Large" : "Small";
}

static int compare_asked(const void *a, const void *b)
{
	const EfficiencyRow *x = a, *y = b;

	return BY_FALLING(x->asked.mb_j, y->asked.mb_j)
		       ?: strcmp(x->profile->name, y->profile->name);
}

static int compare_large(const void *a, const void *b)
{
	const EfficiencyRow *x = a, *y = b;

	return BY_FALLING(x->both[LARGE_IO], y->both[LARGE_IO])
		       ?: strcmp(x->profile->name, y->profile->name);
}

static int compare_small(const void *a, const void *b)
{
	const EfficiencyRow *x = a, *y = b;

	return BY_FALLING(x->both[SMALL_IO], y->both[SMALL_IO])
		       ?: strcmp(x->profile->name, y->profile->name);
}

void efficiency_sort(EfficiencyReport *r, IoSize size)
{
	qsort(r->rows, r->n, sizeof(*r->rows),
	      r->workload        ? compare_asked
	      : size == LARGE_IO ? compare_large
				 : compare_small);
}

static void fill_row(const EfficiencyReport *r, const Profile *p, EfficiencyRow *ret)
{
	EfficiencyRow row = { .profile = p, .full_w = profile_operating_w(p) };

	for (IoSize s = 0; s < _IO_SIZE_MAX; s++) {
		for (IoKind k = 0; k < _IO_KIND_MAX; k++) {
			const Mix mix = efficiency_mix(s, k);

			efficiency_predict(p, &mix, &row.at[s][k]);
		}
		row.both[s] = efficiency_both_per_joule(
			s == LARGE_IO ? row.at[s][IO_READ].mb_s : row.at[s][IO_READ].iops,
			s == LARGE_IO ? row.at[s][IO_WRITE].mb_s : row.at[s][IO_WRITE].iops,
			row.at[s][IO_READ].watts, row.at[s][IO_WRITE].watts);
	}
	if (r->workload) {
		efficiency_predict(p, &r->mix, &row.asked);
		row.full_w = row.asked.watts;
	}
	*ret = row;
}

/* Devices of one profile are one row. */
static int add(EfficiencyReport *r, const Profile *p)
{
	EfficiencyRow *row;

	for (size_t i = 0; i < r->n; i++)
		if (r->rows[i].profile == p)
			return STATUS_OK;
	row = ARRAY_GROW(r->rows, r->n);
	if (!row)
		return complain(STATUS_FAILURE, "Out of memory");
	fill_row(r, p, row);
	return STATUS_OK;
}

static int read_usable(const Ctl *c, double *ret_tb)
{
	const bool size = carbon_given(c, CARBON_SIZE);
	double raw_gb;
	Protection p;
	int status = carbon_number(c, CARBON_SIZE, &raw_gb) ?: carbon_protection(c, &p);

	if (!status && !size &&
	    (carbon_given(c, CARBON_FILL) || carbon_given(c, CARBON_PROTECTION)))
		return complain(STATUS_USAGE, "--protection and --fill are of a capacity: "
					      "--size=, as 2TB, would be right");
	if (!status)
		*ret_tb = size ? efficiency_usable(raw_gb / GB_PER_TB, &p) : NAN;
	return status;
}

static int read_options(const Ctl *c, EfficiencyReport *r)
{
	r->workload = c->model.workload;
	return carbon_intensity_alone(c, &r->g_kwh) ?: carbon_number(c, CARBON_PRICE, &r->price_kwh)
		       ?: read_usable(c, &r->usable_tb) ?: model_workload(c, &r->mix);
}

static int add_named(Ctl *c, const ProfileStore *s, EfficiencyReport *r, ModelFound *found)
{
	int status = STATUS_OK;

	for (int i = 0; i < c->n_args && !status; i++) {
		status = model_find(c, s, c->args[i], &found[i])
				 ?: model_need_profile(&found[i], c->args[i]);
		if (!status)
			status = add(r, found[i].profile);
	}
	return status;
}

static int add_all(const Ctl *c, const ProfileStore *s, EfficiencyReport *r)
{
	int status = STATUS_OK;

	if (!s->n)
		return complain(STATUS_FAILURE,
				"There is no profile in %s: name the directory with --profiles=DIR",
				c->model.profiles ?: STORPOWER_DATADIR "/profiles");
	for (size_t i = 0; i < s->n && !status; i++)
		status = add(r, s->profiles[i]);
	return status;
}

static void show(const Ctl *c, EfficiencyReport *r)
{
	if (c->json) {
		_cleanup_json_ json_object *o = efficiency_json(r);

		json_print(c, o);
	} else {
		efficiency_print(c, r);
	}
}

int verb_efficiency(Ctl *c)
{
	_cleanup_(profile_store_freep) ProfileStore *s = NULL;
	_cleanup_free_ ModelFound *found = calloc((size_t)c->n_args + 1, sizeof(*found));
	EfficiencyReport r = {};
	int status;

	if (!found)
		return complain(STATUS_FAILURE, "Out of memory");
	log_set_plain(); /* what is wrong with a profile is said to whoever has typed this */
	status = read_options(c, &r) ?: model_read_store(c, &s);
	if (!status)
		status = c->n_args ? add_named(c, s, &r, found) : add_all(c, s, &r);
	if (!status)
		show(c, &r);
	for (int i = 0; i < c->n_args; i++)
		model_found_done(&found[i]);
	free(r.rows);
	return status;
}
