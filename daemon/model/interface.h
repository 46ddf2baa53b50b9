/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a drive hangs on, and how much that carries: no drive serves more. Pure. */

typedef enum Interface {
	INTERFACE_UNKNOWN,
	INTERFACE_SATA,
	INTERFACE_SAS_12,
	INTERFACE_SAS_24,
	INTERFACE_PCIE3_X2,
	INTERFACE_PCIE3_X4,
	INTERFACE_PCIE3_X8,
	INTERFACE_PCIE4_X2,
	INTERFACE_PCIE4_X4,
	INTERFACE_PCIE4_X8,
	INTERFACE_PCIE5_X2,
	INTERFACE_PCIE5_X4,
	INTERFACE_PCIE5_X8,
	INTERFACE_PCIE6_X4,
	_INTERFACE_MAX
} Interface;

#define INTERFACE_NAMES                                                                            \
	"sata, sas-12, sas-24, or pcie with its generation and lanes such as pcie4x4"

const char *interface_name(Interface i); /* "pcie4x4" */
/* -EINVAL: none is called so. "unknown" is no name. */
int interface_from_name(const char *name);
/* MB/s one way, after the line code and before protocols take their part; 0: unknown. */
double interface_mb_s(Interface i);
/* The slowest that carries so much; INTERFACE_UNKNOWN: none does. */
Interface interface_carrying(double mb_s);
