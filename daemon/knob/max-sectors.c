/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Chunk: the largest IO that reaches the device. Larger ones are split, and their parts are
 * outstanding together, so this saves power only beside a cap on depth or rate. */

#include <errno.h>

#include "knob/attribute.h"
#include "knob/mechanisms.h"

/* From 6.12 every write makes the kernel choose the read-ahead anew (blk_apply_bdi_limits), also
 * where an administrator had set it. */
static const Companion companions[] = {
	{ "read_ahead_kb", "queue/read_ahead_kb", true },
};

static const AttributeGroup group = {
	.attr = "queue/max_sectors_kb",
	.companions = companions,
	.n_companions = ELEMENTSOF(companions),
};

/* The kernel takes no less than a page. */
static unsigned smallest_kib(void)
{
	return (unsigned)sysconf(_SC_PAGESIZE) / 1024;
}

static int max_sectors_read(Device *d, KnobValue *ret)
{
	return attribute_group_read(d, &group, ret);
}

static int max_sectors_probe(Device *d, Offer *offer, char **ret_why_not)
{
	unsigned found;

	if (attribute_read_unsigned(d, group.attr, &found) < 0)
		return not_offered(ret_why_not, "the size of its IO cannot be limited");
	if (found <= smallest_kib())
		return not_offered(ret_why_not, "its IO is of %u KiB at most already", found);
	offer->mechanisms |= MECHANISM_CHUNK;
	offer->chunk_min_kib = smallest_kib();
	offer->chunk_max_kib = found;
	return 0;
}

static int max_sectors_want(const Device *d, const Setting *s, const Mix *mix,
			    const KnobValue *original, KnobValue *ret)
{
	unsigned found;
	int r = value_head_unsigned(original, &found);

	(void)d;
	(void)mix;
	if (r < 0)
		return r;
	if (s->chunk_kib && s->chunk_kib < smallest_kib())
		return -ERANGE;
	if (s->chunk_kib && s->chunk_kib < found)
		return value_print(ret, "%u", s->chunk_kib);
	*ret = *original;
	return 0;
}

static int max_sectors_write(Device *d, const KnobValue *value)
{
	return attribute_group_write(d, &group, value);
}

const Knob knob_max_sectors = {
	.name = "max-sectors",
	.mechanism = MECHANISM_CHUNK,
	.exactness = EXACT,
	.freezes = true,
	.probe = max_sectors_probe,
	.read = max_sectors_read,
	.want = max_sectors_want,
	.write = max_sectors_write,
	.fulfils = value_same_head,
};
