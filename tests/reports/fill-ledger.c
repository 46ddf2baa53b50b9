/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Fills a ledger with a day of a node that nobody has, through the ledger's own door:
 *
 *	fill-ledger FILE SINCE MINUTES [strange]
 *
 * SINCE is seconds of the epoch. Nine devices work by day more than by night, twice a limit is in
 * force, and every hour has its price and intensity. The devices add up to the node, and so do the
 * cgroups. "strange" adds names that are not harmless in HTML. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ledger/ledger.h"

#define DEVICES    9
#define CGROUPS    6
#define IDLE       4 /* the last two cgroups */
#define UNKNOWN    5
#define MINUTE_US  60000000LL
#define DAY_MIN    1440
#define BUDGET_MW  52000
#define EVENT_FROM 600 /* minutes of the day */
#define EVENT_TO   720
#define SHORT_FROM 1080
#define SHORT_TO   1110
#define ALERT_FROM 1200 /* of another claim, lower than what can be reached */
#define ALERT_TO   1212

static const LedgerThing devices[DEVICES] = {
	{ THING_DEVICE, (char *)"wwid:eui.0025385b71a0a1b1", (char *)"nvme0n1",
	  (char *)"samsung-pm9a3", (char *)"hot", (char *)"tank" },
	{ THING_DEVICE, (char *)"wwid:eui.0025385b71a0a1b2", (char *)"nvme1n1",
	  (char *)"samsung-pm9a3", (char *)"hot", (char *)"tank" },
	{ THING_DEVICE, (char *)"wwid:eui.0025385b71a0a1b3", (char *)"nvme2n1",
	  (char *)"samsung-pm9a3", (char *)"hot", (char *)"tank" },
	{ THING_DEVICE, (char *)"wwid:eui.0025385b71a0a1b4", (char *)"nvme3n1",
	  (char *)"samsung-pm9a3", (char *)"hot", (char *)"tank" },
	{ THING_DEVICE, (char *)"wwid:naa.5000c500a1b2c301", (char *)"sda",
	  (char *)"seagate-exos-7e2000", (char *)"cold", (char *)"archive" },
	{ THING_DEVICE, (char *)"wwid:naa.5000c500a1b2c302", (char *)"sdb",
	  (char *)"seagate-exos-7e2000", (char *)"cold", (char *)"archive" },
	{ THING_DEVICE, (char *)"wwid:naa.5000c500a1b2c303", (char *)"sdc",
	  (char *)"seagate-exos-7e2000", (char *)"cold", (char *)"archive" },
	{ THING_DEVICE, (char *)"wwid:naa.5000c500a1b2c304", (char *)"sdd",
	  (char *)"seagate-exos-7e2000", (char *)"cold", (char *)"archive" },
	{ THING_DEVICE, (char *)"wwid:naa.5002538e40a1b2c5", (char *)"sde", (char *)"intel-s4510",
	  (char *)"", (char *)"" },
};

static const char *const cgroups[CGROUPS] = { "system.slice/postgresql.service",
					      "machine.slice/machine-qemu-12-web.scope",
					      "system.slice/backup.service",
					      "user.slice",
					      "(idle)",
					      "(not attributed)" };
/* of what is above idle; the rest is not attributed */
static const double shares[IDLE] = { 0.46, 0.27, 0.18, 0.05 };

typedef struct Fill {
	LedgerThing *node, *device[DEVICES], *cgroup[CGROUPS], *claim[3];
	LedgerEntries entries;
} Fill;

static bool is_disk(int device)
{
	return device >= 4 && device < 8;
}

static bool is_limited(int64_t minute)
{
	const int64_t m = minute % DAY_MIN;

	return (m >= EVENT_FROM && m < EVENT_TO) || (m >= SHORT_FROM && m < SHORT_TO) ||
	       (m >= ALERT_FROM && m < ALERT_TO);
}

