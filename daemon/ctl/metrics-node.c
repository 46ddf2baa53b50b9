/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is told of the whole node. */

#include <math.h>

#include "ctl/ctl-metrics.h"

#define KWH_PER_JOULE (1 / 3.6e6)

static const Metric up = { .name = "up",
			   .help = "Whether storpowerd answers: all else is told while it does." };
static const Metric build = { .name = "build",
			      .type = METRIC_INFO,
			      .help = "The versions of storpowerd and of storpowerctl." };
static const Metric advising = { .name = "advising",
				 .help = "Whether limits are advised only, and nothing is set." };
static const Metric carbon = {
	.name = "carbon_intensity_grams_per_joule",
	.unit = "grams_per_joule",
	.help = "CO2e of the grid's energy, on average or of one joule more. Times 3.6e6 it is grams a kWh.",
	.scale = KWH_PER_JOULE,
	.from = { { NULL, "CarbonIntensity" } }
};
static const Metric claims = { .name = "claims",
			       .help = "Claims that are active, by their class." };

/* clang-format off */
static const Metric node_metrics[] = {
	{ "draw_watts", "watts", "Power drawn by all managed devices: by sensors where all have one, and by the model.",
	  .from = { { MEASURED, "MeasuredPower" }, { MODEL, "EstimatedPower" } } },
	{ "draw_error_watts", "watts", "The draw, measured or else by the model, may be so much more or less.",
	  .from = { { NULL, "PowerError" } } },
	{ "joules", "joules", "Energy drawn since the daemon's start. Each joule counts once: as measured where a sensor told it.",
	  METRIC_COUNTER, .from = { { MEASURED, "EnergyMeasured" }, { MODEL, "EnergyModelled" } } },
	{ "budget_watts", "watts", "The budget in force on the node. It is left out while there is none.",
	  .from = { { NULL, "EffectiveLimit" } } },
	{ "operating_watts", "watts", "What percentages are of: the devices draw so much at most in operation.",
	  .from = { { NULL, "OperatingPower" } } },
	{ "cap_watts", "watts", "The devices can draw so much at most as they are set now.",
	  .from = { { NULL, "CapPower" } } },
	{ "floor_watts", "watts", "No setting removes so much of the draw.",
	  .from = { { NULL, "FloorPower" } } },
	{ "shortfall_watts", "watts", "The budget is so far below what can be reached, or is exceeded by so much.",
	  .from = { { NULL, "Shortfall" } } },
	{ "enforcing", NULL, "Whether a limit is enforced.", .from = { { NULL, "Enforcing" } } },
	{ "degraded", NULL, "Whether the budget cannot be met, or a device has a problem.",
	  .from = { { NULL, "Degraded" } } },
	{ "above_budget_seconds", "seconds", "Time since the daemon's start in which more was drawn than the budget.",
	  METRIC_COUNTER, .from = { { NULL, "SecondsAbove" } } },
	{ "limited_seconds", "seconds", "Time since the daemon's start in which a limit was in force.",
	  METRIC_COUNTER, .from = { { NULL, "SecondsLimited" } } },
	{ "overload_seconds", "seconds", "What of the tolerated overload is spent and not regained.",
	  .from = { { NULL, "Overload" } } },
	{ "tolerance_seconds", "seconds", "The overload that the budget in force tolerates.",
	  .from = { { NULL, "Tolerance" } } },
	{ "throughput_bytes_per_second", "bytes_per_second", "What all managed devices serve.",
	  .scale = BYTES_PER_MB, .from = { { NULL, "Throughput" } } },
	{ "demand_bytes_per_second", "bytes_per_second", "What the workloads ask for. It is left out where one asks for all it can get.",
	  .scale = BYTES_PER_MB, .from = { { NULL, "Demand" } } },
	{ "ledger_problem", NULL, "Whether the ledger cannot be written.", .value = VALUE_SAID,
	  .from = { { NULL, "LedgerProblem" } } },
	{ "ledger_written_timestamp_seconds", "seconds", "When the ledger was written last, since the epoch.",
	  .value = VALUE_TIME, .from = { { NULL, "LedgerWrittenUSec" } } },
	{ "price_per_joule", NULL, "Price of energy, in the configured currency. Times 3.6e6 it is that of a kWh.",
	  .scale = KWH_PER_JOULE, .from = { { NULL, "Price" } } },
};
/* clang-format on */

static void write_build(Exposition *e, json_object *state)
{
	Labels labels = {};

	labels_add(&labels, "version", json_text(state, "Version"));
	labels_add(&labels, "storpowerctl", STORPOWER_VERSION);
	exposition_begin(e, &build);
	exposition_sample(e, &labels, 1);
}

static double count_active(json_object *all, const char *class)
{
	size_t n = 0;

	for (size_t i = 0; i < json_count(all); i++) {
		json_object *claim = json_object_array_get_idx(all, i);

		n += json_true(claim, "Active") && streq(json_text(claim, "Class"), class);
	}
	return (double)n;
}

/* Of every class, so that a series does not begin with its first claim. */
static void write_claims(Exposition *e, json_object *state)
{
	static const char *const classes[] = { "emergency", "operator", "signal", "schedule" };

	exposition_begin(e, &claims);
	for (size_t i = 0; i < ELEMENTSOF(classes); i++) {
		Labels labels = {};

		labels_add(&labels, "class", classes[i]);
		exposition_sample(e, &labels,
				  count_active(json_member(state, "Claims"), classes[i]));
	}
}

static void write_carbon(Exposition *e, json_object *state)
{
	bool marginal = json_true(state, "CarbonMarginal");
	Labels labels = {};

	labels_add(&labels, "kind", marginal ? "marginal" : "average");
	exposition_begin(e, &carbon);
	exposition_from(e, &labels, state);
}

void metrics_write_node(Exposition *e, const Figures *f)
{
	const Labels none = {};

	exposition_begin(e, &up);
	exposition_sample(e, &none, f->state != NULL);
	if (!f->state)
		return;
	write_build(e, f->state);
	for (size_t i = 0; i < ELEMENTSOF(node_metrics); i++) {
		exposition_begin(e, &node_metrics[i]);
		exposition_from(e, &none, f->state);
	}
	exposition_begin(e, &advising);
	exposition_sample(e, &none, ctl_is_advised(f->state));
	write_claims(e, f->state);
	write_carbon(e, f->state);
}
