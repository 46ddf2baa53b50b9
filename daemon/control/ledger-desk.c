/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/ledger-desk.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

int ledger_desk_open(const char *sysfs_root, const LedgerConfig *config, LedgerDesk **ret)
{
	const LedgerThing node = { .kind = THING_NODE, .name = (char *)"node" };
	LedgerDesk *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return -ENOMEM;
	d->intensity_path = config->tariff.intensity_path;
	d->currency = config->tariff.currency;
	r = ledger_open(config->path, &d->ledger);
	if (r >= 0)
		r = ledger_thing_new(&node, &d->node);
	if (r >= 0 && rapl_energy_open(sysfs_root, &d->rapl) == -ENOMEM)
		r = -ENOMEM;
	if (r < 0) {
		ledger_desk_close(d);
		return r;
	}
	*ret = d;
	return 0;
}

LedgerDesk *ledger_desk_close(LedgerDesk *d)
{
	if (!d)
		return NULL;
	ledger_close(d->ledger);
	rapl_energy_close(d->rapl);
	ledger_thing_unref(d->node);
	free(d);
	return NULL;
}

/* The node has drawn that besides its storage. */
static int add_host(LedgerJob *j)
{
	Amounts host = {};
	int64_t *of = host.of;

	if (!j->desk->rapl ||
	    rapl_energy_read(j->desk->rapl, &of[AMOUNT_CPU_UJ], &of[AMOUNT_MEMORY_UJ]) < 0 ||
	    (!of[AMOUNT_CPU_UJ] && !of[AMOUNT_MEMORY_UJ]) || !j->entries.n)
		return 0;
	return ledger_entries_add(&j->entries, j->entries.all[j->entries.n - 1].time_s,
				  j->desk->node, &host);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void read_series(LedgerJob *j)
{
	const char *path = j->desk->intensity_path;
	_cleanup_free_ char *text = NULL;
	unsigned line = 0;
	int r = read_file(path, &text);

	if (r >= 0)
		r = intensity_parse(text, &j->series, &line);
	j->has_series = r >= 0;
	if (line)
		snprintf(j->intensity_error, sizeof(j->intensity_error),
			 "line %u makes no sense: a time in UTC and g of CO2e a kWh would be right",
			 line);
	else if (r < 0)
		snprintf(j->intensity_error, sizeof(j->intensity_error), "%s", strerror(-r));
}

/* Until it changes, what was read holds, and what was wrong has been said. */
static void look_for_series(LedgerJob *j)
{
	LedgerDesk *d = j->desk;
	struct stat now = {};
	bool missing = d->intensity_path && stat(d->intensity_path, &now) < 0;

	if (!d->intensity_path || (missing ? d->missing : is_same(&now, &d->seen)))
		return;
	d->seen = now;
	d->missing = missing;
	read_series(j);
}

/* Once: it is the configuration's. */
static int note_currency(LedgerDesk *d)
{
	int r = d->currency ? ledger_set_note(d->ledger, "currency", d->currency) : 0;

	if (r >= 0)
		d->currency = NULL;
	return r;
}

int ledger_desk_work(LedgerJob *j)
{
	int r = add_host(j);

	look_for_series(j);
	if (r >= 0)
		r = ledger_write(j->desk->ledger, &j->entries, j->now_s);
	if (r >= 0)
		(void)note_currency(j->desk);
	if (r < 0)
		snprintf(j->error, sizeof(j->error), "%s", ledger_error(j->desk->ledger));
	return r;
}

void ledger_job_done(LedgerJob *j)
{
	ledger_entries_clear(&j->entries);
	intensity_done(&j->series);
}