static bool is_alert(int64_t minute)
{
	return minute % DAY_MIN >= ALERT_FROM && minute % DAY_MIN < ALERT_TO;
}

/* 0 to 1: what the workloads ask for. */
static double demand(int64_t minute, int device)
{
	const double day = sin(M_PI * (double)(minute % DAY_MIN) / DAY_MIN);
	const double wave = sin((double)minute / 7 + device) * sin((double)minute / 23 - device);

	return fmin(1, fmax(0.02, 0.1 + 0.75 * day * day + 0.18 * wave));
}

/* A minute of a device, whose watts are in milliwatts. */
static Amounts device_amounts(int64_t minute, int device)
{
	const bool asleep = is_disk(device) && minute % DAY_MIN < 300;
	const bool limited = is_limited(minute);
	const int64_t idle_mw = is_disk(device) ? (asleep ? 550 : 3700) : 3500;
	const int64_t range_mw = is_disk(device) ? 2800 : 8000;
	const double wants = asleep ? 0 : demand(minute, device);
	const double gets = limited ? fmin(wants, is_alert(minute) ? 0.1 : 0.3) : wants;
	const int64_t mw = idle_mw + (int64_t)(gets * (double)range_mw);
	const int64_t free_mw = idle_mw + (int64_t)(wants * (double)range_mw);
	const int64_t mb = (int64_t)(gets * (is_disk(device) ? 120 : 1500));
	const int64_t free_mb = (int64_t)(wants * (is_disk(device) ? 120 : 1500));
	const int64_t uj = mw * 60000;

	return (Amounts){ .of = {
				  [AMOUNT_SPAN_US] = MINUTE_US,
				  [AMOUNT_ENERGY_UJ] = uj,
				  [AMOUNT_IDLE_UJ] = idle_mw * 60000,
				  [AMOUNT_MEASURED_UJ] = device < 4 ? uj : 0,
				  [AMOUNT_ERROR_UJ] = device < 4 ? uj / 50 : uj / 10,
				  [AMOUNT_HIGHEST_MW] = mw * 115 / 100,
				  [AMOUNT_READ_BYTES] = mb * 60 * 700000,
				  [AMOUNT_WRITTEN_BYTES] = mb * 60 * 300000,
				  [AMOUNT_READS] = mb * 60 * 43,
				  [AMOUNT_WRITES] = mb * 60 * 5,
				  [AMOUNT_BUSY_US] = (int64_t)(gets * (double)MINUTE_US),
				  [AMOUNT_LOST_BYTES] = (free_mb - mb) * 60 * 1000000,
				  [AMOUNT_UNLIMITED_UJ] = free_mw * 60000,
				  [AMOUNT_TURNING_UJ] = asleep ? 3700 * 60000 : uj,
			  } };
}

/* Dear by day, and clean at noon. */
static void add_terms(Amounts *a, int64_t minute)
{
	const int64_t hour = minute % DAY_MIN / 60, uj = a->of[AMOUNT_ENERGY_UJ];
	const int64_t nano_kwh = 180000000 + (hour >= 8 && hour < 20 ? 60000000 : 0);
	const int64_t g_kwh = 420 - (hour >= 9 && hour < 16 ? 150 : 0);

	a->of[AMOUNT_PRICED_UJ] = a->of[AMOUNT_WEIGHED_UJ] = uj;
	a->of[AMOUNT_COST_NANO] = (int64_t)((double)uj / 3.6e12 * (double)nano_kwh);
	a->of[AMOUNT_CO2_UG] = (int64_t)((double)uj / 3.6e12 * (double)g_kwh * 1e6);
}

