/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* storpowerctl --help, and what of it is of one verb. Every option's line begins with the verbs
 * that take it, and a colon, but for those that all take. */

#include <regex.h>
#include <string.h>

#include "ctl/words.h"

#define NAME_WIDTH 23 /* of verbs and options, with the blanks around them */

static const char verbs_text[] =
	"  status [DEVICE]      show budget, watts, throughput and claims of the node (the\n"
	"                       default), or of a device\n"
	"  set LIMIT            limit the node (or --device, --group) until cleared\n"
	"  clear [COOKIE...]    end what \"set\" set; with --all every claim; or these claims\n"
	"  list                 list the devices; with --claims the claims, with --wakeups the disks\n"
	"                       that woke and who woke them\n"
	"  show DEVICE          show one device, its wear account and its knobs\n"
	"  top                  show which devices and cgroups spend the joules; on a terminal keys\n"
	"                       sort and filter\n"
	"  plan LIMIT           show what would be done; change nothing\n"
	"  explain [DEVICE]     say why devices are set as they are; list the last decisions\n"
	"  verify               read every setting back and tell what differs\n"
	"  doctor               say what this node offers, what is missing and who else sets what\n"
	"                       storpower sets, each with its remedy\n"
	"  monitor              print what happens as it happens\n"
	"  hold LIMIT -- CMD    limit while CMD runs\n"
	"  wake DEVICE          wake a disk; with --all every disk that sleeps\n"
	"  wake-test DEVICE     test whether a read alone wakes this disk: SAS disks need it to sleep\n"
	"  policy [NAME]        show or choose the policy\n"
	"  mode [MODE]          show the mode or choose it: enforce limits, or advise and set nothing\n"
	"  model list           list the models of power and throughput, and who uses them\n"
	"  model show MODEL     show what is in one: a profile, that of a device, or a file\n"
	"  model frontier MODEL\n"
	"                       show the settings of which none gives more for fewer watts\n"
	"  model predict [MODEL[xN]]...\n"
	"                       predict throughput, response times and watts of a workload; of the\n"
	"                       devices as they work now, of profiles, of a node file, or of a\n"
	"                       cache and the disks behind it: A:90%+Bx4:10%, or nvme0+sda as\n"
	"                       they share their work now\n"
	"  model compare A B    compare two models point by point\n"
	"  model validate FILE  check profiles before they are put in force\n"
	"  model drift          compare what IO costs by the power sensors with the profiles\n"
	"  calibrate DEVICE [FILE]\n"
	"                       measure what a drive gives for what watts, and write its profile: reads\n"
	"                       alone, unless --destructive says that all it holds may go\n"
	"  carbon               say when an SSD has made up for the carbon of its making, against disks\n"
	"  efficiency [MODEL...]\n"
	"                       compare what devices give for a joule, and cost in a year\n"
	"  report               say what storage used, who used it, what it cost, and what was held back\n"
	"  metrics              print the figures for Prometheus, or write them into a file for\n"
	"                       node_exporter's textfile collector\n"
	"  version              print the version of this command and of the daemon\n"
	"  help [VERB]          say what a verb does, and which options it takes\n";

