/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the shipped profiles say of where their figures come from: no figure is surer than what it
 * hangs on, and what no source gives is marked and names its rule. */

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "model-store.h"

/* How sure the anchor of each profile is. A sheet's or a descriptor's watts are of a sample and are
 * rounded: 5 %. A sheet of another size or state of the drive: 8 %. "About": 10 %. Ceilings, and
 * watts that another drive was measured with: 10 % or more. */
static const struct Anchor {
	const char *name, *anchor;
	double error;
} anchors[] = {
	{ "dell-ps1010", "descriptors, which are ceilings", 0.10 },
	{ "intel-d3-s4510", "a sheet of which the largest stands for all", 0.08 },
	{ "intel-p5510", "a sheet's active power", 0.08 },
	{ "samsung-860-evo", "a review's \"just under 2 W\"", 0.10 },
	{ "samsung-pm1725", "\"about 18 W\"", 0.10 },
	{ "samsung-pm1733", "another drive's \"about 14 W\"", 0.10 },
	{ "samsung-pm1735", "\"about 14 W\"", 0.10 },
	{ "samsung-pm9a3", "a descriptor's active power", 0.05 },
	{ "seagate-constellation-es2", "a sheet's watts", 0.05 },
	{ "seagate-exos-7e2000", "another drive's sheet", 0.10 },
	{ "seagate-st2000nx0463", "printed watts, \"constant\"", 0.05 },
};

/* What is estimated is half as sure as its anchor; whether this one says that it is as sure. */
static bool is_as_sure(const Profile *p, const Point *q)
{
	assert_true(q->error >= p->error - 1e-9);
	return q->estimated && q->error < 2 * p->error - 1e-9;
}

static void no_error_is_tighter_than_its_anchor(void **state)
{
	size_t shipped = 0;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(anchors); i++) {
		const Profile *p = profile_store_get(store, anchors[i].name);
		bool as_sure = false;

		assert_non_null(p);
		if (p->error < anchors[i].error)
			fail_msg("%s: +-%.0f %% hang on %s", p->name, 100 * p->error,
				 anchors[i].anchor);
		for (size_t k = 0; k < p->n_points; k++)
			as_sure |= is_as_sure(p, &p->points[k]);
		for (size_t k = 0; k < p->n_mixes; k++)
			as_sure |= is_as_sure(p, &p->mixes[k].at);
		/* HotStorage's ratios are exact: they leave the anchor's own error, and no more */
		assert_true(as_sure == streq(p->name, "samsung-pm9a3"));
		assert_true(p->energy_error >= p->error);
	}
	for (size_t i = 0; i < store->n; i++)
		shipped += !store->profiles[i]->estimated;
	assert_int_equal(shipped, ELEMENTSOF(anchors));
}

/* "R3" or "[sheet]" */
static bool names_origin(const char *text)
{
	for (const char *c = text; *c; c++) {
		if (*c == 'R' && isdigit((unsigned char)c[1]))
			return true;
		if (*c == '[' && islower((unsigned char)c[1]) && strchr(c, ']'))
			return true;
	}
	return false;
}

static bool is_rule_of(const char *text, const char *line)
{
	for (const char *c = line; (c = strchr(c, 'R')); c++) {
		char rule[16];

		if (!isdigit((unsigned char)c[1]))
			continue;
		snprintf(rule, sizeof(rule), "\n#  R%c ", c[1]);
		if (!strstr(text, rule))
			return false;
	}
	return true;
}

/* Comments stand above what they are about, up to an empty line. */
typedef struct Reader {
	const char *path, *text;
	char comment[1024]; /* the last one */
	bool in_comment;
	size_t points, figures;
} Reader;

static void take_comment(Reader *r, const char *line)
{
	size_t n;

	if (!r->in_comment)
		*r->comment = '\0';
	n = strlen(r->comment);
	snprintf(r->comment + n, sizeof(r->comment) - n, "%s ", line);
	r->in_comment = true;
	if (!is_rule_of(r->text, line))
		fail_msg("%s: \"%s\" names a rule that does not stand in the file", r->path, line);
}

