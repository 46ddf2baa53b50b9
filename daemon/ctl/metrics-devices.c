/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is told of each device. */

#include <math.h>

#include "ctl/ctl-metrics.h"

#define HDD "hdd"

/* clang-format off */
static const Metric device_metrics[] = {
	{ "device_watts", "watts", "Power drawn: by the device's own sensor, and by the model.",
	  .from = { { MEASURED, "MeasuredPower" }, { MODEL, "EstimatedPower" } } },
	{ "device_joules", "joules", "Energy drawn since the daemon's start. Each joule counts once: as measured where a sensor told it.",
	  METRIC_COUNTER, .from = { { MEASURED, "EnergyMeasured" }, { MODEL, "EnergyModelled" } } },
	{ "device_cap_watts", "watts", "The device can draw so much at most as it is set now.",
	  .from = { { NULL, "CapPower" } } },
	{ "device_operating_watts", "watts", "The device draws so much at most in operation.",
	  .from = { { NULL, "OperatingPower" } } },
	{ "power_state", NULL, "The NVMe power state that is set. It is left out while the device is as found.",
	  .value = VALUE_SET, .from = { { NULL, "PowerState" } } },
	{ "device_asleep", NULL, "Whether the disk is in standby.", .kind = HDD, .from = { { NULL, "Asleep" } } },
	{ "spinups", NULL, "Start/stop cycles that the disk's wear account has seen, whoever caused them.",
	  METRIC_COUNTER, .kind = HDD, .from = { { NULL, "StartsUsed" } } },
	{ "device_problem", NULL, "Whether something is wrong with the device: storpowerctl list says what.",
	  .value = VALUE_SAID, .from = { { NULL, "Problem" } } },
	{ "device_throughput_bytes_per_second", "bytes_per_second", "What the device serves.",
	  .scale = BYTES_PER_MB, .from = { { NULL, "Throughput" } } },
	{ "device_read_bytes", "bytes", "Bytes read since the daemon's start.",
	  METRIC_COUNTER, .from = { { NULL, "BytesRead" } } },
	{ "device_written_bytes", "bytes", "Bytes written since the daemon's start.",
	  METRIC_COUNTER, .from = { { NULL, "BytesWritten" } } },
	{ "device_reads", NULL, "Reads completed since the daemon's start.",
	  METRIC_COUNTER, .from = { { NULL, "Reads" } } },
	{ "device_writes", NULL, "Writes completed since the daemon's start.",
	  METRIC_COUNTER, .from = { { NULL, "Writes" } } },
	{ "device_p99_wait_seconds", "seconds", "99th percentile of the wait for an IO: measured in the last second from submission on, and by the plan.",
	  .scale = SECONDS_PER_US, .from = { { MEASURED, "WaitP99" }, { MODEL, "P99" } } },
};
/* clang-format on */

static const Metric throttle_wait = {
	"device_throttle_wait_seconds", "seconds",
	"What the measured 99th percentile of the wait has gained since the device was last not "
	"limited. It is left out while the device is not limited."
};

static const Metric condition = {
	"power_condition", NULL,
	"The power condition of the disk: 1 for that which is set, 0 for others."
};

/* The model, group and pool are told with each figure, so that sums by them need no join. */
static Labels labels_of(json_object *d)
{
	Labels labels = {};

	labels_add(&labels, "device", json_text(d, "Name"));
	labels_add(&labels, "model", json_text(d, "Model"));
	labels_add(&labels, "group", json_text(d, "Group"));
	labels_add(&labels, "pool", json_text(d, "Pool"));
	return labels;
}

static void write_metric(Exposition *e, const Metric *m, json_object *devices)
{
	exposition_begin(e, m);
	for (size_t i = 0; i < json_count(devices); i++) {
		json_object *d = json_object_array_get_idx(devices, i);
		const Labels labels = labels_of(d);

		if (!m->kind || streq(json_text(d, "Kind"), m->kind))
			exposition_from(e, &labels, d);
	}
}

static void write_throttle_wait(Exposition *e, json_object *devices)
{
	exposition_begin(e, &throttle_wait);
	for (size_t i = 0; i < json_count(devices); i++) {
		json_object *d = json_object_array_get_idx(devices, i);
		const Labels labels = labels_of(d);
		double gained_us = json_number(d, "WaitP99") - json_number(d, "WaitP99Before");

		exposition_sample(e, &labels, gained_us < 0 ? 0 : gained_us * SECONDS_PER_US);
	}
}

/* Of every condition, so that a series ends with a 0. */
static void write_conditions(Exposition *e, json_object *d)
{
	static const char *const names[] = { "active", "idle_a",    "idle_b",
					     "idle_c", "standby_y", "standby_z" };

	for (size_t i = 0; i < ELEMENTSOF(names); i++) {
		Labels labels = labels_of(d);

		labels_add(&labels, "condition", names[i]);
		exposition_sample(e, &labels, streq(json_text(d, "Condition"), names[i]));
	}
}

static void write_all_conditions(Exposition *e, json_object *devices)
{
	exposition_begin(e, &condition);
	for (size_t i = 0; i < json_count(devices); i++) {
		json_object *d = json_object_array_get_idx(devices, i);

		if (streq(json_text(d, "Kind"), HDD))
			write_conditions(e, d);
	}
}

void metrics_write_devices(Exposition *e, const Figures *f)
{
	for (size_t i = 0; i < ELEMENTSOF(device_metrics); i++)
		write_metric(e, &device_metrics[i], f->devices);
	write_all_conditions(e, f->devices);
	write_throttle_wait(e, f->devices);
}
