/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reports: times, figures, groupings and claims' records. */

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

#include "ctl/report-capacity.h"
#include "ctl/report-claim.h"
#include "ctl/report-page.h"
#include "ctl/report-svg.h"

#define NOW  1700000000LL /* Tuesday 2023-11-14 22:13:20 UTC */
#define KWH  3600000000000LL
#define TOLD ((ReportTerms){ NAN, NAN, NAN })

static int in_utc(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	return 0;
}

static void in_zone(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

static int forget_files(void **state)
{
	(void)state;
	in_utc(NULL);
	return system("rm -rf ./ledger*");
}

static int make_folder(void **state)
{
	char *folder = strdup("/tmp/storpower-test-XXXXXX");

	*state = folder;
	in_utc(NULL);
	return folder && mkdtemp(folder) ? chdir(folder) : -1;
}

static int remove_folder(void **state)
{
	_cleanup_free_ char *folder = *state;

	return chdir("/") == 0 ? rmdir(folder) : -1;
}

static void assert_near(double found, double expected)
{
	if (!(fabs(found - expected) <= 1e-9 * fabs(expected)))
		fail_msg("%.12g is not %.12g", found, expected);
}

/* As a study prints it: half a unit of the last digit either way. */
static void assert_printed(double found, double printed, double digit)
{
	if (!(fabs(found - printed) <= digit / 2 * (1 + 1e-9)))
		fail_msg("%.9g would not be printed as %g", found, printed);
}

/* ---- times ---- */

static void a_time_is_read_as_people_write_it(void **state)
{
	static const struct {
		const char *text;
		int64_t time_s;
	} rows[] = {
		{ "now", NOW },
		{ "today", 1699920000 },
		{ "yesterday", 1699833600 },
		{ "-2h", NOW - 7200 },
		{ "-7d", NOW - 7 * 86400 },
		{ "-1h30min", NOW - 5400 },
		{ "@1234567890", 1234567890 },
		{ "@0", 0 },
		{ "2023-11-14", 1699920000 },
		{ "2023-11-14 10:00", 1699956000 },
		{ "2023-11-14T10:00", 1699956000 },
		{ "2023-11-14 10:00:07", 1699956007 },
		{ "2023-11-14T10:00:07Z", 1699956007 },
		{ "10:00", 1699956000 },
		{ "22:13:20", NOW },
		{ "2024-02-29", 1709164800 },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		int64_t found;

		if (report_parse_time(rows[i].text, NOW, &found) < 0 || found != rows[i].time_s)
			fail_msg("%s is read otherwise", rows[i].text);
	}
}

static void what_is_no_time_is_refused(void **state)
{
	static const char *const wrong[] = {
		"",   "-",       "-x",           "2h",         "@",       "@-1",
		"@x", "24:61",   "2023-02-30",   "2023-13-01", "2023-11", "tomorrow",
		"10", "10:00 x", "2023-11-14 x", "-400d",      "--2h",    "@99999999999999999999"
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(wrong); i++) {
		int64_t found = -1;

		if (report_parse_time(wrong[i], NOW, &found) != -EINVAL || found != -1)
			fail_msg("\"%s\" is taken for a time", wrong[i]);
	}
}

static void a_time_is_one_of_the_local_zone_unless_it_says_utc(void **state)
{
	int64_t local_s, utc_s, today_s;

	(void)state;
	in_zone("CET-1");
	assert_int_equal(report_parse_time("2023-11-14 10:00", NOW, &local_s), 0);
	assert_int_equal(report_parse_time("2023-11-14 10:00Z", NOW, &utc_s), 0);
	assert_int_equal(report_parse_time("today", NOW, &today_s), 0);
	assert_int_equal(utc_s, 1699956000);
	assert_int_equal(local_s, utc_s - 3600);
	assert_int_equal(today_s, 1699916400);
	in_utc(NULL);
}

/* All pieces of a time, one after another, and what their steps are. */
static void assert_pieces_are_whole(int64_t since_s, int64_t until_s, unsigned step_s)
{
	int64_t at = since_s;

	while (at < until_s) {
		const TimePiece p = report_piece(at, until_s, NOW, step_s);

		assert_int_equal(p.since_s, at);
		assert_true(p.until_s > at && p.until_s <= until_s);
		assert_true(p.step_s >= step_s);
		/* what begins within it is known */
		if (p.until_s < until_s)
			assert_int_equal(ledger_align(THING_NODE, p.until_s, NOW), p.until_s);
		at = p.until_s;
	}
	assert_int_equal(at, until_s);
}

static void a_time_is_read_in_pieces_of_which_all_is_known(void **state)
{
	static const char *const zones[] = { "UTC", "CET-1CEST,M3.5.0,M10.5.0/3", "IST-5:30",
					     "EST5EDT,M3.2.0,M11.1.0" };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(zones); i++) {
		in_zone(zones[i]);
		for (int64_t days = 1; days < 4000; days = days * 3 + 1) {
			const int64_t since_s = report_align(NOW - days * DAY_S, NOW);

			assert_pieces_are_whole(since_s, NOW, HOUR_S);
			assert_pieces_are_whole(since_s, NOW, DAY_S);
			assert_pieces_are_whole(since_s, NOW, 60);
		}
	}
}

