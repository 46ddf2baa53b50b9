/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The answers of storpowerctl carbon, for people. */

#include <math.h>

#include "ctl/ctl-carbon.h"
#include "ctl/table.h"
#include "ctl/words.h"

#define NUMBER_SIZE 48

typedef char *(*NumberFormat)(char *buf, size_t size, double v);

/* "1.2e11" of what is too large to be read, digits alone of the rest. */
static char *count_text(char *buf, size_t size, double n)
{
	int exponent = n > 0 ? (int)floor(log10(n)) : 0;

	if (exponent < 6)
		snprintf(buf, size, "%.0f", n);
	else
		snprintf(buf, size, "%.2fe%d", n / pow(10, exponent), exponent);
	return buf;
}

static char *number_text(char *buf, size_t size, double v)
{
	return v < 1e5 ? format_number(buf, size, v) : count_text(buf, size, v);
}

static char *time_text(char *buf, size_t size, double s)
{
	static const struct {
		const char *name;
		double s;
	} units[] = { { "y", 1e4 * SECONDS_PER_YEAR },
		      { "years", SECONDS_PER_YEAR },
		      { "days", 86400 },
		      { "hours", 3600 },
		      { "minutes", 60 },
		      { "seconds", 0 } };
	char number[32];
	size_t i = 0;

	while (s < 2 * units[i].s)
		i++;
	s /= i == 0 ? SECONDS_PER_YEAR : fmax(1, units[i].s);
	snprintf(buf, size, "%s %s", number_text(number, sizeof(number), s), units[i].name);
	return buf;
}

/* "820 g", "12.3 kg", "3.45 t" */
static char *kg_text(char *buf, size_t size, double kg)
{
	char number[32];
	double times = kg < 1 ? 1e3 : kg < 1e3 ? 1 : 1e-3;

	snprintf(buf, size, "%s %s", number_text(number, sizeof(number), times * kg),
		 kg < 1     ? "g"
		 : kg < 1e3 ? "kg"
			    : "t");
	return buf;
}

static const char *crossing_text(char *buf, size_t size, const CarbonCrossing *x,
				 NumberFormat format)
{
	char number[NUMBER_SIZE];

	if (isnan(x->at))
		return "";
	switch (x->verdict) {
	case CARBON_ALWAYS: return "at once";
	case CARBON_NEVER: return "never";
	default: break;
	}
	snprintf(buf, size, "%s%s", x->verdict == CARBON_UNTIL ? "until " : "",
		 format(number, sizeof(number), x->at));
	return buf;
}

static void add_crossings(Table *t, const char *what, const CarbonCrossings *x, NumberFormat format)
{
	char mean[64], best[64], worst[64];

	table_row(t, what, crossing_text(mean, sizeof(mean), &x->mean, format),
		  crossing_text(best, sizeof(best), &x->best, format),
		  crossing_text(worst, sizeof(worst), &x->worst, format));
}

static const char *grid_text(char *buf, size_t size, const CarbonCrossing *x)
{
	char number[NUMBER_SIZE];

	if (isnan(x->at))
		return "";
	if (x->verdict == CARBON_ALWAYS || x->verdict == CARBON_NEVER)
		return x->verdict == CARBON_ALWAYS ? "any" : "none";
	snprintf(buf, size, "%s %s", x->verdict == CARBON_UNTIL ? "below" : "above",
		 number_text(number, sizeof(number), x->at));
	return buf;
}

static void add_grid(Table *t, const CarbonCrossings *x)
{
	char mean[64], best[64], worst[64];

	table_row(t, "Grid to break even, g/kWh", grid_text(mean, sizeof(mean), &x->mean),
		  grid_text(best, sizeof(best), &x->best),
		  grid_text(worst, sizeof(worst), &x->worst));
}

static const char *disks_name(char *buf, size_t size, unsigned disks)
{
	if (disks == 1)
		snprintf(buf, size, "the disk");
	else
		snprintf(buf, size, "the %u disks", disks);
	return buf;
}

