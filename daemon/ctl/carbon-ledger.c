/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What an IO of a device has cost, as the ledger holds it. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "ctl/report.h"

typedef struct Wanted {
	const char *device; /* its name or id */
	Amounts sum;
	bool found;
} Wanted;

static int take(const LedgerThing *thing, int64_t time_s, const Amounts *sum, void *userdata)
{
	Wanted *w = userdata;

	(void)time_s;
	if (!streq(thing->name, w->device) && !streq(thing->id, w->device))
		return 0;
	w->found = true;
	amounts_add(&w->sum, sum);
	return 0;
}

static int read_sum(Ledger *l, Wanted *w)
{
	const int64_t now_s = (int64_t)(realtime_us() / USEC_PER_SEC);

	return ledger_read(
		l, &(LedgerQuery){ .kind = THING_DEVICE, .until_s = now_s + 1, .by_thing = true },
		take, w);
}

/* All that it has drawn, idling included, over all that it has served. */
static int energy_of(const Wanted *w, const char *path, Band *ret)
{
	const double ios = (double)w->sum.of[AMOUNT_READS] + (double)w->sum.of[AMOUNT_WRITES];
	const double joules = (double)w->sum.of[AMOUNT_ENERGY_UJ] * 1e-6;
	const double error_j = fmin((double)w->sum.of[AMOUNT_ERROR_UJ] * 1e-6, joules);

	if (!w->found)
		return complain(STATUS_FAILURE,
				"The ledger %s knows no device %s: storpowerctl report --by=device "
				"names those that it knows",
				path, w->device);
	if (!(ios > 0 && joules > 0))
		return complain(STATUS_FAILURE,
				"%s has served no IO since the ledger %s begins: its energy of a "
				"request is not known",
				w->device, path);
	*ret = (Band){ (joules - error_j) / ios, joules / ios, (joules + error_j) / ios };
	return STATUS_OK;
}

int carbon_ledger_energy(Ctl *c, const char *device, Band *ret)
{
	_cleanup_free_ char *path = report_ledger_path(c);
	_cleanup_(ledger_closep) Ledger *l = NULL;
	Wanted wanted = { .device = ctl_device_name(device) };
	int r = path ? ledger_open_to_read(path, &l) : -ENOMEM;

	if (r >= 0)
		r = read_sum(l, &wanted);
	if (r < 0)
		return report_unreadable(path ?: "", r, l ? ledger_error(l) : "");
	return energy_of(&wanted, path, ret);
}