static void a_step_has_the_name_of_its_local_time(void **state)
{
	const TimePiece hour = { .step_s = HOUR_S, .offset_s = HOUR_S };
	const TimePiece day = { .step_s = DAY_S, .offset_s = HOUR_S };
	char buf[32];

	(void)state;
	assert_string_equal(report_step_name(buf, sizeof(buf), 1699956000, &hour),
			    "2023-11-14 11:00");
	assert_string_equal(report_step_name(buf, sizeof(buf), 1699916400, &day), "2023-11-14");
}

/* ---- figures ---- */

static ReportFigures figures(const Amounts *a, double span_s, ReportTerms terms)
{
	ReportFigures f;

	report_figures(a, span_s, false, &terms, &f);
	return f;
}

/* So many watts for an hour. */
static Amounts hour_of(double watts)
{
	return (Amounts){ .of = { [AMOUNT_SPAN_US] = 3600000000LL,
				  [AMOUNT_ENERGY_UJ] = (int64_t)(watts * 3600e6) } };
}

static void the_studies_figures_follow_from_what_was_counted(void **state)
{
	Amounts flash = hour_of(8.9), disk = hour_of(17.3), server = hour_of(104);
	Amounts rest = hour_of(1900), load = hour_of(4000);
	ReportFigures f;

	(void)state;
	/* Mordvinova et al.: C = E * 24 * 365 * price; T/E in MB of 1024 KB */
	f = figures(&flash, 3600, (ReportTerms){ 0.18, NAN, NAN });
	assert_printed(f.money.year, 14, 1);
	disk.of[AMOUNT_READ_BYTES] = (int64_t)(140 * 0x1p20 * 3600);
	f = figures(&disk, 3600, TOLD);
	assert_printed(f.work.mib_j, 8.1, 0.1);
	server.of[AMOUNT_READ_BYTES] = (int64_t)(63.1 * 0x1p20 * 3600);
	f = figures(&server, 3600, TOLD);
	assert_printed(f.work.mib_j * 1024, 621, 1);
	/* Byrne: 1.9 and 4.0 kW for a PB at 0.207 kg/kWh */
	f = figures(&rest, 3600, (ReportTerms){ NAN, 207, 1000 });
	assert_printed(f.capacity.kw_pb, 1.9, 0.1);
	assert_printed(f.capacity.year_t_pb, 3.4, 0.1);
	f = figures(&load, 3600, (ReportTerms){ NAN, 207, 1000 });
	assert_printed(f.capacity.year_t_pb, 7.3, 0.1);
}

/* Nibler and Ropars: (CPU package + memory + storage) / requests. */
static void a_request_has_the_energy_of_cpu_memory_and_storage(void **state)
{
	Amounts a = hour_of(10);
	ReportFigures f;

	(void)state;
	a.of[AMOUNT_READS] = 4000;
	a.of[AMOUNT_WRITES] = 1000;
	f = figures(&a, 3600, TOLD);
	assert_false(report_counts_requests(&a));
	assert_near(f.work.request_j, 36000.0 / 5000);
	assert_true(isnan(f.energy.cpu_j));
	a.of[AMOUNT_CPU_UJ] = 50000LL * 3600000;
	a.of[AMOUNT_MEMORY_UJ] = 5000LL * 3600000;
	a.of[AMOUNT_REQUESTS] = 100;
	f = figures(&a, 3600, TOLD);
	assert_true(report_counts_requests(&a));
	assert_near(f.work.request_j, (36000.0 + 180000 + 18000) / 100);
	assert_near(f.work.io_j, 5000 / 36000.0);
}

