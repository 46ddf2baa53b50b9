/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "signal/openadr-json.h"
#include "signal/openadr-wishes.h"

#define TEN 1795514400 /* 2026-11-24T10:00:00Z */

static const char usual[] = "[vtn]\nurl = https://vtn.example.com/openadr3/\nclient_id = me\n"
			    "secret_file = /etc/secret\nven = node1\n"
			    "[simple]\nlevel1 = 80%\nlevel2 = 350 W\nlevel3 = 40% emergency\n";

static OpenadrConfig *parse(const char *more, size_t wanted_warnings)
{
	_cleanup_free_ char *text = text_printf("%s%s", usual, more);
	OpenadrConfig *c;
	size_t warnings;

	assert_int_equal(openadr_config_read_text("openadr.conf", text, &c, &warnings), 0);
	assert_int_equal(warnings, wanted_warnings);
	return c;
}

static int add(OpenadrEvents *events, const char *json, char *why, size_t size)
{
	_cleanup_json_ json_object *o = json_tokener_parse(json);

	assert_non_null(o);
	return openadr_events_add(events, o, NULL, "node1", why, size);
}

/* In the test's JSON, ' is ". */
static void take(OpenadrEvents *events, const char *json)
{
	_cleanup_free_ char *quoted = strdup(json);
	char why[200] = "";

	for (char *c = quoted; *c; c++)
		if (*c == '\'')
			*c = '"';
	if (add(events, quoted, why, sizeof(why)) < 0)
		fail_msg("%s", why);
}

static void assert_refused(const char *json, const char *wanted)
{
	_cleanup_(openadr_events_done) OpenadrEvents events = { 0 };
	_cleanup_free_ char *quoted = strdup(json);
	char why[200] = "";

	for (char *c = quoted; *c; c++)
		if (*c == '\'')
			*c = '"';
	assert_int_equal(add(&events, quoted, why, sizeof(why)), -EBADMSG);
	assert_string_equal(why, wanted);
	assert_int_equal(events.n, 0);
}

/* "LIMIT CLASS REASON", one line each; again: 0 is never */
static void assert_wishes(const OpenadrConfig *c, const OpenadrEvents *events, int64_t now,
			  const char *wanted, int64_t wanted_again)
{
	_cleanup_(wishes_done) Wishes wishes = { 0 };
	char got[2000] = "";
	int64_t again;

	assert_int_equal(openadr_wishes(c, events, now, &wishes, &again), 0);
	for (size_t i = 0; i < wishes.n; i++) {
		const Wish *w = &wishes.list[i];
		size_t n = strlen(got);

		snprintf(got + n, sizeof(got) - n, "%g%s %s %s\n", w->limit,
			 w->unit == LIMIT_WATTS ? "W" : "%", w->class, w->reason);
	}
	assert_string_equal(got, wanted);
	assert_int_equal(again, wanted_again ?: OPENADR_NEVER);
}

static void assert_time(const char *text, int64_t wanted)
{
	int64_t s = -1;

	assert_int_equal(openadr_parse_time(text, &s), 0);
	assert_int_equal(s, wanted);
}

static void assert_duration(const char *text, int64_t wanted)
{
	int64_t s = -1;

	assert_int_equal(openadr_parse_duration(text, &s), 0);
	assert_int_equal(s, wanted);
}

static void times_are_read_in_every_zone(void **state)
{
	static const char *const wrong[] = { "",
					     "10:00",
					     "2026-11-24T",
					     "2026-11-24T10:00:00+1",
					     "2026-13-01",
					     "2026-02-30T10:00:00Z",
					     "2026-11-24T24:00:00Z",
					     "2026-11-24T10:00:00Z " };
	int64_t s;

	(void)state;
	assert_time("2026-11-24T10:00:00Z", TEN);
	assert_time("2026-11-24T10:00:00.999Z", TEN);
	assert_time("2026-11-24T11:30:00+01:30", TEN);
	assert_time("2026-11-24T05:00:00-05:00", TEN);
	assert_time("2026-11-24", TEN - 36000);
	assert_time("0001-01-01", OPENADR_NOW);
	assert_time("0001-01-01T00:00:00Z", OPENADR_NOW);
	for (size_t i = 0; i < ELEMENTSOF(wrong); i++)
		assert_int_equal(openadr_parse_time(wrong[i], &s), -EINVAL);
}

