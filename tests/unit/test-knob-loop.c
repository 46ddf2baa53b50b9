/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The sysfs knobs on the running kernel, with a loop device of this test's own: whatever was
 * turned, and wherever the daemon died, everything in queue/ and queue/iosched/ is back afterwards.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "hw/block.h"
#include "own-knobs.h"

#define KNOBS_MAX 32

typedef struct Rig {
	char folder[32];
	char name[16];
	int loop;
	Inventory *inventory;
	Device *device;
	const char *why_not;
	/* the daemon dies before this write; negative: never */
	int writes_left;
	const DeviceOps *real;
	DeviceOps ops;
} Rig;

/* One for all tests of this program: device operations find it here. */
static Rig rig;

static int mortal_write(Device *d, const char *attr, const char *value)
{
	if (rig.writes_left == 0)
		return -EIO;
	rig.writes_left--;
	return rig.real->attr_write(d, attr, value);
}

static void appear(Device *d, DeviceEvent event, void *userdata)
{
	(void)userdata;
	if (event != DEVICE_ADDED)
		return;
	rig.device = device_ref(d);
	rig.real = d->ops;
	rig.ops = *d->ops;
	rig.ops.attr_write = mortal_write;
	rig.writes_left = -1;
	d->ops = &rig.ops;
}

/* Others may take the same free device meanwhile: then the next one. */
static int attach(int control, const char *file)
{
	_cleanup_close_ int backing = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct loop_config config = { .fd = (unsigned)backing };

	if (backing < 0 || ftruncate(backing, 64 << 20) < 0)
		return -errno;
	for (int tries = 0; tries < 20; tries++) {
		int n = ioctl(control, LOOP_CTL_GET_FREE);
		_cleanup_close_ int loop = -EBADF;
		char node[32];

		snprintf(rig.name, sizeof(rig.name), "loop%d", n);
		snprintf(node, sizeof(node), "/dev/%s", rig.name);
		loop = n < 0 ? -1 : open(node, O_RDWR | O_CLOEXEC);
		if (loop < 0)
			return -errno;
		if (ioctl(loop, LOOP_CONFIGURE, &config) == 0)
			return TAKE_FD(loop);
		if (errno != EBUSY)
			return -errno;
	}
	return -EBUSY;
}

static void need_loop(void)
{
	if (!rig.why_not)
		return;
	print_message("no loop device to be had here (root and /dev/loop-control needed): %s\n",
		      rig.why_not);
	skip();
}

static void put(const char *attr, const char *value)
{
	assert_int_equal(rig.real->attr_write(rig.device, attr, value), 0);
}

static bool has(const char *attr)
{
	char text[256];

	return rig.real->attr_read(rig.device, attr, text, sizeof(text)) >= 0;
}

static bool attr_has(const char *attr, const char *word)
{
	char text[256];

	return rig.real->attr_read(rig.device, attr, text, sizeof(text)) >= 0 && strstr(text, word);
}

