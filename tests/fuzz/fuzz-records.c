/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "base/records.h"
#include "base/text.h"
#include "fuzz.h"

typedef struct Thing {
	char *name, *note;
	uint64_t count;
	double number;
} Thing;

/* What is read is written again as the same kind. */
static int take_thing(void *record, void *writer);

static const RecordKind thing_kind = {
	.name = "thing",
	.size = sizeof(Thing),
	.take = take_thing,
	.fields = {
		FIELD(Thing, name, "name"),
		FIELD(Thing, count, "count"),
		FIELD(Thing, number, "number"),
		FIELD_OPTIONAL(Thing, note, "note"),
	},
};

static const RecordsFormat format = {
	.name = "things",
	.kinds = (const RecordKind *const[]){ &thing_kind, NULL },
	.loss = "lost",
};

static int take_thing(void *record, void *writer)
{
	const Thing *thing = record;

	fuzz_check(thing->name && isfinite(thing->number));
	records_add(writer, &thing_kind, thing);
	return 0;
}

static char *reread(const char *text, size_t n, int *ret_found, size_t *ret_n)
{
	RecordsWriter w;
	char *again = NULL;

	fuzz_check(records_begin(&w, format.name) == 0);
	*ret_found = records_read(&format, "fuzz", text, n, &w);
	fuzz_check(records_end(&w, &again, ret_n) == 0);
	return again;
}

/* Whatever the bytes hold, what is read of them reads back the same; and whatever bit of it is then
 * flipped, that is noticed. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t chance = fuzz_chance(data, size);
	_cleanup_free_ char *text = fuzz_sealed(data, &size), *once = NULL, *twice = NULL,
			    *less = NULL;
	size_t n, n_twice;
	int found;

	once = reread(text, size, &found, &n);
	twice = reread(once, n, &found, &n_twice);
	fuzz_check(found == 0 && n == n_twice && memcmp(once, twice, n) == 0);
	fuzz_flip_bit(once, n, chance);
	less = reread(once, n, &found, &n_twice);
	fuzz_check(found & RECORDS_DAMAGED && n_twice <= n);
	return 0;
}
