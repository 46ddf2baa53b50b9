/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The sysfs knobs on a made-up request queue. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "fake-queue.h"
#include "own-knobs.h"

/* One knob of a device under control, as the daemon does it. */
typedef struct Turn {
	const Knob *knob;
	Device *d;
	Mix mix;
	KnobValue original;
} Turn;

static Turn begin(Device *d, const char *name)
{
	Turn t = { .knob = own_knob(name), .d = d, .mix = MIX_UNKNOWN };

	assert_non_null(t.knob);
	assert_int_equal(t.knob->read(d, &t.original), 0);
	return t;
}

static int turn(const Turn *t, const Setting *s)
{
	KnobValue wanted, found;
	int r = knob_want(t->knob, t->d, s, &t->mix, &t->original, &wanted);

	if (r < 0)
		return r;
	assert_int_equal(t->knob->read(t->d, &found), 0);
	return knob_fulfils(t->knob, t->d, &wanted, &found)
		       ? 0
		       : knob_apply(t->knob, t->d, &wanted, NULL);
}

static int probe(Device *d, const char *name, Offer *offer)
{
	_cleanup_free_ char *why = NULL;
	int r;

	*offer = (Offer){ 0 };
	r = own_knob(name)->probe(d, offer, &why);
	assert_true(r == 0 ? !why : why && *why);
	return r;
}

static void assert_same(const FakeQueue *a, const FakeQueue *b)
{
	assert_string_equal(a->scheduler, b->scheduler);
	for (size_t i = 0; i < ELEMENTSOF(a->attrs) && a->attrs[i].name; i++)
		if (!a->attrs[i].of || streq(a->attrs[i].of, a->scheduler))
			assert_string_equal(a->attrs[i].text, b->attrs[i].text);
}

static const Setting as_found = SETTING_AS_FOUND;

static Setting depth(unsigned n)
{
	Setting s = SETTING_AS_FOUND;

	s.depth = n;
	return s;
}

static void a_silently_clamped_write_is_remote_io_error(void **state)
{
	FakeQueue q = plain_queue;
	_cleanup_(device_unrefp) Device *d = fake_device(&q);
	KnobValue two = { "2" }, found;

	(void)state;
	assert_int_equal(knob_apply(own_knob("nr-requests"), d, &two, &found), -EREMOTEIO);
	assert_string_equal(found.text, "4");
}

static void an_ignored_write_is_remote_io_error(void **state)
{
	static const char *const names[] = { "nr-requests", "max-sectors", "bfq-strict" };
	Setting s = depth(1);

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(names); i++) {
		FakeQueue q = plain_queue;
		_cleanup_(device_unrefp) Device *d = fake_device(&q);
		Turn t = begin(d, names[i]);

		s.depth = i ? 1 : 8;
		s.chunk_kib = 64;
		q.ignore = true;
		assert_int_equal(turn(&t, &s), -EREMOTEIO);
	}
}

static void a_busy_queue_is_tried_three_times_again(void **state)
{
	FakeQueue q = plain_queue;
	_cleanup_(device_unrefp) Device *d = fake_device(&q);
	Turn t = begin(d, "nr-requests");
	Setting s = depth(16);

	(void)state;
	q.busy = 3;
	assert_int_equal(turn(&t, &s), 0);
	assert_string_equal(get(&q, "queue/nr_requests"), "16");
	q.busy = 4;
	s = depth(8);
	assert_int_equal(turn(&t, &s), -EBUSY);
}

static void several_hardware_queues_share_the_depth(void **state)
{
	FakeQueue q = plain_queue;
	_cleanup_(device_unrefp) Device *d = fake_device(&q);
	Setting s = depth(63);
	Offer offer;
	Turn t;

	(void)state;
	q.queues = 7;
	assert_int_equal(probe(d, "nr-requests", &offer), 0);
	assert_int_equal(offer.depth_min, 28);
	assert_int_equal(offer.depth_max, 896);
	t = begin(d, "nr-requests");
	assert_int_equal(turn(&t, &s), 0);
	assert_string_equal(get(&q, "queue/nr_requests"), "9");
	s = depth(27);
	assert_int_equal(turn(&t, &s), -ERANGE);
	assert_int_equal(turn(&t, &as_found), 0);
	assert_same(&q, &plain_queue);
}

static void a_knob_never_raises_what_it_found(void **state)
{
	FakeQueue q = plain_queue;
	_cleanup_(device_unrefp) Device *d = fake_device(&q);
	Turn nr = begin(d, "nr-requests"), chunk = begin(d, "max-sectors");
	Setting s = { .power_state = -1, .depth = 4096, .chunk_kib = 4096 };

	(void)state;
	assert_int_equal(turn(&nr, &s), 0);
	assert_int_equal(turn(&chunk, &s), 0);
	assert_int_equal(q.writes, 0);
}