static const char options_text[] =
	"  --for=DURATION       set, hold: end by itself (90s, 2h, 1h30min)\n"
	"  --start-in=DURATION  set, hold: begin later\n"
	"  --reason=TEXT        set, hold: say why, for those who look\n"
	"  --class=CLASS        set, hold: emergency, operator (default), signal, schedule\n"
	"  --device=NAME        set, hold, plan: limit one device\n"
	"  --group=NAME         set, hold, plan: limit one group; list: the devices of this one alone\n"
	"  --tolerance=SECONDS  set, hold, plan: the limit may be exceeded for a moment: twice the limit for\n"
	"                       so long, or by less for longer (3s); none: never\n"
	"  --replace            set: end your earlier claims on the same target; each \"set\" is a claim\n"
	"                       of its own otherwise, and the lowest holds\n"
	"  --dry-run            set: print what it would cost; change nothing\n"
	"  --yes                set: do not ask, however much it costs\n"
	"  --forbid=LIST        plan: do without these mechanisms: power-state, power-limit,\n"
	"                       condition, link, depth, chunk, pacing, redirect\n"
	"  --only=LIST          plan: use these mechanisms alone\n"
	"  --policy=NAME        plan: use another policy\n"
	"  --all                clear: end the claims of others too; wake: wake every disk that sleeps\n"
	"  --wake               clear: wake what sleeps as well; nothing is woken otherwise\n"
	"  --claims, --wakeups  list: list these instead of devices\n"
	"  --workload=WORDS     model frontier, predict, carbon, efficiency: \"read=70% random=100% chunk=16K depth=32\"\n"
	"  --depth=N            model predict: no more than N IOs outstanding at each device\n"
	"  --plot=FILE          model frontier: draw it to FILE.svg or FILE.png, by gnuplot\n"
	"  --profiles=DIR       doctor, model, carbon, efficiency: the directory of the profiles, instead of those in force\n"
	"  --destructive=SERIAL\n"
	"                       calibrate: measure writes too; SERIAL is the drive's serial number\n"
	"  --resume             calibrate: go on with one that was interrupted\n"
	"  --runs=N             calibrate: measure no more points than this; a quarter of all otherwise\n"
	"  --goal=PERCENT       calibrate: end when no setting is told with a larger error\n"
	"  --depths=1,8,64      calibrate: measure these numbers of IOs outstanding alone\n"
	"  --chunks=4K,64K      calibrate: measure these sizes of IOs alone\n"
	"  --export=FILE        calibrate: write a record to share, too, in the form of systemd's hwdb\n"
	"  --import=FILE        calibrate: make a profile of such a record; measure nothing\n"
	"  --ssd=, --hdd=       carbon: profiles that tell rate and energy of the SSD and of a disk\n"
	"  --size=2TB           carbon, efficiency: the capacity of each device; report: of all together\n"
	"  --intensity=G/KWH    carbon, efficiency, report: g of CO2e a kWh of your grid (381, 300..400)\n"
	"  --ssd-energy=, --hdd-energy=\n"
	"                       carbon: what a request takes (1.1mJ, 0.9..1.2mJ, ledger:nvme0)\n"
	"  --ssd-embodied=, --hdd-embodied=\n"
	"                       carbon: kg of CO2e of the making of a GB (0.16, 0.033..0.16..0.34)\n"
	"  --rate=N, --hdd-rate=N\n"
	"                       carbon: requests a second; those that one disk serves\n"
	"  --scaling=0.9        carbon: what a disk among many serves of that\n"
	"  --life=5y            carbon: how long the devices are used\n"
	"  --price=PRICE        efficiency, report: what a kWh costs (0.18)\n"
	"  --protection=8+3     efficiency, report: parts of data and of parity\n"
	"  --fill=80%           efficiency, report: how full the capacity may get\n"
	"  --since=TIME, --until=TIME\n"
	"                       report: 2026-11-24, \"2026-11-24 10:00\", 10:00, -2h, -7d, yesterday, today;\n"
	"                       of the last 24 hours otherwise\n"
	"  --by=GROUPING        report: a row for each device, pool, group, cgroup, day or hour; or node\n"
	"  --csv, --html=FILE   report: print CSV; write a page for a browser\n"
	"  --claim=COOKIE       report: the record of this claim: what it asked for and what was delivered\n"
	"  --ledger=FILE        report, carbon: read this ledger instead of the daemon's\n"
	"  -o wide              list, plan, model, efficiency, report: every line, with every column\n"
	"  -o FILE, --output=FILE\n"
	"                       metrics: write them into this file, whole or not at all\n"
	"  --format=FORMAT      metrics: prometheus (the default), which all of Prometheus's tools read, or\n"
	"                       openmetrics\n"
	"  --witness            verify: ask nvme, hdparm and sg_requests as well\n"
	"  --once               top: print one table, and end\n"
	"  --lines=N            top: print no more rows than this\n"
	"  --json[=short|pretty]\n"
	"  --no-pager, --no-legend\n"
	"  --bus=BUS            system (default), session or an address; or $STORPOWER_BUS\n"
	"  -h, --help\n"
	"  -V, --version\n";

static const char limit_text[] =
	"LIMIT is a share of the operating power (80%) or a power (350W, 0.35kW).";

static const char exit_text[] =
	"Exit status: 0 done; 1 failure; 2 wrong usage; 3 storpowerd not running; 4 refused: not "
	"authorized, unknown name, invalid value, not confirmed; 5 verify: settings differ; "
	"doctor: there is a rival; 6 set: in force, but the devices cannot get down to it; doctor: "
	"something is missing; hold: that of CMD, 128+N when signal N killed it, 126 or 127 when "
	"it cannot be run or found, 125 when the limit was lost and not in force when CMD ended.";

/* A line that begins with two blanks, and those below it that are deeper. */
static size_t block_length(const char *text)
{
	const char *end = strchr(text, '\n');

	while (end && !strncmp(end + 1, "   ", 3))
		end = strchr(end + 1, '\n');
	return end ? (size_t)(end + 1 - text) : strlen(text);
}

static bool begins_with(const char *block, size_t length, const char *verb)
{
	size_t n = strlen(verb);

	(void)length;
	return !strncmp(block + 2, verb, n) && strchr(" \n", block[2 + n]);
}

