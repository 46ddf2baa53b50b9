/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the daemon counts for the ledger: that it adds up, whatever happens to the clock or to the
 * file, and that it is what was drawn. */

#include "test-control.h"

#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"
#include "ledger/ledger.h"

#define NODE "[node]\nname = test\nseed = 1\nnoise = 0%\npolicy = balanced\nsensors = none\n"
#define BUSY                                                                                       \
	"read = 0%\nrandom = 100%\nread_size = 256K\nwrite_size = 256K\ndepth = 64\n"              \
	"demand = constant 1000\n"
#define TWO_DRIVES                                                                                 \
	"[devices drive]\ncount = 2\nprofile = samsung-pm9a3\ngroup = flash\nqueues = 4\n" BUSY
#define A_DISK                                                                                     \
	"[devices disk]\nprofile = seagate-exos-7e2000\ngroup = cold\nread = 100%\n"               \
	"random = 100%\nread_size = 64K\nwrite_size = 64K\ndepth = 4\ndemand = constant 20\n"
#define NODE_SENSOR "[sensor pdu]\nof = node\nnoise = 0%\n"

#define BEFORE_THE_EPOCH_ENDS (1LL << 40)

static void open_counted(Fixture *f, const char *node)
{
	fixture_open_text(f, node);
	f->ledger = text_printf("%s/ledger", f->dir);
	fixture_start(f);
}

static LedgerState ledger_of(const Fixture *f)
{
	LedgerState s;

	control_ledger(f->control, &s);
	return s;
}

static int take_sum(const LedgerThing *thing, int64_t time_s, const Amounts *sum, void *userdata)
{
	(void)thing, (void)time_s;
	amounts_add(userdata, sum);
	return 0;
}

/* Of all things of the kind, over all time. What is not written yet is not in it. */
static Amounts all_of(const Fixture *f, ThingKind kind)
{
	_cleanup_(ledger_closep) Ledger *l = NULL;
	const LedgerQuery q = { .kind = kind, .by_thing = true, .until_s = BEFORE_THE_EPOCH_ENDS };
	Amounts sum = {};

	assert_int_equal(ledger_open_to_read(f->ledger, &l), 0);
	assert_int_equal(ledger_read(l, &q, take_sum, &sum), 0);
	return sum;
}

static double joules_of(const Amounts *a, Amount of)
{
	return (double)a->of[of] * 1e-6;
}

static void devices_and_cgroups_sum_up_to_the_node(void **state)
{
	static const Amount same[] = { AMOUNT_ENERGY_UJ,     AMOUNT_IDLE_UJ, AMOUNT_READ_BYTES,
				       AMOUNT_WRITTEN_BYTES, AMOUNT_READS,   AMOUNT_WRITES,
				       AMOUNT_COST_NANO,     AMOUNT_CO2_UG };
	Amounts node, devices, cgroups;
	Fixture f = {};

	(void)state;
	open_counted(&f, NODE TWO_DRIVES A_DISK);
	fixture_run(&f, 30);
	fixture_set(&f, "70%");
	fixture_run(&f, 600);
	fixture_stop(&f);
	node = all_of(&f, THING_NODE);
	devices = all_of(&f, THING_DEVICE);
	cgroups = all_of(&f, THING_CGROUP);
	assert_true(node.of[AMOUNT_ENERGY_UJ] > 0 && node.of[AMOUNT_WRITES] > 0);
	for (size_t i = 0; i < ELEMENTSOF(same); i++) {
		assert_int_equal(devices.of[same[i]], node.of[same[i]]);
		assert_int_equal(cgroups.of[same[i]], node.of[same[i]]);
	}
	fixture_close(&f);
}

/* Against what the watts that the daemon shows come to. */
static void without_a_sensor_the_energy_is_the_meters(void **state)
{
	double shown_j = 0;
	Amounts node;
	Fixture f = {};

	(void)state;
	open_counted(&f, NODE TWO_DRIVES A_DISK);
	fixture_set(&f, "80%");
	fixture_run(&f, 5);
	for (int i = 0; i < 1000; i++) {
		fixture_run(&f, 1);
		shown_j += state_of(&f).watts.estimated_w;
	}
	node = all_of(&f, THING_NODE);
	print_message("%.0f J shown, %.0f J counted\n", shown_j,
		      joules_of(&node, AMOUNT_ENERGY_UJ));
	assert_true(fabs(joules_of(&node, AMOUNT_ENERGY_UJ) / shown_j - 1) < 0.01);
	assert_int_equal(node.of[AMOUNT_MEASURED_UJ], 0);
	assert_true(node.of[AMOUNT_ERROR_UJ] > 0);
	fixture_close(&f);
}