/* All ways between as found, depth 1 and two depths, whichever of the two knobs is turned first. */
static void depth_knobs_never_fight(void **state)
{
	static const unsigned depths[] = { 0, 1, 8, 32 };
	static const char *const schedulers[] = { "none", "mq-deadline", "kyber", "bfq" };

	(void)state;
	for (unsigned walk = 0; walk < 4 * 4 * 4 * 4 * 2; walk++) {
		FakeQueue q = plain_queue, found;
		_cleanup_(device_unrefp) Device *d = fake_device(&q);
		bool nr_first = walk & 1;
		Turn bfq, nr;

		assert_int_equal(switch_scheduler(&q, schedulers[walk >> 7 & 3]), 0);
		set_nr_requests(&q, 64);
		if (find(&q, "queue/iosched/async_depth"))
			put(&q, "queue/iosched/async_depth", "48");
		if (find(&q, "queue/iosched/slice_idle_us"))
			put(&q, "queue/iosched/slice_idle_us", "0");
		found = q;
		bfq = begin(d, "bfq-strict");
		nr = begin(d, "nr-requests");
		for (int step = 0; step < 4; step++) {
			Setting s = depth(step < 3 ? depths[walk >> (1 + 2 * step) & 3] : 0);

			assert_int_equal(turn(nr_first ? &nr : &bfq, &s), 0);
			assert_int_equal(turn(nr_first ? &bfq : &nr, &s), 0);
			assert_int_equal(atoi(get(&q, "queue/nr_requests")),
					 s.depth > 1 ? s.depth : 64);
			assert_int_equal(
				streq(q.scheduler, "bfq") &&
					streq(get(&q, "queue/iosched/strict_guarantees"), "1"),
				s.depth == 1);
		}
		assert_same(&q, &found);
	}
}

static void a_switch_cut_short_is_put_right(void **state)
{
	FakeQueue q = plain_queue, found;
	_cleanup_(device_unrefp) Device *d = fake_device(&q);
	Turn t;

	(void)state;
	switch_scheduler(&q, "mq-deadline");
	set_nr_requests(&q, 1000);
	put(&q, "queue/iosched/read_expire", "123");
	found = q;
	t = begin(d, "bfq-strict");
	switch_scheduler(&q, "bfq"); /* and killed */
	assert_int_equal(knob_apply(t.knob, d, &t.original, NULL), 0);
	assert_same(&q, &found);
	switch_scheduler(&q, "bfq");
	put(&q, "queue/iosched/strict_guarantees", "1");
	switch_scheduler(&q, "mq-deadline"); /* killed on the way back */
	assert_int_equal(knob_apply(t.knob, d, &t.original, NULL), 0);
	assert_same(&q, &found);
}

static void the_chunk_leaves_the_read_ahead_alone(void **state)
{
	FakeQueue q = plain_queue;
	_cleanup_(device_unrefp) Device *d = fake_device(&q);
	Turn t = begin(d, "max-sectors");
	Setting s = SETTING_AS_FOUND;

	(void)state;
	s.chunk_kib = 64;
	assert_int_equal(turn(&t, &s), 0);
	assert_string_equal(get(&q, "queue/max_sectors_kb"), "64");
	assert_string_equal(get(&q, "queue/read_ahead_kb"), "64");
	put(&q, "queue/read_ahead_kb", "128"); /* killed before the second write */
	assert_int_equal(knob_apply(t.knob, d, &t.original, NULL), 0);
	assert_same(&q, &plain_queue);
	s.chunk_kib = 2;
	assert_int_equal(turn(&t, &s), -ERANGE);
}

static void a_disks_own_queue_serves_depth_alone(void **state)
{
	FakeQueue q = plain_queue;
	_cleanup_(device_unrefp) Device *d = fake_device(&q);
	Setting s = depth(3);
	Offer offer;
	Turn t;

	(void)state;
	add(&q, "device/queue_depth", "32");
	assert_int_equal(probe(d, "nr-requests", &offer), -EOPNOTSUPP);
	assert_int_equal(probe(d, "bfq-strict", &offer), -EOPNOTSUPP);
	assert_int_equal(probe(d, "queue-depth", &offer), 0);
	assert_true(offer.depth_one && offer.mechanisms == MECHANISM_DEPTH);
	assert_int_equal(offer.depth_min, 2);
	assert_int_equal(offer.depth_max, 32);
	t = begin(d, "queue-depth");
	assert_int_equal(turn(&t, &s), 0);
	assert_string_equal(get(&q, "device/queue_depth"), "3");
	assert_int_equal(turn(&t, &as_found), 0);
	assert_string_equal(get(&q, "device/queue_depth"), "32");
	put(&q, "device/queue_depth", "1");
	assert_int_equal(probe(d, "queue-depth", &offer), -EOPNOTSUPP);
}

