/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/control.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "control/advice.h"
#include "control/drift.h"
#include "control/end.h"
#include "control/enforce.h"
#include "control/fleet.h"
#include "control/turn.h"
#include "control/verify.h"
#include "control/wear-account.h"
#include "redirect/knob-registry.h"

/* Devices that have not said what they offer by then are planned for at their rated watts. */
#define START_PATIENCE_US (2 * USEC_PER_SEC)

static uint64_t now_us(const Control *c)
{
	return clock_now_us(&c->loop->clock);
}

/* The timer, or jobs that have come back. */
static void on_wake(void *userdata)
{
	Control *c = userdata;

	if (inventory_fd(c->inventory) < 0)
		(void)inventory_process(c->inventory);
	turn(c);
}

static void on_device(Device *d, DeviceEvent what, void *userdata)
{
	Control *c = userdata;

	if (queue_add_device(&c->queue, d, what) < 0)
		log_oom();
}

static void wire(Control *c, const ControlConfig *config, Loop *loop, Inventory *inventory)
{
	c->config = *config;
	c->loop = loop;
	c->inventory = inventory;
	loop->wake = on_wake;
	loop->userdata = c;
	queue_init(&c->queue);
	c->tools = (Tools){ .now_us = now_us(c),
			    .config = &c->config,
			    .fleet = &c->fleet,
			    .outbox = &c->outbox,
			    .queue = &c->queue,
			    .diary = &c->diary,
			    .realtime_offset_us = realtime_us() - now_us(c) };
}

static int open_journal(Control *c)
{
	char boot_id[37];
	int r = read_boot_id(boot_id);

	if (r < 0)
		return log_error_errno(r, "/proc/sys/kernel/random/boot_id cannot be read");
	r = journal_open(c->config.journal_path, boot_id, &c->tools.journal);
	if (r < 0)
		return log_error_errno(r, "Journal %s cannot be used", c->config.journal_path);
	journal_forget_moot(c->tools.journal, knob_survival);
	return 0;
}

/* Without the book percentages are of what the profiles know: less, which is the safe side. */
static int open_operating(Control *c)
{
	const char *path = c->config.limit.operating_path;
	int r = operating_book_open(path, &c->tools.operating);

	if (r >= 0 || r == -ENOMEM)
		return r;
	log_warning_errno(
		r,
		"What devices were measured to draw at most cannot be read from %s: 100 %% "
		"of each is what its profile knows",
		path);
	return operating_book_open(NULL, &c->tools.operating);
}

static int open_all(Control *c)
{
	const ControlConfig *config = &c->config;
	int r = policies_open(&c->policies, &config->policy);

	if (r < 0)
		return log_error_errno(r, "Policy \"%s\" cannot be used", config->policy.name);
	r = diary_init(&c->diary);
	if (r >= 0)
		r = limits_init(&c->limits);
	if (r >= 0)
		r = open_journal(c);
	if (r >= 0)
		r = wear_accounts_open(&c->tools);
	if (r >= 0)
		r = open_operating(c);
	if (r >= 0)
		r = gauges_open(&c->gauges, &c->tools);
	if (r >= 0)
		r = bookkeeping_open(config, &c->tools.books);
	if (r < 0)
		return r;
	r = meter_open(config->bpf, &c->tools.meter, &c->tools.meter_why_not);
	if (r < 0)
		return log_error_errno(r, "No meter");
	overload_init(&c->gauges.overload, meter_fd(c->tools.meter) >= 0);
	return 0;
}

int control_new(const ControlConfig *config, Loop *loop, Inventory *inventory, Control **ret)
{
	_cleanup_(control_freep) Control *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	wire(c, config, loop, inventory);
	r = open_all(c);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(c);
	return 0;
}

/* The device has taken with it what lived in the kernel for it. */
static void forget_gone(Control *c, const char *id)
{
	Journal *j = c->tools.journal;
	size_t n = journal_forget_gone(j, id, knob_survival_of_removal);

	if (n)
		log_notice("%s is gone for good: %zu of its settings went with it and are "
			   "forgotten, %zu are kept for its return",
			   id, n, journal_size_of(j, id));
}

/* Looks for the devices of the journal that are not managed: what is still there is taken in and
 * given back. */
static void find_absent(Control *c)
{
	/* from the end, because forgetting takes the records out */
	for (size_t i = journal_size(c->tools.journal); i > 0; i--) {
		const char *at = journal_device_at(c->tools.journal, i - 1);
		_cleanup_free_ char *id = at ? strdup(at) : NULL;

		if (id && !fleet_find_id(&c->fleet, id) &&
		    inventory_find(c->inventory, id) == -ENODEV)
			forget_gone(c, id);
	}
}

/* Settings of the devices that are there, and of those that are not. */
static void count_left(const Control *c, size_t *ret_left, size_t *ret_absent)
{
	size_t left = 0;

	for_each_device(const Managed, md, &c->fleet) left +=
		journal_size_of(c->tools.journal, md->device->id);
	*ret_left = left;
	*ret_absent = journal_size(c->tools.journal) - left;
}

