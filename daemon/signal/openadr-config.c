/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/openadr-config.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/keys.h"
#include "base/log.h"
#include "signal/openadr-url.h"

#define POLL_US (60 * USEC_PER_SEC)
#define LOST_US (600 * USEC_PER_SEC)

OpenadrConfig *openadr_config_free(OpenadrConfig *c)
{
	if (!c)
		return NULL;
	free(c->url);
	free(c->token_url);
	free(c->client);
	free(c->secret_file);
	free(c->scope);
	free(c->ca_file);
	free(c->ven);
	strv_free(c->programs);
	strv_free(c->targets);
	free(c);
	return NULL;
}

static bool is_path(const char *s)
{
	return *s == '/';
}

static bool is_name(const char *s)
{
	size_t n = strlen(s);

	return n >= 1 && n <= 128;
}

static int take_names(const IniLine *l, void *member)
{
	char ***names = member, **split = strv_split(l->value);

	if (!split)
		return -ENOMEM;
	if (!*split) {
		strv_free(split);
		return -EINVAL;
	}
	strv_free(*names);
	*names = split;
	return 0;
}

/* "60%", "350 W", "40% emergency" */
static int take_level(const IniLine *l, void *member)
{
	static const char emergency[] = "emergency";
	_cleanup_free_ char *limit = strdup(l->value);
	OpenadrLevel level = { .given = true, .class = "signal" };
	size_t n = strlen(l->value), m = strlen(emergency);
	int r;

	if (!limit)
		return -ENOMEM;
	if (n > m && streq(limit + n - m, emergency) && strchr(" \t", limit[n - m - 1])) {
		level.class = emergency;
		for (n -= m; n && strchr(" \t", limit[n - 1]);)
			n--;
		limit[n] = '\0';
	}
	r = parse_limit(limit, &level.limit, &level.unit);
	if (r >= 0)
		*(OpenadrLevel *)member = level;
	return r;
}

#define URL_EXPECTED   "a URL such as https://vtn.example.com/openadr3/3.1.0"
#define LEVEL_EXPECTED "a limit such as 60% or 350W, and \"emergency\" if it is one"

static const Key vtn_keys[] = {
	{ "url", KEY_TEXT_OR_NULL, KEY_AT(OpenadrConfig, url), .expected = URL_EXPECTED,
	  .is_valid = url_is_http },
	{ "token_url", KEY_TEXT_OR_NULL, KEY_AT(OpenadrConfig, token_url), .expected = URL_EXPECTED,
	  .is_valid = url_is_http },
	{ "client_id", KEY_TEXT_OR_NULL, KEY_AT(OpenadrConfig, client) },
	{ "secret_file", KEY_TEXT_OR_NULL, KEY_AT(OpenadrConfig, secret_file),
	  .expected = "an absolute path", .is_valid = is_path },
	{ "scope", KEY_TEXT_OR_NULL, KEY_AT(OpenadrConfig, scope) },
	{ "ca_file", KEY_TEXT_OR_NULL, KEY_AT(OpenadrConfig, ca_file),
	  .expected = "an absolute path", .is_valid = is_path },
	{ "notify", KEY_BOOL, KEY_AT(OpenadrConfig, notify) },
	{ "plain_http", KEY_BOOL, KEY_AT(OpenadrConfig, plain_http) },
	{ "ven", KEY_TEXT_OR_NULL, KEY_AT(OpenadrConfig, ven),
	  .expected = "a name of 128 characters at most", .is_valid = is_name },
	{ "programs", KEY_CUSTOM, KEY_AT(OpenadrConfig, programs),
	  .expected = "names or ids of programs", .take = take_names },
	{ "targets", KEY_CUSTOM, KEY_AT(OpenadrConfig, targets), .expected = "names of targets",
	  .take = take_names },
	{ "poll", KEY_DURATION, KEY_AT(OpenadrConfig, poll_us), .min = USEC_PER_SEC,
	  .max = 86400 * USEC_PER_SEC, .expected = "a duration from 1s to 1d" },
	{ "lost_after", KEY_DURATION, KEY_AT(OpenadrConfig, lost_us), .min = USEC_PER_SEC },
};
static const Key simple_keys[] = {
	{ "level1", KEY_CUSTOM, KEY_AT(OpenadrConfig, levels[1]), .expected = LEVEL_EXPECTED,
	  .take = take_level },
	{ "level2", KEY_CUSTOM, KEY_AT(OpenadrConfig, levels[2]), .expected = LEVEL_EXPECTED,
	  .take = take_level },
	{ "level3", KEY_CUSTOM, KEY_AT(OpenadrConfig, levels[3]), .expected = LEVEL_EXPECTED,
	  .take = take_level },
};
static const Key power_keys[] = {
	{ "share", KEY_SHARE, KEY_AT(OpenadrConfig, share), .min = 0.1, .max = 100 },
	{ "subscription", KEY_WATTS, KEY_AT(OpenadrConfig, subscribed_w), .max = LIMIT_MAX_W },
};
static const Key report_keys[] = {
	{ "send", KEY_BOOL, KEY_AT(OpenadrConfig, reports) },
};

