/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Every knob on every kind of simulated device: the same knobs, which cannot tell. The devices are
 * idle, since a disk with work wakes. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/text.h"
#include "redirect/knob-registry.h"
#include "sim/simulated.h"

#define DEVICES_MAX 64
#define KNOBS_MAX   32

static uint64_t virtual_now(void *userdata)
{
	return *(uint64_t *)userdata;
}

static void virtual_sleep(void *userdata, uint64_t us)
{
	*(uint64_t *)userdata += us;
}

typedef struct Rig {
	uint64_t now;
	Clock clock;
	ProfileStore *profiles;
	Inventory *node;
	Device *devices[DEVICES_MAX];
	size_t n_devices;
} Rig;

static void appear(Device *d, DeviceEvent event, void *userdata)
{
	Rig *rig = userdata;

	if (event == DEVICE_ADDED && rig->n_devices < DEVICES_MAX)
		rig->devices[rig->n_devices++] = d;
}

static const char node_text[] =
	"[node]\nname = idle\nseed = 1\n"
	"[devices flash]\nprofile = samsung-pm9a3\nqueues = 4\npower_limit = yes\ndemand = idle\n"
	"[devices ssd]\nprofile = intel-d3-s4510\ndemand = idle\n"
	"[devices disk]\nprofile = seagate-exos-7e2000\ncache = flash\ncache_size = 10G\n"
	"demand = idle\n";

static int open_node(Rig *rig)
{
	char path[] = "/tmp/storpower-idle-XXXXXX";
	_cleanup_close_ int fd = mkstemp(path);
	int r;

	if (fd < 0)
		return -errno;
	r = write(fd, node_text, strlen(node_text)) < 0
		    ? -errno
		    : sim_node_open(path, NULL, rig->profiles, &rig->clock, &rig->node);
	unlink(path);
	return r;
}

static int set_up(void **state)
{
	static const char *const directories[] = { "policies/profiles", NULL };
	Rig *rig = calloc(1, sizeof(*rig));

	*state = rig;
	if (!rig || profile_store_read(directories, &rig->profiles) < 0)
		return -1;
	rig->now = USEC_PER_SEC;
	rig->clock = (Clock){ virtual_now, virtual_sleep, &rig->now };
	return open_node(rig) < 0 || inventory_start(rig->node, appear, rig) < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	Rig *rig = *state;

	inventory_free(rig->node);
	profile_store_free(rig->profiles);
	free(rig);
	return 0;
}

/* The narrowest setting that the offer allows, by every mechanism at once. */
static Setting narrowest(const Offer *o)
{
	Setting s = SETTING_AS_FOUND;

	for (int n = 0; n < 32; n++)
		if (o->power_states >> n & 1)
			s.power_state = n;
	for (int c = 0; c < _CONDITION_MAX; c++)
		if (o->conditions >> c & 1)
			s.condition = (Condition)c;
	if (o->mechanisms & MECHANISM_LINK)
		s.link = LINK_MEDIUM_DIPM;
	if (o->mechanisms & MECHANISM_REDIRECT)
		s.redirect = REDIRECT_HOLD;
	s.limit_w = o->limit_min_w;
	s.depth = o->depth_one ? 1 : o->depth_min;
	s.chunk_kib = o->chunk_min_kib;
	s.pace_w = o->pace_min_w;
	return s;
}

static unsigned there_and_back(Rig *rig, Device *d)
{
	static const Setting as_found = SETTING_AS_FOUND;
	KnobValue original[KNOBS_MAX], wanted;
	unsigned mechanisms;
	Offer offer = { 0 };
	Setting s;
	int r;

	for (size_t i = 0; i < knob_count(); i++)
		if (knob_registry[i]->probe(d, &offer, NULL) >= 0)
			assert_int_equal(knob_registry[i]->read(d, &original[i]), 0);
		else
			*original[i].text = '\0';
	s = narrowest(&offer);
	mechanisms = setting_mechanisms(&s);
	for (int back = 0; back < 2; back++)
		for (size_t i = 0; i < knob_count(); i++) {
			const Knob *k = knob_registry[i];

			if (!*original[i].text)
				continue;
			assert_int_equal(knob_want(k, d, back ? &as_found : &s, &MIX_UNKNOWN,
						   &original[i], &wanted),
					 0);
			r = knob_apply(k, d, &wanted, NULL);
			if (r < 0)
				fail_msg("%s: %s does not take %s: %s", d->name, k->name,
					 wanted.text, strerror(-r));
			rig->now += 60 * USEC_PER_SEC;
		}
	return mechanisms;
}

/* io.cost has no line for a device until it is first used, and then keeps one. */
static void drop_cost_lines(char *text)
{
	char *to = text;

	for (char *line = text, *next; *line; line = next) {
		next = strchrnul(line, '\n');
		next += *next == '\n';
		if (memmem(line, (size_t)(next - line), "io.cost", strlen("io.cost")))
			continue;
		memmove(to, line, (size_t)(next - line));
		to += next - line;
	}
	*to = '\0';
}

static void every_mechanism_goes_there_and_back(void **state)
{
	Rig *rig = *state;
	_cleanup_free_ char *before = NULL, *after = NULL;
	unsigned mechanisms = 0;

	assert_int_equal(rig->n_devices, 3);
	assert_int_equal(sim_node_dump(rig->node, &before), 0);
	for (size_t i = 0; i < rig->n_devices; i++)
		mechanisms |= there_and_back(rig, rig->devices[i]);
	assert_int_equal(sim_node_dump(rig->node, &after), 0);
	drop_cost_lines(before);
	drop_cost_lines(after);
	assert_string_equal(before, after);
	assert_int_equal(mechanisms, MECHANISM_ALL);
}

static void an_ignoring_device_is_found_out(void **state)
{
	Rig *rig = *state;
	unsigned tried = 0;

	for (size_t i = 0; i < rig->n_devices; i++) {
		const Knob *k = knob_find("max-sectors");
		Device *d = rig->devices[i];
		KnobValue small = { "64" };

		assert_int_equal(sim_node_inject(rig->node, d->name, SIM_IGNORE), 0);
		assert_int_equal(knob_apply(k, d, &small, NULL), -EREMOTEIO);
		assert_int_equal(sim_node_inject(rig->node, d->name, SIM_REFUSE), 0);
		assert_int_equal(knob_apply(k, d, &small, NULL), -EIO);
		assert_int_equal(sim_node_inject(rig->node, d->name, SIM_HEALTHY), 0);
		assert_int_equal(knob_apply(k, d, &small, NULL), 0);
		tried++;
	}
	assert_true(tried >= 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_mechanism_goes_there_and_back, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(an_ignoring_device_is_found_out, set_up, tear_down),
	};

	log_set_max_level(LOG_ERR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
