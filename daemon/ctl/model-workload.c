/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "ctl/ctl-model.h"
#include "ctl/table.h"

#define DEEPEST     65536
#define LARGEST_KIB 65536

static bool parse_share(const char *text, double *ret)
{
	const char *unit;
	double percent;

	if (parse_quantity(text, &percent, &unit) < 0 || !streq(unit, "%") || percent < 0 ||
	    percent > 100)
		return false;
	*ret = percent / 100;
	return true;
}

static bool parse_chunk(const char *text, Mix *mix)
{
	uint64_t bytes;

	if (parse_bytes(text, &bytes) < 0 || bytes < 512 || bytes > LARGEST_KIB * 1024ULL)
		return false;
	mix->read_kib = mix->write_kib = (double)bytes / 1024;
	return true;
}

static bool parse_depth(const char *text, Mix *mix)
{
	unsigned long depth;

	if (parse_unsigned(text, DEEPEST, &depth) < 0 || depth < 1)
		return false;
	mix->depth = (double)depth;
	return true;
}

static bool parse_word(const char *word, Mix *mix)
{
	const char *is = strchr(word, '='), *value = is ? is + 1 : "";
	size_t n = is ? (size_t)(is - word) : 0;

	if (n == 4 && !strncmp(word, "read", n))
		return parse_share(value, &mix->read_share);
	if (n == 6 && !strncmp(word, "random", n))
		return parse_share(value, &mix->random_share);
	if (n == 5 && !strncmp(word, "chunk", n))
		return parse_chunk(value, mix);
	return n == 5 && !strncmp(word, "depth", n) && parse_depth(value, mix);
}

int model_workload(const Ctl *c, Mix *ret)
{
	_cleanup_(strv_freep) char **words = NULL;
	Mix mix = MIX_UNKNOWN;

	if (c->model.workload) {
		words = strv_split(c->model.workload);
		if (!words)
			return complain(STATUS_FAILURE, "Out of memory");
	}
	for (char **w = words; w && *w; w++)
		if (!parse_word(*w, &mix))
			return complain(STATUS_USAGE,
					"--workload: \"%s\" is not understood: read=70%%, "
					"random=100%%, chunk=16K (512 bytes to 64M) and depth=32 "
					"(1 to 65536) would be right, with blanks between",
					*w);
	*ret = mix;
	return STATUS_OK;
}

static const char *some_of(char *buf, size_t size, double share, const char *what)
{
	if (share >= 0.995)
		snprintf(buf, size, "all %s", what);
	else if (share < 0.005)
		snprintf(buf, size, "no %s", what);
	else
		snprintf(buf, size, "%.0f %% %s", 100 * share, what);
	return buf;
}

static const char *sizes_of(char *buf, size_t size, const Mix *mix)
{
	char read[32], write[32];

	format_bytes(read, sizeof(read), mix->read_kib * 1024);
	format_bytes(write, sizeof(write), mix->write_kib * 1024);
	if (mix->read_share <= 0)
		snprintf(buf, size, "%s", write);
	else if (mix->read_share >= 1 || streq(read, write))
		snprintf(buf, size, "%s", read);
	else
		snprintf(buf, size, "reads of %s, writes of %s", read, write);
	return buf;
}

char *model_workload_text(char *buf, size_t size, const Mix *mix)
{
	char reads[32], random[32], sizes[96];

	snprintf(buf, size, "%s, %s, %s, %.3g outstanding",
		 some_of(reads, sizeof(reads), mix->read_share, "reads"),
		 some_of(random, sizeof(random), mix->random_share, "random"),
		 sizes_of(sizes, sizeof(sizes), mix), mix->depth);
	return buf;
}

Mix model_mix_from_json(json_object *o)
{
	return (Mix){ .read_share = json_number(o, "ReadShare"),
		      .random_share = json_number(o, "RandomShare"),
		      .read_kib = json_number(o, "ReadSize"),
		      .write_kib = json_number(o, "WriteSize"),
		      .depth = json_number(o, "Depth") };
}

void model_put_mix(json_object *o, const Mix *mix)
{
	json_put_number(o, "ReadShare", mix->read_share);
	json_put_number(o, "RandomShare", mix->random_share);
	json_put_number(o, "ReadSize", mix->read_kib);
	json_put_number(o, "WriteSize", mix->write_kib);
	json_put_number(o, "Depth", mix->depth);
}