static void add_life(Table *t, const Inquiry *q, size_t side)
{
	char text[3][NUMBER_SIZE], what[64];
	const CarbonCase cases[] = { CARBON_MEAN, CARBON_BEST, CARBON_WORST };
	double kg[2];

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		carbon_of_life(q, cases[i], kg);
		kg_text(text[i], sizeof(text[i]), kg[side]);
	}
	snprintf(what, sizeof(what), "CO2e of the %s in %.3g y", side ? "disks" : "SSD", q->life_y);
	table_row(t, what, text[0], text[1], text[2]);
}

static void print_table(const Ctl *c, const Inquiry *q)
{
	static const char *const columns[] = { "SSD AGAINST DISKS", ">MEAN", ">BEST", ">WORST",
					       NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);

	add_crossings(t, "Requests to break even", &q->requests, count_text);
	if (!isnan(q->rate)) {
		add_crossings(t, "Time to break even", &q->seconds, time_text);
		add_grid(t, &q->g_kwh);
		add_life(t, q, 0);
		add_life(t, q, 1);
	}
	table_print(t, c);
}

/* "2.00 TB" */
static char *size_text(char *buf, size_t size, double gb)
{
	char number[32];

	snprintf(buf, size, "%s %s",
		 format_number(number, sizeof(number), gb < 1e3 ? gb : gb / 1e3),
		 gb < 1e3 ? "GB" : "TB");
	return buf;
}

static void print_head(const Ctl *c, const Inquiry *q)
{
	char size[32], rate[64] = "", disks[64], text[WORDS_SIZE];
	char count[NUMBER_SIZE];

	if (!isnan(q->rate))
		snprintf(rate, sizeof(rate), ", at %s requests a second",
			 count_text(count, sizeof(count), q->rate));
	snprintf(disks, sizeof(disks), q->question.disks == 1 ? "%u disk" : "%u disks",
		 q->question.disks);
	snprintf(text, sizeof(text), "An SSD of %s against %s of that size%s",
		 size_text(size, sizeof(size), q->question.size_gb), disks, rate);
	print_wrapped("", 0, text, c->width);
	putchar('\n');
}

static char *energy_text(char *buf, size_t size, double j)
{
	if (j < 1)
		return model_joules(buf, size, j);
	snprintf(buf, size, "%.4g J", j);
	return buf;
}

/* Why it is so, of the means. */
static void print_why(const Ctl *c, const Inquiry *q)
{
	static const char *const so[] = {
		[CARBON_AFTER] = "The SSD makes up for its making, as its requests cost less",
		[CARBON_ALWAYS] = "The SSD is ahead from the first request, and stays so",
		[CARBON_NEVER] = "The SSD never gets ahead",
		[CARBON_UNTIL] = "The SSD is ahead at first only, as its requests cost more",
	};
	char ssd_kg[32], hdd_kg[32], ssd_j[32], hdd_j[32], disks[32], text[2 * WORDS_SIZE];
	double kg[2];

	carbon_sides(&q->question, 0, CARBON_MEAN, &kg[0], &kg[1]);
	disks_name(disks, sizeof(disks), q->question.disks);
	snprintf(text, sizeof(text),
		 "%s: it was made with %s of CO2e and takes %s a request; %s with %s, and %s.",
		 so[q->requests.mean.verdict], kg_text(ssd_kg, sizeof(ssd_kg), kg[0]),
		 energy_text(ssd_j, sizeof(ssd_j), q->question.ssd.request_j.mean), disks,
		 kg_text(hdd_kg, sizeof(hdd_kg), kg[1]),
		 energy_text(hdd_j, sizeof(hdd_j), q->question.hdd.request_j.mean));
	putchar('\n');
	print_wrapped("", 0, text, c->width);
}

void carbon_print(const Ctl *c, const Inquiry *q)
{
	pager_open(c);
	print_head(c, q);
	print_table(c, q);
	print_why(c, q);
	print_wrapped("", 0,
		      "Best takes the bound of every figure that favours the SSD, worst the one "
		      "that favours the disks.",
		      c->width);
}
