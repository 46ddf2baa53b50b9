/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/openadr-url.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

static const char *host_of(const char *url)
{
	const char *mark = strstr(url, "://");

	return mark ? mark + strlen("://") : NULL;
}

bool url_has_scheme(const char *url, const char *scheme)
{
	size_t n = strlen(scheme);

	return strncmp(url, scheme, n) == 0 && strncmp(url + n, "://", 3) == 0;
}

/* A user in front of the host would be one more place for a secret, and for a host to be hidden. */
static bool is_plain(const char *url)
{
	const char *host = host_of(url);

	return host && *host && !strchr("/:", *host) && !strpbrk(url, " \t?#\\") &&
	       !memchr(host, '@', strcspn(host, "/"));
}

bool url_is_http(const char *s)
{
	return (url_has_scheme(s, "http") || url_has_scheme(s, "https")) && is_plain(s);
}

bool url_is_loopback(const char *url)
{
	const char *host = host_of(url);
	char name[64];
	struct in_addr a;

	if (!host)
		return false;
	if (strncmp(host, "[::1]", strlen("[::1]")) == 0)
		return strchr("/:", host[strlen("[::1]")]);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(host, "/:"), host);
	return streq(name, "localhost") ||
	       (inet_pton(AF_INET, name, &a) == 1 && ntohl(a.s_addr) >> 24 == IN_LOOPBACKNET);
}

/* ":1883", "/", both, or nothing */
static int take_port(const char *rest, int *port)
{
	char *end = (char *)rest;
	long n = 0;

	if (*rest == ':') {
		if (!isdigit((unsigned char)rest[1]))
			return -EINVAL;
		n = strtol(rest + 1, &end, 10);
		if (n < 1 || n > UINT16_MAX)
			return -EINVAL;
	}
	if (*end == '/')
		end++;
	if (*end)
		return -EINVAL;
	*port = n ? (int)n : *port;
	return 0;
}

int url_split(const char *url, char **ret_host, int *ret_port)
{
	const char *host = host_of(url);
	bool bracket = host && *host == '[';
	size_t n = host ? strcspn(host + bracket, bracket ? "]" : ":/") : 0;
	_cleanup_free_ char *copy = n ? strndup(host + bracket, n) : NULL;
	int r;

	if (!n || !is_plain(url) || (bracket && host[1 + n] != ']'))
		return -EINVAL;
	if (!copy)
		return -ENOMEM;
	r = take_port(host + n + 2 * bracket, ret_port);
	if (r >= 0)
		*ret_host = TAKE_PTR(copy);
	return r;
}
