/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ledger/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/text.h"
#include "cases.h"
#include "flipped.h"
#include "ledger/backlog.h"

#define THEN  1700000000LL /* a Tuesday in November 2023, 13 minutes after the hour */
#define HOUR  3600
#define DAY   86400
#define DISKS 4

/* ---- what the tests write ---- */

static LedgerThing *things[DISKS + 2];
#define NODE   things[DISKS]
#define CGROUP things[DISKS + 1]

static LedgerThing *make_thing(ThingKind kind, const char *id, const char *name, const char *group)
{
	LedgerThing like = { .kind = kind,
			     .id = (char *)id,
			     .name = (char *)name,
			     .model = (char *)"PM9A3",
			     .group = (char *)group,
			     .pool = (char *)"tank" };
	LedgerThing *t;

	assert_int_equal(ledger_thing_new(&like, &t), 0);
	return t;
}

static int make_folder(void **state)
{
	char *folder = strdup("/tmp/storpower-test-XXXXXX"), id[32];

	for (int i = 0; i < DISKS; i++) {
		snprintf(id, sizeof(id), "wwid:%d", i);
		things[i] = make_thing(THING_DEVICE, id, id + 5, i % 2 ? "odd" : "even");
	}
	NODE = make_thing(THING_NODE, "", "node", "");
	CGROUP = make_thing(THING_CGROUP, "db.service", "db.service", "");
	*state = folder;
	return folder && mkdtemp(folder) ? chdir(folder) : -1;
}

static int remove_folder(void **state)
{
	_cleanup_free_ char *folder = *state;
	_cleanup_free_ char *command = text_printf("rm -r %s", folder);

	for (size_t i = 0; i < ELEMENTSOF(things); i++)
		ledger_thing_unref(things[i]);
	return command && chdir("/") == 0 ? system(command) : -1;
}

static int forget_files(void **state)
{
	(void)state;
	return system("rm -rf ./*");
}

static Ledger *open_ledger(void)
{
	Ledger *l;

	assert_int_equal(ledger_open("ledger", &l), 0);
	return l;
}

static Ledger *open_to_read(void)
{
	Ledger *l;

	assert_int_equal(ledger_open_to_read("ledger", &l), 0);
	return l;
}

static Amounts joules(int64_t uj)
{
	return (Amounts){ .of = { [AMOUNT_SPAN_US] = 1000000,
				  [AMOUNT_ENERGY_UJ] = uj,
				  [AMOUNT_HIGHEST_MW] = uj / 1000,
				  [AMOUNT_READS] = 1 } };
}

/* One second of every thing; each disk draws another power. */
static void add_second(LedgerEntries *e, int64_t time_s)
{
	for (size_t i = 0; i < ELEMENTSOF(things); i++) {
		const Amounts a = joules((int64_t)(i + 1) * 1000000);

		assert_int_equal(ledger_entries_add(e, time_s, things[i], &a), 0);
	}
}

static int write_second(Ledger *l, int64_t time_s)
{
	LedgerEntries e = {};
	int r;

	add_second(&e, time_s);
	r = ledger_write(l, &e, time_s);
	ledger_entries_clear(&e);
	return r;
}

/* One entry of a disk, as if the clock said so. */
static void write_one(Ledger *l, int64_t time_s, LedgerThing *thing, int64_t uj)
{
	const Amounts a = joules(uj);
	LedgerEntries e = {};

	assert_int_equal(ledger_entries_add(&e, time_s, thing, &a), 0);
	assert_int_equal(ledger_write(l, &e, time_s), 0);
	ledger_entries_clear(&e);
}

/* ---- what they read ---- */

typedef struct Seen {
	Amounts sum;
	int64_t first_s, last_s;
	size_t n;
	const char *name; /* take this one alone; NULL: all */
} Seen;

static int take(const LedgerThing *thing, int64_t time_s, const Amounts *sum, void *userdata)
{
	Seen *s = userdata;

	if (s->name && !streq(s->name, thing->name))
		return 0;
	if (!s->n)
		s->first_s = time_s;
	s->last_s = time_s;
	s->n++;
	amounts_add(&s->sum, sum);
	return 0;
}

static Seen read_query(Ledger *l, LedgerQuery q, const char *name)
{
	Seen s = { .name = name };

	assert_int_equal(ledger_read(l, &q, take, &s), 0);
	return s;
}

