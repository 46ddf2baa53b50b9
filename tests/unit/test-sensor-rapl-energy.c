/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What processors and memory have drawn, on a fake sysfs. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/text.h"
#include "sensor/rapl-energy.h"

#define POWERCAP "class/powercap/"

static void put(const char *root, const char *file, const char *text)
{
	_cleanup_free_ char *path = text_printf("%s/" POWERCAP "%s", root, file);
	_cleanup_free_ char *folder = strdup(path);

	*strrchr(folder, '/') = '\0';
	assert_int_equal(mkdir_parents(folder, 0755), 0);
	assert_int_equal(write_file_atomic(path, text, 0644), 0);
}

static void put_zone(const char *root, const char *zone, const char *name, const char *energy_uj)
{
	_cleanup_free_ char *named = text_printf("%s/name", zone);
	_cleanup_free_ char *energy = text_printf("%s/energy_uj", zone);
	_cleanup_free_ char *range = text_printf("%s/max_energy_range_uj", zone);

	put(root, named, name);
	put(root, energy, energy_uj);
	put(root, range, "1000000\n");
}

static int make_root(void **state)
{
	char *root = strdup("/tmp/storpower-rapl-XXXXXX");

	assert_non_null(mkdtemp(root));
	*state = root;
	return 0;
}

static int remove_root(void **state)
{
	_cleanup_free_ char *root = *state, *command = text_printf("rm -r %s", root);

	assert_int_equal(system(command), 0);
	return 0;
}

/* Two packages with their memory, as a server has them, and what must not be counted twice. */
static void put_server(const char *root)
{
	put_zone(root, "intel-rapl:0", "package-0\n", "100\n");
	put_zone(root, "intel-rapl:0:0", "core\n", "50\n");
	put_zone(root, "intel-rapl:0:1", "dram\n", "10\n");
	put_zone(root, "intel-rapl:1", "package-1\n", "200\n");
	put_zone(root, "intel-rapl:1:1", "dram\n", "20\n");
	put_zone(root, "intel-rapl:2", "psys\n", "5000\n");
	put_zone(root, "intel-rapl-mmio:0", "package-0\n", "100\n");
}

static void packages_and_memory_are_counted_once_each(void **state)
{
	_cleanup_(rapl_energy_closep) RaplEnergy *e = NULL;
	int64_t cpu_uj = -1, memory_uj = -1;

	put_server(*state);
	assert_int_equal(rapl_energy_open(*state, &e), 0);
	assert_int_equal(rapl_energy_read(e, &cpu_uj, &memory_uj), 0);
	assert_true(cpu_uj == 0 && memory_uj == 0); /* since when is not known */
	put(*state, "intel-rapl:0/energy_uj", "400\n");
	put(*state, "intel-rapl:0:0/energy_uj", "90\n");
	put(*state, "intel-rapl:0:1/energy_uj", "12\n");
	put(*state, "intel-rapl:1/energy_uj", "250\n");
	put(*state, "intel-rapl:2/energy_uj", "9000\n");
	put(*state, "intel-rapl-mmio:0/energy_uj", "400\n");
	assert_int_equal(rapl_energy_read(e, &cpu_uj, &memory_uj), 0);
	assert_int_equal(cpu_uj, 350);
	assert_int_equal(memory_uj, 2);
}

static void a_counter_that_starts_again_loses_nothing(void **state)
{
	_cleanup_(rapl_energy_closep) RaplEnergy *e = NULL;
	int64_t cpu_uj, memory_uj;

	put_zone(*state, "intel-rapl:0", "package-0\n", "999900\n");
	assert_int_equal(rapl_energy_open(*state, &e), 0);
	assert_int_equal(rapl_energy_read(e, &cpu_uj, &memory_uj), 0);
	put(*state, "intel-rapl:0/energy_uj", "50\n");
	assert_int_equal(rapl_energy_read(e, &cpu_uj, &memory_uj), 0);
	assert_int_equal(cpu_uj, 150);
}

static void a_zone_that_cannot_be_read_for_a_while_invents_nothing(void **state)
{
	_cleanup_(rapl_energy_closep) RaplEnergy *e = NULL;
	int64_t cpu_uj, memory_uj;

	put_zone(*state, "intel-rapl:0", "package-0\n", "100\n");
	assert_int_equal(rapl_energy_open(*state, &e), 0);
	assert_int_equal(rapl_energy_read(e, &cpu_uj, &memory_uj), 0);
	put(*state, "intel-rapl:0/energy_uj", "no number\n");
	assert_int_equal(rapl_energy_read(e, &cpu_uj, &memory_uj), -ENODEV);
	put(*state, "intel-rapl:0/energy_uj", "700\n");
	assert_int_equal(rapl_energy_read(e, &cpu_uj, &memory_uj), 0);
	assert_int_equal(cpu_uj, 0);
	put(*state, "intel-rapl:0/energy_uj", "800\n");
	assert_int_equal(rapl_energy_read(e, &cpu_uj, &memory_uj), 0);
	assert_int_equal(cpu_uj, 100);
}

static void a_machine_without_rapl_says_so(void **state)
{
	RaplEnergy *e = NULL;

	assert_int_equal(rapl_energy_open(*state, &e), -ENOENT);
	put_zone(*state, "intel-rapl:0", "psys\n", "100\n");
	assert_int_equal(rapl_energy_open(*state, &e), -ENOENT);
	assert_null(e);
}

int main(void)
{
#define ON_SYSFS(f) cmocka_unit_test_setup_teardown(f, make_root, remove_root)
	const struct CMUnitTest tests[] = {
		ON_SYSFS(packages_and_memory_are_counted_once_each),
		ON_SYSFS(a_counter_that_starts_again_loses_nothing),
		ON_SYSFS(a_zone_that_cannot_be_read_for_a_while_invents_nothing),
		ON_SYSFS(a_machine_without_rapl_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