static void cost_and_carbon_are_those_of_their_time_or_as_told(void **state)
{
	Amounts a = { .of = { [AMOUNT_SPAN_US] = 3600000000LL,
			      [AMOUNT_ENERGY_UJ] = 2 * KWH,
			      [AMOUNT_PRICED_UJ] = KWH,
			      [AMOUNT_COST_NANO] = 250000000,
			      [AMOUNT_WEIGHED_UJ] = KWH,
			      [AMOUNT_MARGINAL_UJ] = KWH / 4,
			      [AMOUNT_CO2_UG] = 381LL * 1000000 } };
	ReportFigures f = figures(&a, 3600, TOLD);

	(void)state;
	assert_near(f.money.cost, 0.25);
	assert_near(f.money.price_kwh, 0.25);
	assert_near(f.money.priced, 0.5);
	assert_near(f.money.year, 2 * 8760 * 0.25);
	assert_near(f.carbon.kg, 0.381);
	assert_near(f.carbon.g_kwh, 381);
	assert_near(f.carbon.weighed, 0.5);
	assert_near(f.carbon.marginal, 0.25);
	f = figures(&a, 3600, (ReportTerms){ 0.18, 30, NAN });
	assert_near(f.money.cost, 0.36);
	assert_near(f.carbon.kg, 0.06);
	assert_true(isnan(f.carbon.marginal));
}

static void what_is_not_known_is_no_figure(void **state)
{
	const Amounts none = {}, some = hour_of(5);
	ReportFigures f = figures(&none, 0, TOLD);

	(void)state;
	assert_true(isnan(f.energy.mean_w) && isnan(f.energy.measured) && isnan(f.work.mib_j));
	assert_true(isnan(f.money.cost) && isnan(f.money.year) && isnan(f.carbon.kg));
	assert_true(isnan(f.work.request_j) && isnan(f.limit.budget_w) && isnan(f.limit.lost));
	f = figures(&some, 3600, TOLD);
	assert_near(f.energy.mean_w, 5);
	assert_true(isnan(f.energy.highest_w) && isnan(f.work.mib_j) && isnan(f.money.cost));
	assert_true(isnan(f.limit.saved_j) && isnan(f.limit.sleep_saved_j));
	assert_true(isnan(f.carbon.kg_pb) && isnan(f.capacity.kw_pb));
	for (const ReportField *field = report_fields; field->json; field++)
		assert_false(isinf(report_field(field, &f)));
}

static void usable_is_what_protection_and_fill_leave_of_each_device(void **state)
{
	_cleanup_json_ json_object *devices =
		json_tokener_parse("[{\"SizeBytes\": 11000000000000, \"Protection\": \"8+3\"},"
				   " {\"SizeBytes\": 2000000000000, \"Protection\": \"1+1\"},"
				   " {\"SizeBytes\": 1000000000000, \"Protection\": \"\"}]");
	_cleanup_json_ json_object *silent =
		json_tokener_parse("[{\"SizeBytes\": 1000000000000}, {\"Name\": \"sda\"}]");
	const Protection full = { 1, 0, 1 }, told = { 1, 1, 0.8 };
	Ctl c = {};

	(void)state;
	assert_near(report_devices_tb(&c, devices, &full), 8 + 1 + 1);
	assert_near(report_devices_tb(&c, devices, &(Protection){ 1, 0, 0.8 }), 8);
	/* what was told counts for all of them */
	c.carbon.text[CARBON_PROTECTION] = "1+1";
	assert_near(report_devices_tb(&c, devices, &told), 14 * 0.4);
	assert_true(isnan(report_devices_tb(&c, silent, &full)));
	assert_true(isnan(report_devices_tb(&c, NULL, &full)));
}

static void what_several_drew_at_most_together_is_not_known(void **state)
{
	Amounts a = hour_of(5);
	ReportFigures f;
	const ReportTerms terms = TOLD;

	(void)state;
	a.of[AMOUNT_HIGHEST_MW] = 7000;
	report_figures(&a, 3600, false, &terms, &f);
	assert_near(f.energy.highest_w, 7);
	report_figures(&a, 3600, true, &terms, &f);
	assert_true(isnan(f.energy.highest_w));
}

