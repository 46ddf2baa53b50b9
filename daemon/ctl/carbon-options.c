/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What storpowerctl carbon, efficiency and report are told: numbers with units, some of them within
 * bounds. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "ctl/ctl-carbon.h"

#define DRIVES_MAX 1024 /* of a protection group */

typedef struct Unit {
	const char *name; /* "": a bare number */
	double times;
} Unit;

static const Unit joules[] = { { "", 1 }, { "J", 1 }, { "mJ", 1e-3 }, { "uJ", 1e-6 }, {} };
static const Unit kg_gb[] = { { "", 1 }, { "kg/GB", 1 }, { "g/GB", 1e-3 }, {} };
static const Unit gigabytes[] = { { "GB", 1 }, { "TB", 1e3 }, { "PB", 1e6 }, {} };
static const Unit rates[] = { { "", 1 }, { "/s", 1 }, { "k", 1e3 }, { "k/s", 1e3 }, {} };
static const Unit shares[] = { { "", 1 }, { "%", 0.01 }, {} };
static const Unit years[] = { { "y", 1 }, { "d", 1.0 / 365 }, {} };
static const Unit g_kwh[] = { { "", 1 }, { "g/kWh", 1 }, { "kg/kWh", 1e3 }, {} };
static const Unit prices[] = { { "", 1 }, {} };

#define EXACTLY(v) ((Band){ (v), (v), (v) })
#define NOT_TOLD   EXACTLY(NAN)

/* By CarbonOption. `right` says what would be right. */
static const struct Quantity {
	const char *name;
	const Unit *units;
	double min, max;
	Band usual;
	bool range;
	const char *right;
} quantities[_CARBON_OPTION_MAX] = {
	[CARBON_SSD_ENERGY] = { "ssd-energy", joules, 1e-9, 1e6, NOT_TOLD, true,
				"the energy of a request, as 1.1mJ or 0.9..1.2mJ, or ledger:nvme0," },
	[CARBON_HDD_ENERGY] = { "hdd-energy", joules, 1e-9, 1e6, NOT_TOLD, true,
				"the energy of a request, as 15mJ or 10..20mJ, or ledger:sda," },
	[CARBON_SSD_EMBODIED] = { "ssd-embodied", kg_gb, 0, 100, CARBON_SSD_KG_GB, true,
				  "kg of CO2e a GB, as 0.16 or 0.033..0.16..0.34," },
	[CARBON_HDD_EMBODIED] = { "hdd-embodied", kg_gb, 0, 100, CARBON_HDD_KG_GB, true,
				  "kg of CO2e a GB, as 0.02 or 0.005..0.02..0.06," },
	[CARBON_SIZE] = { "size", gigabytes, 1e-3, 1e9, NOT_TOLD, false,
			  "the capacity of a device, as 960GB or 2TB," },
	[CARBON_RATE] = { "rate", rates, 1e-6, 1e12, NOT_TOLD, false,
			  "requests a second, as 4000 or 4k," },
	[CARBON_HDD_RATE] = { "hdd-rate", rates, 1e-6, 1e12, NOT_TOLD, false,
			      "requests a second of one disk, as 722," },
	[CARBON_SCALING] = { "scaling", shares, 0.01, 1, EXACTLY(1), false,
			     "what a disk among many serves of what it serves alone, as 0.9 or 90%," },
	[CARBON_LIFE] = { "life", years, 1.0 / 365, 100, EXACTLY(5), false,
			  "a time in use, as 5y or 400d, 100 years at most," },
	[CARBON_INTENSITY] = { "intensity", g_kwh, 0, 1e5, NOT_TOLD, true,
			       "g of CO2e a kWh, as 381, 0.381kg/kWh or 300..400," },
	[CARBON_PRICE] = { "price", prices, 0, 1e6, NOT_TOLD, false,
			   "the price of a kWh in your currency, as 0.18," },
	[CARBON_FILL] = { "fill", shares, 0.01, 1, EXACTLY(1), false,
			  "how full the capacity may get, as 80% or 0.8," },
};