static const KeySection sections[] = {
	{ "vtn", NULL, KEY_LIST(vtn_keys) },
	{ "simple", NULL, KEY_LIST(simple_keys) },
	{ "power", NULL, KEY_LIST(power_keys) },
	{ "reports", NULL, KEY_LIST(report_keys) },
};

static size_t complain_unless(const char *path, bool given, const char *key)
{
	if (!given)
		log_warning("%s: [vtn] %s= is missing: events cannot be asked for without it", path,
			    key);
	return !given;
}

/* A secret is told to nobody who may listen on the way. */
static size_t complain_of_plain(const char *path, const OpenadrConfig *c, const char *url,
				const char *key)
{
	if (!url || c->plain_http || !url_has_scheme(url, "http") || url_is_loopback(url))
		return 0;
	log_warning("%s: [vtn] %s=%s would tell the secret to whoever listens: use https, or say "
		    "plain_http=yes",
		    path, key, url);
	return 1;
}

static size_t check(const char *path, const OpenadrConfig *c)
{
	return complain_unless(path, c->url, "url") +
	       complain_unless(path, c->client, "client_id") +
	       complain_unless(path, c->secret_file, "secret_file") +
	       complain_unless(path, c->ven, "ven") + complain_of_plain(path, c, c->url, "url") +
	       complain_of_plain(path, c, c->token_url, "token_url");
}

/* The endpoint of the VTN itself, if nothing else is said. */
static int finish(OpenadrConfig *c)
{
	size_t n = c->url ? strlen(c->url) : 0;

	while (n && c->url[n - 1] == '/')
		c->url[--n] = '\0';
	if (c->url && !c->token_url)
		c->token_url = text_printf("%s/auth/token", c->url);
	return !c->url || c->token_url ? 0 : -ENOMEM;
}

int openadr_config_read_text(const char *path, const char *text, OpenadrConfig **ret,
			     size_t *ret_warnings)
{
	_cleanup_(openadr_config_freep) OpenadrConfig *c = calloc(1, sizeof(*c));
	size_t warnings, missing;
	int r;

	if (!c)
		return -ENOMEM;
	c->poll_us = POLL_US;
	c->lost_us = LOST_US;
	c->share = 1;
	c->reports = c->notify = true;
	r = keys_read_text(sections, ELEMENTSOF(sections), path, text, c, &warnings);
	if (r >= 0)
		r = finish(c);
	if (r < 0)
		return r;
	missing = check(path, c);
	c->usable = !missing;
	*ret_warnings = warnings + missing;
	*ret = TAKE_PTR(c);
	return 0;
}

int openadr_config_read(const char *path, OpenadrConfig **ret, size_t *ret_warnings)
{
	_cleanup_free_ char *text = NULL;
	int r = ini_load(path, &text);

	return r < 0 ? r : openadr_config_read_text(path, text, ret, ret_warnings);
}

int openadr_config_secret(const OpenadrConfig *c, char **ret)
{
	_cleanup_free_ char *text = NULL;
	struct stat st;
	int r;

	if (stat(c->secret_file, &st) < 0)
		return -errno;
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return -EPERM;
	r = read_file(c->secret_file, &text);
	if (r < 0)
		return r;
	text[strcspn(text, "\r\n")] = '\0';
	if (!*text)
		return -ENODATA;
	*ret = TAKE_PTR(text);
	return 0;
}