static void figures_are_written_with_three_digits_and_a_unit(void **state)
{
	char buf[REPORT_TEXT];

	(void)state;
	assert_string_equal(report_energy(buf, 1.23456 * 3.6e6), "1.23 kWh");
	assert_string_equal(report_energy(buf, 0.5 * 3.6e6), "500 Wh");
	assert_string_equal(report_energy(buf, 812), "812 J");
	assert_string_equal(report_energy(buf, 0.0049), "4.90 mJ");
	assert_string_equal(report_energy(buf, 0), "0 uJ");
	assert_string_equal(report_energy(buf, NAN), "-");
	assert_string_equal(report_joules(buf, 4.416e6), "4.42 MJ");
	assert_string_equal(report_kg(buf, 0.446), "446 g");
	assert_string_equal(report_kg(buf, 3400), "3.40 t");
	assert_string_equal(report_moved(buf, 3.2e12), "3.20 TB");
	assert_string_equal(report_count(buf, 912), "912");
	assert_string_equal(report_count(buf, 912e6), "912 million");
	assert_string_equal(report_money(buf, 14.03, "EUR"), "14.03 EUR");
	assert_string_equal(report_money(buf, 14.03, ""), "14.03");
	assert_string_equal(report_percent(buf, 0.998), "99.8 %");
	assert_string_equal(report_percent(buf, 0.99999), "99.9 %");
	assert_string_equal(report_percent(buf, 1), "100 %");
	assert_string_equal(report_percent(buf, 0.046), "4.6 %");
	assert_string_equal(report_percent(buf, 0), "0 %");
	assert_string_equal(report_span(buf, 0), "0s");
}

static void axes_have_ticks_that_people_count_in(void **state)
{
	(void)state;
	assert_near(axis_nice(17.3), 20);
	assert_near(axis_nice(2), 2);
	assert_near(axis_nice(0.3), 0.5);
	assert_near(axis_nice(51), 100);
	assert_int_equal(axis_time_step(3600, 12), 600);
	assert_int_equal(axis_time_step(86400, 13), 2 * 3600);
	assert_int_equal(axis_time_step(7 * 86400, 10), 86400);
	assert_true(axis_time_step(40LL * 365 * 86400, 10) > 365 * 86400);
}

static void text_in_a_page_is_text(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	html_printf(f, "%s 5 %%", "<script>\"&'</script>");
	fclose(f);
	assert_string_equal(text, "&lt;script&gt;&quot;&amp;&#39;&lt;/script&gt; 5&nbsp;%");
	free(text);
}

/* ---- groupings ---- */

static void add_entry(LedgerEntries *e, int64_t time_s, const LedgerThing *like, int64_t uj)
{
	LedgerThing *t;
	const Amounts a = { .of = { [AMOUNT_SPAN_US] = 1000000, [AMOUNT_ENERGY_UJ] = uj } };

	assert_int_equal(ledger_thing_new(like, &t), 0);
	assert_int_equal(ledger_entries_add(e, time_s, t, &a), 0);
	ledger_thing_unref(t);
}

static LedgerThing thing(ThingKind kind, const char *id, const char *name, const char *group,
			 const char *pool)
{
	return (LedgerThing){ .kind = kind,
			      .id = (char *)id,
			      .name = (char *)name,
			      .group = (char *)group,
			      .pool = (char *)pool };
}

/* One that moves to another group, two that swap their names, and one of no pool. */
static void fill(Ledger *l, int64_t since_s, int seconds)
{
	LedgerEntries e = {};

	for (int i = 0; i < seconds; i++) {
		const bool late = i > seconds / 2;
		const LedgerThing all[] = {
			thing(THING_DEVICE, "a", late ? "sdb" : "sda", late ? "cold" : "hot", "p"),
			thing(THING_DEVICE, "b", late ? "sda" : "sdb", "cold", "p"),
			thing(THING_DEVICE, "c", "sdc", "", ""),
			thing(THING_CGROUP, "(idle)", "(idle)", "", ""),
			thing(THING_CGROUP, "x.service", "x.service", "", ""),
			thing(THING_NODE, "", "node", "", ""),
		};
		const int64_t uj[] = { 3000 + i, 2000, 1000, 5000, 1000 + i, 6000 + i };

		for (size_t k = 0; k < ELEMENTSOF(all); k++)
			add_entry(&e, since_s + i, &all[k], uj[k]);
	}
	assert_int_equal(ledger_write(l, &e, since_s + seconds), 0);
	ledger_entries_clear(&e);
}

