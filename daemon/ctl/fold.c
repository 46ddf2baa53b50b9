/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "ctl/words.h"

bool fold_next(Fold *f, FoldAlike alike)
{
	size_t n = json_count(f->devices);

	f->first += f->n;
	f->n = 0;
	if (f->first >= n)
		return false;
	for (f->n = 1; f->first + f->n < n; f->n++)
		if (!alike(fold_first(f), json_object_array_get_idx(f->devices, f->first + f->n)))
			break;
	return true;
}

/* What comes of it but for figures: "power state 1, IO held to # W above idle" */
static void shape_of(char buf[WORDS_SIZE], json_object *d, const char *key)
{
	const char *s = json_text(d, key), *pace = strstr(s, "IO held to ");
	size_t n = pace ? (size_t)(pace - s) : strlen(s);

	snprintf(buf, WORDS_SIZE, "%.*s%s", (int)n, s, pace ? "IO held" : "");
}

bool fold_near(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) <= 0.1 * fmax(fabs(a), fabs(b));
}

static bool same_text(json_object *a, json_object *b)
{
	static const char *const keys[] = { "Kind",    "Model",     "Group",     "Reason",
					    "Problem", "Exactness", "Condition", "Redirect" };

	for (size_t i = 0; i < ELEMENTSOF(keys); i++)
		if (!streq(json_text(a, keys[i]), json_text(b, keys[i])))
			return false;
	return true;
}

static bool same_shape(json_object *a, json_object *b, const char *key)
{
	char x[WORDS_SIZE], y[WORDS_SIZE];

	shape_of(x, a, key);
	shape_of(y, b, key);
	return streq(x, y);
}

bool fold_alike(json_object *first, json_object *next)
{
	const char *x = json_text(first, "Name"), *y = json_text(next, "Name");

	return *x == *y && same_text(first, next) && same_shape(first, next, "Setting") &&
	       same_shape(first, next, "Advised") && words_idle(first) == words_idle(next) &&
	       fold_near(json_number(first, "CapPower"), json_number(next, "CapPower"));
}

json_object *fold_first(const Fold *f)
{
	return json_object_array_get_idx(f->devices, f->first);
}

double fold_mean(const Fold *f, const char *key)
{
	double sum = 0;

	for (size_t i = 0; i < f->n; i++)
		sum += json_number(json_object_array_get_idx(f->devices, f->first + i), key);
	return sum / (double)f->n;
}

char *fold_name(char *buf, size_t size, const Fold *f, const char *key)
{
	const char *first = json_text(fold_first(f), key);
	const char *last =
		json_text(json_object_array_get_idx(f->devices, f->first + f->n - 1), key);

	if (f->n == 1)
		snprintf(buf, size, "%s", first);
	else
		snprintf(buf, size, "%s%s%s (%zu)", first, words_ellipsis(), last, f->n);
	return buf;
}

void fold_explain(const Ctl *c)
{
	putchar('\n');
	print_wrapped(
		"", 0,
		"Devices alike share a line, with the mean of each; -o wide tells them apart.",
		c->width);
}

static size_t letters(const char *s)
{
	return strcspn(s, "0123456789");
}

static int compare_names(const void *a, const void *b)
{
	const char *x = json_text(*(json_object *const *)a, "Name");
	const char *y = json_text(*(json_object *const *)b, "Name");
	size_t nx = letters(x), ny = letters(y);
	int r;

	if (*x == *y && nx != ny)
		return nx < ny ? -1 : 1;
	r = strncmp(x, y, nx);
	return r ?: strverscmp(x, y);
}

void fold_sort(json_object *devices)
{
	json_object_array_sort(devices, compare_names);
}