static void dump_folder(FILE *f, const char *folder)
{
	_cleanup_free_ char *path = text_printf("/sys/block/%s/%s", rig.name, folder);
	struct dirent **entries;
	int n = scandir(path, &entries, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *attr = text_printf("%s/%s", folder, entries[i]->d_name);
		char text[4096];

		if (rig.real->attr_read(rig.device, attr, text, sizeof(text)) >= 0)
			fprintf(f, "%s=%s\n", attr, text);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

/* All of queue/ and queue/iosched/, malloc'd. */
static char *dump(void)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	dump_folder(f, "queue");
	dump_folder(f, "queue/iosched");
	fclose(f);
	assert_non_null(strstr(text, "queue/nr_requests="));
	return text;
}

/* The daemon's part. */

typedef struct Hand {
	KnobValue original[KNOBS_MAX];
	bool offered[KNOBS_MAX], recorded[KNOBS_MAX];
} Hand;

static Hand take_in_hand(void)
{
	Hand h = { 0 };
	Offer offer = { 0 };

	for (size_t i = 0; i < ELEMENTSOF(own_knobs) - 1; i++) {
		_cleanup_free_ char *why = NULL;

		h.offered[i] = own_knobs[i]->probe(rig.device, &offer, &why) >= 0;
		if (h.offered[i])
			assert_int_equal(own_knobs[i]->read(rig.device, &h.original[i]), 0);
	}
	assert_true(offer.mechanisms & MECHANISM_DEPTH && offer.mechanisms & MECHANISM_CHUNK);
	assert_int_equal(offer.depth_min, 4);
	return h;
}

static int turn_all(Hand *h, const Setting *s)
{
	for (size_t i = 0; i < ELEMENTSOF(own_knobs) - 1; i++) {
		const Knob *k = own_knobs[i];
		KnobValue wanted, found;
		int r;

		if (!h->offered[i])
			continue;
		assert_int_equal(
			knob_want(k, rig.device, s, &MIX_UNKNOWN, &h->original[i], &wanted), 0);
		assert_int_equal(k->read(rig.device, &found), 0);
		if (knob_fulfils(k, rig.device, &wanted, &found))
			continue;
		h->recorded[i] = true;
		r = knob_apply(k, rig.device, &wanted, NULL);
		if (r < 0)
			return r;
	}
	return 0;
}

static void restore(const Hand *h)
{
	for (size_t i = 0; i < ELEMENTSOF(own_knobs) - 1; i++)
		if (h->recorded[i])
			assert_int_equal(
				knob_apply(own_knobs[i], rig.device, &h->original[i], NULL), 0);
}

/* How the tests found the device. */
static Hand found;
static char *found_dump;

static bool is_over_our_file(void)
{
	char backing[256];

	return rig.real->attr_read(rig.device, "loop/backing_file", backing, sizeof(backing)) >=
		       0 &&
	       strstr(backing, rig.folder);
}

static int set_up(void **state)
{
	const BlockConfig config = { .name = rig.name };
	const BlockOptions options = { .configs = &config, .n_configs = 1 };
	_cleanup_close_ int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	_cleanup_free_ char *file = NULL;

	(void)state;
	strcpy(rig.folder, "/tmp/storpower-loop-XXXXXX");
	if (!mkdtemp(rig.folder))
		return -1;
	file = text_printf("%s/loop.img", rig.folder);
	rig.loop = control < 0 ? -errno : attach(control, file);
	if (rig.loop < 0) {
		rig.why_not = strerror(-rig.loop);
		return 0;
	}
	if (block_inventory_open("/sys", &options, &rig.inventory) < 0 ||
	    inventory_start(rig.inventory, appear, NULL) < 0 || !rig.device)
		return -1;
	/* nothing is written to a device that is not over our own file */
	if (!is_over_our_file())
		return -1;
	found = take_in_hand();
	found_dump = dump();
	return 0;
}

/* A loop device keeps its queue's settings when it is detached, for whoever gets it next. */
static int put_back(void)
{
	_cleanup_free_ char *now = NULL;

	if (!found_dump)
		return 0;
	memcpy(found.recorded, found.offered, sizeof(found.recorded));
	restore(&found);
	now = dump();
	if (!streq(found_dump, now))
		print_error("%s is left otherwise than it was found\n", rig.name);
	return streq(found_dump, now) ? 0 : -1;
}

static int tear_down(void **state)
{
	_cleanup_free_ char *command = text_printf("rm -rf '%s'", rig.folder);
	int r = put_back();

	(void)state;
	free(found_dump);
	device_unref(rig.device);
	inventory_free(rig.inventory);
	if (rig.loop >= 0) {
		ioctl(rig.loop, LOOP_CLR_FD);
		close(rig.loop);
	}
	return system(command) == 0 ? r : -1;
}

static const Setting walk[] = {
	{ .power_state = -1, .depth = 8, .chunk_kib = 64 },
	{ .power_state = -1, .depth = 1, .chunk_kib = 4 },
	{ .power_state = -1, .depth = 16, .chunk_kib = 256 },
	{ .power_state = -1, .depth = 1 },
	SETTING_AS_FOUND,
};

/* A queue that somebody has tuned, so that defaults are not good enough. */
static bool tune(const char *scheduler)
{
	static const char *const tuned[][2] = {
		{ "queue/nr_requests", "64" },
		{ "queue/read_ahead_kb", "192" },
		{ "queue/max_sectors_kb", "1024" },
		{ "queue/async_depth", "48" },
		{ "queue/iosched/async_depth", "48" },
		{ "queue/iosched/read_expire", "321" },
		{ "queue/iosched/front_merges", "0" },
		{ "queue/iosched/read_lat_usec", "1234567" },
		{ "queue/iosched/slice_idle_us", "0" },
		{ "queue/iosched/low_latency", "0" },
	};

	if (rig.real->attr_write(rig.device, "queue/scheduler", scheduler) < 0)
		return false;
	put("queue/max_sectors_kb", "1024"); /* chooses the read-ahead anew */
	for (size_t i = 0; i < ELEMENTSOF(tuned); i++)
		if (has(tuned[i][0]))
			put(tuned[i][0], tuned[i][1]);
	return true;
}

static void everything_is_back_after_every_walk(void **state)
{
	static const char *const schedulers[] = { "none", "mq-deadline", "kyber", "bfq" };

	(void)state;
	need_loop();
	for (size_t i = 0; i < ELEMENTSOF(schedulers); i++) {
		_cleanup_free_ char *before = NULL, *after = NULL;
		Hand h;

		if (!tune(schedulers[i])) {
			print_message("this kernel has no %s\n", schedulers[i]);
			continue;
		}
		before = dump();
		h = take_in_hand();
		for (size_t s = 0; s < ELEMENTSOF(walk); s++)
			assert_int_equal(turn_all(&h, &walk[s]), 0);
		after = dump();
		assert_string_equal(before, after);
	}
}

static void everything_is_back_wherever_the_daemon_died(void **state)
{
	static const char *const schedulers[] = { "none", "mq-deadline", "bfq" };
	unsigned deaths = 0;

	(void)state;
	need_loop();
	for (size_t i = 0; i < ELEMENTSOF(schedulers); i++) {
		bool died = true;

		if (!tune(schedulers[i]))
			continue;
		for (int at = 0; died; at++) {
			_cleanup_free_ char *before = dump(), *after = NULL;
			Hand h = take_in_hand();

			rig.writes_left = at;
			died = false;
			for (size_t s = 0; s < ELEMENTSOF(walk) && !died; s++)
				died = turn_all(&h, &walk[s]) < 0;
			rig.writes_left = -1;
			restore(&h);
			after = dump();
			assert_string_equal(before, after);
			deaths += died;
		}
	}
	print_message("died and restored %u times\n", deaths);
	assert_true(deaths > 20);
}

static void the_settings_take_in_the_kernel(void **state)
{
	char text[256];
	Hand h;

	(void)state;
	need_loop();
	assert_true(tune("none"));
	h = take_in_hand();
	assert_int_equal(turn_all(&h, &walk[0]), 0);
	rig.real->attr_read(rig.device, "queue/nr_requests", text, sizeof(text));
	assert_string_equal(text, "8");
	rig.real->attr_read(rig.device, "queue/max_sectors_kb", text, sizeof(text));
	assert_string_equal(text, "64");
	if (!attr_has("queue/scheduler", "bfq")) {
		print_message("no BFQ here: depth 1 is not offered\n");
	} else {
		assert_int_equal(turn_all(&h, &walk[1]), 0);
		assert_true(attr_has("queue/scheduler", "[bfq]"));
		assert_true(attr_has("queue/iosched/strict_guarantees", "1"));
	}
	restore(&h);
}

static void the_kernels_silent_clamp_is_remote_io_error(void **state)
{
	KnobValue original, two = { "2" }, found;
	const Knob *k = own_knob("nr-requests");

	(void)state;
	need_loop();
	assert_int_equal(k->read(rig.device, &original), 0);
	assert_int_equal(knob_apply(k, rig.device, &two, &found), -EREMOTEIO);
	assert_memory_equal(found.text, "4", 1);
	assert_int_equal(knob_apply(k, rig.device, &original, NULL), 0);
}

static void what_a_loop_device_lacks_is_explained(void **state)
{
	static const char *const absent[] = { "nvme-power-state", "nvme-power-limit", "condition",
					      "link-power",       "queue-depth",      "io-cost" };

	(void)state;
	need_loop();
	for (size_t i = 0; i < ELEMENTSOF(absent); i++) {
		_cleanup_free_ char *why = NULL;
		Offer offer = { 0 };

		assert_int_equal(own_knob(absent[i])->probe(rig.device, &offer, &why), -EOPNOTSUPP);
		assert_non_null(why);
		assert_int_equal(offer.mechanisms, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_back_after_every_walk),
		cmocka_unit_test(everything_is_back_wherever_the_daemon_died),
		cmocka_unit_test(the_settings_take_in_the_kernel),
		cmocka_unit_test(the_kernels_silent_clamp_is_remote_io_error),
		cmocka_unit_test(what_a_loop_device_lacks_is_explained),
	};

	log_set_max_level(LOG_ERR);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