static Seen read_all(Ledger *l, ThingKind kind)
{
	return read_query(
		l,
		(LedgerQuery){ .kind = kind, .since_s = INT64_MIN / 4, .until_s = INT64_MAX / 4 },
		NULL);
}

static int64_t energy(const Seen *s)
{
	return s->sum.of[AMOUNT_ENERGY_UJ];
}

/* ---- tests ---- */

static void what_was_written_is_read_at_once_by_another(void **state)
{
	_cleanup_(ledger_closep) Ledger *l = open_ledger(), *reader = NULL;
	Seen s;

	(void)state;
	assert_int_equal(write_second(l, THEN), 0);
	reader = open_to_read();
	for (int i = 1; i < 150; i++) {
		assert_int_equal(write_second(l, THEN + i), 0);
		s = read_all(reader, THING_NODE);
		assert_int_equal(energy(&s), (DISKS + 1) * 1000000LL * (i + 1));
		assert_int_equal(s.sum.of[AMOUNT_HIGHEST_MW], (DISKS + 1) * 1000);
		assert_int_equal(s.sum.of[AMOUNT_SPAN_US], 1000000LL * (i + 1));
	}
	s = read_query(reader,
		       (LedgerQuery){ .kind = THING_DEVICE,
				      .since_s = THEN,
				      .until_s = THEN + 150,
				      .by_thing = true },
		       "2");
	assert_int_equal(s.n, 1);
	assert_int_equal(energy(&s), 3 * 1000000LL * 150);
}

/* What is drawn at random, and what the ledger ought to say of it. */
#define DRAWN 600
typedef struct Drawn {
	int64_t time_s[DRAWN], uj[DRAWN];
	size_t thing[DRAWN];
} Drawn;

/* Mostly forwards, and now and then the clock is set. */
static int64_t next_time(uint64_t *seed, int64_t time_s)
{
	switch (draw(seed) % 20) {
	case 0: return time_s - (int64_t)(draw(seed) % (3 * DAY));
	case 1: return time_s + (int64_t)(draw(seed) % (3 * DAY));
	case 2: return time_s + (int64_t)(draw(seed) % HOUR);
	default: return time_s + (int64_t)(draw(seed) % 30);
	}
}

static void write_drawn(Ledger *l, Drawn *d, uint64_t *seed)
{
	int64_t time_s = THEN;

	for (size_t i = 0; i < DRAWN; i++) {
		time_s = next_time(seed, time_s);
		d->time_s[i] = time_s;
		d->thing[i] = draw(seed) % DISKS;
		d->uj[i] = (int64_t)(draw(seed) % 1000000000);
		write_one(l, time_s, things[d->thing[i]], d->uj[i]);
	}
}

static int64_t expected(const Drawn *d, int64_t since_s, int64_t until_s, size_t thing)
{
	int64_t sum = 0;

	for (size_t i = 0; i < DRAWN; i++)
		if (d->time_s[i] >= since_s && d->time_s[i] < until_s &&
		    (thing == DISKS || d->thing[i] == thing))
			sum += d->uj[i];
	return sum;
}

/* A span whose ends are whole days: whatever has been deleted meanwhile, days are kept. */
static void check_span(Ledger *l, const Drawn *d, int64_t since_s, int64_t until_s)
{
	LedgerQuery q = { .kind = THING_DEVICE, .since_s = since_s, .until_s = until_s };
	Seen s = read_query(l, q, NULL);
	char name[8];

	assert_int_equal(energy(&s), expected(d, since_s, until_s, DISKS));
	q.step_s = DAY;
	s = read_query(l, q, NULL);
	assert_int_equal(energy(&s), expected(d, since_s, until_s, DISKS));
	q.by_thing = true;
	for (size_t i = 0; i < DISKS; i++) {
		snprintf(name, sizeof(name), "%zu", i);
		s = read_query(l, q, name);
		assert_int_equal(energy(&s), expected(d, since_s, until_s, i));
	}
}

static void sums_are_what_was_written_however_the_clock_jumps(void **state)
{
	uint64_t seed = 20261124;

	for (unsigned long i = 0; i < cases_of(4); i++) {
		_cleanup_(ledger_closep) Ledger *l = open_ledger();
		Drawn d;

		write_drawn(l, &d, &seed);
		for (int days = -30; days < 60; days += 7)
			check_span(l, &d, THEN - THEN % DAY + days * DAY,
				   THEN - THEN % DAY + (days + 9) * DAY);
		assert_int_equal(forget_files(state), 0);
	}
}

