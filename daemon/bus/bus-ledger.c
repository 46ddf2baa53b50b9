/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is fed to the ledger: what a kWh costs, and how much an application has served. */

#include <errno.h>
#include <math.h>

#include "bus/bus-internal.h"

#define PRICE_MAX    1e6
#define G_KWH_MAX    1e5
#define FEED_S_MAX   86400.0
#define REQUESTS_MAX 1000000000000ULL /* in one call */

static bool is_figure(double v, double most)
{
	return isnan(v) || (v >= 0 && v <= most);
}

static int refuse(sd_bus_error *error, const char *what, const char *right)
{
	return sd_bus_error_setf(error, BUS_ERROR_INVALID_OPTION, "%s: %s would be right", what,
				 right);
}

static int check_tariff(double price, double g_kwh, const char *kind, double seconds,
			sd_bus_error *error)
{
	if (!is_figure(price, PRICE_MAX))
		return refuse(error, "The price is out of range",
			      "0 to 1e6 a kWh, or NaN for what is configured,");
	if (!is_figure(g_kwh, G_KWH_MAX))
		return refuse(error, "The carbon intensity is out of range",
			      "0 to 1e5 g of CO2e a kWh, or NaN for what is configured,");
	if (!streq(kind, "average") && !streq(kind, "marginal"))
		return refuse(error, "The kind of the carbon intensity is unknown",
			      "\"average\" or \"marginal\"");
	if (!(seconds > 0 && seconds <= FEED_S_MAX))
		return refuse(error, "The time for which it holds is out of range",
			      "more than 0 and at most 86400 seconds");
	return 0;
}

int bus_set_tariff(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	static const BusPermit permit = { ACTION_POLICY, bus_set_tariff };
	Bus *b = userdata;
	double price, g_kwh, seconds;
	const char *kind;
	int r = sd_bus_message_read(m, "ddsd", &price, &g_kwh, &kind, &seconds);

	if (r >= 0)
		r = check_tariff(price, g_kwh, kind, seconds, error);
	if (r >= 0)
		r = bus_authorize(b, m, &permit, error);
	if (r != 0)
		return r;
	control_feed_tariff(b->control,
			    &(FedTariff){ price, g_kwh, streq(kind, "marginal"), seconds });
	return sd_bus_reply_method_return(m, NULL);
}

int bus_count_requests(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	static const BusPermit permit = { ACTION_POLICY, bus_count_requests };
	Bus *b = userdata;
	uint64_t n;
	int r = sd_bus_message_read(m, "t", &n);

	if (r >= 0 && n > REQUESTS_MAX)
		r = refuse(error, "There are too many requests", "up to 1e12 in a call");
	if (r >= 0)
		r = bus_authorize(b, m, &permit, error);
	if (r != 0)
		return r;
	control_count_requests(b->control, n);
	return sd_bus_reply_method_return(m, NULL);
}