bool carbon_given(const Ctl *c, CarbonOption o)
{
	return c->carbon.text[o];
}

/* Ends the text of an element at the next ".."; NULL: it is the last. */
static char *split(char *text)
{
	char *dots = strstr(text, "..");

	if (!dots)
		return NULL;
	*dots = '\0';
	return dots + strlen("..");
}

static bool take_unit(const Unit *units, const char *name, double *value)
{
	for (; units->name; units++)
		if (streq(units->name, name)) {
			*value *= units->times;
			return true;
		}
	return false;
}

/* A unit counts for those before it that have none: "0.9..1.2mJ". 0 or -EINVAL. */
static int parse_elements(const struct Quantity *q, char *text, double values[3], size_t *ret_n)
{
	const char *names[3], *name = "";
	size_t n = 0;

	for (char *next; text; text = next) {
		next = split(text);
		if (n == ELEMENTSOF(names) || parse_quantity(text, &values[n], &names[n]) < 0)
			return -EINVAL;
		n++;
	}
	for (size_t i = n; i-- > 0;) {
		name = *names[i] ? names[i] : name;
		if (!take_unit(q->units, name, &values[i]))
			return -EINVAL;
	}
	*ret_n = n;
	return 0;
}

static int parse_band(const struct Quantity *q, char *text, Band *ret)
{
	double v[3];
	size_t n;

	if (parse_elements(q, text, v, &n) < 0 || (n > 1 && !q->range))
		return -EINVAL;
	*ret = (Band){ v[0], n == 3 ? v[1] : (v[0] + v[n - 1]) / 2, v[n - 1] };
	if (!(q->min <= ret->low && ret->low <= ret->mean && ret->mean <= ret->high &&
	      ret->high <= q->max))
		return -ERANGE;
	return 0;
}

int carbon_band(const Ctl *c, CarbonOption o, Band *ret)
{
	const struct Quantity *q = &quantities[o];
	_cleanup_free_ char *text = NULL;

	*ret = q->usual;
	if (!carbon_given(c, o))
		return STATUS_OK;
	text = strdup(c->carbon.text[o]);
	if (!text)
		return complain(STATUS_FAILURE, "Out of memory");
	if (parse_band(q, text, ret) < 0)
		return complain(STATUS_USAGE, "--%s=%s: %s would be right", q->name,
				c->carbon.text[o], q->right);
	return STATUS_OK;
}

int carbon_number(const Ctl *c, CarbonOption o, double *ret)
{
	Band band;
	int status = carbon_band(c, o, &band);

	*ret = band.mean;
	return status;
}

int carbon_intensity_alone(const Ctl *c, double *ret_g_kwh)
{
	Band band;
	int status = carbon_band(c, CARBON_INTENSITY, &band);

	*ret_g_kwh = band.mean;
	if (!status && band.low < band.high)
		return complain(STATUS_USAGE,
				"--intensity=%s: one figure, as 381, would be right: only carbon "
				"has bands",
				c->carbon.text[CARBON_INTENSITY]);
	return status;
}

int parse_protection(const char *text, Protection *ret)
{
	const char *plus = strchr(text, '+');
	_cleanup_free_ char *data = plus ? strndup(text, (size_t)(plus - text)) : NULL;
	unsigned long n, parity;

	if (!data || parse_unsigned(data, DRIVES_MAX, &n) < 0 || n == 0 ||
	    parse_unsigned(plus + 1, DRIVES_MAX, &parity) < 0)
		return -EINVAL;
	ret->data = (unsigned)n;
	ret->parity = (unsigned)parity;
	return 0;
}

int carbon_protection(const Ctl *c, Protection *ret)
{
	const char *text = c->carbon.text[CARBON_PROTECTION] ?: "1+0";

	if (parse_protection(text, ret) < 0)
		return complain(STATUS_USAGE,
				"--protection=%s: parts of data and of parity, as 8+3, or 1+1 for "
				"a mirror, would be right",
				text);
	return carbon_number(c, CARBON_FILL, &ret->fill);
}