static void a_time_is_summed_from_whole_seconds_on(void **state)
{
	_cleanup_(ledger_closep) Ledger *l = open_ledger();
	uint64_t seed = 7;
	Seen s;

	(void)state;
	for (int i = 0; i < 2 * HOUR; i += 10)
		write_one(l, THEN + i, things[0], 1000);
	/* seconds are known of the last hour, and its ends are not whole minutes */
	for (int i = 0; i < 100; i++) {
		int64_t since_s = THEN + HOUR + 100 + 10 * (int64_t)(draw(&seed) % 100);
		int64_t until_s = since_s + 10 * (int64_t)(draw(&seed) % 240);

		s = read_query(l,
			       (LedgerQuery){ .kind = THING_DEVICE,
					      .since_s = since_s,
					      .until_s = until_s },
			       NULL);
		assert_int_equal(energy(&s), 1000 * (MIN(until_s, THEN + 2 * HOUR) - since_s) / 10);
	}
}

static void a_day_begins_where_the_time_zone_says(void **state)
{
	const int64_t midnight = THEN - THEN % DAY + DAY;
	_cleanup_(ledger_closep) Ledger *l = open_ledger();
	Seen s;

	(void)state;
	write_one(l, midnight - 2 * HOUR, things[0], 1); /* 23:00 at UTC+1 */
	write_one(l, midnight - HOUR, things[0], 10);    /* 00:00 */
	write_one(l, midnight + HOUR, things[0], 100);
	s = read_query(l,
		       (LedgerQuery){ .kind = THING_DEVICE,
				      .since_s = midnight - HOUR,
				      .until_s = midnight + DAY - HOUR,
				      .step_s = DAY,
				      .offset_s = HOUR },
		       NULL);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.first_s, midnight - HOUR);
	assert_int_equal(energy(&s), 110);
}

/* So many rows are in the file. */
static int64_t count(const char *table, ThingKind kind)
{
	_cleanup_free_ char *command = text_printf(
		"exit $(sqlite3 ledger 'select min(count(*), 255) from %s where kind = %d')", table,
		(int)kind);

	assert_non_null(command);
	return WEXITSTATUS(system(command));
}

static void what_is_old_goes_and_days_stay(void **state)
{
	_cleanup_(ledger_closep) Ledger *l = open_ledger();
	int64_t time_s = THEN - THEN % DAY;
	Seen s;

	(void)state;
	for (int hour = 0; hour < 200; hour++)
		for (int minute = 0; minute < 60; minute += 10)
			assert_int_equal(write_second(l, time_s + hour * HOUR + minute * 60), 0);
	/* 7 a minute is over when its successor is written */
	assert_in_range(count("second", THING_NODE), 5, 9);
	assert_int_equal(count("minute", THING_NODE), 255);
	assert_in_range(count("hour", THING_NODE), 199, 200);
	assert_in_range(count("day", THING_NODE), 8, 9);
	s = read_all(l, THING_NODE);
	assert_int_equal(energy(&s), (DISKS + 1) * 1000000LL * 200 * 6);
	/* a year later: the hours of cgroups go, those of disks stay */
	for (int i = 0; i < 200; i++)
		assert_int_equal(write_second(l, time_s + 365LL * DAY + i * 60), 0);
	assert_int_equal(count("hour", THING_CGROUP), 4);
	assert_in_range(count("hour", THING_NODE), 203, 204);
	s = read_all(l, THING_CGROUP);
	assert_int_equal(energy(&s), (DISKS + 2) * 1000000LL * (200 * 6 + 200));
}

static void a_clock_that_is_wrong_for_a_moment_costs_little(void **state)
{
	_cleanup_(ledger_closep) Ledger *l = open_ledger();
	const int64_t start_s = THEN - THEN % 60;

	(void)state;
	for (int i = 0; i < 50 * 60; i += 30)
		assert_int_equal(write_second(l, start_s + i), 0);
	assert_int_equal(count("second", THING_NODE), 2 * 49);
	assert_int_equal(write_second(l, start_s + 20LL * 365 * DAY), 0);
	assert_int_equal(write_second(l, start_s + 50 * 60), 0);
	/* all that was written, less two minutes of them and with that of then */
	assert_in_range(count("second", THING_NODE), 2 * 50 - 2 * 2 * 2, 2 * 50 + 1);
}

