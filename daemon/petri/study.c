/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "petri/study.h"

#include <errno.h>

/* write and read, random and sequential, 4 KiB and 1 MiB */
static const StudyOperation operations[_STUDY_DRIVE_MAX][2][2][2] = {
	[STUDY_HDD] = {
		{ { { 3.510000, 0.950510, 0.0102094 }, { 9.920000, 3.820000, 0.0411532 } },
		  { { 0.072336, 0.024602, 0.0003109 }, { 5.690000, 0.131970, 0.0229215 } } },
		{ { { 8.000000, 0.839160, 0.0252030 }, { 14.190000, 0.276980, 0.0455828 } },
		  { { 0.047958, 0.019129, 0.0001598 }, { 5.580000, 0.107310, 0.0183449 } } },
	},
	[STUDY_SSD] = {
		{ { { 0.968840, 0.778870, 0.0008643 }, { 29.950000, 17.410000, 0.0328646 } },
		  { { 0.223670, 0.142030, 0.0001321 }, { 9.930000, 4.540000, 0.0075362 } } },
		{ { { 0.612730, 0.056047, 0.0004737 }, { 4.470000, 0.234440, 0.0086180 } },
		  { { 0.210620, 0.040588, 0.0001919 }, { 4.010000, 0.022829, 0.0081872 } } },
	},
};

const StudyOperation *study_operation(StudyDrive drive, bool write, bool random, bool small)
{
	return &operations[drive][!write][!random][!small];
}

static bool is_share(double x)
{
	return x >= 0 && x <= 1;
}

static double share_of(bool yes, double share)
{
	return yes ? share : 1 - share;
}

static int add_station(Tier *t, StudyDrive drive, unsigned devices, double share,
		       const StudyMix *mix)
{
	Station *s = &t->stations[t->n_stations];
	int r = 0;

	if (devices == 0)
		return 0;
	*s = (Station){ .devices = devices, .share = share };
	for (unsigned kind = 0; r >= 0 && kind < 8; kind++) {
		bool write = kind & 4, random = kind & 2, small = kind & 1;
		const StudyOperation *o = study_operation(drive, write, random, small);
		ServiceClass *c = &s->classes[s->n_classes];

		c->share = share_of(write, mix->write) * share_of(random, mix->random) *
			   share_of(small, mix->small);
		c->energy_j = o->energy_j;
		if (c->share > 0) {
			r = phase_fit(o->mean_ms / 1e3, o->deviation_ms / 1e3, &c->service);
			s->n_classes++;
		}
	}
	t->n_stations++;
	return r;
}

int study_tier(unsigned requests, const StudyMix *mix, unsigned n_ssd, unsigned n_hdd,
	       double ssd_share, Tier *ret)
{
	Tier t = { .requests = requests, .think_s = STUDY_THINK_S, .transfer_s = STUDY_TRANSFER_S };
	int r;

	if (!is_share(mix->write) || !is_share(mix->random) || !is_share(mix->small) ||
	    !is_share(ssd_share) || n_ssd + n_hdd == 0)
		return -EINVAL;
	r = add_station(&t, STUDY_SSD, n_ssd, n_hdd ? ssd_share : 1, mix);
	if (r >= 0)
		r = add_station(&t, STUDY_HDD, n_hdd, n_ssd ? 1 - ssd_share : 1, mix);
	if (r >= 0)
		*ret = t;
	return r;
}
