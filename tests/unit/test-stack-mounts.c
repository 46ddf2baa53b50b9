/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The tables of mounts and swaps, with what is strange in them. */

#include "test-hw-block.h"

#include "stack/mounts.h"

/* "POINT TYPE SOURCE MAJ:MIN ROOT" in lines */
static int print_entry(const MountEntry *entry, void *out)
{
	fprintf(out, "%s|%s|%s|%u:%u|%s\n", entry->point, entry->type, entry->source,
		major(entry->devnum), minor(entry->devnum), entry->root);
	return 0;
}

static void expect_table(const char *root, typeof(mounts_each) each, const char *table,
			 const char *wanted)
{
	_cleanup_free_ char *path = text_printf("%s/table", root), *found = NULL;
	size_t size;
	FILE *out = open_memstream(&found, &size);

	put(root, "table", table);
	assert_int_equal(each(path, print_entry, out), 0);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(found, wanted);
}

static void mounts_come_as_they_are(void **state)
{
	expect_table(
		*state, mounts_each,
		"22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
		"23 22 0:25 /@home /home rw shared:2 master:3 - btrfs /dev/sdb rw,subvol=/@home\n"
		"24 22 8:1 /srv/my\\040data /export\\134a\\011b rw - ext4 /dev/sda1 rw\n"
		"25 22 0:26 / /a\\040-\\040b rw - fuse.x a\\040-\\040b rw\n",
		"/|ext4|/dev/sda1|8:1|/\n"
		"/home|btrfs|/dev/sdb|0:25|/@home\n"
		"/export\\a\tb|ext4|/dev/sda1|8:1|/srv/my data\n"
		"/a - b|fuse.x|a - b|0:26|/\n");
}

static void an_automount_and_what_it_mounted_are_two(void **state)
{
	expect_table(*state, mounts_each,
		     "22 1 0:40 / /boot rw - autofs systemd-1 rw,fd=29,direct\n"
		     "23 22 8:1 / /boot rw - vfat /dev/sda1 rw\n",
		     "/boot|autofs|systemd-1|0:40|/\n"
		     "/boot|vfat|/dev/sda1|8:1|/\n");
}

/* One overlay of many layers has more options than fit into a page. */
static void options_may_be_long_and_a_line_torn(void **state)
{
	_cleanup_free_ char *table = NULL;
	char layers[20000];

	memset(layers, 'l', sizeof(layers) - 1);
	layers[sizeof(layers) - 1] = '\0';
	table = text_printf("22 1 0:40 / / rw - overlay overlay rw,lowerdir=%s\n"
			    "torn line\n"
			    "23 22 0:41 / /nothing rw - tmpfs  rw\n"
			    "24 22 8:1 / /boot rw - vfat /dev/sda1 rw",
			    layers);
	expect_table(*state, mounts_each, table,
		     "/|overlay|overlay|0:40|/\n"
		     "/nothing|tmpfs||0:41|/\n"
		     "/boot|vfat|/dev/sda1|8:1|/\n");
}

static void swaps_are_files_and_partitions(void **state)
{
	expect_table(*state, swaps_each,
		     "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
		     "/dev/sdb2                               partition\t1048572\t\t0\t\t-2\n"
		     "/my\\040swap\\040file\\040(deleted)           file\t\t1048572\t\t0\t\t-3\n"
		     "/torn\n",
		     "|partition|/dev/sdb2|0:0|\n"
		     "|file|/my swap file|0:0|\n");
	expect_table(*state, swaps_each, "", "");
}

static int stop_at_boot(const MountEntry *entry, void *n_seen)
{
	++*(unsigned *)n_seen;
	return streq(entry->point, "/boot") ? 7 : 0;
}

static void reading_ends_when_told_and_says_what_it_was_told(void **state)
{
	const char *root = *state;
	_cleanup_free_ char *path = text_printf("%s/table", root);
	unsigned n_seen = 0;

	assert_int_equal(mounts_each(path, stop_at_boot, &n_seen), -ENOENT);
	put(root, "table",
	    "1 1 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 8:2 / /boot rw - ext4 /dev/sda2 rw\n"
	    "3 1 8:3 / /srv rw - ext4 /dev/sda3 rw\n");
	assert_int_equal(mounts_each(path, stop_at_boot, &n_seen), 7);
	assert_int_equal(n_seen, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOT_TEST(mounts_come_as_they_are),
		ROOT_TEST(an_automount_and_what_it_mounted_are_two),
		ROOT_TEST(options_may_be_long_and_a_line_torn),
		ROOT_TEST(swaps_are_files_and_partitions),
		ROOT_TEST(reading_ends_when_told_and_says_what_it_was_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
