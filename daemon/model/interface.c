/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/interface.h"

#include <errno.h>
#include <stddef.h>

#include "base/text.h"

/* SATA 3.x: 6 Gbit/s in 8b/10b. SAS-3: 12 Gbit/s in 8b/10b; SAS-4: 22.5 Gbit/s in 128b/150b. PCI
 * Express: 8, 16 and 32 GT/s a lane in 128b/130b, and 64 GT/s in flits of 242 of 256 bytes. */
static const struct {
	const char *name;
	double mb_s;
} interfaces[_INTERFACE_MAX] = {
	[INTERFACE_UNKNOWN] = { "unknown", 0 },      [INTERFACE_SATA] = { "sata", 600 },
	[INTERFACE_SAS_12] = { "sas-12", 1200 },     [INTERFACE_SAS_24] = { "sas-24", 2400 },
	[INTERFACE_PCIE3_X2] = { "pcie3x2", 1969 },  [INTERFACE_PCIE3_X4] = { "pcie3x4", 3938 },
	[INTERFACE_PCIE3_X8] = { "pcie3x8", 7877 },  [INTERFACE_PCIE4_X2] = { "pcie4x2", 3938 },
	[INTERFACE_PCIE4_X4] = { "pcie4x4", 7877 },  [INTERFACE_PCIE4_X8] = { "pcie4x8", 15754 },
	[INTERFACE_PCIE5_X2] = { "pcie5x2", 7877 },  [INTERFACE_PCIE5_X4] = { "pcie5x4", 15754 },
	[INTERFACE_PCIE5_X8] = { "pcie5x8", 31508 }, [INTERFACE_PCIE6_X4] = { "pcie6x4", 30250 },
};

const char *interface_name(Interface i)
{
	return interfaces[(unsigned)i < _INTERFACE_MAX ? i : INTERFACE_UNKNOWN].name;
}

int interface_from_name(const char *name)
{
	for (int i = INTERFACE_UNKNOWN + 1; i < _INTERFACE_MAX; i++)
		if (streq(name, interfaces[i].name))
			return i;
	return -EINVAL;
}

double interface_mb_s(Interface i)
{
	return interfaces[(unsigned)i < _INTERFACE_MAX ? i : INTERFACE_UNKNOWN].mb_s;
}

Interface interface_carrying(double mb_s)
{
	Interface best = INTERFACE_UNKNOWN;

	for (Interface i = INTERFACE_UNKNOWN + 1; i < _INTERFACE_MAX; i++)
		if (interfaces[i].mb_s >= mb_s &&
		    (best == INTERFACE_UNKNOWN || interfaces[i].mb_s < interfaces[best].mb_s))
			best = i;
	return best;
}
