/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stack/tier.h"

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/sysfs.h"
#include "base/text.h"
#include "stack/dm-table.h"
#include "stack/pool-list.h"
#include "stack/topology-read.h"

/* Of a mapped device, its cache is among what it lies on. */
static bool is_cache_of(const PoolList *p, const char *disk, const char *device)
{
	for (size_t i = 0; i < p->n_caches; i++)
		if (streq(p->caches[i].device, device) && names_have(&p->caches[i].disks, disk))
			return true;
	return false;
}

static char *find(const Topology *t, const char *disk, bool behind)
{
	_cleanup_(names_done) Names found = {};
	_cleanup_free_ char *text = strdup("");
	const PoolList *p = t->pools;
	int r = text ? pool_list_find(t->sysfs_root, POOL_OF_SPINDLES, t->pools) : -ENOMEM;

	for (size_t i = 0; i < p->n_caches && r >= 0; i++) {
		const Cache *c = &p->caches[i];
		bool caches = is_cache_of(p, disk, c->device);

		if (behind ? !caches && names_have(&c->behind, disk) : caches)
			r = names_add(&found, c->device);
	}
	for (size_t i = 0; i < found.n && r >= 0; i++)
		r = text_add_words(&text, found.list[i]);
	return r < 0 ? NULL : TAKE_PTR(text);
}

char *tier_cached_by(const Topology *t, const char *disk)
{
	return find(t, disk, false);
}

char *tier_behind(const Topology *t, const char *disk)
{
	return find(t, disk, true);
}

/* drivers/md/bcache/stats.c */
static int add_count(const char *folder, const char *name, uint64_t *sum)
{
	_cleanup_free_ char *attr = text_printf("bcache/stats_total/%s", name);
	char text[32];
	unsigned long n;

	if (!attr)
		return -ENOMEM;
	sysfs_attribute("", folder, attr, text, sizeof(text));
	if (parse_unsigned(text, UINT64_MAX, &n) < 0)
		return -ENODATA;
	*sum += n;
	return 0;
}

static int count_bcache(const char *folder, CacheReads *ret)
{
	CacheReads reads = {};
	int r = add_count(folder, "cache_hits", &reads.hits)
			?: add_count(folder, "cache_bypass_hits", &reads.hits)
			?: add_count(folder, "cache_misses", &reads.misses)
			?: add_count(folder, "cache_bypass_misses", &reads.misses);

	if (r >= 0)
		*ret = reads;
	return r;
}

/* Documentation/admin-guide/device-mapper of the kernel. cache: BLOCK-SIZE USED/ALL BLOCK-SIZE
 * USED/ALL READ-HITS READ-MISSES ...; writecache: ERROR BLOCKS FREE WRITEBACK READ-BLOCKS
 * HIT-BLOCKS ..., since 5.15. */
int tier_parse_status(const DmTable *status, CacheReads *ret)
{
	unsigned long long reads, hits, misses;

	if (streq(status->target, "cache") &&
	    sscanf(status->parameters, "%*u %*u/%*u %*u %*u/%*u %llu %llu", &hits, &misses) == 2) {
		*ret = (CacheReads){ hits, misses };
		return 0;
	}
	if (streq(status->target, "writecache") &&
	    sscanf(status->parameters, "%*u %*u %*u %*u %llu %llu", &reads, &hits) == 2 &&
	    hits <= reads) {
		*ret = (CacheReads){ hits, reads - hits };
		return 0;
	}
	return -ENODATA;
}

int tier_count_reads(const char *sysfs_root, const char *device, CacheReads *ret)
{
	_cleanup_free_ char *folder = topology_folder(sysfs_root, device);
	DmTable status;

	if (!folder)
		return -ENODATA;
	if (folder_has(folder, "bcache"))
		return count_bcache(folder, ret);
	if (!folder_has(folder, "dm") || !streq(sysfs_root, "/sys") ||
	    dm_table_read(sysfs_devnum("", folder), DM_STATUS, &status) < 0)
		return -ENODATA;
	return tier_parse_status(&status, ret);
}
