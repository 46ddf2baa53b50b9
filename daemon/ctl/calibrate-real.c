/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <poll.h>

#include "base/clock.h"
#include "ctl/calibrate-real.h"

#define SILENT_MAX 20 /* rounds */
#define SPARE_S    10 /* fio is ended before it ends by itself */
#define ROUND_MS   1000

/* Somebody wants it to end; waits so long for that. */
static bool is_over(const RealRig *r, int wait_ms)
{
	struct pollfd p = { .fd = r->signals, .events = POLLIN };

	return poll(&p, 1, wait_ms) > 0;
}

static int set_state(void *userdata, int power_state)
{
	RealRig *r = userdata;

	int status = calibrate_pin(r->ctl, r->meter.device, power_state, &r->cookie);

	/* what is refused of one state may be granted of another; without a daemon nothing is */
	if (status)
		return status == STATUS_REFUSED ? -EOPNOTSUPP : -ECONNRESET;
	return 0;
}

static int start(void *userdata, const Point *p, unsigned most_rounds)
{
	RealRig *r = userdata;
	FioJob job = r->job;

	if (is_over(r, 0))
		return -EINTR;
	r->idle = !p;
	r->silent = 0;
	if (!p)
		return 0;
	job.at = *p;
	job.most_s = most_rounds + SPARE_S;
	return fio_start(&job, &r->fio);
}

static bool pins_a_state(json_object *claim)
{
	return json_number(claim, "PowerState") >= 0;
}

bool calibrate_is_limited(json_object *state, uint64_t own)
{
	json_object *claims = json_member(state, "Claims"), *mine = ctl_find_claim(claims, own);

	if (mine && !json_true(mine, "InForce"))
		return true;
	for (size_t i = 0; i < json_count(claims); i++) {
		json_object *claim = json_object_array_get_idx(claims, i);

		if (json_true(claim, "Active") && !pins_a_state(claim))
			return true;
	}
	return false;
}

/* The watts are those of the last second: fio's rounds are as long. */
static int read_watts(RealRig *r, double *ret)
{
	_cleanup_json_ json_object *state = NULL, *devices = NULL;

	if (ctl_get_devices(r->ctl, &devices) || ctl_get_known_state(r->ctl, &state))
		return -ECONNRESET;
	if (calibrate_is_limited(state, r->cookie))
		return -EBUSY;
	*ret = calibrate_read_meter(&r->meter, devices);
	r->silent = isnan(*ret) ? r->silent + 1 : 0;
	return r->silent > SILENT_MAX ? -ENODATA : 0;
}

/* A round of which the sensor tells nothing is left out. */
static int round_of(void *userdata, RigRound *ret)
{
	RealRig *r = userdata;
	FioRound did = {};
	int result;

	do {
		if (is_over(r, r->idle ? ROUND_MS : 0))
			return -EINTR;
		result = r->idle ? 0 : fio_round(r->fio, &did);
		if (result >= 0)
			result = read_watts(r, &ret->watts);
	} while (result >= 0 && isnan(ret->watts));
	ret->mb_s = did.mb_s;
	ret->iops = did.iops;
	return result;
}

static int stop(void *userdata, size_t from, double *ret_p50_us, double *ret_p99_us)
{
	RealRig *r = userdata;

	*ret_p50_us = *ret_p99_us = NAN;
	if (r->fio)
		(void)fio_percentiles(r->fio, from, ret_p50_us, ret_p99_us);
	r->fio = fio_end(r->fio);
	return 0;
}

Rig calibrate_real_rig(RealRig *r)
{
	return (Rig){ r, set_state, start, round_of, stop };
}

void calibrate_real_rig_done(RealRig *r)
{
	r->fio = fio_end(r->fio);
	if (r->cookie)
		(void)calibrate_pin(r->ctl, r->meter.device, -1, &r->cookie);
}