static void with_a_sensor_the_energy_is_what_was_drawn(void **state)
{
	double before_j, drawn_j;
	Amounts node;
	Fixture f = {};

	(void)state;
	open_counted(&f, NODE "family_error = +10%\n" TWO_DRIVES A_DISK NODE_SENSOR);
	fixture_set(&f, "80%");
	fixture_run(&f, 10);
	before_j = sim_node_joules(f.node);
	node = all_of(&f, THING_NODE);
	drawn_j = -joules_of(&node, AMOUNT_ENERGY_UJ);
	fixture_run(&f, 1000);
	node = all_of(&f, THING_NODE);
	drawn_j += joules_of(&node, AMOUNT_ENERGY_UJ);
	before_j = sim_node_joules(f.node) - before_j;
	print_message("%.0f J drawn, %.0f J counted\n", before_j, drawn_j);
	assert_true(fabs(drawn_j / before_j - 1) < 0.003);
	assert_true(node.of[AMOUNT_MEASURED_UJ] > node.of[AMOUNT_ENERGY_UJ] / 100 * 98);
	fixture_close(&f);
}

static void a_limit_is_recorded_with_what_would_have_been_drawn(void **state)
{
	Amounts claims, node;
	Fixture f = {};

	(void)state;
	open_counted(&f, NODE TWO_DRIVES);
	fixture_run(&f, 60);
	fixture_set(&f, "60%");
	fixture_run(&f, 300);
	fixture_stop(&f);
	claims = all_of(&f, THING_CLAIM);
	node = all_of(&f, THING_NODE);
	print_message("%.0f J of %.0f J without the limit, allowed %.0f J\n",
		      joules_of(&claims, AMOUNT_ENERGY_UJ), joules_of(&claims, AMOUNT_UNLIMITED_UJ),
		      joules_of(&claims, AMOUNT_BUDGET_UJ));
	assert_true(claims.of[AMOUNT_LIMITED_US] > 295 * (int64_t)USEC_PER_SEC);
	assert_true(claims.of[AMOUNT_LIMITED_US] <= 301 * (int64_t)USEC_PER_SEC);
	assert_int_equal(claims.of[AMOUNT_LIMITED_US], node.of[AMOUNT_LIMITED_US]);
	assert_true(claims.of[AMOUNT_UNLIMITED_UJ] > claims.of[AMOUNT_ENERGY_UJ]);
	assert_true(claims.of[AMOUNT_ENERGY_UJ] <= claims.of[AMOUNT_BUDGET_UJ]);
	assert_true(claims.of[AMOUNT_LOST_BYTES] > 0);
	fixture_close(&f);
}

static void without_a_limit_nothing_is_lost_or_saved(void **state)
{
	Amounts node;
	Fixture f = {};

	(void)state;
	open_counted(&f, NODE TWO_DRIVES A_DISK);
	fixture_run(&f, 300);
	fixture_stop(&f);
	node = all_of(&f, THING_NODE);
	assert_int_equal(node.of[AMOUNT_UNLIMITED_UJ], node.of[AMOUNT_ENERGY_UJ]);
	assert_int_equal(node.of[AMOUNT_TURNING_UJ], node.of[AMOUNT_ENERGY_UJ]);
	assert_int_equal(node.of[AMOUNT_LOST_BYTES], 0);
	assert_int_equal(node.of[AMOUNT_LIMITED_US], 0);
	assert_true(node.of[AMOUNT_SPAN_US] >= 290 * (int64_t)USEC_PER_SEC);
	fixture_close(&f);
}

