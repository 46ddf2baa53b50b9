/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* "UPS[@HOST[:PORT]]", as upsc(8) has it. Names of hosts are not looked up, but for localhost: a
 * name server that does not answer would hold up the signal that it is for. */

#include <sys/socket.h>

typedef struct NutAddress {
	char ups[32];
	struct sockaddr_storage socket;
	socklen_t socket_length;
} NutAddress;

int nut_address_parse(const char *text, NutAddress *ret); /* -EINVAL */
