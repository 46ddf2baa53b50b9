/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* disk-ask DISK QUESTION: the daemon's disk and its knobs without the daemon, so that a test in a
 * guest sees what each command does to a real disk driver. An error is printed by its name, "EIO".
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "hw/block-device.h"
#include "hw/block.h"
#include "hw/disk-condition.h"
#include "redirect/knob-registry.h"

static const char help[] = "disk-ask [--wake-tested] DISK conditions | get | set CONDITION |\n"
			   "                              probe | apply KNOB VALUE | read KNOB |\n"
			   "                              place | may-sleep | wake-test\n";

static int open_disk(const char *name, bool wake_tested, DiskCondition **ret, unsigned *conditions)
{
	_cleanup_free_ char *node = text_printf("/dev/%s", name);
	_cleanup_free_ char *folder = text_printf("/sys/block/%s/device", name);

	if (!node || !folder)
		return -ENOMEM;
	return disk_condition_open(node, folder, wake_tested, ret, conditions);
}

/* "active idle_b standby_z" */
static void print_conditions(unsigned conditions)
{
	for (Condition i = 0; i < _CONDITION_MAX; i++)
		if (conditions >> i & 1)
			printf("%s%s", i ? " " : "", condition_name(i));
	printf("\n");
}

static int ask_condition(const char *name, bool wake_tested, char **words)
{
	_cleanup_(disk_condition_closep) DiskCondition *c = NULL;
	unsigned conditions;
	Condition now;
	int r = open_disk(name, wake_tested, &c, &conditions), to;

	if (r < 0)
		return r;
	if (streq(words[0], "conditions")) {
		print_conditions(conditions);
		return 0;
	}
	if (streq(words[0], "set")) {
		to = condition_from_name(words[1]);
		return to < 0 ? to : disk_condition_set(c, (Condition)to);
	}
	r = disk_condition_get(c, &now);
	if (r >= 0)
		printf("%s\n", condition_name(now));
	return r;
}

static void print_probes(Device *d)
{
	Offer offer = {};

	for (const Knob *const *k = knob_registry; *k; k++) {
		_cleanup_free_ char *why = NULL;

		printf("%s: %s\n", (*k)->name, (*k)->probe(d, &offer, &why) < 0 ? why : "offered");
	}
}

static int ask_knob(const char *name, bool wake_tested, char **words)
{
	const BlockDeviceOptions options = { .wake_tested = wake_tested };
	_cleanup_(device_unrefp) Device *d = NULL;
	KnobValue v, found = {};
	const Knob *k;
	int r = block_device_new("/sys", name, &options, &d);

	if (r < 0)
		return r;
	if (streq(words[0], "probe")) {
		print_probes(d);
		return 0;
	}
	k = knob_find(words[1]);
	if (!k)
		return -ENOENT;
	snprintf(v.text, sizeof(v.text), "%s", words[2] ?: "");
	r = streq(words[0], "read") ? k->read(d, &found) : knob_apply(k, d, &v, &found);
	if (*found.text)
		printf("%s\n", found.text);
	return r;
}

static void keep_device(Device *d, DeviceEvent event, void *userdata)
{
	Device **to = userdata;

	if (event == DEVICE_ADDED && !*to)
		*to = device_ref(d);
}

/* As the daemon's inventory sees it. */
static int find_device(const char *name, bool wake_tested, Device **ret)
{
	const BlockConfig config = { .name = (char *)name, .wake_tested = wake_tested };
	const BlockOptions options = { .configs = &config, .n_configs = 1 };
	_cleanup_(inventory_freep) Inventory *i = NULL;
	int r = block_inventory_open("/sys", &options, &i);

	*ret = NULL;
	if (r >= 0)
		r = inventory_start(i, keep_device, ret);
	return r < 0 ? r : *ret ? 0 : -ENODEV;
}

static void print_place(const Device *d)
{
	printf("pool=%s\nhba=%s\nkeep_awake=%s\nuntested=%s\nprotection=%s\nbytes=%" PRIu64 "\n",
	       d->pool, d->hba, d->keep_awake_why ?: "", d->wake_untested ? "yes" : "no",
	       d->protection, d->size_bytes);
}

static int ask_place(const char *name, bool wake_tested, char **words)
{
	_cleanup_(device_unrefp) Device *d = NULL;
	_cleanup_free_ char *text = NULL;
	double seconds;
	int r = find_device(name, wake_tested, &d);

	if (r < 0)
		return r;
	if (streq(words[0], "place")) {
		print_place(d);
		return 0;
	}
	if (!d->ops->may_sleep || !d->ops->wake_test)
		return -EOPNOTSUPP;
	r = streq(words[0], "may-sleep") ? d->ops->may_sleep(d, &text)
					 : d->ops->wake_test(d, &seconds, &text);
	printf("%s\n", text ?: "yes");
	return r;
}

static const struct {
	const char *name;
	int words;
	int (*ask)(const char *name, bool wake_tested, char **words);
} questions[] = {
	{ "conditions", 1, ask_condition }, { "get", 1, ask_condition },
	{ "set", 2, ask_condition },        { "probe", 1, ask_knob },
	{ "apply", 3, ask_knob },           { "read", 2, ask_knob },
	{ "place", 1, ask_place },          { "may-sleep", 1, ask_place },
	{ "wake-test", 1, ask_place },
};

int main(int argc, char **argv)
{
	bool wake_tested = argc > 1 && streq(argv[1], "--wake-tested");

	argc -= wake_tested;
	argv += wake_tested;
	for (size_t i = 0; argc > 2 && i < ELEMENTSOF(questions); i++) {
		int r;

		if (!streq(argv[2], questions[i].name) || argc != 2 + questions[i].words)
			continue;
		r = questions[i].ask(argv[1], wake_tested, argv + 2);
		if (r < 0)
			printf("%s\n", strerrorname_np(-r));
		return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	}
	fputs(help, stderr);
	return 2;
}