static void money_and_carbon_are_those_of_their_time(void **state)
{
	Amounts before, after;
	double kwh;
	Fixture f = {};

	(void)state;
	open_counted(&f, NODE TWO_DRIVES);
	fixture_set(&f, "100%");
	fixture_run(&f, 100);
	before = all_of(&f, THING_NODE);
	kwh = joules_of(&before, AMOUNT_ENERGY_UJ) / 3.6e6;
	assert_true(fabs((double)before.of[AMOUNT_COST_NANO] * 1e-9 / (kwh * 0.2) - 1) < 1e-3);
	assert_true(fabs((double)before.of[AMOUNT_CO2_UG] * 1e-6 / (kwh * 381) - 1) < 1e-3);
	assert_int_equal(before.of[AMOUNT_MARGINAL_UJ], 0);
	control_feed_tariff(f.control, &(FedTariff){ 0.4, 762, true, 3600 });
	fixture_run(&f, 100);
	after = all_of(&f, THING_NODE);
	kwh = joules_of(&after, AMOUNT_ENERGY_UJ) / 3.6e6 - kwh;
	assert_true(fabs((double)(after.of[AMOUNT_COST_NANO] - before.of[AMOUNT_COST_NANO]) * 1e-9 /
				 (kwh * 0.4) -
			 1) < 0.02);
	assert_true(after.of[AMOUNT_MARGINAL_UJ] > 0);
	fixture_close(&f);
}

static void requests_that_applications_tell_are_counted_once(void **state)
{
	Amounts node;
	Fixture f = {};

	(void)state;
	open_counted(&f, NODE TWO_DRIVES);
	fixture_run(&f, 20);
	control_count_requests(f.control, 700);
	control_count_requests(f.control, 77);
	fixture_run(&f, 60);
	node = all_of(&f, THING_NODE);
	assert_int_equal(node.of[AMOUNT_REQUESTS], 777);
	fixture_close(&f);
}

static void what_cannot_be_written_is_said_and_written_later(void **state)
{
	_cleanup_free_ char *folder = NULL;
	Amounts node;
	Fixture f = {};

	(void)state;
	fixture_open_text(&f, NODE TWO_DRIVES);
	folder = text_printf("%s/later", f.dir);
	f.ledger = text_printf("%s/ledger", folder);
	fixture_start(&f);
	fixture_set(&f, "90%");
	fixture_run(&f, 120);
	assert_true(*ledger_of(&f).problem);
	assert_int_equal(ledger_of(&f).written_us, 0);
	assert_int_equal(mkdir(folder, 0700), 0);
	fixture_run(&f, 10);
	assert_string_equal(ledger_of(&f).problem, "");
	assert_true(ledger_of(&f).written_us > 0);
	node = all_of(&f, THING_NODE);
	assert_true(node.of[AMOUNT_SPAN_US] >= 125 * (int64_t)USEC_PER_SEC);
	fixture_close(&f);
}

/* Whoever makes room on the next day finds all of it, in some MB of the daemon's memory. */
static void hours_that_cannot_be_written_take_bounded_memory(void **state)
{
	_cleanup_free_ char *folder = NULL;
	Amounts node, claims;
	Fixture f = {};

	(void)state;
	fixture_open_text(&f, NODE TWO_DRIVES);
	folder = text_printf("%s/later", f.dir);
	f.ledger = text_printf("%s/ledger", folder);
	fixture_start(&f);
	limit(&f, SCOPE_NODE, NULL, 90);
	limit(&f, SCOPE_GROUP, "flash", 90);
	for (size_t i = 0; i < 2; i++)
		limit(&f, SCOPE_DEVICE, f.control->fleet.devices[i]->device->name, 90);
	fixture_run(&f, 11000); /* four limits: as many entries of them */
	assert_true(f.control->tools.books->backlog.entries.n <= BACKLOG_ENTRIES_MAX);
	assert_int_equal(mkdir(folder, 0700), 0);
	fixture_run(&f, 10);
	node = all_of(&f, THING_NODE);
	claims = all_of(&f, THING_CLAIM);
	assert_true(node.of[AMOUNT_SPAN_US] >= 11000 * (int64_t)USEC_PER_SEC);
	/* the node, all of its drives as a group, and each by itself; but the first look had none
	 */
	assert_true(claims.of[AMOUNT_ENERGY_UJ] > 2.99 * (double)node.of[AMOUNT_ENERGY_UJ]);
	fixture_close(&f);
}