static void a_time_before_what_is_kept_begins_with_a_whole_span(void **state)
{
	(void)state;
	assert_int_equal(ledger_align(THING_NODE, THEN - 10, THEN), THEN - 10);
	assert_int_equal(ledger_align(THING_NODE, THEN - 2 * HOUR, THEN),
			 (THEN - 2 * HOUR) / 60 * 60);
	assert_int_equal(ledger_align(THING_NODE, THEN - 8 * DAY, THEN),
			 (THEN - 8 * DAY) / HOUR * HOUR);
	assert_int_equal(ledger_align(THING_CGROUP, THEN - 100 * DAY, THEN),
			 (THEN - 100 * DAY) / DAY * DAY);
	assert_int_equal(ledger_align(THING_NODE, 0, THEN), 0);
}

static void cgroups_without_number_are_counted_together(void **state)
{
	_cleanup_(ledger_closep) Ledger *l = open_ledger();
	Seen s;

	(void)state;
	for (int i = 0; i < LEDGER_CGROUPS_MAX + 50; i++) {
		char name[32];
		_cleanup_(ledger_thing_unrefp) LedgerThing *t = NULL;

		snprintf(name, sizeof(name), "run-r%d.scope", i);
		t = make_thing(THING_CGROUP, name, name, "");
		write_one(l, THEN, t, 1000);
	}
	write_one(l, THEN, things[0], 1000);
	s = read_query(l,
		       (LedgerQuery){ .kind = THING_CGROUP,
				      .since_s = THEN,
				      .until_s = THEN + 60,
				      .by_thing = true },
		       "(others)");
	assert_int_equal(energy(&s), 50 * 1000);
	/* the next day others may be counted by name */
	write_one(l, THEN + DAY, CGROUP, 1000);
	s = read_query(l,
		       (LedgerQuery){ .kind = THING_CGROUP,
				      .since_s = THEN + DAY,
				      .until_s = THEN + DAY + 60,
				      .by_thing = true },
		       "db.service");
	assert_int_equal(energy(&s), 1000);
}

static void a_device_that_moves_is_counted_where_it_was(void **state)
{
	_cleanup_(ledger_closep) Ledger *l = open_ledger();
	_cleanup_(ledger_thing_unrefp) LedgerThing *moved =
		make_thing(THING_DEVICE, "wwid:0", "0", "odd");
	Seen s;

	(void)state;
	write_one(l, THEN, things[0], 1000);
	write_one(l, THEN, moved, 10);
	s = read_query(l,
		       (LedgerQuery){ .kind = THING_DEVICE,
				      .since_s = THEN,
				      .until_s = THEN + 1,
				      .by_thing = true },
		       "0");
	assert_int_equal(s.n, 2);
	assert_int_equal(energy(&s), 1010);
}

static void the_file_is_for_its_owner_alone(void **state)
{
	_cleanup_(ledger_closep) Ledger *l = open_ledger();
	static const char *const files[] = { "ledger", "ledger-wal", "ledger-shm" };
	struct stat st;

	(void)state;
	assert_int_equal(write_second(l, THEN), 0);
	for (size_t i = 0; i < ELEMENTSOF(files); i++) {
		assert_int_equal(stat(files[i], &st), 0);
		assert_int_equal(st.st_mode & 0777, 0600);
	}
}

static void a_ledger_that_is_none_is_said_to_be_none(void **state)
{
	_cleanup_(ledger_closep) Ledger *l = NULL;

	(void)state;
	assert_int_equal(ledger_open_to_read("absent", &l), -ENOENT);
	assert_int_equal(system("sqlite3 other 'pragma user_version = 7'"), 0);
	assert_int_equal(ledger_open_to_read("other", &l), -EPROTONOSUPPORT);
	assert_int_equal(system("sqlite3 ledger 'pragma user_version = 7'"), 0);
	l = open_ledger();
	assert_int_equal(write_second(l, THEN), -EPROTONOSUPPORT);
	assert_non_null(strstr(ledger_error(l), "version 7"));
	assert_int_equal(system("test $(sqlite3 ledger 'pragma user_version') = 7"), 0);
}

static void damage(void)
{
	assert_int_equal(system("dd if=/dev/zero of=ledger bs=4096 count=40 conv=notrunc "
				"status=none && rm -f ledger-wal ledger-shm"),
			 0);
}