/* sym53c8xx and others have no change_queue_depth. */
static void a_disk_whose_driver_fixes_its_depth_is_bounded_by_its_requests(void **state)
{
	FakeQueue q = plain_queue;
	_cleanup_(device_unrefp) Device *d = fake_device(&q);
	_cleanup_free_ char *why = NULL;
	Offer offer;

	(void)state;
	add(&q, "device/queue_depth", "16");
	q.fixed = "device/queue_depth";
	assert_int_equal(own_knob("queue-depth")->probe(d, &offer, &why), -EOPNOTSUPP);
	assert_string_equal(why, "its driver does not let it be changed");
	assert_int_equal(probe(d, "nr-requests", &offer), 0);
	assert_int_equal(probe(d, "bfq-strict", &offer), 0);
}

static void what_cannot_be_put_back_is_not_offered(void **state)
{
	FakeQueue q = plain_queue;
	_cleanup_(device_unrefp) Device *d = fake_device(&q);
	Offer offer;

	(void)state;
	assert_int_equal(probe(d, "queue-depth", &offer), -EOPNOTSUPP);
	assert_int_equal(probe(d, "link-power", &offer), -EOPNOTSUPP);
	assert_int_equal(probe(d, "bfq-strict", &offer), 0);
	q.schedulers[3] = "foreign";
	assert_int_equal(probe(d, "bfq-strict", &offer), -EOPNOTSUPP);
	q = plain_queue;
	q.schedulers[0] = q.scheduler = "foreign";
	assert_int_equal(probe(d, "bfq-strict", &offer), -EOPNOTSUPP);
	q = plain_queue;
	put(&q, "queue/nr_requests", "4");
	assert_int_equal(probe(d, "nr-requests", &offer), -EOPNOTSUPP);
	put(&q, "queue/max_sectors_kb", "4");
	assert_int_equal(probe(d, "max-sectors", &offer), -EOPNOTSUPP);
}

static void the_link_is_never_made_shallower_nor_min_power(void **state)
{
	static const struct {
		const char *found, *set; /* NULL: not offered */
	} cases[] = {
		{ "max_performance", "med_power_with_dipm" },
		{ "medium_power", "med_power_with_dipm" },
		{ "med_power_with_dipm", NULL },
		{ "min_power_with_partial", NULL },
		{ "min_power", NULL },
		{ "keep_firmware_settings", NULL },
	};
	Setting s = SETTING_AS_FOUND;

	(void)state;
	s.link = LINK_MEDIUM_DIPM;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		FakeQueue q = plain_queue;
		_cleanup_(device_unrefp) Device *d = fake_device(&q);
		Offer offer;
		Turn t;

		add(&q, "host/link_power_management_policy", cases[i].found);
		d->link_sleeps = true;
		assert_int_equal(probe(d, "link-power", &offer), cases[i].set ? 0 : -EOPNOTSUPP);
		t = begin(d, "link-power");
		if (!streq(cases[i].found, "keep_firmware_settings"))
			assert_int_equal(turn(&t, &s), 0);
		assert_string_equal(get(&q, "host/link_power_management_policy"),
				    cases[i].set ?: cases[i].found);
		assert_int_equal(turn(&t, &as_found), 0);
		assert_string_equal(get(&q, "host/link_power_management_policy"), cases[i].found);
	}
}

static void nothing_else_bounds_depth(FakeQueue *q, const char *async_depth)
{
	*q = plain_queue;
	q->schedulers[3] = NULL; /* no bfq */
	assert_int_equal(switch_scheduler(q, "mq-deadline"), 0);
	put(q, "queue/nr_requests", "4");
	put(q, "queue/iosched/async_depth", async_depth);
}

/* The offers of all knobs before it, as the manager collects them. */
static int probe_up_to(Device *d, const char *name, Offer *offer)
{
	int r = -ENOENT;

	*offer = (Offer){ 0 };
	for (const Knob *const *k = own_knobs; *k; k++) {
		_cleanup_free_ char *why = NULL;

		r = (*k)->probe(d, offer, &why);
		if (streq((*k)->name, name))
			break;
	}
	return r;
}

