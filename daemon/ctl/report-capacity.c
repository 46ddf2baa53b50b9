/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How much capacity the energy is for: as it was told, else as the daemon's devices have it. */

#include <math.h>

#include "ctl/report-capacity.h"

#define GB_PER_TB    1e3
#define BYTES_PER_TB 1e12

/* NAN: nobody knows how large it is. */
static double device_tb(const Ctl *c, json_object *device, const Protection *told)
{
	Protection p = *told;

	if (!carbon_given(c, CARBON_PROTECTION) &&
	    parse_protection(json_text(device, "Protection"), &p) < 0)
		p.data = 1, p.parity = 0;
	return efficiency_usable(json_number(device, "SizeBytes") / BYTES_PER_TB, &p);
}

double report_devices_tb(const Ctl *c, json_object *devices, const Protection *told)
{
	double tb = 0;

	for (size_t i = 0; i < json_count(devices); i++)
		tb += device_tb(c, json_object_array_get_idx(devices, i), told);
	return tb > 0 ? tb : NAN;
}

/* Quietly: a report needs no daemon. */
static double ask_daemon(Ctl *c, const Protection *told)
{
	_cleanup_json_ json_object *devices = NULL;

	if (c->report.ledger || !ctl_daemon_runs(c) || ctl_get_devices(c, &devices))
		return NAN;
	return report_devices_tb(c, devices, told);
}

int report_usable(Ctl *c, double *ret_tb)
{
	const bool size = carbon_given(c, CARBON_SIZE);
	double gb;
	Protection p;
	int status = carbon_number(c, CARBON_SIZE, &gb) ?: carbon_protection(c, &p);

	if (status)
		return status;
	*ret_tb = size ? efficiency_usable(gb / GB_PER_TB, &p) : ask_daemon(c, &p);
	if (isnan(*ret_tb) && (carbon_given(c, CARBON_PROTECTION) || carbon_given(c, CARBON_FILL)))
		return complain(STATUS_USAGE,
				"--protection and --fill are of a capacity, which no daemon tells "
				"here: --size=, as 80TB for all devices together, would be right");
	return STATUS_OK;
}