static int64_t sum_of(const ReportRows *rows)
{
	int64_t sum = 0;

	for (size_t i = 0; i < rows->n; i++)
		sum += rows->all[i].sum.of[AMOUNT_ENERGY_UJ];
	return sum;
}

static void every_grouping_adds_up_to_the_node(void **state)
{
	static const size_t n[] = { [BY_DEVICE] = 3, [BY_POOL] = 2, [BY_GROUP] = 3, [BY_CGROUP] = 2,
				    [BY_NODE] = 1,   [BY_DAY] = 2,  [BY_HOUR] = 3 };
	static const char *const zones[] = { "UTC", "CET-1CEST,M3.5.0,M10.5.0/3", "IST-5:30" };
	_cleanup_(ledger_closep) Ledger *l = NULL;
	Report r = { .since_s = NOW - 3600, .until_s = NOW + 7200, .now_s = NOW + 7200 };

	(void)state;
	assert_int_equal(ledger_open("ledger", &l), 0);
	/* over midnight */
	fill(l, NOW - NOW % DAY_S + DAY_S - 4000, 5000);
	r.since_s = NOW - NOW % DAY_S;
	r.until_s = r.now_s = r.since_s + 2 * DAY_S;
	assert_int_equal(report_read_total(l, &r), 0);
	assert_int_equal(r.total.of[AMOUNT_ENERGY_UJ], 5000LL * 6000 + 4999LL * 5000 / 2);
	for (size_t zone = 0; zone < ELEMENTSOF(zones); zone++) {
		in_zone(zones[zone]);
		for (ReportBy by = 0; by < _REPORT_BY_MAX; by++) {
			ReportRows rows;

			assert_int_equal(report_read_rows(l, &r, by, &rows), 0);
			assert_int_equal(sum_of(&rows), r.total.of[AMOUNT_ENERGY_UJ]);
			if (zone == 0)
				assert_int_equal(rows.n, n[by]);
			report_rows_clear(&rows);
		}
	}
}

static void a_device_is_one_whatever_it_is_called(void **state)
{
	_cleanup_(ledger_closep) Ledger *l = NULL;
	Report r = { .since_s = NOW - 100, .until_s = NOW + 100, .now_s = NOW + 100 };
	ReportRows rows;

	(void)state;
	assert_int_equal(ledger_open("ledger", &l), 0);
	fill(l, NOW, 51);
	assert_int_equal(report_read_rows(l, &r, BY_DEVICE, &rows), 0);
	assert_int_equal(rows.n, 3);
	assert_string_equal(rows.all[0].key, "a");
	assert_int_equal(rows.all[0].things, 1);
	assert_string_equal(rows.all[1].key, "b");
	assert_string_equal(rows.all[2].name, "sdc");
	report_rows_clear(&rows);
	assert_int_equal(report_read_rows(l, &r, BY_POOL, &rows), 0);
	assert_string_equal(rows.all[0].name, "p");
	assert_true(rows.all[0].things > 1);
	assert_string_equal(rows.all[1].name, "(no pool)");
	report_rows_clear(&rows);
}

/* ---- claims ---- */

static Amounts limited(int64_t above_us)
{
	return (Amounts){ .of = { [AMOUNT_SPAN_US] = 1000000,
				  [AMOUNT_ENERGY_UJ] = 40000000,
				  [AMOUNT_UNLIMITED_UJ] = 60000000,
				  [AMOUNT_LIMITED_US] = 1000000,
				  [AMOUNT_BUDGET_UJ] = 45000000,
				  [AMOUNT_ABOVE_US] = above_us,
				  [AMOUNT_READ_BYTES] = 30000000,
				  [AMOUNT_LOST_BYTES] = 10000000 } };
}