static void report_left(const Control *c)
{
	size_t left, absent;

	count_left(c, &left, &absent);
	if (!left && c->attention.started)
		log_about(LOG_INFO, 0, &(LogAbout){ .id = MESSAGE_GIVEN_BACK },
			  "Everything that was set is given back");
	if (left)
		log_about(LOG_WARNING, 0, &(LogAbout){ .id = MESSAGE_NOT_GIVEN_BACK },
			  "%zu settings could not be put back; they stay in the journal: run "
			  "storpowerd --restore, or start it again",
			  left);
	if (absent)
		log_notice("%zu settings of devices that are not there stay in the journal and are "
			   "put back when the devices return",
			   absent);
}

static bool all_probed(const Control *c)
{
	for_each_device(const Managed, md, &c->fleet) if (!md->knobs.probed) return false;
	return true;
}

static void await_probes(Control *c)
{
	uint64_t end_us = now_us(c) + START_PATIENCE_US;

	turn(c);
	while (!all_probed(c) && now_us(c) < end_us) {
		(void)c->loop->drain(c->loop, 10 * USEC_PER_MSEC, true);
		turn(c);
	}
}

static void give_all_back(Control *c)
{
	if (c->attention.started) {
		find_absent(c);
		await_probes(c);
	}
	end_give_all_back(c);
}

Control *control_free(Control *c)
{
	if (!c)
		return NULL;
	c->events = (ControlEvents){};
	if (c->tools.meter && !c->tools.stopping)
		give_all_back(c);
	verify_done(c);
	waiters_done(&c->waiters);
	if (c->tools.journal)
		report_left(c);
	c->loop->wake_at(c->loop, USEC_NEVER);
	c->loop->wake = NULL;
	c->tools.books = bookkeeping_close(c->tools.books, &c->config);
	fleet_done(&c->fleet);
	advice_done(c);
	enforce_done(c);
	diary_done(&c->diary);
	wear_book_free(c->tools.wear);
	operating_book_free(c->tools.operating);
	limits_done(&c->limits);
	journal_close(c->tools.journal);
	meter_close(c->tools.meter);
	free(c->tools.meter_why_not);
	drift_close(&c->gauges);
	gauges_close(&c->gauges);
	policies_done(&c->policies);
	free(c);
	return NULL;
}

void control_set_events(Control *c, const ControlEvents *events)
{
	c->events = events ? *events : (ControlEvents){};
}

int control_start(Control *c)
{
	int r = inventory_start(c->inventory, on_device, c);

	if (r >= 0)
		r = limits_load(&c->limits, &c->tools);
	if (r < 0)
		return r;
	turn(c);
	find_absent(c);
	await_probes(c);
	c->attention.started = true;
	limits_set_advised(&c->limits, c->config.advises);
	advice_begin(c);
	queue_add_need(&c->queue, need(NEED_TOLD_PLAN, CAUSE_START));
	turn(c);
	return 0;
}

int control_meter_fd(const Control *c)
{
	return meter_fd(c->tools.meter);
}

void control_meter_ready(Control *c)
{
	turn(c);
}

void control_devices_ready(Control *c)
{
	(void)inventory_process(c->inventory);
	turn(c);
}

/* What a damaged journal may have held is said line by line when it is opened. */
static int report_lost(const Control *c)
{
	size_t n = journal_lost(c->tools.journal);

	if (!n)
		return 0;
	log_error(
		"%zu damaged lines of the journal %s may have held settings that are still "
		"changed: look at those of the devices that were named with it, set them by hand, "
		"or reboot, which undoes what lives in the kernel",
		n, c->config.journal_path);
	return -EBADMSG;
}

/* Puts back what is recorded. */
static int replay(Control *c)
{
	size_t n, left, absent;
	int r = inventory_start(c->inventory, on_device, c);

	if (r < 0)
		return r;
	turn(c);
	find_absent(c);
	n = journal_size(c->tools.journal);
	await_probes(c);
	end_give_all_back(c);
	count_left(c, &left, &absent);
	log_about(LOG_NOTICE, 0,
		  &(LogAbout){ .id = left ? MESSAGE_NOT_GIVEN_BACK : MESSAGE_GIVEN_BACK },
		  "%zu settings were put back, %zu could not be", n - left - absent, left);
	return left ? -EIO : 0;
}

int control_restore(const ControlConfig *config, Loop *loop, Inventory *inventory)
{
	_cleanup_(control_freep) Control *c = NULL;
	ControlConfig bare = *config;
	int r, lost;

	bare.policy.name = bare.claims_path = bare.sleep.wear_path = bare.ledger.path = NULL;
	bare.bpf = false;
	r = control_new(&bare, loop, inventory, &c);
	if (!c)
		return r;
	if (journal_size(c->tools.journal))
		r = replay(c);
	lost = report_lost(c);
	return r < 0 ? r : lost;
}
