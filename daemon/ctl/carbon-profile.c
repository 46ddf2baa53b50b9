/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a profile tells "carbon": how many requests a device serves, and what one costs. */

#include <errno.h>
#include <math.h>

#include "ctl/ctl-carbon.h"

/* Profiles are written to some digits. */
#define ROUNDING 1e-9

static int find(const ProfileStore *s, const char *name, bool disk, const Profile **ret)
{
	const char *option = disk ? "--hdd" : "--ssd";

	if (!name)
		return STATUS_OK;
	*ret = profile_store_get(s, name);
	if (!*ret)
		return model_no_profile(option, name);
	if (((*ret)->kind == KIND_HDD) != disk)
		return complain(STATUS_USAGE, "%s=%s: this is the profile of %s", option, name,
				disk ? "an SSD" : "a disk");
	return STATUS_OK;
}

static Prediction saturated(const Profile *p, const Mix *mix)
{
	Prediction at;

	predict(p, mix, &SETTING_AS_FOUND, &at);
	return at;
}

/* Joules a request while `devices` of them serve `rate` together, each an equal part; what they
 * draw idle is in it. */
static int request_energy(const Profile *p, const Mix *mix, double rate, unsigned devices,
			  Band *ret)
{
	Prediction most = saturated(p, mix), at;
	double each = rate / devices, j;

	if (each > most.iops * (1 + ROUNDING))
		return complain(STATUS_USAGE,
				"%u x %s: %.0f requests a second of this workload is the most, and "
				"%.0f are asked for; see --workload, --rate and --hdd-rate",
				devices, p->name, devices * most.iops, rate);
	predict_demand(p, mix, &SETTING_AS_FOUND, most.mb_s * each / most.iops, &at);
	j = devices * at.watts / rate;
	*ret = (Band){ j * fmax(0, 1 - at.error), j, j * (1 + at.error) };
	return STATUS_OK;
}

static int count_disks(const Ctl *c, Inquiry *q)
{
	int r;

	q->question.disks = 1;
	if (isnan(q->hdd_rate))
		return STATUS_OK;
	r = carbon_disks(q->rate, q->hdd_rate, q->scaling, &q->question.disks);
	return r < 0 ? complain(STATUS_USAGE,
				"%.6g requests a second want more than a million disks of %.6g: "
				"another --rate%s would be right",
				q->rate, q->hdd_rate,
				carbon_given(c, CARBON_HDD_RATE) ? " or --hdd-rate" : "")
		     : STATUS_OK;
}

static int complete(const Ctl *c, Inquiry *q, const Mix *mix, const Profile *ssd,
		    const Profile *hdd)
{
	CarbonQuestion *of = &q->question;
	int status;

	if (ssd && isnan(q->rate))
		q->rate = saturated(ssd, mix).iops;
	if (hdd && isnan(q->hdd_rate))
		q->hdd_rate = saturated(hdd, mix).iops;
	status = count_disks(c, q);
	if (!status && ssd && isnan(of->ssd.request_j.mean))
		status = request_energy(ssd, mix, q->rate, 1, &of->ssd.request_j);
	if (!status && hdd && isnan(of->hdd.request_j.mean))
		status = request_energy(hdd, mix, q->rate, of->disks, &of->hdd.request_j);
	return status;
}

int carbon_complete(Ctl *c, Inquiry *q)
{
	_cleanup_(profile_store_freep) ProfileStore *s = NULL;
	const Profile *ssd = NULL, *hdd = NULL;
	Mix mix = MIX_UNKNOWN;
	int status = STATUS_OK;

	if (q->ssd || q->hdd)
		status = model_read_store(c, &s) ?: model_workload(c, &mix);
	if (!status)
		status = find(s, q->ssd, false, &ssd) ?: find(s, q->hdd, true, &hdd);
	return status ?: complete(c, q, &mix, ssd, hdd);
}
