/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/nut-address.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/printable.h"
#include "base/text.h"

#define NUT_PORT "3493"

static int parse_socket(const char *host, const char *port, NutAddress *a)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
					.ai_socktype = SOCK_STREAM };
	struct addrinfo *found;
	unsigned long number;

	if (parse_unsigned(port, 65535, &number) < 0 || number == 0)
		return -EINVAL;
	if (streq(host, "localhost"))
		host = "127.0.0.1";
	if (getaddrinfo(host, port, &hints, &found) != 0)
		return -EINVAL;
	memcpy(&a->socket, found->ai_addr, found->ai_addrlen);
	a->socket_length = found->ai_addrlen;
	freeaddrinfo(found);
	return 0;
}

/* "HOST", "HOST:PORT", "[::1]:PORT" */
static int parse_host(char *text, NutAddress *a)
{
	char *end = *text == '[' ? strchr(text, ']') : strchr(text, ':');
	const char *port = NUT_PORT;

	if (*text == '[') {
		if (!end || (end[1] && end[1] != ':'))
			return -EINVAL;
		*end++ = '\0';
		text++;
	}
	if (end && *end) {
		*end = '\0';
		port = end + 1;
	}
	return parse_socket(text, port, a);
}

int nut_address_parse(const char *text, NutAddress *ret)
{
	_cleanup_free_ char *copy = strdup(text);
	NutAddress a = { 0 };
	char *at = copy ? strchr(copy, '@') : NULL;
	char localhost[] = "localhost";
	int r;

	if (!copy)
		return -ENOMEM;
	if (at)
		*at = '\0';
	if (!is_plain_name(copy) || strlen(copy) >= sizeof(a.ups))
		return -EINVAL;
	memcpy(a.ups, copy, strlen(copy) + 1);
	r = parse_host(at ? at + 1 : localhost, &a);
	if (r >= 0)
		*ret = a;
	return r;
}
