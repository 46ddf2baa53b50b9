/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ctl/ctl-metrics.h"

#define LABELS "{device=\"sda\",model=\"\",group=\"\",pool=\"\""

/* What metrics says of these properties. */
static char *metrics_of(const char *state, const char *devices, const char *planned,
			bool openmetrics)
{
	Figures f = { .state = json_tokener_parse(state),
		      .devices = json_tokener_parse(devices),
		      .planned = json_tokener_parse(planned) };
	char *text = NULL;
	size_t size;
	Exposition e = { .to = open_memstream(&text, &size), .openmetrics = openmetrics };

	assert_non_null(f.state);
	assert_non_null(f.devices);
	metrics_write(&e, &f);
	fclose(e.to);
	json_object_put(f.state);
	json_object_put(f.devices);
	json_object_put(f.planned);
	return text;
}

static char *metrics_of_node(const char *state)
{
	return metrics_of(state, "[]", "null", false);
}

static char *metrics_of_device(const char *device)
{
	_cleanup_free_ char *devices = text_printf("[ %s ]", device);

	return metrics_of("{}", devices, "null", false);
}

static bool has_line(const char *text, const char *line)
{
	_cleanup_free_ char *whole = text_printf("\n%s\n", line);

	return strstr(text, whole);
}

static void assert_line(const char *text, const char *line)
{
	if (!has_line(text, line))
		fail_msg("no line \"%s\" in:\n%s", line, text);
}

static void assert_none(const char *text, const char *name)
{
	if (strstr(text, name))
		fail_msg("\"%s\" is in:\n%s", name, text);
}

static void energy_is_a_counter_of_each_source(void **state)
{
	_cleanup_free_ char *node =
		metrics_of_node("{ \"EnergyMeasured\": 1.5e6, \"EnergyModelled\": 0 }");
	_cleanup_free_ char *device = metrics_of_device(
		"{ \"Name\": \"sda\", \"EnergyMeasured\": null, \"EnergyModelled\": 12.25 }");

	(void)state;
	assert_line(node, "# TYPE storpower_joules_total counter");
	assert_line(node, "storpower_joules_total{source=\"measured\"} 1500000");
	assert_line(node, "storpower_joules_total{source=\"model\"} 0");
	assert_line(device, "storpower_device_joules_total" LABELS ",source=\"model\"} 12.25");
	assert_none(device, "source=\"measured\"");
}

static void what_the_daemon_does_not_know_is_left_out(void **state)
{
	_cleanup_free_ char *text = metrics_of(
		"{ \"Version\": \"0\", \"MeasuredPower\": null, \"Price\": null }",
		"[ { \"Name\": \"sda\", \"WaitP99\": null, \"PowerState\": -1 } ]", "null", false);

	(void)state;
	assert_line(text, "storpower_up 1");
	assert_none(text, "storpower_draw_watts");
	assert_none(text, "storpower_price");
	assert_none(text, "storpower_ledger");
	assert_none(text, "storpower_joules");
	assert_none(text, "p99");
	assert_none(text, "storpower_power_state");
	assert_none(text, "nan");
}

static void without_a_daemon_only_that_is_told(void **state)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	Exposition e = { .to = open_memstream(&text, &size) };

	(void)state;
	metrics_write(&e, &(Figures){});
	fclose(e.to);
	assert_line(text, "storpower_up 0");
	assert_non_null(strstr(text, "storpower_up 0\n# EOF\n"));
	assert_null(strstr(strstr(text, "storpower_up 0"), "# HELP"));
}

static void the_ledger_has_a_time_once_it_is_written(void **state)
{
	_cleanup_free_ char *never = metrics_of_node(
		"{ \"LedgerProblem\": \"No space left on device\", \"LedgerWrittenUSec\": 0 }");
	_cleanup_free_ char *written = metrics_of_node(
		"{ \"LedgerProblem\": \"\", \"LedgerWrittenUSec\": 1795560331250000 }");

	(void)state;
	assert_line(never, "storpower_ledger_problem 1");
	assert_none(never, "timestamp");
	assert_line(written, "storpower_ledger_problem 0");
	assert_line(written, "storpower_ledger_written_timestamp_seconds 1795560331.25");
}

static void prices_are_of_joules(void **state)
{
	_cleanup_free_ char *text =
		metrics_of_node("{ \"CarbonIntensity\": 360, \"Price\": 0.18 }");
	_cleanup_free_ char *marginal =
		metrics_of_node("{ \"CarbonIntensity\": 720, \"CarbonMarginal\": true }");

	(void)state;
	assert_line(text, "storpower_carbon_intensity_grams_per_joule{kind=\"average\"} 0.0001");
	assert_line(marginal,
		    "storpower_carbon_intensity_grams_per_joule{kind=\"marginal\"} 0.0002");
	assert_line(text, "storpower_price_per_joule 5e-08");
}

static void labels_escape_quotes_backslashes_and_new_lines(void **state)
{
	_cleanup_free_ char *text = metrics_of_device(
		"{ \"Name\": \"sda\", \"Model\": \"a\\\"b\\\\c\\nd\", \"CapPower\": 3 }");

	(void)state;
	assert_line(text, "storpower_device_cap_watts{device=\"sda\",model=\"a\\\"b\\\\c\\nd\","
			  "group=\"\",pool=\"\"} 3");
}

