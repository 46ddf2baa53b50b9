/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "base/printable.h"
#include "fuzz.h"
#include "signal/openadr-json.h"
#include "signal/openadr-notifier.h"
#include "signal/openadr-wishes.h"

static void check_wishes(const Wishes *wishes)
{
	for (size_t i = 0; i < wishes->n; i++) {
		const Wish *w = &wishes->list[i];
		Unfit unfit;

		fuzz_check(w->limit >= 0);
		fuzz_check(is_printable(w->reason, strlen(w->reason), &unfit));
		fuzz_check(w->limit <= (w->unit == LIMIT_WATTS ? LIMIT_MAX_W : 100));
		for (size_t k = 0; k < i; k++)
			fuzz_check(!wish_is_same(w, &wishes->list[k]));
	}
}

/* Between two changes nothing is wanted that was not wanted at the first of them; time goes on. */
static void check_times(const OpenadrConfig *c, const OpenadrEvents *events, int64_t now)
{
	for (int i = 0; i < 64; i++) {
		_cleanup_(wishes_done) Wishes wishes = { 0 }, before = { 0 };
		int64_t again, same;

		fuzz_check(openadr_wishes(c, events, now, &wishes, &again) == 0);
		fuzz_check(again > now);
		check_wishes(&wishes);
		if (again == OPENADR_NEVER)
			return;
		fuzz_check(openadr_wishes(c, events, again - 1, &before, &same) == 0);
		fuzz_check(same == again && before.n == wishes.n);
		for (size_t k = 0; k < wishes.n; k++)
			fuzz_check(wish_is_equal(&wishes.list[k], &before.list[k]));
		now = again;
	}
}

static bool is_here(const char *host)
{
	return streq(host, "localhost") || streq(host, "::1") || strncmp(host, "127.", 4) == 0;
}

/* What the VTN says of its broker is a host, a port, and a user where a token is told; of topics
 * there is one at least. */
static void check_notifier(const OpenadrConfig *c, const char *text)
{
	_cleanup_(openadr_broker_done) OpenadrBroker b = { 0 };
	_cleanup_(strv_freep) char **topics = NULL;
	_cleanup_free_ char *ven = NULL;

	if (openadr_notifier_broker(text, c, &b) == 0) {
		fuzz_check(*b.host && b.port > 0 && b.port <= UINT16_MAX);
		fuzz_check(b.tls || !b.user || is_here(b.host));
	} else {
		fuzz_check(!b.host && !b.user);
	}
	fuzz_check((openadr_notifier_topics(text, &topics) == 0) == (topics != NULL));
	fuzz_check((openadr_notifier_ven(text, c, &ven) == 0) == (ven != NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char config[] =
		"[simple]\nlevel1 = 80%\nlevel2 = 350W\nlevel3 = 40% emergency\n"
		"[power]\nshare = 50%\nsubscription = 2kW\n"
		"[vtn]\nurl=https://x\nclient_id=a\nsecret_file=/x\nven=n\n";
	_cleanup_(openadr_config_freep) OpenadrConfig *c = NULL;
	_cleanup_(openadr_events_done) OpenadrEvents events = { 0 };
	_cleanup_free_ char *text = fuzz_text(data, size);
	_cleanup_json_ json_object *list = json_tokener_parse(text);
	size_t warnings;

	fuzz_check(openadr_config_read_text("openadr.conf", config, &c, &warnings) == 0);
	fuzz_check(warnings == 0);
	for (size_t i = 0; json_object_is_type(list, json_type_array) &&
			   i < MIN(json_object_array_length(list), 8u);
	     i++) {
		char why[200] = "";
		int r = openadr_events_add(&events, json_object_array_get_idx(list, i), list,
					   "node1", why, sizeof(why));

		fuzz_check(r == 0 || r == -EBADMSG);
		fuzz_check((r < 0) == (*why != '\0'));
	}
	check_times(c, &events, 1795514400);
	check_notifier(c, text);
	return 0;
}
