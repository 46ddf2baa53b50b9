/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Turns one knob of one real device, as the daemon would, runs a command meanwhile and turns it
 * back:
 *
 *   turn-knob DEVICE                               each knob: "NAME yes", or "NAME no: WHY"
 *   turn-knob DEVICE KNOB KEY=VALUE [COMMAND...]   KEY: depth, chunk (KiB) or pace (W);
 *                                                  redirect=hold or redirect=drain
 *   turn-knob DEVICE KNOB cache                    "SIZE bytes, N dirty, room for N"
 *
 * TURN_KNOB_REDIRECT: what the configuration would declare of the device, redirect = nvmet.
 * Prints the value as found, as read back and as found again. Exit status: 0, 1, or that of the
 * command. */

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "base/log.h"
#include "base/text.h"
#include "hw/block-device.h"
#include "redirect/knob-registry.h"

static int complain(const char *what, int r)
{
	fprintf(stderr, "turn-knob: %s: %s\n", what, strerror(-r));
	return 1;
}

static int show(Device *d)
{
	Offer offer = {};

	for (const Knob *const *k = knob_registry; *k; k++) {
		_cleanup_free_ char *why = NULL;

		if ((*k)->probe(d, &offer, &why) >= 0)
			printf("%s yes\n", (*k)->name);
		else
			printf("%s no: %s\n", (*k)->name, why ?: "out of memory");
	}
	return 0;
}

static int parse_setting(const char *text, Setting *ret)
{
	const char *value = strchr(text, '=');
	double v;

	*ret = SETTING_AS_FOUND;
	if (streq(text, "redirect=hold") || streq(text, "redirect=drain")) {
		ret->redirect = streq(value, "=hold") ? REDIRECT_HOLD : REDIRECT_DRAIN;
		return 0;
	}
	if (!value || parse_double(value + 1, &v) < 0 || v < 0 || v > 1e6)
		return -EINVAL;
	if (strncmp(text, "depth=", 6) == 0)
		ret->depth = (unsigned)v;
	else if (strncmp(text, "chunk=", 6) == 0)
		ret->chunk_kib = (unsigned)v;
	else if (strncmp(text, "pace=", 5) == 0)
		ret->pace_w = v;
	else
		return -EINVAL;
	return 0;
}

static int run(char **command)
{
	int status;
	pid_t pid;

	if (!*command)
		return 0;
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		return 1;
	if (pid == 0) {
		execvp(*command, command);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) < 0)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* A knob's value for a setting, written and read back. */
static int turn(const Knob *k, Device *d, const Setting *s, const KnobValue *original,
		KnobValue *ret_found)
{
	KnobValue wanted;
	int r = knob_want(k, d, s, &MIX_UNKNOWN, original, &wanted);

	if (r >= 0)
		r = knob_apply(k, d, &wanted, ret_found);
	return r;
}

static int there_and_back(Device *d, const Knob *k, const Setting *s, char **command)
{
	_cleanup_free_ char *why = NULL;
	KnobValue original, found;
	Offer offer = {};
	int r, status;

	if (k->probe(d, &offer, &why) < 0) {
		fprintf(stderr, "turn-knob: %s is not offered: %s\n", k->name, why ?: "");
		return 1;
	}
	r = k->read(d, &original);
	if (r < 0)
		return complain("the value as found cannot be read", r);
	printf("%s\n", original.text);
	r = turn(k, d, s, &original, &found);
	if (r < 0)
		complain("it cannot be set", r);
	else
		printf("%s\n", found.text);
	status = r < 0 ? 1 : run(command);
	r = turn(k, d, &SETTING_AS_FOUND, &original, &found);
	if (r < 0)
		return complain("it cannot be put back", r);
	printf("%s\n", found.text);
	return status;
}

static int show_cache(Device *d, const Knob *k)
{
	CacheState c;
	int r = k->cache ? k->cache(d, &c) : -EOPNOTSUPP;

	if (r < 0)
		return complain("its cache cannot be asked", r);
	printf("%ju bytes, %ju dirty, room for %ju\n", (uintmax_t)c.size_bytes,
	       (uintmax_t)c.dirty_bytes, (uintmax_t)c.room_bytes);
	return 0;
}

int main(int argc, char **argv)
{
	_cleanup_(device_unrefp) Device *d = NULL;
	const Knob *k = argc > 2 ? knob_find(argv[2]) : NULL;
	BlockDeviceOptions options = {};
	Descriptor descriptor;
	Setting s;
	bool cache;
	int r;

	log_set_max_level(LOG_WARNING);
	cache = argc == 4 && streq(argv[3], "cache");
	if (argc < 2 || (argc > 2 && !k) || argc == 3 ||
	    (k && !cache && parse_setting(argv[3], &s) < 0)) {
		fprintf(stderr,
			"usage: turn-knob DEVICE [KNOB depth=N|chunk=KIB|pace=W|redirect=hold|"
			"redirect=drain [COMMAND...]]\n"
			"       turn-knob DEVICE KNOB cache\n");
		return 2;
	}
	options.redirect = getenv("TURN_KNOB_REDIRECT");
	r = block_device_new("/sys", argv[1], &options, &d);
	if (r < 0)
		return complain(argv[1], r);
	block_device_describe(d, &descriptor);
	r = device_match_profile(d, &(ProfileStore){}, &descriptor);
	if (r < 0)
		return complain("its profile", r);
	if (cache)
		return show_cache(d, k);
	return k ? there_and_back(d, k, &s, argv + 4) : show(d);
}