static void durations_are_read(void **state)
{
	static const char *const wrong[] = { "",     "P",     "PT",    "15M",    "PT15",
					     "P1H",  "PT1D",  "-PT1M", "PT1M2H", "PT1M1M",
					     "P1DT", "PT 1M", "PT1M " };
	int64_t s;

	(void)state;
	assert_duration("PT15M", 900);
	assert_duration("P1DT2H3M4S", 93784);
	assert_duration("P0Y0M0DT0H15M0S", 900);
	assert_duration("P2W", 1209600);
	assert_duration("P1Y1M", 395 * 86400);
	assert_duration("PT1.5H", 5400);
	assert_duration("PT0S", 0);
	assert_duration("P9999Y", OPENADR_NEVER);
	assert_duration("P99999999999999999999999Y", OPENADR_NEVER);
	for (size_t i = 0; i < ELEMENTSOF(wrong); i++)
		assert_int_equal(openadr_parse_duration(wrong[i], &s), -EINVAL);
}

#define AT_TEN "'intervalPeriod':{'start':'2026-11-24T10:00:00Z','duration':'PT15M'},"

static void intervals_follow_each_other(void **state)
{
	_cleanup_(openadr_config_freep) OpenadrConfig *c = parse("", 0);
	_cleanup_(openadr_events_done) OpenadrEvents events = { 0 };

	(void)state;
	take(&events,
	     "{'id':'e1','programID':'p','eventName':'evening'," AT_TEN "'intervals':["
	     "{'id':0,'payloads':[{'type':'SIMPLE','values':[1]}]},"
	     "{'id':1,'payloads':[{'type':'SIMPLE','values':[3]}]},"
	     "{'id':2,'payloads':[{'type':'SIMPLE','values':[0]}]},"
	     "{'id':3,'intervalPeriod':{'start':'2026-11-24T12:00:00Z','duration':'PT1M'},"
	     "'payloads':[{'type':'PRICE','values':[1.5]},{'type':'SIMPLE','values':[2]}]}]}");
	assert_wishes(c, &events, TEN - 1, "", TEN);
	assert_wishes(c, &events, TEN, "80% signal OpenADR event evening: SIMPLE level 1\n",
		      TEN + 900);
	assert_wishes(c, &events, TEN + 900,
		      "40% emergency OpenADR event evening: SIMPLE level 3\n", TEN + 1800);
	assert_wishes(c, &events, TEN + 1800, "", TEN + 2700);
	assert_wishes(c, &events, TEN + 2700, "", TEN + 7200);
	assert_wishes(c, &events, TEN + 7200, "350W signal OpenADR event evening: SIMPLE level 2\n",
		      TEN + 7260);
	assert_wishes(c, &events, TEN + 7260, "", 0);
}

/* User Guide 7.3 */
static void a_start_in_the_year_1_follows_what_was_before(void **state)
{
	_cleanup_(openadr_config_freep) OpenadrConfig *c = parse("", 0);
	_cleanup_(openadr_events_done) OpenadrEvents events = { 0 };

	(void)state;
	take(&events, "{'id':'e1','createdDateTime':'2026-11-24T08:00:00Z'," AT_TEN "'intervals':["
		      "{'id':0,'intervalPeriod':{'start':'0001-01-01','duration':'PT10M'},"
		      "'payloads':[{'type':'SIMPLE','values':[1]}]},"
		      "{'id':1,'intervalPeriod':{'start':'0001-01-01','duration':'PT20M'},"
		      "'payloads':[{'type':'SIMPLE','values':[2]}]}]}");
	assert_wishes(c, &events, TEN - 1, "", TEN);
	assert_wishes(c, &events, TEN, "80% signal OpenADR event e1: SIMPLE level 1\n", TEN + 600);
	assert_wishes(c, &events, TEN + 600, "350W signal OpenADR event e1: SIMPLE level 2\n",
		      TEN + 1800);
	assert_wishes(c, &events, TEN + 1800, "", 0);
	openadr_events_done(&events);
	take(&events, "{'id':'e2','createdDateTime':'2026-11-24T10:00:00Z','intervals':["
		      "{'id':0,'intervalPeriod':{'start':'0001-01-01','duration':'PT10M'},"
		      "'payloads':[{'type':'SIMPLE','values':[1]}]},"
		      "{'id':1,'intervalPeriod':{'start':'0001-01-01','duration':'PT20M'},"
		      "'payloads':[{'type':'SIMPLE','values':[2]}]}]}");
	assert_wishes(c, &events, TEN, "80% signal OpenADR event e2: SIMPLE level 1\n", TEN + 600);
	assert_wishes(c, &events, TEN + 600, "350W signal OpenADR event e2: SIMPLE level 2\n",
		      TEN + 1800);
}

