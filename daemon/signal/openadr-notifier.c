/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/openadr-notifier.h"

#include <errno.h>
#include <string.h>

#include "signal/openadr-json.h"
#include "signal/openadr-url.h"

#define PORT      1883
#define PORT_TLS  8883
#define TOPIC_MAX 65535 /* MQTT 3.1.1, 1.5.3 */

void openadr_broker_done(OpenadrBroker *b)
{
	free(b->host);
	free(b->user);
	*b = (OpenadrBroker){ 0 };
}

/* NULL stays in *ret where nobody is asked who he is. */
static int take_user(json_object *mqtt, const OpenadrConfig *c, char **ret)
{
	json_object *how = json_member(mqtt, "authentication");
	const char *method = json_text(how, "method"), *user = json_text(how, "username");

	if (!method || streq(method, "ANONYMOUS"))
		return 0;
	if (!streq(method, "OAUTH2_BEARER_TOKEN") && !streq(method, "OAUTH2BEARERTOKEN"))
		return -EPROTONOSUPPORT;
	*ret = strdup(!user || streq(user, "{clientID}") ? c->client : user);
	return *ret ? 0 : -ENOMEM;
}

static int take_uri(const char *uri, const OpenadrConfig *c, OpenadrBroker *b)
{
	b->tls = url_has_scheme(uri, "mqtts") || url_has_scheme(uri, "ssl");
	b->port = b->tls ? PORT_TLS : PORT;
	if (!b->tls && !url_has_scheme(uri, "mqtt") && !url_has_scheme(uri, "tcp"))
		return -EPROTONOSUPPORT;
	if (!b->tls && b->user && !c->plain_http && !url_is_loopback(uri))
		return -EPERM;
	return url_split(uri, &b->host, &b->port) == -ENOMEM ? -ENOMEM
	       : b->host                                     ? 0
							     : -EPROTONOSUPPORT;
}

static int take_broker(json_object *mqtt, const OpenadrConfig *c, OpenadrBroker *b)
{
	json_object *uris = json_member(mqtt, "URIS");
	int r = take_user(mqtt, c, &b->user), e = -EPROTONOSUPPORT;

	if (r < 0 || !json_object_is_type(uris, json_type_array))
		return r < 0 ? r : -EBADMSG;
	for (size_t i = 0; i < json_object_array_length(uris); i++) {
		json_object *o = json_object_array_get_idx(uris, i);

		r = json_object_is_type(o, json_type_string)
			    ? take_uri(json_object_get_string(o), c, b)
			    : -EBADMSG;
		if (r >= 0 || r == -ENOMEM)
			return r;
		e = r;
	}
	return e;
}

int openadr_notifier_broker(const char *answer, const OpenadrConfig *c, OpenadrBroker *ret)
{
	_cleanup_json_ json_object *o = json_tokener_parse(answer);
	_cleanup_(openadr_broker_done) OpenadrBroker b = { 0 };
	json_object *mqtt = json_member(o, "MQTT");
	int r;

	if (!json_object_is_type(o, json_type_object))
		return -EBADMSG;
	if (!mqtt)
		return -ENOENT;
	r = take_broker(mqtt, c, &b);
	if (r < 0)
		return r;
	*ret = b;
	b = (OpenadrBroker){ 0 };
	return 0;
}

static bool is_id(const char *s)
{
	return s && *s && strlen(s) <= 128 && !strpbrk(s, "/?#%&+ \t\r\n");
}

int openadr_notifier_ven(const char *page, const OpenadrConfig *c, char **ret_id)
{
	_cleanup_json_ json_object *list = json_tokener_parse(page);

	if (!json_object_is_type(list, json_type_array))
		return -EBADMSG;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		json_object *o = json_object_array_get_idx(list, i);
		const char *name = json_text(o, "venName"), *id = json_text(o, "id");

		if (!name || !streq(name, c->ven ?: "") || !is_id(id))
			continue;
		*ret_id = strdup(id);
		return *ret_id ? 0 : -ENOMEM;
	}
	return -ENOENT;
}

static bool is_topic(const char *s)
{
	return s && *s && strlen(s) <= TOPIC_MAX;
}

int openadr_notifier_topics(const char *answer, char ***topics)
{
	static const char *const each[] = { "CREATE", "UPDATE", "DELETE" };
	_cleanup_json_ json_object *o = json_tokener_parse(answer);
	json_object *list = json_member(o, "topics");
	const char *all = json_text(list, "ALL");
	size_t n = 0;
	int r = 0;

	if (is_topic(all))
		return strv_add(topics, all);
	for (size_t i = 0; r >= 0 && i < ELEMENTSOF(each); i++) {
		const char *topic = json_text(list, each[i]);

		if (!is_topic(topic))
			continue;
		r = strv_add(topics, topic);
		n++;
	}
	return r < 0 ? r : n ? 0 : -EBADMSG;
}
