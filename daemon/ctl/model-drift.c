/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the sensors say of the profiles' energies. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ctl/ctl-model.h"

/* Micro- or millijoules, watts, or a plain factor. */
typedef struct Scale {
	double times;
	const char *unit;
} Scale;

static Scale scale_of(const char *name, double value)
{
	if (streq(name, "all-io"))
		return (Scale){ 1, "times" };
	if (streq(name, "idle"))
		return (Scale){ 1, "W" };
	return value >= 1e-3 ? (Scale){ 1e3, "mJ" } : (Scale){ 1e6, "uJ" };
}

/* "random-read-page" as "each 4 KiB of a random read" */
static const char *words_of(char *buf, size_t size, const char *name)
{
	char kind[32];
	char *end;

	if (streq(name, "all-io"))
		return "all IO, times the profile's";
	if (streq(name, "idle"))
		return "without IO";
	snprintf(kind, sizeof(kind), "%s", name);
	end = strrchr(kind, '-');
	if (!end)
		return name;
	*end = '\0';
	for (char *c = kind; *c; c++)
		*c = *c == '-' ? ' ' : *c;
	snprintf(buf, size, streq(end + 1, "page") ? "each 4 KiB of a %s" : "a %s by itself", kind);
	return buf;
}

/* "22 % more"; what is within the error agrees. */
static void print_verdict(double profile, double fitted, double error)
{
	double percent = 100 * (fitted / profile - 1);

	if (fabs(fitted - profile) <= error)
		puts("agrees");
	else if (profile > 0)
		printf("%.0f %% %s\n", fabs(percent), percent > 0 ? "more" : "less");
	else
		puts("more");
}

static void print_figure(json_object *f)
{
	const char *name = json_text(f, "Name");
	double profile = json_number(f, "ProfileValue"), fitted = json_number(f, "FittedValue");
	Scale s = scale_of(name, fmax(profile, isnan(fitted) ? 0 : fitted));
	char words[64];

	printf("  %-32s %7.3g", words_of(words, sizeof(words), name), profile * s.times);
	if (!json_true(f, "Determined")) {
		printf(" %-5s  not determined\n", s.unit);
		return;
	}
	printf(" %-5s %7.3g +- %-5.2g ", s.unit, fitted * s.times,
	       json_number(f, "Error") * s.times);
	print_verdict(profile, fitted, json_number(f, "Error"));
}

static void print_family(const Ctl *c, json_object *d)
{
	json_object *figures = json_member(d, "Figures");

	printf("%s: %.0f devices by sensor %s, %.0f looks; the profile claims +-%.0f %%\n",
	       json_text(d, "Profile"), json_number(d, "Devices"), json_text(d, "Sensor"),
	       json_number(d, "Observations"), 100 * json_number(d, "ProfileError"));
	if (*json_text(d, "WhyNot")) {
		printf("  nothing is determined: %s\n", json_text(d, "WhyNot"));
		return;
	}
	if (c->legend)
		printf("  %-32s %7s %-5s %s\n", "ENERGY", "PROFILE", "", "MEASURED");
	for (size_t i = 0; i < json_count(figures); i++)
		print_figure(json_object_array_get_idx(figures, i));
}

int model_drift(Ctl *c)
{
	_cleanup_message_ sd_bus_message *reply = NULL;
	_cleanup_json_ json_object *families = NULL;
	int status = ctl_simple_call(c, &reply, "GetDrift", "");

	if (status)
		return status;
	families = json_from_message(reply);
	if (c->json) {
		json_print(c, families);
		return STATUS_OK;
	}
	if (json_count(families) == 0)
		puts("No power sensor has been read beside the devices: nothing is known of drift");
	pager_open(c);
	for (size_t i = 0; i < json_count(families); i++)
		print_family(c, json_object_array_get_idx(families, i));
	return STATUS_OK;
}