static void an_event_that_lasts_0_s_lasts_as_long_as_its_intervals(void **state)
{
	_cleanup_(openadr_config_freep) OpenadrConfig *c = parse("", 0);
	_cleanup_(openadr_events_done) OpenadrEvents events = { 0 };

	(void)state;
	take(&events, "{'id':'e1','duration':'PT0S'," AT_TEN "'intervals':[{'id':0,'payloads':"
		      "[{'type':'SIMPLE','values':[1]}]}]}");
	assert_wishes(c, &events, TEN, "80% signal OpenADR event e1: SIMPLE level 1\n", TEN + 900);
	/* what is instantaneous and limits nothing is nobody's mistake */
	take(&events, "{'id':'e2','intervalPeriod':{'start':'2026-11-24T10:00:00Z','duration':"
		      "'PT0S'},'intervals':[{'id':0,'payloads':[{'type':'PRICE','values':[1]}]}]}");
}

/* Bytes that are no UTF-8, an override of the order of reading, a line's end; and cut inside of a
 * character. */
static void what_the_bus_would_refuse_is_not_in_a_reason(void **state)
{
	_cleanup_(openadr_config_freep) OpenadrConfig *c = parse("", 0);
	_cleanup_(openadr_events_done) OpenadrEvents events = { 0 };
	static const char sixty[] = "012345678901234567890123456789012345678901234567890123456789";
	_cleanup_free_ char *json = text_printf(
		"{'id':'e2','eventName':'%s123\303\244'," AT_TEN
		"'intervals':[{'payloads':[{'type':'IMPORT_CAPACITY_LIMIT','values':[1]}]}]}",
		sixty);
	_cleanup_free_ char *wanted =
		text_printf("80%% signal OpenADR event a?b???c?d: SIMPLE level 1\n"
			    "1000W signal OpenADR event %s123?: an import limit of 1 kW\n",
			    sixty);

	(void)state;
	take(&events, "{'id':'e1','eventName':'a\377b\342\200\256c\\nd'," AT_TEN
		      "'intervals':[{'payloads':[{'type':'SIMPLE','values':[1]}]}]}");
	take(&events, json);
	assert_wishes(c, &events, TEN, wanted, TEN + 900);
}

static void power_is_told_in_kilowatts_and_shared(void **state)
{
	_cleanup_(openadr_config_freep) OpenadrConfig *c =
		parse("[power]\nshare = 50%\nsubscription = 2kW\n", 0);
	_cleanup_(openadr_events_done) OpenadrEvents events = { 0 };

	(void)state;
	take(&events, "{'id':'e1'," AT_TEN "'intervals':[{'id':0,'payloads':"
		      "[{'type':'IMPORT_CAPACITY_LIMIT','values':[1.2]}]}]}");
	take(&events, "{'id':'e2'," AT_TEN "'payloadDescriptors':[{'payloadType':"
		      "'IMPORT_CAPACITY_RESERVATION','units':'W'}],'intervals':[{'id':0,'payloads':"
		      "[{'type':'IMPORT_CAPACITY_RESERVATION','values':[500]}]}]}");
	assert_wishes(c, &events, TEN,
		      "600W signal OpenADR event e1: 50 % of an import limit of 1.2 kW\n"
		      "1250W signal OpenADR event e2: 50 % of an import capacity of 2.5 kW\n",
		      TEN + 900);
	take(&events, "{'id':'e3'," AT_TEN "'intervals':[{'id':0,'payloads':"
		      "[{'type':'IMPORT_CAPACITY_SUBSCRIPTION','values':[1]}]}]}");
	assert_wishes(c, &events, TEN,
		      "600W signal OpenADR event e1: 50 % of an import limit of 1.2 kW\n"
		      "750W signal OpenADR event e2: 50 % of an import capacity of 1.5 kW\n",
		      TEN + 900);
}