static void a_record_says_what_was_asked_and_what_was_delivered(void **state)
{
	ClaimRecord record = { .step_s = 1 };
	ClaimFigures f;

	(void)state;
	for (int i = 0; i < 100; i++) {
		const Amounts a = limited(0);

		claim_record_add(&record, NOW + i, &a);
	}
	claim_record_figures(&record, &f);
	assert_near(f.limited_s, 100);
	assert_near(f.compliance, 1);
	assert_near(f.baseline_w, 60);
	assert_near(f.budget_w, 45);
	assert_near(f.asked_w, 15);
	assert_near(f.delivered_w, 20);
	assert_near(f.delivered, 20.0 / 15);
	assert_near(f.not_drawn_j, 2000);
	assert_near(f.lost, 0.25);
	assert_near(f.lost_mb_s, 10);
	assert_int_equal(record.first_s, NOW);
	assert_int_equal(record.last_s, NOW + 100);
}

static void the_longest_overload_ends_where_the_budget_holds_or_nothing_is_known(void **state)
{
	/* -1: nothing was counted */
	static const int above_ms[] = { 0, 500, 1000, 300, 0, 1000, 1000, -1, 1000, 200, 0 };
	ClaimRecord record = { .step_s = 1 };
	ClaimFigures f;

	(void)state;
	for (int i = 0; i < (int)ELEMENTSOF(above_ms); i++) {
		const Amounts a = limited(above_ms[i] * 1000LL);

		if (above_ms[i] >= 0)
			claim_record_add(&record, NOW + i, &a);
	}
	claim_record_figures(&record, &f);
	assert_near(f.above_s, 5);
	assert_near(f.longest_s, 2);
	assert_near(f.compliant_s, 5);
}

static void who_would_have_kept_the_budget_anyway_was_asked_for_nothing(void **state)
{
	ClaimRecord record = { .step_s = 1 };
	Amounts a = limited(0);
	ClaimFigures f;

	(void)state;
	a.of[AMOUNT_UNLIMITED_UJ] = a.of[AMOUNT_ENERGY_UJ];
	claim_record_add(&record, NOW, &a);
	claim_record_figures(&record, &f);
	assert_true(f.asked_w == 0 && f.delivered_w == 0);
	assert_true(isnan(f.delivered));
}

static void a_claims_key_is_its_cookie_and_its_time(void **state)
{
	static const char *const wrong[] = { "", "7", "@5", "7@", "x@5", "7@x", "7@-5" };
	uint64_t cookie;
	int64_t created_s;

	(void)state;
	assert_true(report_claim_key("7@1700000000", &cookie, &created_s));
	assert_int_equal(cookie, 7);
	assert_int_equal(created_s, NOW);
	for (size_t i = 0; i < ELEMENTSOF(wrong); i++)
		assert_false(report_claim_key(wrong[i], &cookie, &created_s));
}

#define WITH_LEDGER(f) cmocka_unit_test_teardown(f, forget_files)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_time_is_read_as_people_write_it),
		cmocka_unit_test(what_is_no_time_is_refused),
		cmocka_unit_test(a_time_is_one_of_the_local_zone_unless_it_says_utc),
		WITH_LEDGER(a_time_is_read_in_pieces_of_which_all_is_known),
		cmocka_unit_test(a_step_has_the_name_of_its_local_time),
		cmocka_unit_test(the_studies_figures_follow_from_what_was_counted),
		cmocka_unit_test(a_request_has_the_energy_of_cpu_memory_and_storage),
		cmocka_unit_test(cost_and_carbon_are_those_of_their_time_or_as_told),
		cmocka_unit_test(what_is_not_known_is_no_figure),
		cmocka_unit_test(usable_is_what_protection_and_fill_leave_of_each_device),
		cmocka_unit_test(what_several_drew_at_most_together_is_not_known),
		cmocka_unit_test(figures_are_written_with_three_digits_and_a_unit),
		cmocka_unit_test(axes_have_ticks_that_people_count_in),
		cmocka_unit_test(text_in_a_page_is_text),
		WITH_LEDGER(every_grouping_adds_up_to_the_node),
		WITH_LEDGER(a_device_is_one_whatever_it_is_called),
		cmocka_unit_test(a_record_says_what_was_asked_and_what_was_delivered),
		cmocka_unit_test(
			the_longest_overload_ends_where_the_budget_holds_or_nothing_is_known),
		cmocka_unit_test(who_would_have_kept_the_budget_anyway_was_asked_for_nothing),
		cmocka_unit_test(a_claims_key_is_its_cookie_and_its_time),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
