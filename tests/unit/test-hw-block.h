/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A made-up /sys and what the inventory tells of it. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/text.h"
#include "hw/block.h"

typedef struct Seen {
	unsigned added, removed, changed, moved, described;
	Device *device; /* the last one added */
} Seen;

static inline void see(Device *d, DeviceEvent event, void *userdata)
{
	Seen *s = userdata;

	s->added += event == DEVICE_ADDED;
	s->removed += event == DEVICE_REMOVED;
	s->changed += event == DEVICE_CHANGED;
	s->moved += event == DEVICE_MOVED;
	s->described += event == DEVICE_DESCRIBED;
	if (event == DEVICE_ADDED) {
		device_unref(s->device);
		s->device = device_ref(d);
	}
}

static inline void seen_free(Seen *s)
{
	s->device = device_unref(s->device);
}

/* A fake tree: every path is below *state. */

static inline int make_root(void **state)
{
	char *root = strdup("/tmp/storpower-block-XXXXXX");

	*state = root;
	return root && mkdtemp(root) ? 0 : -1;
}

static inline int remove_root(void **state)
{
	_cleanup_free_ char *root = *state;
	_cleanup_free_ char *command = text_printf("rm -rf '%s'", root);

	return strncmp(root, "/tmp/storpower-block-", 21) || !command ? -1 : system(command);
}

static inline void put(const char *root, const char *path, const char *text)
{
	_cleanup_free_ char *full = text_printf("%s/%s", root, path), *folder = strdup(full);

	*strrchr(folder, '/') = '\0';
	assert_int_equal(mkdir_parents(folder, 0755), 0);
	assert_int_equal(write_file_atomic(full, text, 0644), 0);
}

static inline void link_to(const char *root, const char *path, const char *target)
{
	_cleanup_free_ char *full = text_printf("%s/%s", root, path), *folder = strdup(full);
	_cleanup_free_ char *to = text_printf("%s/%s", root, target);

	*strrchr(folder, '/') = '\0';
	assert_int_equal(mkdir_parents(folder, 0755), 0);
	assert_int_equal(symlink(to, full), 0);
}

static inline void drop(const char *root, const char *path)
{
	_cleanup_free_ char *full = text_printf("%s/%s", root, path);

	assert_int_equal(unlink(full), 0);
}

/* block/NAME, class/block/NAME and dev/block/MAJ:MIN lead to devices/NAME. */
static inline void make_disk(const char *root, const char *name, const char *dev)
{
	_cleanup_free_ char *folder = text_printf("devices/%s", name);
	_cleanup_free_ char *attr = text_printf("%s/dev", folder);
	_cleanup_free_ char *block = text_printf("block/%s", name);
	_cleanup_free_ char *class = text_printf("class/block/%s", name);
	_cleanup_free_ char *number = text_printf("dev/block/%s", dev);

	put(root, attr, dev);
	link_to(root, block, folder);
	link_to(root, class, folder);
	link_to(root, number, folder);
}

static inline void put_of(const char *root, const char *name, const char *attr, const char *text)
{
	_cleanup_free_ char *path = text_printf("devices/%s/%s", name, attr);

	put(root, path, text);
}

/* A SATA or SAS disk: a SCSI device of type 0. */
static inline void make_scsi(const char *root, const char *name, const char *dev)
{
	_cleanup_free_ char *wwid = text_printf("naa.5000c500%s\n", name);

	make_disk(root, name, dev);
	put_of(root, name, "device/type", "0\n");
	put_of(root, name, "device/wwid", wwid);
}

static inline void make_partition(const char *root, const char *disk, const char *name,
				  const char *dev)
{
	_cleanup_free_ char *folder = text_printf("devices/%s/%s", disk, name);
	_cleanup_free_ char *attr = text_printf("%s/dev", folder);
	_cleanup_free_ char *number_attr = text_printf("%s/partition", folder);
	_cleanup_free_ char *class = text_printf("class/block/%s", name);
	_cleanup_free_ char *number = text_printf("dev/block/%s", dev);

	put(root, attr, dev);
	put(root, number_attr, "1\n");
	link_to(root, class, folder);
	link_to(root, number, folder);
}

/* The two directions of one layer. */
static inline void stack_on(const char *root, const char *lower, const char *lower_path,
			    const char *upper)
{
	_cleanup_free_ char *slave = text_printf("devices/%s/slaves/%s", upper, lower);
	_cleanup_free_ char *holder = text_printf("devices/%s/holders/%s", lower_path, upper);
	_cleanup_free_ char *below = text_printf("devices/%s", lower_path);
	_cleanup_free_ char *above = text_printf("devices/%s", upper);

	link_to(root, slave, below);
	link_to(root, holder, above);
}

/* As the kernel links them; bcache0 is made, and lies on the backing device, which need not be a
 * disk. */
static inline void link_bcache(const char *root, const char *backing, const char *cache)
{
	_cleanup_free_ char *in_set = text_printf("devices/%s/bcache", cache);
	_cleanup_free_ char *in_backing = text_printf("devices/%s/bcache", backing);
	_cleanup_free_ char *set = text_printf("%s/set", in_set);
	_cleanup_free_ char *dev = text_printf("%s/dev", in_backing);

	make_disk(root, "bcache0", "252:0");
	stack_on(root, backing, backing, "bcache0");
	put_of(root, backing, "bcache/state", "dirty\n");
	put_of(root, cache, "bcache/written", "0\n");
	put(root, "fs/bcache/11-22/average_key_size", "0\n");
	link_to(root, "fs/bcache/11-22/cache0", in_set);
	link_to(root, "fs/bcache/11-22/bdev0", in_backing);
	link_to(root, dev, "devices/bcache0");
	link_to(root, "devices/bcache0/bcache", in_backing);
	link_to(root, set, "fs/bcache/11-22");
}

static inline Inventory *open_with(const char *root, const BlockOptions *options, Seen *seen)
{
	Inventory *i;

	*seen = (Seen){ 0 };
	assert_int_equal(block_inventory_open(root, options, &i), 0);
	assert_int_equal(inventory_start(i, see, seen), 0);
	return i;
}

/* Just the device of that name. */
static inline Inventory *open_one(const char *root, const char *name, Seen *seen)
{
	const BlockConfig config = { .name = (char *)name, .group = (char *)"rack1" };

	return open_with(root, &(BlockOptions){ .configs = &config, .n_configs = 1 }, seen);
}

/* All that is found by itself. */
static inline Inventory *open_all(const char *root, Seen *seen)
{
	return open_with(root, &(BlockOptions){ .discover = true }, seen);
}

#define ROOT_TEST(f) cmocka_unit_test_setup_teardown(f, make_root, remove_root)