/* The wall clock goes an hour back, and a day ahead. */
static uint64_t jumping_us(void *userdata)
{
	uint64_t now_us = clock_now_us(userdata), passed_s = now_us / USEC_PER_SEC % 100000;

	if (passed_s > 200)
		return now_us + 86400 * USEC_PER_SEC;
	return passed_s > 100 ? now_us - 3600 * USEC_PER_SEC : now_us;
}

static void a_clock_that_jumps_costs_no_joule(void **state)
{
	Amounts node, still;
	Fixture f = {}, g = {};
	Clock wall = { .now_us = jumping_us };

	(void)state;
	open_counted(&g, NODE TWO_DRIVES);
	fixture_set(&g, "90%");
	fixture_run(&g, 300);
	fixture_stop(&g);
	still = all_of(&g, THING_NODE);
	fixture_open_text(&f, NODE TWO_DRIVES);
	f.ledger = text_printf("%s/ledger", f.dir);
	wall.userdata = &f.loop->clock;
	f.wall = &wall;
	fixture_start(&f);
	fixture_set(&f, "90%");
	fixture_run(&f, 300);
	fixture_stop(&f);
	node = all_of(&f, THING_NODE);
	assert_int_equal(node.of[AMOUNT_ENERGY_UJ], still.of[AMOUNT_ENERGY_UJ]);
	fixture_close(&f);
	fixture_close(&g);
}

static void put_energy(const char *root, const char *file, const char *text)
{
	_cleanup_free_ char *folder = text_printf("%s/class/powercap/intel-rapl:0", root);
	_cleanup_free_ char *path = text_printf("%s/%s", folder, file);

	assert_int_equal(mkdir_parents(folder, 0755), 0);
	assert_int_equal(write_file_atomic(path, text, 0644), 0);
}

static void what_processors_draw_stands_beside_it(void **state)
{
	_cleanup_free_ char *root = NULL;
	Amounts node;
	Fixture f = {};

	(void)state;
	fixture_open_text(&f, NODE TWO_DRIVES);
	f.ledger = text_printf("%s/ledger", f.dir);
	root = text_printf("%s/sys", f.dir);
	f.sysfs_root = root;
	put_energy(root, "name", "package-0\n");
	put_energy(root, "max_energy_range_uj", "1000000000\n");
	put_energy(root, "energy_uj", "5000000\n");
	fixture_start(&f);
	fixture_set(&f, "90%");
	fixture_run(&f, 30);
	put_energy(root, "energy_uj", "7500000\n");
	fixture_run(&f, 5);
	node = all_of(&f, THING_NODE);
	assert_int_equal(node.of[AMOUNT_CPU_UJ], 2500000);
	assert_int_equal(node.of[AMOUNT_MEMORY_UJ], 0);
	assert_true(node.of[AMOUNT_SPAN_US] <= 36 * (int64_t)USEC_PER_SEC); /* counted once */
	fixture_close(&f);
}

static void nothing_is_counted_without_a_ledger(void **state)
{
	Fixture f = {};

	(void)state;
	fixture_open_text(&f, NODE TWO_DRIVES);
	fixture_start(&f);
	fixture_set(&f, "90%");
	fixture_run(&f, 60);
	assert_string_equal(ledger_of(&f).path, "");
	assert_true(ledger_of(&f).sum.modelled_j == 0);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_and_cgroups_sum_up_to_the_node),
		cmocka_unit_test(without_a_sensor_the_energy_is_the_meters),
		cmocka_unit_test(with_a_sensor_the_energy_is_what_was_drawn),
		cmocka_unit_test(a_limit_is_recorded_with_what_would_have_been_drawn),
		cmocka_unit_test(without_a_limit_nothing_is_lost_or_saved),
		cmocka_unit_test(money_and_carbon_are_those_of_their_time),
		cmocka_unit_test(requests_that_applications_tell_are_counted_once),
		cmocka_unit_test(what_cannot_be_written_is_said_and_written_later),
		cmocka_unit_test(hours_that_cannot_be_written_take_bounded_memory),
		cmocka_unit_test(a_clock_that_jumps_costs_no_joule),
		cmocka_unit_test(what_processors_draw_stands_beside_it),
		cmocka_unit_test(nothing_is_counted_without_a_ledger),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
