/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Addresses of what the OpenADR signal speaks to. Pure. */

#include <stdbool.h>

/* Is it SCHEME://...? */
bool url_has_scheme(const char *url, const char *scheme);
/* Is it http or https, with a host, and without what hides the host or a secret? */
bool url_is_http(const char *s);
/* Does its host never leave this machine? */
bool url_is_loopback(const char *url);

/* The host and the port of SCHEME://HOST[:PORT][/]; *ret_port stays as it is where none is said.
 * The caller frees *ret_host. -EINVAL: it has something else. */
int url_split(const char *url, char **ret_host, int *ret_port);