static void waits_are_in_seconds_and_say_what_the_limit_adds(void **state)
{
	_cleanup_free_ char *slower = metrics_of_device(
		"{ \"Name\": \"sda\", \"WaitP99\": 5000, \"WaitP99Before\": 2000, \"P99\": 900 "
		"}");
	_cleanup_free_ char *faster = metrics_of_device(
		"{ \"Name\": \"sda\", \"WaitP99\": 1000, \"WaitP99Before\": 2000 }");
	_cleanup_free_ char *free_of_limits =
		metrics_of_device("{ \"Name\": \"sda\", \"WaitP99\": 1000 }");

	(void)state;
	assert_line(slower,
		    "storpower_device_p99_wait_seconds" LABELS ",source=\"measured\"} 0.005");
	assert_line(slower, "storpower_device_p99_wait_seconds" LABELS ",source=\"model\"} 0.0009");
	assert_line(slower, "storpower_device_throttle_wait_seconds" LABELS "} 0.003");
	assert_line(slower, "storpower_unit_p99_wait_seconds{unit=\"sda\",pool=\"\",source="
			    "\"measured\"} 0.005");
	assert_line(faster, "storpower_device_throttle_wait_seconds" LABELS "} 0");
	assert_none(free_of_limits, "throttle_wait");
}

static void a_pool_loses_as_one(void **state)
{
	_cleanup_free_ char *text = metrics_of(
		"{ \"Enforcing\": true }",
		"[ { \"Name\": \"sda\", \"Pool\": \"md0\", \"Throughput\": 10, \"FullThroughput\": "
		"50, \"WaitP99\": 4000 },"
		"{ \"Name\": \"md0\", \"Throughput\": 9, \"FullThroughput\": 8 },"
		"{ \"Name\": \"sdb\", \"Pool\": \"md0\", \"Throughput\": 20, \"FullThroughput\": "
		"70, \"WaitP99\": 9000 } ]",
		"[ { \"Name\": \"sda\", \"Floor\": 12 }, { \"Name\": \"sdb\", \"Floor\": 18 } ]",
		false);

	(void)state;
	assert_line(text, "storpower_unit_loss_ratio{unit=\"md0\",pool=\"md0\"} 0.75");
	assert_line(text, "storpower_unit_loss_ratio{unit=\"md0\",pool=\"\"} 0");
	assert_line(text,
		    "storpower_unit_floor_bytes_per_second{unit=\"md0\",pool=\"md0\"} 30000000");
	assert_line(text, "storpower_unit_p99_wait_seconds{unit=\"md0\",pool=\"md0\",source="
			  "\"measured\"} 0.009");
}

static void nothing_is_lost_without_a_limit_or_a_demand(void **state)
{
	_cleanup_free_ char *free_of_limits =
		metrics_of("{ \"Enforcing\": false }",
			   "[ { \"Name\": \"sda\", \"Throughput\": 10, \"FullThroughput\": 50 } ]",
			   "null", false);
	_cleanup_free_ char *idle =
		metrics_of("{ \"Enforcing\": true }",
			   "[ { \"Name\": \"sda\", \"Throughput\": 0, \"FullThroughput\": 0 } ]",
			   "null", false);

	(void)state;
	assert_line(free_of_limits, "storpower_unit_loss_ratio{unit=\"sda\",pool=\"\"} 0");
	assert_none(idle, "loss_ratio");
}

static void openmetrics_names_families_and_units(void **state)
{
	_cleanup_free_ char *text =
		metrics_of("{ \"Version\": \"1\", \"EnergyMeasured\": 2 }", "[]", "null", true);

	(void)state;
	assert_line(text, "# TYPE storpower_joules counter\n# UNIT storpower_joules joules\n"
			  "storpower_joules_total{source=\"measured\"} 2");
	assert_line(text,
		    "# TYPE storpower_build info\n"
		    "storpower_build_info{version=\"1\",storpowerctl=\"" STORPOWER_VERSION "\"} 1");
}

static void a_power_state_is_told_once_it_is_set(void **state)
{
	_cleanup_free_ char *text = metrics_of_device("{ \"Name\": \"sda\", \"PowerState\": 2 }");

	(void)state;
	assert_line(text, "storpower_power_state" LABELS "} 2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(energy_is_a_counter_of_each_source),
		cmocka_unit_test(what_the_daemon_does_not_know_is_left_out),
		cmocka_unit_test(without_a_daemon_only_that_is_told),
		cmocka_unit_test(the_ledger_has_a_time_once_it_is_written),
		cmocka_unit_test(prices_are_of_joules),
		cmocka_unit_test(labels_escape_quotes_backslashes_and_new_lines),
		cmocka_unit_test(waits_are_in_seconds_and_say_what_the_limit_adds),
		cmocka_unit_test(a_pool_loses_as_one),
		cmocka_unit_test(nothing_is_lost_without_a_limit_or_a_demand),
		cmocka_unit_test(openmetrics_names_families_and_units),
		cmocka_unit_test(a_power_state_is_told_once_it_is_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
