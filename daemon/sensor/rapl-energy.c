/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Kernel Documentation/power/powercap/powercap.rst: a zone's name says what it is of; energy_uj
 * counts microjoules up to max_energy_range_uj and starts again at zero. The same package may be
 * there again by another way (intel-rapl-mmio), which is left out. */

#include "sensor/rapl-energy.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

typedef struct Zone {
	char *energy_path;
	bool memory; /* else a package */
	bool known;
	int64_t last_uj, range_uj;
} Zone;

struct RaplEnergy {
	Zone *zones;
	size_t n;
};

static int read_text(const char *folder, const char *zone, const char *attribute, char *buf,
		     size_t size)
{
	_cleanup_free_ char *path = text_printf("%s/%s/%s", folder, zone, attribute);

	return path ? read_attribute(path, buf, size) : -ENOMEM;
}

static int parse_uj(const char *text, int64_t *ret)
{
	unsigned long uj;
	int r = parse_unsigned(text, INT64_MAX, &uj);

	if (r >= 0)
		*ret = (int64_t)uj;
	return r;
}

static int add_zone(RaplEnergy *e, const char *folder, const char *name, bool memory)
{
	char range[32];
	Zone *z = ARRAY_GROW(e->zones, e->n);

	if (!z)
		return -ENOMEM;
	*z = (Zone){ .memory = memory,
		     .energy_path = text_printf("%s/%s/energy_uj", folder, name) };
	if (!z->energy_path)
		return -ENOMEM;
	if (read_text(folder, name, "max_energy_range_uj", range, sizeof(range)) >= 0)
		(void)parse_uj(range, &z->range_uj);
	return 0;
}

static int consider(RaplEnergy *e, const char *folder, const char *zone)
{
	char name[64];
	bool memory;

	if (strncmp(zone, "intel-rapl:", 11) != 0 ||
	    read_text(folder, zone, "name", name, sizeof(name)) < 0)
		return 0;
	memory = streq(name, "dram");
	return memory || strncmp(name, "package-", 8) == 0 ? add_zone(e, folder, zone, memory) : 0;
}

static int find_zones(RaplEnergy *e, const char *folder)
{
	_cleanup_closedir_ DIR *dir = opendir(folder);
	struct dirent *entry;
	int r = 0;

	if (!dir)
		return -errno;
	while (r >= 0 && (entry = readdir(dir)))
		r = consider(e, folder, entry->d_name);
	return r < 0 ? r : e->n ? 0 : -ENOENT;
}

int rapl_energy_open(const char *sysfs_root, RaplEnergy **ret)
{
	_cleanup_(rapl_energy_closep) RaplEnergy *e = calloc(1, sizeof(*e));
	_cleanup_free_ char *folder = text_printf("%s/class/powercap", sysfs_root);
	int r = e && folder ? find_zones(e, folder) : -ENOMEM;

	if (r < 0)
		return r;
	*ret = TAKE_PTR(e);
	return 0;
}

RaplEnergy *rapl_energy_close(RaplEnergy *e)
{
	if (!e)
		return NULL;
	for (size_t i = 0; i < e->n; i++)
		free(e->zones[i].energy_path);
	free(e->zones);
	free(e);
	return NULL;
}

/* What the zone has counted since the last call. */
static int read_zone(Zone *z, int64_t *ret_uj)
{
	bool was_known = z->known;
	char text[32];
	int64_t now_uj, passed_uj;
	int r = read_attribute(z->energy_path, text, sizeof(text));

	if (r >= 0)
		r = parse_uj(text, &now_uj);
	z->known = r >= 0;
	if (r < 0)
		return r;
	passed_uj = now_uj - z->last_uj;
	if (passed_uj < 0)
		passed_uj += z->range_uj;
	z->last_uj = now_uj;
	*ret_uj = was_known && passed_uj > 0 ? passed_uj : 0;
	return 0;
}

int rapl_energy_read(RaplEnergy *e, int64_t *ret_cpu_uj, int64_t *ret_memory_uj)
{
	int64_t cpu_uj = 0, memory_uj = 0, uj;
	bool any = false;

	for (size_t i = 0; i < e->n; i++) {
		if (read_zone(&e->zones[i], &uj) < 0)
			continue;
		any = true;
		*(e->zones[i].memory ? &memory_uj : &cpu_uj) += uj;
	}
	if (!any)
		return -ENODEV;
	*ret_cpu_uj = cpu_uj;
	*ret_memory_uj = memory_uj;
	return 0;
}