static void a_damaged_file_is_set_aside_and_nothing_counted_is_lost(void **state)
{
	_cleanup_(ledger_closep) Ledger *l = open_ledger();
	Seen s;

	(void)state;
	for (int i = 0; i < 120; i++)
		assert_int_equal(write_second(l, THEN + i), 0);
	l = ledger_close(l);
	damage();
	l = open_ledger();
	assert_int_equal(write_second(l, THEN + 120), 0);
	assert_int_equal(access("ledger.damaged", F_OK), 0);
	s = read_all(l, THING_NODE);
	assert_int_equal(energy(&s), (DISKS + 1) * 1000000LL);
}

static void a_file_that_is_damaged_meanwhile_is_set_aside_too(void **state)
{
	_cleanup_(ledger_closep) Ledger *l = open_ledger();
	int r = 0;

	(void)state;
	for (int i = 0; i < 120; i++)
		assert_int_equal(write_second(l, THEN + i), 0);
	assert_int_equal(system("sqlite3 ledger 'pragma wal_checkpoint(truncate)' >/dev/null"), 0);
	assert_int_equal(system("dd if=/dev/urandom of=ledger bs=4096 seek=1 count=40 conv=notrunc "
				"status=none"),
			 0);
	for (int i = 120; i < 240 && r == 0; i++)
		r = write_second(l, THEN + i);
	assert_int_equal(r, -EBADMSG);
	assert_true(*ledger_error(l));
	assert_int_equal(write_second(l, THEN + 240), 0);
	assert_int_equal(access("ledger.damaged", F_OK), 0);
}

static void a_note_is_what_was_last_written(void **state)
{
	_cleanup_(ledger_closep) Ledger *l = open_ledger();
	_cleanup_free_ char *text = NULL;

	(void)state;
	assert_int_equal(ledger_set_note(l, "currency", "EUR"), 0);
	assert_int_equal(ledger_note(l, "nothing", &text), -ENOENT);
	assert_int_equal(ledger_set_note(l, "currency", "NOK"), 0);
	assert_int_equal(ledger_note(l, "currency", &text), 0);
	assert_string_equal(text, "NOK");
}

static void the_earliest_is_known(void **state)
{
	_cleanup_(ledger_closep) Ledger *l = open_ledger();
	int64_t time_s;

	(void)state;
	write_one(l, THEN, things[0], 1);
	assert_int_equal(ledger_earliest(l, THING_NODE, &time_s), -ENOENT);
	assert_int_equal(ledger_earliest(l, THING_DEVICE, &time_s), 0);
	assert_int_equal(time_s, THEN);
	write_one(l, THEN + 3 * DAY, things[0], 1);
	assert_int_equal(ledger_earliest(l, THING_DEVICE, &time_s), 0);
	assert_int_equal(time_s, THEN - THEN % DAY);
}

/* ---- a full disk ---- */

/* A disk of 600 kB that nobody else sees. */
static void mount_small_disk(void)
{
	assert_int_equal(unshare(CLONE_NEWNS), 0);
	assert_int_equal(mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL), 0);
	assert_int_equal(mkdir("small", 0700), 0);
	assert_int_equal(mount("tmpfs", "small", "tmpfs", 0, "size=600k"), 0);
	assert_int_equal(chdir("small"), 0);
}

static void fill_disk(void)
{
	(void)!system("dd if=/dev/zero of=filler bs=4096 status=none 2>/dev/null");
}

/* Writes until the disk is full, and keeps what could not be written. */
static int64_t write_until_full(Ledger *l, Backlog *b)
{
	int64_t i = 0;

	for (int r = 0, after = 0; after < 300; i++, after += r < 0) {
		LedgerEntries e = backlog_take(b);

		if (i == 20)
			fill_disk();
		add_second(&e, THEN + i);
		r = ledger_write(l, &e, THEN + i);
		if (r == 0)
			ledger_entries_clear(&e);
		else
			assert_int_equal(r, -ENOSPC);
		assert_int_equal(backlog_put(b, &e), 0);
	}
	return i;
}

static void on_a_full_disk_nothing_is_lost(void **state)
{
	_cleanup_(ledger_closep) Ledger *l = open_ledger();
	LedgerEntries e;
	Backlog b = {};
	int64_t n;
	Seen s;

	(void)state;
	mount_small_disk();
	n = write_until_full(l, &b);
	assert_true(b.entries.n >= 300);
	assert_true(*ledger_error(l));
	assert_int_equal(unlink("filler"), 0);
	e = backlog_take(&b);
	assert_int_equal(ledger_write(l, &e, THEN + n), 0);
	ledger_entries_clear(&e);
	s = read_all(l, THING_NODE);
	assert_int_equal(energy(&s), (DISKS + 1) * 1000000LL * n);
	l = ledger_close(l);
	assert_int_equal(chdir(".."), 0);
	assert_int_equal(umount("small"), 0);
}

