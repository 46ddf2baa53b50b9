/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The tools' words are for people and have changed over time. Only words that have meant the same
 * in all versions since Debian 12's are looked for; anything else is no testimony and no
 * difference. */

#include "ctl/witness.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/spawn.h"

#define ANSWER_US    (10 * USEC_PER_SEC)
#define ANSWER_MAX   65536
#define ARGUMENT_MAX 64

/* Returns its output, standard error included. -ENOENT: the program is not installed. */
static int ask_tool(const char *const *argv, char **ret_answer)
{
	const Program p = {
		.argv = argv,
		.with_errors = true,
		.answer_max = ANSWER_MAX,
		.within_us = ANSWER_US,
	};

	return spawn_and_read(&p, ret_answer);
}

typedef struct Testimony {
	char command[ARGUMENT_MAX];
	char ours[ARGUMENT_MAX], theirs[ARGUMENT_MAX];
	int agrees; /* -1: no testimony */
} Testimony;

static void missing(Testimony *t, int r, const char *program)
{
	t->agrees = -1;
	if (r == -ENOENT)
		snprintf(t->theirs, sizeof(t->theirs), "%s is not installed", program);
	else
		snprintf(t->theirs, sizeof(t->theirs), "no answer that is understood");
}

/* "get-feature:0x02 (Power Management), Current value:0x00000001", without 0x before 2.0 */
static void ask_nvme(json_object *device, const char *node, Testimony *t)
{
	const char *const argv[] = { "nvme", "get-feature", node, "--feature-id=2", NULL };
	double ours = json_number(device, "PowerState");
	_cleanup_free_ char *answer = NULL;
	const char *value;
	unsigned state;
	int r = ask_tool(argv, &answer);

	snprintf(t->command, sizeof(t->command), "nvme get-feature --feature-id=2");
	if (!(ours >= 0))
		ours = -1;
	snprintf(t->ours, sizeof(t->ours), ours < 0 ? "as found" : "power state %.0f", ours);
	value = answer ? strstr(answer, "Current value:") : NULL;
	if (!value || sscanf(value, "Current value:%x", &state) != 1) {
		missing(t, r, argv[0]);
		return;
	}
	snprintf(t->theirs, sizeof(t->theirs), "power state %u", state & 0x1f);
	t->agrees = ours < 0 || (unsigned)ours == (state & 0x1f);
}

static bool is_suspended(const char *name)
{
	_cleanup_free_ char *path = text_printf("/sys/block/%s/device/power/runtime_status", name);
	char status[16];

	return path && read_attribute(path, status, sizeof(status)) >= 0 &&
	       streq(status, "suspended");
}

static bool is_ata(const char *name)
{
	_cleanup_free_ char *path = text_printf("/sys/block/%s/device/vendor", name);
	char vendor[16];

	return path && read_attribute(path, vendor, sizeof(vendor)) >= 0 &&
	       strncmp(vendor, "ATA", 3) == 0;
}

/* All versions of hdparm tell asleep from awake; none has a word for the idle conditions. */
static void judge_disk(json_object *device, const char *answer, const char *asleep,
		       const char *awake, Testimony *t)
{
	bool ours_asleep = strncmp(json_text(device, "Condition"), "standby", 7) == 0;
	bool theirs_asleep = strstr(answer, asleep);

	if (!theirs_asleep && !strstr(answer, awake)) {
		missing(t, 0, "");
		return;
	}
	snprintf(t->theirs, sizeof(t->theirs), theirs_asleep ? "standby" : "not in standby");
	t->agrees = ours_asleep == theirs_asleep;
}

static void ask_disk(json_object *device, const char *node, Testimony *t)
{
	bool ata = is_ata(json_text(device, "Name"));
	const char *const hdparm[] = { "hdparm", "-C", node, NULL };
	const char *const requests[] = { "sg_requests", node, NULL };
	const char *const *argv = ata ? hdparm : requests;
	_cleanup_free_ char *answer = NULL;
	int r;

	snprintf(t->command, sizeof(t->command), ata ? "hdparm -C" : "sg_requests");
	snprintf(t->ours, sizeof(t->ours), "%s", json_text(device, "Condition"));
	if (is_suspended(json_text(device, "Name"))) {
		t->agrees = -1;
		snprintf(t->theirs, sizeof(t->theirs), "not asked: it sleeps and would be woken");
		return;
	}
	r = ask_tool(argv, &answer);
	if (r < 0)
		missing(t, r, argv[0]);
	else if (ata)
		judge_disk(device, answer, "standby", "active", t);
	else
		judge_disk(device, answer, "tandby condition", "ense", t);
}

static json_object *testimony_row(const char *device, const Testimony *t)
{
	json_object *row = json_object_new_object();

	json_object_object_add(row, "Device", json_object_new_string(device));
	json_object_object_add(row, "Witness", json_object_new_string(t->command));
	json_object_object_add(row, "Ours", json_object_new_string(t->ours));
	json_object_object_add(row, "Theirs", json_object_new_string(t->theirs));
	json_object_object_add(row, "Agrees",
			       t->agrees < 0 ? NULL : json_object_new_boolean(t->agrees));
	return row;
}

json_object *witness_devices(json_object *devices, size_t *ret_n_differ)
{
	json_object *rows = json_object_new_array();

	*ret_n_differ = 0;
	for (size_t i = 0; i < json_count(devices); i++) {
		json_object *device = json_object_array_get_idx(devices, i);
		const char *name = json_text(device, "Name");
		const char *node = json_text(device, "Node"); /* a simulated device has none */
		Testimony t = {};

		if (!*node)
			continue;
		if (strncmp(name, "nvme", 4) == 0)
			ask_nvme(device, node, &t);
		else if (strncmp(name, "sd", 2) == 0)
			ask_disk(device, node, &t);
		else
			continue;
		*ret_n_differ += t.agrees == 0;
		json_object_array_add(rows, testimony_row(name, &t));
	}
	return rows;
}
