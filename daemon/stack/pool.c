/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stack/pool.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "stack/pool-list.h"

static int list_of(const Topology *t, const PoolList **ret)
{
	int r = t->pools->found ? 0 : pool_list_find(t->sysfs_root, t->pools);

	*ret = t->pools;
	return r;
}

char *pool_name(const Topology *t, const char *disk)
{
	const PoolList *p;

	if (list_of(t, &p) < 0)
		return NULL;
	for (size_t i = 0; i < p->n; i++)
		if (names_have(&p->list[i].disks, disk))
			return strdup(p->list[p->list[i].largest].name);
	return strdup("");
}

int pool_redirect_target(const Topology *t, const char *disk, char **ret_why)
{
	_cleanup_free_ char *why = NULL;
	Names of = {};
	const PoolList *p;
	int r = list_of(t, &p);

	for (size_t i = 0; r >= 0 && i < p->n_caches; i++)
		if (names_have(&p->caches[i].disks, disk))
			r = names_add(&of, p->caches[i].of);
	for (size_t i = 0; i < of.n && r >= 0; i++) {
		_cleanup_free_ char *before = why;

		why = text_printf("%s%s%s", before ?: "it is the cache of ", before ? ", " : "",
				  of.list[i]);
		r = why ? 0 : -ENOMEM;
	}
	names_done(&of);
	if (r < 0)
		return r;
	*ret_why = TAKE_PTR(why);
	return 0;
}