static void add_limit(Amounts *node, int64_t minute)
{
	const int64_t m = minute % DAY_MIN, mw = is_alert(minute) ? 33000 : BUDGET_MW;
	const int64_t above_s = m == EVENT_FROM        ? 14
				: m == EVENT_FROM + 1  ? 9
				: m == EVENT_FROM + 77 ? 4
						       : 0;

	if (!is_limited(minute))
		return;
	node->of[AMOUNT_LIMITED_US] = MINUTE_US;
	node->of[AMOUNT_BUDGET_UJ] = mw * 60000;
	node->of[AMOUNT_ABOVE_US] = is_alert(minute) ? MINUTE_US : above_s * 1000000;
	node->of[AMOUNT_SHORTFALL_UJ] = is_alert(minute) ? 3100LL * 60000 : 0;
}

static int add_claim(Fill *f, int64_t time_s, int64_t minute, const Amounts *node)
{
	const int64_t m = minute % DAY_MIN;

	if (!is_limited(minute))
		return 0;
	return ledger_entries_add(&f->entries, time_s,
				  f->claim[is_alert(minute)  ? 2
					   : m >= SHORT_FROM ? 1
							     : 0],
				  node);
}

/* Each cgroup has a share of what is above idle, so that all of them are the node. */
static int add_cgroups(Fill *f, int64_t time_s, int64_t minute, const Amounts *node)
{
	const int64_t idle_uj = node->of[AMOUNT_IDLE_UJ];
	const int64_t above_uj = node->of[AMOUNT_ENERGY_UJ] - idle_uj;
	int64_t left_uj = above_uj;
	int r = 0;

	for (int i = 0; i < CGROUPS && r >= 0; i++) {
		Amounts a = { .of = { [AMOUNT_SPAN_US] = MINUTE_US } };
		int64_t uj = i == IDLE      ? idle_uj
			     : i == UNKNOWN ? left_uj
					    : (int64_t)(shares[i] * (double)above_uj);

		left_uj -= i == IDLE ? 0 : uj;
		a.of[AMOUNT_ENERGY_UJ] = uj;
		a.of[AMOUNT_IDLE_UJ] = i == IDLE ? uj : 0;
		a.of[AMOUNT_ERROR_UJ] = uj / 20;
		a.of[AMOUNT_HIGHEST_MW] = uj / 60000 * 12 / 10;
		if (i < IDLE) {
			a.of[AMOUNT_READ_BYTES] =
				(int64_t)(shares[i] * (double)node->of[AMOUNT_READ_BYTES]);
			a.of[AMOUNT_WRITTEN_BYTES] =
				(int64_t)(shares[i] * (double)node->of[AMOUNT_WRITTEN_BYTES]);
			a.of[AMOUNT_READS] = (int64_t)(shares[i] * (double)node->of[AMOUNT_READS]);
			a.of[AMOUNT_WRITES] =
				(int64_t)(shares[i] * (double)node->of[AMOUNT_WRITES]);
		}
		add_terms(&a, minute);
		r = ledger_entries_add(&f->entries, time_s, f->cgroup[i], &a);
	}
	return r;
}

static int add_minute(Fill *f, int64_t time_s, int64_t minute)
{
	Amounts node = {};
	int r = 0;

	for (int i = 0; i < DEVICES && r >= 0; i++) {
		Amounts a = device_amounts(minute, i);
		const int64_t highest = node.of[AMOUNT_HIGHEST_MW] + a.of[AMOUNT_HIGHEST_MW];

		add_terms(&a, minute);
		r = ledger_entries_add(&f->entries, time_s, f->device[i], &a);
		amounts_add(&node, &a);
		node.of[AMOUNT_HIGHEST_MW] = highest;
	}
	node.of[AMOUNT_SPAN_US] = MINUTE_US;
	add_limit(&node, minute);
	if (r >= 0)
		r = add_claim(f, time_s, minute, &node);
	if (r >= 0)
		r = ledger_entries_add(&f->entries, time_s, f->node, &node);
	return r < 0 ? r : add_cgroups(f, time_s, minute, &node);
}