static void the_lowest_number_of_priority_wins(void **state)
{
	_cleanup_(openadr_config_freep) OpenadrConfig *c = parse("", 0);
	_cleanup_(openadr_events_done) OpenadrEvents events = { 0 };

	(void)state;
	take(&events, "{'id':'e1'," AT_TEN "'intervals':[{'id':0,'payloads':"
		      "[{'type':'SIMPLE','values':[3]}]}]}");
	take(&events, "{'id':'e2','priority':5," AT_TEN "'intervals':[{'id':0,'payloads':"
		      "[{'type':'SIMPLE','values':[1]}]}]}");
	assert_wishes(c, &events, TEN, "80% signal OpenADR event e2: SIMPLE level 1\n", TEN + 900);
	take(&events, "{'id':'e3','priority':5," AT_TEN "'intervals':[{'id':0,'payloads':"
		      "[{'type':'SIMPLE','values':[2]}]}]}");
	assert_wishes(c, &events, TEN, "350W signal OpenADR event e3: SIMPLE level 2\n", TEN + 900);
	/* "normal operation" is something that is said, too */
	take(&events, "{'id':'e4','priority':0," AT_TEN "'intervals':[{'id':0,'payloads':"
		      "[{'type':'SIMPLE','values':[0]}]}]}");
	assert_wishes(c, &events, TEN, "", TEN + 900);
}

static void intervals_come_again_as_long_as_the_event_lasts(void **state)
{
	_cleanup_(openadr_config_freep) OpenadrConfig *c = parse("", 0);
	_cleanup_(openadr_events_done) OpenadrEvents events = { 0 };

	(void)state;
	take(&events, "{'id':'e1','duration':'PT50M'," AT_TEN "'intervals':["
		      "{'id':0,'payloads':[{'type':'SIMPLE','values':[1]}]},"
		      "{'id':1,'payloads':[{'type':'SIMPLE','values':[0]}]}]}");
	assert_wishes(c, &events, TEN + 1799, "", TEN + 1800);
	assert_wishes(c, &events, TEN + 1800, "80% signal OpenADR event e1: SIMPLE level 1\n",
		      TEN + 2700);
	assert_wishes(c, &events, TEN + 2700, "", TEN + 3000);
	assert_wishes(c, &events, TEN + 3000, "", 0);
}

static void an_event_without_an_end_stays(void **state)
{
	_cleanup_(openadr_config_freep) OpenadrConfig *c = parse("", 0);
	_cleanup_(openadr_events_done) OpenadrEvents events = { 0 };

	(void)state;
	take(&events, "{'id':'e1','createdDateTime':'2026-11-24T10:00:00Z','intervalPeriod':"
		      "{'start':'0001-01-01T00:00:00Z','duration':'P9999Y'},'intervals':["
		      "{'id':0,'payloads':[{'type':'SIMPLE','values':[1]}]}]}");
	assert_wishes(c, &events, TEN - 1, "", TEN);
	assert_wishes(c, &events, TEN + 1000000000LL,
		      "80% signal OpenADR event e1: SIMPLE level 1\n", 0);
}

static void a_random_start_stays_where_it_is(void **state)
{
	_cleanup_(openadr_events_done) OpenadrEvents events = { 0 };
	int64_t first;

	(void)state;
	for (int i = 0; i < 2; i++)
		take(&events,
		     "{'id':'e1','intervalPeriod':{'start':'2026-11-24T10:00:00Z','duration':"
		     "'PT15M','randomizeStart':'PT5M'},'intervals':[{'id':0,'payloads':[]}]}");
	first = events.list[0].begin_s;
	assert_in_range(first, TEN, TEN + 300);
	assert_int_equal(events.list[1].begin_s, first);
	assert_int_equal(events.list[0].end_s, first + 900);
}

