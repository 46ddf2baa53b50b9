/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Arguments. What is not given is a Seagate Constellation ES.2 (policies/profiles), but for MB/s,
 * which an emulated machine must be able to move. */

#include "hddsim.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/text.h"

static const char help[] =
	"hddsim [OPTION...] NAME ata|sas: a hard disk of this machine; prints \"ready sdX\"\n"
	"hddsim --send PATH COMMAND: say COMMAND to the simulator whose --control is PATH\n"
	"\n"
	"  --model=TEXT          ST32000645NS (ata), ST32000645SS (sas)\n"
	"  --serial=TEXT         from NAME\n"
	"  --size-mb=N           256 (MiB)\n"
	"  --backing=FILE        keeps the data there, sparse; default: in memory\n"
	"  --mb-s=MB             50, sequential\n"
	"  --seek-ms=MS          12.7, a random IO's way\n"
	"  --watts=R:W:S         10.8:9.3:23.6, random reads, random writes, spin-up\n"
	"  --spin-up-ms=MS       15000: recovery of standby_z, sleep and stopped\n"
	"  --condition=NAME:WATTS:ENTER-MS:RECOVERY-MS\n"
	"                        active 7.0, idle_a 6.4:10:10, idle_b 5.4:1000:650,\n"
	"                        idle_c 3.7:2000:5000, standby_y 3.7:2000:5000,\n"
	"                        standby_z, sleep, stopped 1.5:3000:15000\n"
	"  --no-epc              an old ATA disk: APM, idle and standby only\n"
	"  --apm                 with both: APM (254) is enabled, and EPC disabled, until that is\n"
	"                        turned round (Debian's hdparm sets APM at every start of a disk)\n"
	"  --start-stops=N --load-unloads=N  cycles of its life before (log page 0Eh)\n"
	"  --log=FILE            every command but reads and writes, every change of condition\n"
	"  --control=PATH        control socket: state, refuse CONDITION|all, ignore, no-wake SECONDS,\n"
	"                        slow-wake MS, clear-faults, quit\n";

enum {
	O_HELP = 1,
	O_SAS,
	O_MODEL,
	O_SERIAL,
	O_SIZE,
	O_BACKING,
	O_MB_S,
	O_SEEK,
	O_WATTS,
	O_SPIN_UP,
	O_CONDITION,
	O_NO_EPC,
	O_APM,
	O_START_STOPS,
	O_LOAD_UNLOADS,
	O_LOG,
	O_CONTROL,
};

static const struct option long_options[] = {
	{ "help", no_argument, NULL, O_HELP },
	{ "sas", no_argument, NULL, O_SAS },
	{ "model", required_argument, NULL, O_MODEL },
	{ "serial", required_argument, NULL, O_SERIAL },
	{ "size-mb", required_argument, NULL, O_SIZE },
	{ "backing", required_argument, NULL, O_BACKING },
	{ "mb-s", required_argument, NULL, O_MB_S },
	{ "seek-ms", required_argument, NULL, O_SEEK },
	{ "watts", required_argument, NULL, O_WATTS },
	{ "spin-up-ms", required_argument, NULL, O_SPIN_UP },
	{ "condition", required_argument, NULL, O_CONDITION },
	{ "no-epc", no_argument, NULL, O_NO_EPC },
	{ "apm", no_argument, NULL, O_APM },
	{ "start-stops", required_argument, NULL, O_START_STOPS },
	{ "load-unloads", required_argument, NULL, O_LOAD_UNLOADS },
	{ "log", required_argument, NULL, O_LOG },
	{ "control", required_argument, NULL, O_CONTROL },
	{},
};

#define MS(x) ((x)*USEC_PER_MSEC)

static const Options defaults = {
	.epc = true,
	.size_bytes = 256ULL << 20,
	.mb_s = 50,
	.seek_us = 12700,
	.read_w = 10.8,
	.write_w = 9.3,
	.spin_up_w = 23.6,
	.conditions = {
		[CONDITION_ACTIVE] = { 7.0, 0, 0 },
		[CONDITION_IDLE_A] = { 6.4, MS(10), MS(10) },
		[CONDITION_IDLE_B] = { 5.4, MS(1000), MS(650) },
		[CONDITION_IDLE_C] = { 3.7, MS(2000), MS(5000) },
		[CONDITION_STANDBY_Y] = { 3.7, MS(2000), MS(5000) },
		[CONDITION_STANDBY_Z] = { 1.5, MS(3000), MS(15000) },
		[CONDITION_SLEEP] = { 1.5, MS(3000), MS(15000) },
		[CONDITION_STOPPED] = { 1.5, MS(3000), MS(15000) },
	},
};

static int parse_positive(const char *text, double *ret)
{
	double value;

	if (parse_double(text, &value) < 0 || value <= 0 || value > 1e9)
		return -EINVAL;
	*ret = value;
	return 0;
}

static int parse_ms(const char *text, uint64_t *ret_us)
{
	double ms;

	if (parse_double(text, &ms) < 0 || ms < 0 || ms > 1e6)
		return -EINVAL;
	*ret_us = (uint64_t)(ms * USEC_PER_MSEC);
	return 0;
}

