/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The configuration and the profiles are read again while devices are managed. */

#include "test-hw-block.h"

typedef struct Node {
	Inventory *inventory;
	ProfileStore *profiles;
	Seen seen;
	char *folder; /* of the profiles */
} Node;

static void put_profile(const Node *n, const char *name, const char *rated)
{
	_cleanup_free_ char *path = text_printf("%s/%s.profile", n->folder, name);
	_cleanup_free_ char *text = text_printf("[profile]\nmatch = none\nkind = hdd\nrated = %s\n"
						"idle = 3W\n[points]\npoint = ps=0 qd=1 chunk=4K "
						"read random: 3.1W 1MB/s\n",
						rated);

	assert_int_equal(write_file_atomic(path, text, 0644), 0);
}

static ProfileStore *read_profiles(const Node *n)
{
	const char *const folders[] = { n->folder, NULL };
	ProfileStore *s;

	assert_int_equal(profile_store_read(folders, &s), 0);
	assert_int_equal(s->left_out, 0);
	return s;
}

static void begin(Node *n, const char *root, const BlockConfig *c)
{
	*n = (Node){ .folder = text_printf("%s/profiles", root) };
	make_scsi(root, "sda", "8:0");
	put_of(root, "sda", "queue/rotational", "1\n");
	put(root, "profiles/empty", "");
	put_profile(n, "one", "9W");
	put_profile(n, "two", "11W");
	n->profiles = read_profiles(n);
	n->inventory = open_with(root,
				 &(BlockOptions){ .configs = c,
						  .n_configs = c ? 1 : 0,
						  .profiles = n->profiles,
						  .discover = !c },
				 &n->seen);
}

static void again(Node *n, const BlockConfig *c)
{
	n->seen.added = n->seen.removed = n->seen.changed = n->seen.moved = n->seen.described = 0;
	assert_int_equal(
		block_inventory_configure(n->inventory, &(BlockOptions){ .configs = c,
									 .n_configs = c ? 1 : 0,
									 .profiles = n->profiles }),
		0);
}

static void end(Node *n)
{
	seen_free(&n->seen);
	inventory_free(n->inventory);
	profile_store_free(n->profiles);
	free(n->folder);
}

static void expect(const Seen *s, unsigned described, unsigned moved)
{
	assert_int_equal(s->described, described);
	assert_int_equal(s->moved, moved);
	assert_int_equal(s->changed + s->added + s->removed, 0);
}

static void a_section_that_says_the_same_changes_nothing(void **state)
{
	BlockConfig c = { .name = (char *)"sda", .group = (char *)"a", .profile = (char *)"one" };
	Node n;

	begin(&n, *state, &c);
	assert_int_equal(n.seen.added, 1);
	again(&n, &c);
	expect(&n.seen, 0, 0);
	end(&n);
}

static void another_group_or_component_is_a_move_and_gives_nothing_back(void **state)
{
	BlockConfig c = { .name = (char *)"sda", .group = (char *)"a", .profile = (char *)"one" };
	Node n;

	begin(&n, *state, &c);
	c.group = (char *)"b";
	again(&n, &c);
	expect(&n.seen, 0, 1);
	assert_string_equal(n.seen.device->group, "b");
	c.redirect = (char *)"none";
	again(&n, &c);
	expect(&n.seen, 0, 1);
	assert_string_equal(n.seen.device->redirect, "none");
	c.keep_awake = true;
	again(&n, &c);
	expect(&n.seen, 0, 1);
	assert_string_equal(n.seen.device->keep_awake_why, "the configuration keeps it awake");
	end(&n);
}

static void another_profile_describes_the_same_device(void **state)
{
	BlockConfig c = { .name = (char *)"sda", .profile = (char *)"one" };
	Device *d;
	Node n;

	begin(&n, *state, &c);
	d = n.seen.device;
	c.profile = (char *)"two";
	again(&n, &c);
	expect(&n.seen, 1, 0);
	assert_ptr_equal(n.seen.device, d);
	assert_true(d->profile->rated_w == 11);
	end(&n);
}

static void of_profiles_read_again_only_the_changed_one_is_another(void **state)
{
	BlockConfig c = { .name = (char *)"sda", .profile = (char *)"one" };
	const Profile *was, *other;
	ProfileStore *now;
	Node n;

	begin(&n, *state, &c);
	was = n.seen.device->profile;
	other = profile_store_get(n.profiles, "two");
	for (unsigned changed = 0; changed < 2; changed++) {
		put_profile(&n, "one", changed ? "10W" : "9W");
		now = read_profiles(&n);
		assert_int_equal(profile_store_succeed(now, n.profiles), 0);
		n.profiles = now;
		again(&n, &c);
		expect(&n.seen, changed, 0);
		assert_true((n.seen.device->profile == was) == !changed);
		assert_ptr_equal(profile_store_get(n.profiles, "two"), other);
	}
	assert_true(n.seen.device->profile->rated_w == 10);
	assert_true(was->rated_w == 9); /* for a worker that still looks at it */
	end(&n);
}

static void a_device_that_is_left_alone_from_now_on_is_given_back_and_then_forgotten(void **state)
{
	BlockConfig c = { .name = (char *)"sda", .profile = (char *)"one" };
	_cleanup_(device_unrefp) Device *d = NULL;
	Node n;

	begin(&n, *state, &c);
	d = device_ref(n.seen.device);
	c.unmanaged = true;
	again(&n, &c);
	assert_int_equal(n.seen.changed, 1);
	assert_int_equal(n.seen.removed, 0);
	assert_true(d->departing);
	assert_string_equal(d->protected_why, "is not managed any more");
	again(&n, &c); /* not twice */
	expect(&n.seen, 0, 0);
	assert_int_equal(inventory_departed(n.inventory, d), 0);
	again(&n, &c);
	expect(&n.seen, 0, 0);
	c.unmanaged = false;
	again(&n, &c);
	assert_int_equal(n.seen.added, 1);
	assert_ptr_not_equal(n.seen.device, d);
	end(&n);
}

static void without_discovery_what_no_section_names_is_given_back(void **state)
{
	Node n;

	begin(&n, *state, NULL);
	assert_int_equal(n.seen.added, 1);
	again(&n, NULL);
	assert_int_equal(n.seen.changed, 1);
	assert_true(n.seen.device->departing);
	end(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOT_TEST(a_section_that_says_the_same_changes_nothing),
		ROOT_TEST(another_group_or_component_is_a_move_and_gives_nothing_back),
		ROOT_TEST(another_profile_describes_the_same_device),
		ROOT_TEST(of_profiles_read_again_only_the_changed_one_is_another),
		ROOT_TEST(a_device_that_is_left_alone_from_now_on_is_given_back_and_then_forgotten),
		ROOT_TEST(without_discovery_what_no_section_names_is_given_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