static void an_event_for_others_is_none_of_ours(void **state)
{
	_cleanup_(openadr_config_freep) OpenadrConfig *any = parse("", 0);
	_cleanup_(openadr_config_freep) OpenadrConfig *some = parse("[power]\n", 0);
	_cleanup_(openadr_events_done) OpenadrEvents events = { 0 };

	(void)state;
	assert_int_equal(strv_add(&some->targets, "rack1"), 0);
	assert_int_equal(strv_add(&some->targets, "zone=3"), 0);
	take(&events, "{'id':'e1','targets':['rack1']}");
	take(&events, "{'id':'e2','targets':['rack2']}");
	take(&events, "{'id':'e3','targets':[{'type':'VEN_NAME','values':['other','node1']}]}");
	take(&events, "{'id':'e4','targets':[{'type':'VEN_NAME','values':['other']}]}");
	take(&events, "{'id':'e5','targets':[{'type':'GROUP','values':['rack1']}]}");
	take(&events, "{'id':'e6','targets':null}");
	take(&events, "{'id':'e7','targets':['zone=3']}");
	take(&events, "{'id':'e8','targets':['GROUP=rack1']}");
	for (size_t i = 0; i < events.n; i++) {
		static const bool of_any[] = { true, true, true, false, false, true, true, true };
		static const bool of_some[] = { true, false, true, false, true, true, true, false };

		assert_int_equal(openadr_is_ours(any, &events.list[i]), of_any[i]);
		assert_int_equal(openadr_is_ours(some, &events.list[i]), of_some[i]);
	}
}

static void what_is_wrong_is_named_with_its_place(void **state)
{
	(void)state;
	assert_refused("{}", "event without an id: id: expected a text");
	assert_refused("[]", "event without an id: id: expected a text");
	assert_refused("{'id':'e','priority':-1}",
		       "event e: priority: expected a whole number, 0 for the highest");
	assert_refused("{'id':'e','intervals':{}}", "event e: intervals: expected an array");
	assert_refused("{'id':'e','intervals':[7]}", "event e: intervals[0]: expected an object");
	assert_refused(
		"{'id':'e','intervals':[{'id':0,'payloads':[]}]}",
		"event e: intervals[0].intervalPeriod.start is missing, and that of the event");
	assert_refused(
		"{'id':'e','intervalPeriod':{'start':'noon'}}",
		"event e: intervalPeriod.start: expected a time such as \"2026-11-24T10:00:00Z\"");
	assert_refused("{'id':'e'," AT_TEN "'intervals':[{'intervalPeriod':{'duration':5}}]}",
		       "event e: intervals[0].intervalPeriod.duration: expected a duration such as "
		       "\"PT15M\"");
	assert_refused(
		"{'id':'e'," AT_TEN
		"'intervals':[{'payloads':[]},{'payloads':[{'type':'SIMPLE','values':[4]}]}]}",
		"event e: intervals[1].payloads[0].values[0]: expected a level of 0, 1, 2 or 3");
	assert_refused(
		"{'id':'e'," AT_TEN
		"'intervals':[{'payloads':[{'type':'IMPORT_CAPACITY_LIMIT','values':['9']}]}]}",
		"event e: intervals[0].payloads[0].values[0]: expected a power from 0 to 100 MW");
	assert_refused(
		"{'id':'e','intervalPeriod':{'start':'2026-11-24T10:00:00Z','duration':'PT0S'},"
		"'intervals':[{'payloads':[{'type':'SIMPLE','values':[1]}]}]}",
		"event e: intervals[0].intervalPeriod.duration: expected more than 0 s, "
		"or P9999Y");
	assert_refused("{'id':'e','payloadDescriptors':[{'payloadType':'IMPORT_CAPACITY_LIMIT',"
		       "'units':'AMP'}]}",
		       "event e: payloadDescriptors[0].units: expected KW or W, but it is \"AMP\"");
	assert_refused("{'id':'e','targets':[5]}",
		       "event e: targets: expected texts, or objects with a type and values");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_read_in_every_zone),
		cmocka_unit_test(durations_are_read),
		cmocka_unit_test(intervals_follow_each_other),
		cmocka_unit_test(a_start_in_the_year_1_follows_what_was_before),
		cmocka_unit_test(an_event_that_lasts_0_s_lasts_as_long_as_its_intervals),
		cmocka_unit_test(what_the_bus_would_refuse_is_not_in_a_reason),
		cmocka_unit_test(power_is_told_in_kilowatts_and_shared),
		cmocka_unit_test(the_lowest_number_of_priority_wins),
		cmocka_unit_test(intervals_come_again_as_long_as_the_event_lasts),
		cmocka_unit_test(an_event_without_an_end_stays),
		cmocka_unit_test(a_random_start_stays_where_it_is),
		cmocka_unit_test(an_event_for_others_is_none_of_ours),
		cmocka_unit_test(what_is_wrong_is_named_with_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