/* Splits "a:b:c" into exactly n parts of a copy. */
static int split(const char *list, char copy[100], char **parts, unsigned n)
{
	char *text = copy;

	if (strlen(list) >= 100)
		return -EINVAL;
	strcpy(copy, list);
	for (unsigned i = 0; i < n; i++) {
		parts[i] = strsep(&text, ":");
		if (!parts[i])
			return -EINVAL;
	}
	return text ? -EINVAL : 0;
}

static int parse_watts(Options *o, const char *text)
{
	char copy[100], *parts[3];

	if (split(text, copy, parts, 3) < 0 || parse_positive(parts[0], &o->read_w) < 0 ||
	    parse_positive(parts[1], &o->write_w) < 0 ||
	    parse_positive(parts[2], &o->spin_up_w) < 0)
		return -EINVAL;
	return 0;
}

static int parse_condition(Options *o, const char *text)
{
	char copy[100], *parts[4];
	ConditionSpec spec;
	Condition c;

	if (split(text, copy, parts, 4) < 0 || condition_parse(parts[0], &c) < 0 ||
	    parse_positive(parts[1], &spec.watts) < 0 || parse_ms(parts[2], &spec.enter_us) < 0 ||
	    parse_ms(parts[3], &spec.recovery_us) < 0)
		return -EINVAL;
	o->conditions[c] = spec;
	return 0;
}

static int parse_spin_up(Options *o, const char *text)
{
	uint64_t us;

	if (parse_ms(text, &us) < 0)
		return -EINVAL;
	for (Condition c = CONDITION_STANDBY_Z; c < CONDITIONS; c++)
		o->conditions[c].recovery_us = us;
	return 0;
}

static int parse_size(Options *o, const char *text)
{
	unsigned long mb;

	if (parse_unsigned(text, 1UL << 24, &mb) < 0 || !mb)
		return -EINVAL;
	o->size_bytes = (uint64_t)mb << 20;
	return 0;
}

static int parse_option(Options *o, int option, const char *value)
{
	switch (option) {
	case O_SAS: o->sas = true; return 0;
	case O_MODEL: o->model = value; return 0;
	case O_SERIAL: o->serial = value; return 0;
	case O_SIZE: return parse_size(o, value);
	case O_BACKING: o->backing_path = value; return 0;
	case O_MB_S: return parse_positive(value, &o->mb_s);
	case O_SEEK: return parse_ms(value, &o->seek_us);
	case O_WATTS: return parse_watts(o, value);
	case O_SPIN_UP: return parse_spin_up(o, value);
	case O_CONDITION: return parse_condition(o, value);
	case O_NO_EPC:
		o->epc = false;
		o->apm = true;
		return 0;
	case O_APM: o->apm = true; return 0;
	case O_START_STOPS: return parse_unsigned(value, UINT32_MAX, &o->start_stops);
	case O_LOAD_UNLOADS: return parse_unsigned(value, UINT32_MAX, &o->load_unloads);
	case O_LOG: o->log_path = value; return 0;
	case O_CONTROL: o->control_path = value; return 0;
	default: return -EINVAL;
	}
}

static bool name_is_good(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '-' && name[i] != '_')
			return false;
	return n > 0 && n <= 17;
}

/* FNV-1a */
uint64_t name_hash(const Options *o)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (const char *p = o->name; *p; p++)
		hash = (hash ^ (uint8_t)*p) * 0x100000001b3;
	return (hash ^ hash >> 36) & 0xffffffff0;
}

static int parse_names(Options *o, int n, char *names[])
{
	static char serial[24];

	if (n < 1 || n > 2 || !name_is_good(names[0]))
		return log_full(
			LOG_ERR, EINVAL,
			"Wanted: NAME (letters, digits, - and _; at most 17) and ata or sas; "
			"see --help");
	o->name = names[0];
	if (n == 2 && !streq(names[1], "ata") && !streq(names[1], "sas"))
		return log_full(LOG_ERR, EINVAL, "\"%s\" is neither ata nor sas", names[1]);
	if (n == 2)
		o->sas = streq(names[1], "sas");
	if (!o->model)
		o->model = o->sas ? "ST32000645SS" : "ST32000645NS";
	if (!o->serial) {
		snprintf(serial, sizeof(serial), "SIM%s", o->name);
		o->serial = serial;
	}
	return 0;
}

int options_parse(Options *o, int argc, char *argv[])
{
	int option, index;

	*o = defaults;
	while ((option = getopt_long(argc, argv, "", long_options, &index)) != -1) {
		if (option == O_HELP) {
			fputs(help, stdout);
			return 1;
		}
		if (option == '?')
			return -EINVAL;
		if (parse_option(o, option, optarg) < 0)
			return log_full(LOG_ERR, EINVAL, "Not understood: --%s=%s; see --help",
					long_options[index].name, optarg);
	}
	return parse_names(o, argc - optind, argv + optind);
}
