/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* storpowerctl carbon: when an SSD has made up for the carbon of its making. */

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "ctl/ctl-carbon.h"

#define FROM_LEDGER "ledger:"

/* A figure, or what the ledger holds of a device. */
static int read_energy(Ctl *c, CarbonOption o, Band *ret)
{
	const char *text = c->carbon.text[o];

	return text && strncmp(text, FROM_LEDGER, strlen(FROM_LEDGER)) == 0
		       ? carbon_ledger_energy(c, text + strlen(FROM_LEDGER), ret)
		       : carbon_band(c, o, ret);
}

static int read_bands(Ctl *c, CarbonQuestion *q)
{
	return read_energy(c, CARBON_SSD_ENERGY, &q->ssd.request_j)
		       ?: read_energy(c, CARBON_HDD_ENERGY, &q->hdd.request_j)
		       ?: carbon_band(c, CARBON_SSD_EMBODIED, &q->ssd.embodied_kg_gb)
		       ?: carbon_band(c, CARBON_HDD_EMBODIED, &q->hdd.embodied_kg_gb)
		       ?: carbon_band(c, CARBON_INTENSITY, &q->g_kwh);
}

static int read_numbers(const Ctl *c, Inquiry *q)
{
	return carbon_number(c, CARBON_SIZE, &q->question.size_gb)
		       ?: carbon_number(c, CARBON_RATE, &q->rate)
		       ?: carbon_number(c, CARBON_HDD_RATE, &q->hdd_rate)
		       ?: carbon_number(c, CARBON_SCALING, &q->scaling)
		       ?: carbon_number(c, CARBON_LIFE, &q->life_y);
}

/* Nothing that was told may be without effect. */
static int check_needs(const Ctl *c)
{
	const bool rate = carbon_given(c, CARBON_RATE) || carbon_given(c, CARBON_SSD);
	const bool hdd_rate = carbon_given(c, CARBON_HDD_RATE) || carbon_given(c, CARBON_HDD);

	if (!carbon_given(c, CARBON_SIZE))
		return complain(STATUS_USAGE, "--size= is missing: the capacity of a device, as "
					      "960GB or 2TB, would be right");
	if (!carbon_given(c, CARBON_INTENSITY))
		return complain(STATUS_USAGE,
				"--intensity= is missing: that of your grid in g of CO2e a kWh "
				"would be right, as 381 for Germany or 30 for Norway");
	if (hdd_rate && !rate)
		return complain(STATUS_USAGE,
				"How many disks there are depends on what they serve together: "
				"--rate=REQUESTS a second, or --ssd=PROFILE, would be right");
	if (carbon_given(c, CARBON_SCALING) && !hdd_rate)
		return complain(STATUS_USAGE,
				"--scaling needs what one disk serves: "
				"--hdd-rate=REQUESTS or --hdd=PROFILE would be right");
	if (carbon_given(c, CARBON_LIFE) && !rate)
		return complain(STATUS_USAGE, "--life needs what is served meanwhile: "
					      "--rate=REQUESTS or --ssd=PROFILE would be right");
	if (c->model.workload && !carbon_given(c, CARBON_SSD) && !carbon_given(c, CARBON_HDD))
		return complain(STATUS_USAGE,
				"--workload is for profiles: --ssd=PROFILE or --hdd=PROFILE");
	return STATUS_OK;
}

static int check_energy(const Band *request_j, const char *side)
{
	if (!isnan(request_j->mean))
		return STATUS_OK;
	return complain(STATUS_USAGE,
			"--%s-energy= is missing: the energy of a request, as 1.1mJ, or "
			"--%s=PROFILE would be right",
			side, side);
}

static CarbonCrossing scaled(CarbonCrossing x, double times)
{
	return (CarbonCrossing){ x.verdict, times * x.at };
}

static CarbonCrossings in_time(const CarbonCrossings *requests, double rate)
{
	return (CarbonCrossings){ .best = scaled(requests->best, 1 / rate),
				  .mean = scaled(requests->mean, 1 / rate),
				  .worst = scaled(requests->worst, 1 / rate) };
}

/* Everything has been checked, but the product of rate and life may still be too large. */
static int answer(Inquiry *q)
{
	int r = carbon_requests(&q->question, &q->requests);

	q->seconds = in_time(&q->requests, q->rate);
	q->g_kwh = in_time(&q->requests, NAN);
	if (r >= 0 && !isnan(q->rate))
		r = carbon_intensity(&q->question, q->rate * q->life_y * SECONDS_PER_YEAR,
				     &q->g_kwh);
	return r < 0 ? complain(STATUS_FAILURE, "These figures have no answer: they are too large")
		     : STATUS_OK;
}

static int inquire(Ctl *c, Inquiry *q)
{
	int status = read_bands(c, &q->question) ?: read_numbers(c, q) ?: check_needs(c);

	if (!status)
		status = carbon_complete(c, q);
	return status ?: check_energy(&q->question.ssd.request_j, "ssd")
			     ?: check_energy(&q->question.hdd.request_j, "hdd") ?: answer(q);
}

int verb_carbon(Ctl *c)
{
	Inquiry q = { .ssd = c->carbon.text[CARBON_SSD], .hdd = c->carbon.text[CARBON_HDD] };
	int status;

	log_set_plain(); /* what is wrong with a profile is said to whoever has typed this */
	status = inquire(c, &q);
	if (status)
		return status;
	if (c->json) {
		_cleanup_json_ json_object *o = carbon_json(&q);

		json_print(c, o);
	} else {
		carbon_print(c, &q);
	}
	/* even at best: there is no break-even, and a script has to learn of it */
	return q.requests.best.verdict == CARBON_NEVER ? STATUS_FAILURE : STATUS_OK;
}
