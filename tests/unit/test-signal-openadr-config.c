/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/openadr-config.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static OpenadrConfig *parse(const char *text, size_t wanted_warnings)
{
	OpenadrConfig *c;
	size_t warnings;

	assert_int_equal(openadr_config_read_text("openadr.conf", text, &c, &warnings), 0);
	if (warnings != wanted_warnings)
		fail_msg("%s: %zu warnings", text, warnings);
	return c;
}

static OpenadrConfig *parse_url(const char *url, const char *more, size_t wanted_warnings)
{
	_cleanup_free_ char *text = text_printf("[vtn]\nurl = %s\nclient_id = a\nven = n\n"
						"secret_file = /x\n%s",
						url, more);

	return parse(text, wanted_warnings);
}

static void a_configuration_that_cannot_do_is_complained_of(void **state)
{
	_cleanup_(openadr_config_freep) OpenadrConfig *c =
		parse("[vtn]\nurl = http://vtn.example.com\n", 5);

	(void)state;
	assert_false(c->usable); /* three are missing; twice it is not encrypted */
	openadr_config_free(parse_url("https://vtn.example.com", "level4 = 5%\n", 1));
	openadr_config_free(parse_url("https://vtn.example.com", "[power]\nshare = 120%\n", 1));
}

static void tokens_are_given_by_the_vtn_if_nothing_else_is_said(void **state)
{
	_cleanup_(openadr_config_freep) OpenadrConfig *c = parse_url("https://vtn:3000/a/", "", 0);

	(void)state;
	assert_string_equal(c->url, "https://vtn:3000/a");
	assert_string_equal(c->token_url, "https://vtn:3000/a/auth/token");
}

static void a_secret_is_told_without_encryption_to_this_machine_alone(void **state)
{
	static const char *const here[] = { "http://127.0.0.1:3000/",   "http://127.1.2.3",
					    "http://localhost",         "http://localhost/a",
					    "http://localhost:3000/a/", "http://[::1]",
					    "http://[::1]:3000" };
	static const char *const elsewhere[] = {
		"http://127.evil.example",  "http://127.0.0.1.evil.example:80",
		"http://localhost.example", "http://[::1].evil.example",
		"http://[::2]:80",          "http://10.0.0.1"
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(here); i++)
		openadr_config_free(parse_url(here[i], "", 0));
	for (size_t i = 0; i < ELEMENTSOF(elsewhere); i++) {
		_cleanup_(openadr_config_freep) OpenadrConfig *c = parse_url(elsewhere[i], "", 2);

		assert_false(c->usable);
		openadr_config_free(parse_url(elsewhere[i], "plain_http = yes\n", 0));
	}
}

static void what_is_no_url_of_a_host_is_left_out(void **state)
{
	static const char *const wrong[] = { "vtn.example.com", "ftp://vtn",
					     "http://",         "https:///events",
					     "http://:80",      "http://localhost:x@evil.example",
					     "https://a@vtn",   "http://localhost\\@evil.example",
					     "https://vtn/?a=b" };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(wrong); i++) {
		_cleanup_(openadr_config_freep) OpenadrConfig *c = parse_url(wrong[i], "", 2);

		assert_null(c->url);
	}
	openadr_config_free(parse_url("https://vtn/a@b", "", 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_configuration_that_cannot_do_is_complained_of),
		cmocka_unit_test(tokens_are_given_by_the_vtn_if_nothing_else_is_said),
		cmocka_unit_test(a_secret_is_told_without_encryption_to_this_machine_alone),
		cmocka_unit_test(what_is_no_url_of_a_host_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
