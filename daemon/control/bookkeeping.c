/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/bookkeeping.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"

uint64_t bookkeeping_wall_us(const ControlConfig *config)
{
	const Clock *wall = config->ledger.wall;

	return wall ? clock_now_us(wall) : realtime_us();
}

static int begin(Bookkeeping *b, const ControlConfig *config)
{
	int r = tally_init(&b->tally);

	return r < 0 ? r
		     : ledger_desk_open(config->sysfs_root ?: "/sys", &config->ledger, &b->desk);
}

int bookkeeping_open(const ControlConfig *config, Bookkeeping **ret)
{
	Bookkeeping *b = config->ledger.path ? calloc(1, sizeof(*b)) : NULL;
	int r = b ? begin(b, config) : config->ledger.path ? -ENOMEM : 0;

	if (r < 0) {
		bookkeeping_close(b, config);
		return r;
	}
	*ret = b;
	return 0;
}

/* What was counted since is put behind what is still to be written. */
static bool collect(Bookkeeping *b)
{
	if (backlog_put(&b->backlog, &b->tally.entries) < 0)
		log_oom();
	return b->backlog.entries.n;
}

static void send(Bookkeeping *b, Tools *tools)
{
	Job *j;

	if (!collect(b) || b->out)
		return;
	j = job_new_ledger(b->desk);
	if (!j)
		return;
	j->ledger.entries = backlog_take(&b->backlog);
	j->ledger.now_s = (int64_t)(bookkeeping_wall_us(tools->config) / USEC_PER_SEC);
	b->out = true;
	outbox_put(tools->outbox, j);
}

void bookkeeping_look(const TallyNode *node, Tools *tools)
{
	uint64_t wall_us = bookkeeping_wall_us(tools->config);

	if (!tools->books)
		return;
	tally_look(&tools->books->tally, node, tools, (int64_t)(wall_us / USEC_PER_SEC));
	send(tools->books, tools);
}

/* Said when it begins, when it becomes another, and when it is over. */
static void note_problem(Bookkeeping *b, const ControlConfig *config, const char *problem)
{
	if (streq(b->problem, problem))
		return;
	if (*problem)
		log_about(
			LOG_WARNING, 0,
			&(LogAbout){ .id = MESSAGE_LEDGER_UNWRITTEN, .file = config->ledger.path },
			"The ledger %s cannot be written: %s. What is counted is kept in memory "
			"and written when that is possible again",
			config->ledger.path, problem);
	else
		log_about(LOG_NOTICE, 0,
			  &(LogAbout){ .id = MESSAGE_LEDGER_WRITTEN, .file = config->ledger.path },
			  "The ledger %s is written again", config->ledger.path);
	snprintf(b->problem, sizeof(b->problem), "%s", problem);
}

static void take_series(Tally *t, LedgerJob *l, const ControlConfig *config)
{
	if (*l->intensity_error)
		log_warning("%s: %s; what was known before holds for a day",
			    config->ledger.tariff.intensity_path, l->intensity_error);
	if (l->has_series)
		tariff_take_series(&t->tariff, &l->series);
}

/* Before what was counted since, which may be merged with it. */
static void keep(Bookkeeping *b, LedgerEntries *unwritten)
{
	LedgerEntries since = backlog_take(&b->backlog);

	if (backlog_put(&b->backlog, unwritten) < 0 || backlog_put(&b->backlog, &since) < 0)
		log_oom();
	ledger_entries_clear(&since);
}

void bookkeeping_take(Job *j, Tools *tools)
{
	const char *why = j->refused ? "" : j->ledger.error;
	Bookkeeping *b = tools->books;

	b->out = false;
	take_series(&b->tally, &j->ledger, tools->config);
	if (j->result < 0) {
		keep(b, &j->ledger.entries);
		note_problem(b, tools->config, *why ? why : strerror(-j->result));
		return;
	}
	b->written_us = bookkeeping_wall_us(tools->config);
	note_problem(b, tools->config, "");
}

static void write_last(Bookkeeping *b, const ControlConfig *config)
{
	LedgerJob last = { .desk = b->desk,
			   .now_s = (int64_t)(bookkeeping_wall_us(config) / USEC_PER_SEC) };

	if (!collect(b))
		return;
	last.entries = backlog_take(&b->backlog);
	if (ledger_desk_work(&last) < 0)
		log_warning("What was counted last is not in the ledger %s: %s",
			    config->ledger.path, last.error);
	ledger_job_done(&last);
}

Bookkeeping *bookkeeping_close(Bookkeeping *b, const ControlConfig *config)
{
	if (!b)
		return NULL;
	if (b->desk)
		write_last(b, config);
	backlog_clear(&b->backlog);
	tally_done(&b->tally);
	ledger_desk_close(b->desk);
	free(b);
	return NULL;
}
