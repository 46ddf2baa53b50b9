/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/calibrate-drive.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/spawn.h"
#include "base/sysfs.h"

#define NVME_ANSWER_US  (10 * USEC_PER_SEC)
#define NVME_ANSWER_MAX (1 << 20)
#define VPD_HEADER      4 /* bytes of a page before what it says */

static bool is_block(const char *sysfs_root, const char *name)
{
	_cleanup_free_ char *path = text_printf("%s/block/%s", sysfs_root, name);

	return path && access(path, F_OK) == 0;
}

/* "nvme0n1" is of "nvme0". */
static bool is_namespace_of(const char *name, const char *controller)
{
	size_t n = strlen(controller);

	return strncmp(name, controller, n) == 0 && name[n] == 'n' &&
	       isdigit((unsigned char)name[n + 1]);
}

static int only_namespace(const char *sysfs_root, const char *controller, char *ret_name)
{
	_cleanup_free_ char *path = text_printf("%s/block", sysfs_root);
	_cleanup_closedir_ DIR *dir = path ? opendir(path) : NULL;
	struct dirent *e;
	size_t found = 0;

	while (dir && (e = readdir(dir)))
		if (is_namespace_of(e->d_name, controller)) {
			snprintf(ret_name, CALIBRATE_TEXT, "%.90s", e->d_name);
			found++;
		}
	if (found > 1)
		return -ENOTUNIQ;
	return found == 1 ? 0 : -ENOENT;
}

int calibrate_find_block(const char *sysfs_root, const char *argument, char *ret_name)
{
	const char *name = base_name(argument);

	if (!*name || *name == '.' || strlen(name) >= CALIBRATE_TEXT)
		return -ENOENT;
	if (!is_block(sysfs_root, name))
		return only_namespace(sysfs_root, name, ret_name);
	snprintf(ret_name, CALIBRATE_TEXT, "%s", name);
	return 0;
}

/* The first attribute that says something. */
static void first_attribute(const char *sysfs_root, const char *name, const char *const *attrs,
			    char *ret)
{
	*ret = '\0';
	for (; *attrs && !*ret; attrs++)
		block_attribute(sysfs_root, name, *attrs, ret, CALIBRATE_TEXT);
}

/* SCSI keeps the serial number in a page of its own (SPC: unit serial number, 80h). */
static void serial_of_scsi(const char *sysfs_root, const char *name, char *ret)
{
	_cleanup_free_ char *path = text_printf("%s/block/%s/device/vpd_pg80", sysfs_root, name);
	_cleanup_free_ char *bytes = NULL;
	size_t n = 0, to = 0;

	if (!path || read_bytes(path, &bytes, &n) < 0)
		return;
	for (size_t i = VPD_HEADER; i < n && to + 1 < CALIBRATE_TEXT; i++)
		if (isgraph((unsigned char)bytes[i]))
			ret[to++] = bytes[i];
	ret[to] = '\0';
}

static DeviceKind kind_of(const char *sysfs_root, const char *name)
{
	char text[BLOCK_ATTR_MAX];

	if (strncmp(name, "nvme", 4) == 0)
		return KIND_NVME;
	block_attribute(sysfs_root, name, "queue/rotational", text, sizeof(text));
	return streq(text, "1") ? KIND_HDD : KIND_SATA_SSD;
}

/* The kernel counts in sectors of 512 bytes, whatever the drive's own are. */
static double capacity_of(const char *sysfs_root, const char *name)
{
	char text[BLOCK_ATTR_MAX];
	double sectors = 0;

	block_attribute(sysfs_root, name, "size", text, sizeof(text));
	return parse_double(text, &sectors) >= 0 ? sectors * 512 : 0;
}

void calibrate_identify(const char *sysfs_root, const char *name, CalibrateSubject *s)
{
	snprintf(s->name, sizeof(s->name), "%s", name);
	first_attribute(sysfs_root, name, (const char *const[]){ "device/model", NULL }, s->model);
	first_attribute(sysfs_root, name,
			(const char *const[]){ "device/firmware_rev", "device/rev", NULL },
			s->firmware);
	first_attribute(sysfs_root, name, (const char *const[]){ "device/serial", "serial", NULL },
			s->serial);
	if (!*s->serial)
		serial_of_scsi(sysfs_root, name, s->serial);
	s->kind = kind_of(sysfs_root, name);
	s->capacity_bytes = capacity_of(sysfs_root, name);
}

/* nvme-cli before 2.0 gives the two bits of the field as "flags". */
static bool flag_of(json_object *state, const char *name, unsigned bit)
{
	json_object *flags = json_member(state, "flags");

	if (json_member(state, name))
		return json_number(state, name) > 0;
	return flags && ((unsigned)json_object_get_int(flags) >> bit & 1);
}

/* NVMe base specification, power state descriptor: centiwatts, or tenths of a milliwatt. */
static PowerState state_of(json_object *state)
{
	double unit_w = flag_of(state, "max_power_scale", 0) ? 1e-4 : 1e-2;

	return (PowerState){
		.present = true,
		.operational = !flag_of(state, "non-operational_state", 1),
		.max_w = json_number(state, "max_power") * unit_w,
		.entry_us = (uint32_t)json_object_get_int64(json_member(state, "entry_lat")),
		.exit_us = (uint32_t)json_object_get_int64(json_member(state, "exit_lat"))
	};
}

bool calibrate_parse_states(const char *json, CalibrateSubject *s)
{
	_cleanup_json_ json_object *o = json_tokener_parse(json);
	json_object *states = json_member(o, "psds");
	size_t n = MIN(json_count(states), (size_t)PROFILE_STATES_MAX);

	s->n_states = 0;
	for (size_t i = 0; i < n; i++) {
		PowerState p = state_of(json_object_array_get_idx(states, i));

		/* 0 W: the drive does not say */
		if (!(p.max_w > 0))
			continue;
		s->states[i] = p;
		s->n_states = (unsigned)i + 1;
	}
	return s->n_states > 0;
}

int calibrate_ask_states(CalibrateSubject *s)
{
	_cleanup_free_ char *path = text_printf("/dev/%s", s->name), *answer = NULL;
	const char *const argv[] = { "nvme", "id-ctrl", path, "-o", "json", NULL };
	const Program p = { .argv = argv,
			    .answer_max = NVME_ANSWER_MAX,
			    .within_us = NVME_ANSWER_US };
	int r = path ? spawn_and_read(&p, &answer) : -ENOMEM;

	if (r < 0)
		return r;
	return r == 0 && calibrate_parse_states(answer, s) ? 0 : -EBADMSG;
}

void calibrate_who(const char *user, const char *host, CalibrateSubject *s)
{
	Unfit why;

	*s->who = '\0';
	if (is_printable(user, strlen(user), &why) && is_printable(host, strlen(host), &why))
		snprintf(s->who, sizeof(s->who), "%s at %s", user, host);
	if (strlen(s->who) + 1 == sizeof(s->who)) /* cut, perhaps within a letter */
		*s->who = '\0';
}
