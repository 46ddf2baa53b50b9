/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "bus/bus-internal.h"
#include "control/frontiers.h"

static int append_mix(sd_bus_message *m, const FrontierState *f)
{
	const Mix *mix = &f->mix;

	return sd_bus_message_append(
		m, "{sv}{sv}{sv}{sv}{sv}{sv}", "MixSeen", "b", (int)f->mix_seen, "ReadShare", "d",
		mix->read_share, "RandomShare", "d", mix->random_share, "ReadSize", "d",
		mix->read_kib, "WriteSize", "d", mix->write_kib, "Depth", "d", mix->depth);
}

static int append_device(sd_bus_message *m, const DeviceState *d)
{
	const DeviceWatts *w = &d->watts;
	const PlannedDevice *p = &d->planned;
	char setting[256], planned[256];

	return sd_bus_message_append(
		m, "{sv}{sv}{sv}{sv}{sv}{sv}{sv}{sv}{sv}{sv}{sv}", "Profile", "s",
		d->device->profile->name, "Kind", "s", kind_name(d->device->kind), "Setting", "s",
		setting_text(setting, sizeof(setting), &d->setting), "Power", "d",
		isnan(w->measured_w) ? w->estimated_w : w->measured_w, "Throughput", "d",
		d->load.mb_s, "PlannedSetting", "s",
		setting_text(planned, sizeof(planned), &p->setting), "PlannedCapPower", "d",
		p->cap_w, "PlannedPower", "d", p->expect_w, "PlannedThroughput", "d", p->mb_s,
		"IdlePower", "d", w->idle_w, "RatedPower", "d", w->rated_w);
}

static int append_present(sd_bus_message *m, const DeviceState *d, const FrontierState *f)
{
	int r = sd_bus_message_open_container(m, 'a', "{sv}");

	if (r >= 0)
		r = append_device(m, d);
	if (r >= 0)
		r = append_mix(m, f);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int append_candidate(sd_bus_message *m, const PlanCandidate *c)
{
	const Setting *s = &c->at.setting;
	char text[256];

	return sd_bus_message_append(
		m, "a{sv}", 17, "Setting", "s", setting_text(text, sizeof(text), s), "PowerState",
		"i", s->power_state, "PowerLimit", "d", s->limit_w, "Condition", "s",
		condition_name(s->condition), "DepthLimit", "u", s->depth, "ChunkLimit", "u",
		s->chunk_kib, "Pace", "d", s->pace_w, "CapPower", "d", c->at.cap_w, "ExpectedPower",
		"d", c->at.expect_w, "Throughput", "d", c->at.mb_s, "IOPS", "d", c->at.iops, "P99",
		"d", c->at.p99_us, "Error", "d", c->at.error, "Paced", "b", (int)c->at.paced,
		"CapPowerHigh", "d", c->at.cap_hi_w, "ExpectedPowerHigh", "d", c->expect_hi_w,
		"ThroughputHigh", "d", c->at.mb_s_hi);
}

static int reply(sd_bus_message *call, const DeviceState *d, const FrontierState *f)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r = sd_bus_message_new_method_return(call, &m);

	if (r >= 0)
		r = append_present(m, d, f);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "a{sv}");
	for (size_t i = 0; i < f->n && r >= 0; i++)
		r = append_candidate(m, &f->candidates[i]);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_send(NULL, m, NULL);
}

int bus_get_frontier(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	Bus *b = userdata;
	FrontierState f;
	DeviceState d;
	const char *device;
	int r = sd_bus_message_read(call, "s", &device);

	if (r >= 0)
		r = bus_check_device(b, device, &d, error);
	if (r >= 0)
		r = control_frontier(b->control, device, &f);
	return r < 0 ? r : reply(call, &d, &f);
}