static void what_cannot_be_written_takes_bounded_room(void **state)
{
	Backlog b = {};
	Amounts sum = {};

	(void)state;
	for (int64_t i = 0; i < 30000; i++) {
		LedgerEntries e = {};

		add_second(&e, THEN + i);
		assert_int_equal(backlog_put(&b, &e), 0);
		assert_true(b.entries.n <= BACKLOG_ENTRIES_MAX);
	}
	for (size_t i = 0; i < b.entries.n; i++)
		if (b.entries.all[i].thing == NODE)
			amounts_add(&sum, &b.entries.all[i].amounts);
	assert_int_equal(sum.of[AMOUNT_ENERGY_UJ], (DISKS + 1) * 1000000LL * 30000);
	assert_int_equal(sum.of[AMOUNT_SPAN_US], 30000 * 1000000LL);
	backlog_clear(&b);
}

/* ---- kill -9 ---- */

/* Writes a second after another, and tells each that is written. */
static void write_for_ever(int fd)
{
	Ledger *l = open_ledger();

	for (int64_t i = 0;; i++) {
		if (write_second(l, THEN + 20 * i) < 0)
			_exit(1);
		if (write(fd, &i, sizeof(i)) != sizeof(i))
			_exit(1);
	}
}

static int64_t kill_at(uint64_t us)
{
	int64_t told = -1, next;
	int fds[2], status;
	pid_t pid;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		write_for_ever(fds[1]);
	close(fds[1]);
	/* it has begun: what follows is random */
	assert_int_equal(read(fds[0], &told, sizeof(told)), sizeof(told));
	usleep((useconds_t)us);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	while (read(fds[0], &next, sizeof(next)) == sizeof(next))
		told = next;
	close(fds[0]);
	return told;
}

static void after_kill_9_the_last_second_is_missing_at_most(void **state)
{
	uint64_t seed = 99;

	for (unsigned long i = 0; i < cases_of(30); i++) {
		int64_t told = kill_at(draw(&seed) % 40000);
		_cleanup_(ledger_closep) Ledger *l = open_to_read();
		Seen node = read_all(l, THING_NODE), disks = read_all(l, THING_DEVICE);
		int64_t written = energy(&node) / ((DISKS + 1) * 1000000LL);

		assert_in_range(written, told + 1, told + 2);
		assert_int_equal(energy(&disks), written * 1000000LL * DISKS * (DISKS + 1) / 2);
		assert_int_equal(system("test \"$(sqlite3 ledger 'pragma integrity_check')\" = ok"),
				 0);
		l = ledger_close(l);
		assert_int_equal(forget_files(state), 0);
	}
}

#define LEDGER_TEST(f) cmocka_unit_test_teardown(f, forget_files)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LEDGER_TEST(what_was_written_is_read_at_once_by_another),
		LEDGER_TEST(sums_are_what_was_written_however_the_clock_jumps),
		LEDGER_TEST(a_time_is_summed_from_whole_seconds_on),
		LEDGER_TEST(a_day_begins_where_the_time_zone_says),
		LEDGER_TEST(what_is_old_goes_and_days_stay),
		LEDGER_TEST(a_clock_that_is_wrong_for_a_moment_costs_little),
		LEDGER_TEST(a_time_before_what_is_kept_begins_with_a_whole_span),
		LEDGER_TEST(cgroups_without_number_are_counted_together),
		LEDGER_TEST(a_device_that_moves_is_counted_where_it_was),
		LEDGER_TEST(the_file_is_for_its_owner_alone),
		LEDGER_TEST(a_ledger_that_is_none_is_said_to_be_none),
		LEDGER_TEST(a_damaged_file_is_set_aside_and_nothing_counted_is_lost),
		LEDGER_TEST(a_file_that_is_damaged_meanwhile_is_set_aside_too),
		LEDGER_TEST(a_note_is_what_was_last_written),
		LEDGER_TEST(the_earliest_is_known),
		LEDGER_TEST(on_a_full_disk_nothing_is_lost),
		LEDGER_TEST(what_cannot_be_written_takes_bounded_room),
		LEDGER_TEST(after_kill_9_the_last_second_is_missing_at_most),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
