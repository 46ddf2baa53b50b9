/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hw/block-place.h"

#include <errno.h>
#include <string.h>

#include "base/printable.h"
#include "base/text.h"
#include "stack/pool.h"
#include "stack/protect.h"
#include "stack/tier.h"

static const char *why_protected(const BlockInventory *b, const BlockSlot *s)
{
	const char *why = NULL;

	if (!is_nvme_controller(s->name))
		return stack_why_protected(b->topology, s->name);
	for (size_t i = 0; i < s->subsystem.n_paths && !why; i++)
		why = stack_why_protected(b->topology, s->subsystem.paths[i].head);
	return why;
}

/* What lies on a controller is what lies on its namespaces. */
static char *stack_of(const BlockInventory *b, const BlockSlot *s)
{
	const NvmeSubsystem *n = &s->subsystem;
	_cleanup_free_ char *text = NULL;

	if (!is_nvme_controller(s->name))
		return topology_stack(b->topology, s->name);
	if (n->n_heads == 1)
		return topology_stack(b->topology, n->paths[0].head);
	text = strdup("");
	for (size_t i = 0; i < n->n_paths; i = nvme_subsystem_next_head(n, i)) {
		const char *name = n->paths[i].head;
		_cleanup_free_ char *one = topology_stack(b->topology, name), *before = text;

		text = one && *one ? text_printf("%s%s%s: %s", before ?: "",
						 before && *before ? "; " : "", name, one)
				   : TAKE_PTR(before);
	}
	return TAKE_PTR(text);
}

static char *pool_of(const BlockInventory *b, const BlockSlot *s)
{
	const NvmeSubsystem *n = &s->subsystem;

	if (s->config && s->config->pool)
		return strdup(s->config->pool);
	if (!is_nvme_controller(s->name))
		return pool_name(b->topology, s->name);
	return n->n_heads == 1 ? pool_name(b->topology, n->paths[0].head) : strdup("");
}

/* Which devices with a cache are told of it, or of each of its namespaces. */
static char *tiers_of(const BlockInventory *b, const BlockSlot *s,
		      char *(*find)(const Topology *t, const char *disk))
{
	const NvmeSubsystem *n = &s->subsystem;
	_cleanup_free_ char *text = NULL;

	if (!is_nvme_controller(s->name))
		return find(b->topology, s->name);
	text = strdup("");
	for (size_t i = 0; i < n->n_paths && text; i = nvme_subsystem_next_head(n, i)) {
		_cleanup_free_ char *one = find(b->topology, n->paths[i].head);

		if (!one || text_add_words(&text, one) < 0)
			return NULL;
	}
	return TAKE_PTR(text);
}

static int find_redirect(const BlockInventory *b, const BlockSlot *s, char **ret_why)
{
	char *why = NULL;
	int r = 0;

	if (!is_nvme_controller(s->name))
		return pool_redirect_target(b->topology, s->name, ret_why);
	for (size_t i = 0; i < s->subsystem.n_paths && !why && r >= 0; i++)
		r = pool_redirect_target(b->topology, s->subsystem.paths[i].head, &why);
	if (r >= 0)
		*ret_why = why;
	return r;
}

static int find_keep_awake(const BlockInventory *b, const BlockSlot *s, char **ret_why)
{
	char *why;

	if (!s->config || !s->config->keep_awake)
		return find_redirect(b, s, ret_why);
	why = strdup("the configuration keeps it awake");
	if (!why)
		return -ENOMEM;
	*ret_why = why;
	return 0;
}

void block_place_done(BlockPlace *p)
{
	free(p->stack);
	free(p->pool);
	free(p->protection);
	free(p->cached_by_it);
	free(p->behind);
	free(p->keep_awake_why);
	free(p->protected_why);
}

static void make_place_printable(BlockPlace *p)
{
	make_printable(p->stack);
	make_printable(p->pool);
	if (p->keep_awake_why)
		make_printable(p->keep_awake_why);
}

/* Kernel Documentation/ABI/stable/sysfs-block: in units of 512 bytes. */
static uint64_t size_of_block(const BlockInventory *b, const char *name)
{
	char text[32];
	unsigned long sectors = 0;

	block_attribute(b->sysfs_root, name, "size", text, sizeof(text));
	return parse_unsigned(text, UINT64_MAX / 512, &sectors) < 0 ? 0 : sectors * 512ULL;
}

/* Several paths lead to one namespace, or one to each. */
static uint64_t size_of(const BlockInventory *b, const BlockSlot *s)
{
	const NvmeSubsystem *n = &s->subsystem;
	uint64_t sum = 0;

	if (!is_nvme_controller(s->name))
		return size_of_block(b, s->name);
	for (size_t i = 0; i < n->n_paths; i++)
		if (i == 0 || n->n_heads == n->n_paths)
			sum += size_of_block(b, n->paths[i].head);
	return sum;
}

static int fill_place(const BlockInventory *b, const BlockSlot *s, BlockPlace *p)
{
	const char *why = why_protected(b, s);
	int r = find_keep_awake(b, s, &p->keep_awake_why);

	if (r < 0)
		return r;
	p->stack = stack_of(b, s);
	p->pool = pool_of(b, s);
	p->protection = pool_protection(b->sysfs_root, p->pool ?: "");
	p->cached_by_it = tiers_of(b, s, tier_cached_by);
	p->behind = tiers_of(b, s, tier_behind);
	p->size_bytes = size_of(b, s);
	p->protected_why = why ? strdup(why) : NULL;
	if (!p->stack || !p->pool || !p->protection || !p->cached_by_it || !p->behind ||
	    !why != !p->protected_why)
		return -ENOMEM;
	make_place_printable(p);
	return 0;
}

int block_place_find(const BlockInventory *b, const BlockSlot *s, BlockPlace *ret)
{
	BlockPlace p = {};
	int r = fill_place(b, s, &p);

	if (r < 0) {
		block_place_done(&p);
		return r;
	}
	*ret = p;
	return 0;
}

static void swap_texts(char **a, char **b)
{
	char *was = *a;

	*a = *b;
	*b = was;
}

void block_place_swap(BlockPlace *p, Device *d)
{
	swap_texts(&p->stack, &d->stack);
	swap_texts(&p->pool, &d->pool);
	swap_texts(&p->protection, &d->protection);
	swap_texts(&p->cached_by_it, &d->cached_by_it);
	swap_texts(&p->behind, &d->behind);
	d->size_bytes = p->size_bytes;
	swap_texts(&p->keep_awake_why, &d->keep_awake_why);
	swap_texts(&p->protected_why, &d->protected_why);
}
