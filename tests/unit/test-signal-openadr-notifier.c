/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/openadr-notifier.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static OpenadrConfig *configured(const char *more)
{
	_cleanup_free_ char *text =
		text_printf("[vtn]\nurl = https://vtn\nclient_id = me\nven = node1\n"
			    "secret_file = /x\n%s",
			    more);
	OpenadrConfig *c;
	size_t warnings;

	assert_int_equal(openadr_config_read_text("openadr.conf", text, &c, &warnings), 0);
	assert_int_equal(warnings, 0);
	return c;
}

#define TOKEN     "{\"method\": \"OAUTH2_BEARER_TOKEN\", \"username\": \"{clientID}\"}"
#define ANONYMOUS "{\"method\": \"ANONYMOUS\"}"
#define OFFER(uris, who)                                                                           \
	"{\"MQTT\": {\"URIS\": [" uris "], \"serialization\": \"JSON\", \"authentication\": " who  \
	"}}"

static int find(const char *more, const char *answer, OpenadrBroker *ret)
{
	_cleanup_(openadr_config_freep) OpenadrConfig *c = configured(more);

	return openadr_notifier_broker(answer, c, ret);
}

static void a_broker_is_found_with_who_is_to_be_told(void **state)
{
	static const struct {
		const char *answer, *host;
		int port;
		bool tls;
		const char *user;
	} cases[] = {
		{ OFFER("\"mqtts://b.example.com\"", TOKEN), "b.example.com", 8883, true, "me" },
		{ OFFER("\"ssl://b.example.com:99/\"", TOKEN), "b.example.com", 99, true, "me" },
		{ OFFER("\"mqtts://[fd00::1]:7\"", TOKEN), "fd00::1", 7, true, "me" },
		{ OFFER("\"ws://b\", \"mqtts://c\"", TOKEN), "c", 8883, true, "me" },
		{ OFFER("\"mqtt://b\", \"mqtts://c\"", TOKEN), "c", 8883, true, "me" },
		{ OFFER("\"mqtt://127.0.0.1\"", TOKEN), "127.0.0.1", 1883, false, "me" },
		{ OFFER("\"tcp://b.example.com\"", ANONYMOUS), "b.example.com", 1883, false, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(openadr_broker_done) OpenadrBroker b = { 0 };

		assert_int_equal(find("", cases[i].answer, &b), 0);
		assert_string_equal(b.host, cases[i].host);
		assert_int_equal(b.port, cases[i].port);
		assert_int_equal(b.tls, cases[i].tls);
		if (cases[i].user)
			assert_string_equal(b.user, cases[i].user);
		else
			assert_null(b.user);
	}
}

static void who_cannot_be_spoken_to_is_no_broker(void **state)
{
	static const struct {
		const char *answer;
		int error;
	} cases[] = {
		{ "{}", -ENOENT },
		{ "{\"WEBHOOK\": true}", -ENOENT },
		{ "{\"MQTT\": null}", -ENOENT },
		{ "[]", -EBADMSG },
		{ "nonsense", -EBADMSG },
		{ "{\"MQTT\": {}}", -EBADMSG },
		{ OFFER("", TOKEN), -EPROTONOSUPPORT },
		{ OFFER("5", TOKEN), -EBADMSG },
		{ OFFER("\"ws://b\"", TOKEN), -EPROTONOSUPPORT },
		{ OFFER("\"mqtts://\"", TOKEN), -EPROTONOSUPPORT },
		{ OFFER("\"mqtts://b:0\"", TOKEN), -EPROTONOSUPPORT },
		{ OFFER("\"mqtts://b:70000\"", TOKEN), -EPROTONOSUPPORT },
		{ OFFER("\"mqtts://b/path\"", TOKEN), -EPROTONOSUPPORT },
		{ OFFER("\"mqtts://you@b\"", TOKEN), -EPROTONOSUPPORT },
		{ OFFER("\"mqtts://b\"", "{\"method\": \"CERTIFICATE\"}"), -EPROTONOSUPPORT },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		OpenadrBroker b = { 0 };

		if (find("", cases[i].answer, &b) != cases[i].error)
			fail_msg("%s: not %s", cases[i].answer, strerror(-cases[i].error));
		assert_null(b.host);
	}
}

static void a_token_is_not_told_to_a_broker_without_encryption_unasked(void **state)
{
	_cleanup_(openadr_broker_done) OpenadrBroker b = { 0 };
	static const char plain[] = OFFER("\"mqtt://b.example.com\"", TOKEN);

	(void)state;
	assert_int_equal(find("", plain, &b), -EPERM);
	assert_int_equal(find("plain_http = yes\n", plain, &b), 0);
	assert_string_equal(b.user, "me");
}

static void the_ven_is_the_one_with_this_nodes_name(void **state)
{
	_cleanup_(openadr_config_freep) OpenadrConfig *c = configured("");
	_cleanup_free_ char *id = NULL;

	(void)state;
	assert_int_equal(openadr_notifier_ven("[{\"id\": \"1\", \"venName\": \"other\"},"
					      "{\"id\": \"a/b\", \"venName\": \"node1\"},"
					      "{\"id\": \"7\", \"venName\": \"node1\"}]",
					      c, &id),
			 0);
	assert_string_equal(id, "7");
	assert_int_equal(openadr_notifier_ven("[]", c, &id), -ENOENT);
	assert_int_equal(openadr_notifier_ven("{}", c, &id), -EBADMSG);
}

static void topics_are_one_for_all_or_each(void **state)
{
	_cleanup_(strv_freep) char **topics = NULL;

	(void)state;
	assert_int_equal(openadr_notifier_topics(
				 "{\"topics\": {\"ALL\": \"x/+\", \"UPDATE\": \"x/u\"}}", &topics),
			 0);
	assert_int_equal(strv_length(topics), 1);
	assert_int_equal(
		openadr_notifier_topics("{\"topics\": {\"CREATE\": \"y/c\", \"UPDATE\": \"y/u\","
					"\"DELETE\": \"y/d\"}}",
					&topics),
		0);
	assert_int_equal(strv_length(topics), 4);
	assert_string_equal(topics[3], "y/d");
	assert_int_equal(openadr_notifier_topics("{\"topics\": {}}", &topics), -EBADMSG);
	assert_int_equal(strv_length(topics), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_broker_is_found_with_who_is_to_be_told),
		cmocka_unit_test(who_cannot_be_spoken_to_is_no_broker),
		cmocka_unit_test(a_token_is_not_told_to_a_broker_without_encryption_unasked),
		cmocka_unit_test(the_ven_is_the_one_with_this_nodes_name),
		cmocka_unit_test(topics_are_one_for_all_or_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
