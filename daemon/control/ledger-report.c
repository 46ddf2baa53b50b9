/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is told of the ledger: what has been counted since the daemon's start. */

#include <errno.h>
#include <math.h>

#include "control/control-state.h"
#include "control/fleet.h"

static EnergySum energy_of(const Amounts *a)
{
	const int64_t *of = a->of;

	return (EnergySum){
		.measured_j = (double)of[AMOUNT_MEASURED_UJ] * 1e-6,
		.modelled_j = (double)(of[AMOUNT_ENERGY_UJ] - of[AMOUNT_MEASURED_UJ]) * 1e-6,
		.limited_s = (double)of[AMOUNT_LIMITED_US] * 1e-6,
		.above_s = (double)of[AMOUNT_ABOVE_US] * 1e-6,
		.bytes = { [READ_IO] = (uint64_t)of[AMOUNT_READ_BYTES],
			   [WRITE_IO] = (uint64_t)of[AMOUNT_WRITTEN_BYTES] },
		.ios = { [READ_IO] = (uint64_t)of[AMOUNT_READS],
			 [WRITE_IO] = (uint64_t)of[AMOUNT_WRITES] },
	};
}

/* Of what is configured alone while nothing is counted. */
static Rate rate_now(const Control *c)
{
	static const Tariff nothing_fed;
	const Bookkeeping *b = c->tools.books;
	uint64_t now_s = bookkeeping_wall_us(&c->config) / USEC_PER_SEC;

	return tariff_at(b ? &b->tally.tariff : &nothing_fed, &c->config.ledger.tariff,
			 (int64_t)now_s);
}

void control_ledger(const Control *c, LedgerState *ret)
{
	const Bookkeeping *b = c->tools.books;
	const Rate rate = rate_now(c);

	*ret = (LedgerState){ .path = c->config.ledger.path ?: "",
			      .problem = b ? b->problem : "",
			      .written_us = b ? b->written_us : 0,
			      .sum = b ? energy_of(&b->tally.sum) : (EnergySum){},
			      .price_kwh = rate.price_kwh,
			      .g_kwh = rate.g_kwh,
			      .marginal = rate.marginal };
}

int control_energy(const Control *c, const char *device, EnergySum *ret)
{
	const Managed *md = fleet_find_name(&c->fleet, device);
	const Tallied *t = md && c->tools.books
				   ? tally_devices_find(&c->tools.books->tally.devices, md->device)
				   : NULL;

	if (!md)
		return -ENOENT;
	*ret = t ? energy_of(&t->sum) : (EnergySum){};
	return 0;
}