static bool is_figure(const char *line)
{
	return strncmp(line, "rated =", 7) == 0 || strncmp(line, "idle =", 6) == 0 ||
	       strncmp(line, "link_saving =", 13) == 0 || strncmp(line, "watts =", 7) == 0;
}

static void take_line(Reader *r, const char *line)
{
	bool point = strncmp(line, "point =", 7) == 0;

	if (*line == '#') {
		take_comment(r, line);
		return;
	}
	r->in_comment = false;
	if (*line == '\0')
		*r->comment = '\0';
	if (point && !names_origin(r->comment))
		fail_msg("%s: no source or rule stands above \"%s\"", r->path, line);
	if (is_figure(line) && !*r->comment)
		fail_msg("%s: nothing above \"%s\" says where it is from", r->path, line);
	r->points += point;
	r->figures += is_figure(line);
}

static void what_each_figure_comes_from_stands_above_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(anchors); i++) {
		const Profile *p = profile_store_get(store, anchors[i].name);
		_cleanup_free_ char *text = NULL, *lines = NULL;
		Reader r = { .path = p->path };
		char *next, *line;

		assert_int_equal(read_file(p->path, &text), 0);
		lines = strdup(text);
		assert_non_null(lines);
		r.text = text;
		next = lines;
		while ((line = strsep(&next, "\n")))
			take_line(&r, line);
		assert_int_equal(r.points, p->n_points + p->n_mixes);
		assert_true(r.figures >= 2);
	}
}

/* A profile whose figure is another drive's, an assumption or half of one says so. */
static void figures_without_a_source_are_marked(void **state)
{
	static const struct {
		const char *name;
		unsigned figures;
	} marked[] = {
		{ "dell-ps1010", FIGURE_IDLE },
		{ "intel-d3-s4510", FIGURE_LINK_SAVING },
		{ "intel-p5510", 0 },
		{ "samsung-860-evo", FIGURE_IDLE | FIGURE_LINK_SAVING },
		{ "samsung-pm1725", 0 },
		{ "samsung-pm1733", FIGURE_IDLE },
		{ "samsung-pm1735", FIGURE_RATED },
		{ "samsung-pm9a3", FIGURE_IDLE },
		{ "seagate-constellation-es2", 0 },
		{ "seagate-exos-7e2000", FIGURE_RATED | FIGURE_IDLE },
		{ "seagate-st2000nx0463", FIGURE_RATED },
		{ "generic-nvme", FIGURE_RATED | FIGURE_IDLE },
		{ "generic-sata-ssd", FIGURE_RATED | FIGURE_IDLE | FIGURE_LINK_SAVING },
		{ "generic-hdd", FIGURE_RATED | FIGURE_IDLE },
	};

	(void)state;
	assert_int_equal(store->n, ELEMENTSOF(marked));
	for (size_t i = 0; i < ELEMENTSOF(marked); i++)
		assert_int_equal(profile_store_get(store, marked[i].name)->estimated_figures,
				 marked[i].figures);
}

/* A disk's own sources tell its conditions, and none its link: only SSDs were seen in slumber. The
 * generic SSD saves no more than the one that was measured. */
static void only_measured_slumber_is_planned_with(void **state)
{
	const Profile *seen = profile_store_get(store, "samsung-860-evo");

	(void)state;
	for (size_t i = 0; i < store->n; i++) {
		const Profile *p = store->profiles[i];

		assert_true((p->link_saving_w > 0) == (p->kind == KIND_SATA_SSD));
		assert_true((p->link_recovery_s > 0) == (p->kind == KIND_SATA_SSD));
	}
	assert_float_equal(profile_store_get(store, "generic-sata-ssd")->link_saving_w,
			   seen->link_saving_w, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_error_is_tighter_than_its_anchor),
		cmocka_unit_test(what_each_figure_comes_from_stands_above_it),
		cmocka_unit_test(figures_without_a_source_are_marked),
		cmocka_unit_test(only_measured_slumber_is_planned_with),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