static bool has(const char *text, const char *expression)
{
	regex_t re;
	bool yes;

	if (regcomp(&re, expression, REG_EXTENDED | REG_NOSUB))
		return false;
	yes = regexec(&re, text, 0, NULL, 0) == 0;
	regfree(&re);
	return yes;
}

/* "set, hold: ..." or "...; wake: ..." in what is behind the option and two blanks or a line's end;
 * or no verb at all. */
static bool is_for(const char *block, size_t n, const char *verb)
{
	_cleanup_free_ char *text = strndup(block, n);
	_cleanup_free_ char *listed =
		text_printf("(  |; |, )%s( [a-z]+)?(, [a-z-]+( [a-z]+)?)*:", verb);

	return text && listed &&
	       (has(text, listed) || !has(text, "  [a-z-]+( [a-z]+)?(, [a-z-]+( [a-z]+)?)*:"));
}

/* "  --goal=PERCENT" of it. */
static size_t name_length(const char *block)
{
	size_t n = 2;

	while (block[n] && block[n] != '\n' && strncmp(block + n, "  ", 2))
		n++;
	return n;
}

/* Every run of blanks and line ends becomes a blank. */
static void unfold(char *text)
{
	char *to = text;

	text += strspn(text, " \n");
	while (*text) {
		size_t n = strcspn(text, " \n");

		memmove(to, text, n);
		to += n;
		text += n + strspn(text + n, " \n");
		if (*text)
			*to++ = ' ';
	}
	*to = '\0';
}

static void print_block(const char *block, size_t n, size_t width)
{
	_cleanup_free_ char *text = strndup(block, n);
	size_t name = name_length(block);
	char label[NAME_WIDTH + 1];

	if (!text)
		return;
	unfold(text + name);
	snprintf(label, sizeof(label), "%-*.*s", NAME_WIDTH, name < NAME_WIDTH - 1 ? (int)name : 0,
		 text);
	if (name >= NAME_WIDTH - 1 || !text[name])
		printf("%.*s\n", (int)name, text);
	if (text[name])
		print_wrapped(label, NAME_WIDTH, text + name, width);
}

typedef bool (*Concerns)(const char *block, size_t n, const char *verb);

/* concerns: NULL: each */
static void print_blocks(const Ctl *c, const char *text, Concerns concerns, const char *verb)
{
	for (size_t n; *text; text += n) {
		n = block_length(text);
		if (!concerns || concerns(text, n, verb))
			print_block(text, n, c->width);
	}
}

/* "  --csv, --html=FILE   ..." is about csv and html. */
static bool has_option(const char *block, const char *option)
{
	_cleanup_free_ char *name = strndup(block, name_length(block));
	_cleanup_free_ char *sought = text_printf("--%s([=[,]|$)", option);

	return name && sought && has(name, sought);
}

static char *about(const char *block, size_t n)
{
	char *text = strndup(block + name_length(block), n - name_length(block));

	if (text)
		unfold(text);
	return text;
}

char *ctl_help_about_option(const char *option, const char *verb)
{
	for (size_t n, at = 0; options_text[at]; at += n) {
		const char *block = options_text + at;

		n = block_length(block);
		if (has_option(block, option) && (!verb || is_for(block, n, verb)))
			return about(block, n);
	}
	return NULL;
}

char *ctl_help_about_verb(const char *verb)
{
	for (size_t n, at = 0; verbs_text[at]; at += n) {
		n = block_length(verbs_text + at);
		if (begins_with(verbs_text + at, n, verb))
			return about(verbs_text + at, n);
	}
	return NULL;
}

void ctl_help_verb(const Ctl *c, const char *verb, const char *usage)
{
	printf("storpowerctl [OPTION...] %s%s%s\n\n", verb, *usage ? " " : "", usage);
	print_blocks(c, verbs_text, begins_with, verb);
	if (strstr(usage, "LIMIT")) {
		putchar('\n');
		print_wrapped("", 0, limit_text, c->width);
	}
	putchar('\n');
	print_blocks(c, options_text, is_for, verb);
	puts("\nstorpowerctl(1) says more.");
}

void ctl_help(const Ctl *c)
{
	puts("storpowerctl [OPTION...] VERB ...\n"
	     "\n"
	     "Limit what the storage of this node may draw, and see what is done about it.\n");
	print_blocks(c, verbs_text, NULL, NULL);
	putchar('\n');
	print_wrapped("", 0, limit_text, c->width);
	putchar('\n');
	print_blocks(c, options_text, NULL, NULL);
	putchar('\n');
	print_wrapped("", 0, exit_text, c->width);
}