static void the_depth_of_writes_is_offered_where_nothing_else_is(void **state)
{
	FakeQueue q;
	_cleanup_(device_unrefp) Device *d = fake_device(&q);
	Offer offer;

	(void)state;
	nothing_else_bounds_depth(&q, "3");
	assert_int_equal(probe_up_to(d, "async-depth", &offer), 0);
	assert_true(offer.depth_one && offer.depth_min == 2 && offer.depth_max == 3);
	/* as found is all that can be set besides 1, and it holds whatever is read */
	nothing_else_bounds_depth(&q, "2");
	assert_int_equal(probe_up_to(d, "async-depth", &offer), 0);
	assert_true(offer.depth_one && offer.depth_min == 0);
	put(&q, "queue/nr_requests", "64");
	assert_int_equal(probe_up_to(d, "async-depth", &offer), -EOPNOTSUPP);
	nothing_else_bounds_depth(&q, "3");
	q.schedulers[3] = "bfq";
	assert_int_equal(probe_up_to(d, "async-depth", &offer), -EOPNOTSUPP);
	nothing_else_bounds_depth(&q, "3");
	add(&q, "device/queue_depth", "1");
	assert_int_equal(probe_up_to(d, "async-depth", &offer), -EOPNOTSUPP);
	nothing_else_bounds_depth(&q, "3");
	q.queues = 2;
	assert_int_equal(probe_up_to(d, "async-depth", &offer), -EOPNOTSUPP);
	nothing_else_bounds_depth(&q, "1");
	assert_int_equal(probe_up_to(d, "async-depth", &offer), -EOPNOTSUPP);
	assert_int_equal(switch_scheduler(&q, "none"), 0);
	assert_int_equal(probe_up_to(d, "async-depth", &offer), -EOPNOTSUPP);
}

static void the_depth_of_writes_is_taken_while_there_are_no_reads(void **state)
{
	static const char *const attrs[] = { "queue/iosched/async_depth", "queue/async_depth" };
	Setting s = depth(2);

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(attrs); i++) { /* up to 6.19, from 7.0 */
		FakeQueue q;
		_cleanup_(device_unrefp) Device *d = fake_device(&q);
		Turn t;

		nothing_else_bounds_depth(&q, "4");
		if (i)
			find(&q, attrs[0])->name = attrs[i];
		t = begin(d, "async-depth");
		t.mix.read_share = 0.3;
		assert_int_equal(turn(&t, &s), -ERANGE);
		assert_int_equal(q.writes, 0);
		t.mix.read_share = 0;
		assert_int_equal(turn(&t, &s), 0);
		assert_string_equal(get(&q, attrs[i]), "2");
		t.mix.read_share = 0.3;
		assert_int_equal(turn(&t, &as_found), 0);
		assert_string_equal(get(&q, attrs[i]), "4");
	}
}

static void a_link_that_is_shared_or_not_managed_is_left_alone(void **state)
{
	FakeQueue q = plain_queue;
	_cleanup_(device_unrefp) Device *d = fake_device(&q);
	Offer offer;

	(void)state;
	add(&q, "host/link_power_management_policy", "max_performance");
	add(&q, "host/link_power_management_supported", "1");
	add(&q, "host/unique_id", "3");
	d->link_sleeps = true;
	add(&q, "host/device/../ata_port/ata3/nr_pmp_links", "0");
	assert_int_equal(probe(d, "link-power", &offer), 0);
	put(&q, "host/device/../ata_port/ata3/nr_pmp_links", "5");
	assert_int_equal(probe(d, "link-power", &offer), -EOPNOTSUPP);
	put(&q, "host/device/../ata_port/ata3/nr_pmp_links", "0");
	d->link_sleeps = false; /* it has no DIPM */
	assert_int_equal(probe(d, "link-power", &offer), -EOPNOTSUPP);
	d->link_sleeps = true;
	put(&q, "host/link_power_management_supported", "0");
	assert_int_equal(probe(d, "link-power", &offer), -EOPNOTSUPP);
	assert_int_equal(q.writes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_silently_clamped_write_is_remote_io_error),
		cmocka_unit_test(an_ignored_write_is_remote_io_error),
		cmocka_unit_test(a_busy_queue_is_tried_three_times_again),
		cmocka_unit_test(several_hardware_queues_share_the_depth),
		cmocka_unit_test(a_knob_never_raises_what_it_found),
		cmocka_unit_test(depth_knobs_never_fight),
		cmocka_unit_test(a_switch_cut_short_is_put_right),
		cmocka_unit_test(the_chunk_leaves_the_read_ahead_alone),
		cmocka_unit_test(a_disks_own_queue_serves_depth_alone),
		cmocka_unit_test(a_disk_whose_driver_fixes_its_depth_is_bounded_by_its_requests),
		cmocka_unit_test(what_cannot_be_put_back_is_not_offered),
		cmocka_unit_test(the_link_is_never_made_shallower_nor_min_power),
		cmocka_unit_test(the_depth_of_writes_is_offered_where_nothing_else_is),
		cmocka_unit_test(the_depth_of_writes_is_taken_while_there_are_no_reads),
		cmocka_unit_test(a_link_that_is_shared_or_not_managed_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