static int make_claim(int64_t cookie, int64_t created_s, const char *const text[4],
		      LedgerThing **ret)
{
	char id[48];

	snprintf(id, sizeof(id), "%lld@%lld", (long long)cookie, (long long)created_s);
	return ledger_thing_new(&(LedgerThing){ .kind = THING_CLAIM,
						.id = id,
						.name = (char *)text[0],
						.model = (char *)text[1],
						.group = (char *)text[2],
						.pool = (char *)text[3] },
				ret);
}

static int make_claims(Fill *f, int64_t since_s, bool strange)
{
	int r = make_claim(7, since_s + EVENT_FROM * 60 - 300,
			   (const char *const[]){ "grid event of the utility", "openadr-bridge",
						  "node", "signal" },
			   &f->claim[0]);

	if (r >= 0)
		r = make_claim(8, since_s + SHORT_FROM * 60,
			       (const char *const[]){
				       strange ? "<script src=http://x/>&\"'" : "evening peak",
				       "storpowerctl (operator)", "node", "operator" },
			       &f->claim[1]);
	return r < 0 ? r
		     : make_claim(9, since_s + ALERT_FROM * 60,
				  (const char *const[]){ "rail B failed", "pdu-watch", "node",
							 "emergency" },
				  &f->claim[2]);
}

static int make_things(Fill *f, int64_t since_s, bool strange)
{
	int r = ledger_thing_new(&(LedgerThing){ .kind = THING_NODE, .name = (char *)"node" },
				 &f->node);

	for (int i = 0; i < DEVICES && r >= 0; i++)
		r = ledger_thing_new(&devices[i], &f->device[i]);
	for (int i = 0; i < CGROUPS && r >= 0; i++) {
		const char *path =
			strange && i == 1 ? "<img src=x onerror=alert(1)>\"&\n.scope" : cgroups[i];

		r = ledger_thing_new(&(LedgerThing){ .kind = THING_CGROUP,
						     .id = (char *)path,
						     .name = (char *)path },
				     &f->cgroup[i]);
	}
	return r < 0 ? r : make_claims(f, since_s, strange);
}

static int fill(Ledger *l, Fill *f, int64_t since_s, int64_t minutes)
{
	int r = 0;

	for (int64_t i = 0; i < minutes && r >= 0; i++) {
		r = add_minute(f, since_s + 60 * i, i);
		if (r >= 0 && (i % 60 == 59 || i == minutes - 1)) {
			r = ledger_write(l, &f->entries, since_s + 60 * i);
			ledger_entries_clear(&f->entries);
		}
	}
	return r < 0 ? r : ledger_set_note(l, "currency", "EUR");
}

static void fill_done(Fill *f)
{
	ledger_entries_clear(&f->entries);
	ledger_thing_unref(f->node);
	for (size_t i = 0; i < ELEMENTSOF(f->device); i++)
		ledger_thing_unref(f->device[i]);
	for (size_t i = 0; i < ELEMENTSOF(f->cgroup); i++)
		ledger_thing_unref(f->cgroup[i]);
	for (size_t i = 0; i < ELEMENTSOF(f->claim); i++)
		ledger_thing_unref(f->claim[i]);
}

int main(int argc, char *argv[])
{
	_cleanup_(ledger_closep) Ledger *l = NULL;
	_cleanup_(fill_done) Fill f = {};
	unsigned long since_s, minutes;
	int r;

	if (argc < 4 || parse_unsigned(argv[2], INT64_MAX / 2, &since_s) < 0 ||
	    parse_unsigned(argv[3], 1000000, &minutes) < 0) {
		fputs("Usage: fill-ledger FILE SINCE MINUTES [strange]\n", stderr);
		return 2;
	}
	r = ledger_open(argv[1], &l);
	if (r >= 0)
		r = make_things(&f, (int64_t)since_s, argc > 4);
	if (r >= 0)
		r = fill(l, &f, (int64_t)since_s, (int64_t)minutes);
	if (r < 0)
		fprintf(stderr, "fill-ledger: %s: %s\n", strerror(-r), l ? ledger_error(l) : "");
	return r < 0;
}
