/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "config/config.h"

/* Three folders, as /etc, /run and /usr/lib are. */
typedef struct Folders {
	char root[32];
	char paths[3][40];
	const char *list[4];
} Folders;

static int make_folders(void **state)
{
	Folders *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	strcpy(f->root, "/tmp/test-config-XXXXXX");
	if (!mkdtemp(f->root))
		return -1;
	for (size_t i = 0; i < 3; i++) {
		snprintf(f->paths[i], sizeof(f->paths[i]), "%s/%zu", f->root, i);
		f->list[i] = f->paths[i];
	}
	*state = f;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

static int remove_folders(void **state)
{
	Folders *f = *state;
	int r = nftw(f->root, remove_one, 8, FTW_DEPTH | FTW_PHYS);

	free(f);
	return r;
}

static void put(const Folders *f, size_t folder, const char *name, const char *text)
{
	_cleanup_free_ char *drop_ins = text_printf("%s/storpower.conf.d", f->paths[folder]);
	_cleanup_free_ char *path = text_printf("%s/%s", f->paths[folder], name);

	assert_int_equal(mkdir_parents(drop_ins, 0755), 0);
	assert_int_equal(write_file_atomic(path, text, 0644), 0);
}

static Config *get(const Folders *f, size_t warnings)
{
	Config *c = NULL;
	size_t n = 77;

	assert_int_equal(config_read(f->list, &c, &n), 0);
	assert_int_equal(n, warnings);
	return c;
}

static void without_files_there_are_defaults(void **state)
{
	_cleanup_(config_freep) Config *c = get(*state, 0);

	assert_null(c->policy);
	assert_null(c->simulate);
	assert_string_equal(c->bus, "system");
	assert_string_equal(c->state_directory, "/var/lib/storpower");
	assert_string_equal(c->runtime_directory, "/run/storpower");
	assert_true(c->bpf);
	assert_true(c->discover);
	assert_false(c->insists);
	assert_true(c->guard_w == 0);
	assert_int_equal(c->spinups_at_once, 2);
	assert_true(isinf(c->spinup_w));
	assert_true(c->cycles_a_day == 10 && c->service_years == 5);
	assert_int_equal(c->log_level, LOG_INFO);
	assert_int_equal(c->n_devices, 0);
	assert_true(c->ledger.keep && isnan(c->ledger.price_kwh) && isnan(c->ledger.g_kwh));
	assert_string_equal(c->ledger.currency, "EUR");
	assert_true(!c->ledger.g_path && !c->ledger.marginal);
	assert_null(config_free(NULL));
}

static void every_key_is_read(void **state)
{
	_cleanup_(config_freep) Config *c = NULL;

	put(*state, 2, "storpower.conf",
	    "# comment\n[storpower]\npolicy = latency\nsimulate=/a/b c.node\n"
	    "bus=unix:path=/run/x\nstate_directory=/s\nruntime_directory=/r\nbpf=no\n"
	    "discover=no\nmode=advise\non_conflict=insist\nguard=0.5kW\nlog_level=debug\n\n"
	    "[tolerance]\nschedule=2.5s\nsignal=none\n[device loop0]\nprofile=pm9a3\ngroup=g 1\n"
	    "[device  nvme0n1]\ngroup=g1 ; first rack\n");
	c = get(*state, 1);
	assert_string_equal(c->policy, "latency");
	assert_string_equal(c->simulate, "/a/b c.node");
	assert_string_equal(c->bus, "unix:path=/run/x");
	assert_string_equal(c->state_directory, "/s");
	assert_string_equal(c->runtime_directory, "/r");
	assert_false(c->bpf || c->discover);
	assert_true(c->insists && c->advises);
	assert_true(c->guard_w == 500);
	assert_true(c->tolerance_s[CLASS_SCHEDULE] == 2.5);
	assert_true(c->tolerance_s[CLASS_SIGNAL] == 0 && c->tolerance_s[CLASS_OPERATOR] == 3);
	assert_true(c->tolerance_s[CLASS_EMERGENCY] == 0);
	assert_int_equal(c->log_level, LOG_DEBUG);
	assert_int_equal(c->n_devices, 2);
	assert_string_equal(c->devices[0].name, "loop0");
	assert_string_equal(c->devices[0].profile, "pm9a3");
	assert_null(c->devices[0].group);
	assert_string_equal(c->devices[1].name, "nvme0n1");
	assert_null(c->devices[1].profile);
	assert_string_equal(c->devices[1].group, "g1");
}

static void what_the_ledger_counts_by_is_read(void **state)
{
	_cleanup_(config_freep) Config *c = NULL;

	put(*state, 0, "storpower.conf",
	    "[ledger]\nkeep=no\nprice=0.18\ncurrency=NOK\ncarbon_intensity=30\n"
	    "carbon_file=/srv/grid\ncarbon_kind=marginal\n");
	c = get(*state, 0);
	assert_false(c->ledger.keep);
	assert_true(c->ledger.price_kwh == 0.18 && c->ledger.g_kwh == 30 && c->ledger.marginal);
	assert_string_equal(c->ledger.currency, "NOK");
	assert_string_equal(c->ledger.g_path, "/srv/grid");
}

static void what_makes_no_sense_of_the_ledger_is_counted(void **state)
{
	_cleanup_(config_freep) Config *c = NULL;

	put(*state, 0, "storpower.conf",
	    "[ledger]\nkeep=maybe\nprice=-1\ncurrency=a long name of a currency\n"
	    "carbon_intensity=nan\ncarbon_file=grid\ncarbon_kind=green\n");
	c = get(*state, 6);
	assert_true(c->ledger.keep && isnan(c->ledger.price_kwh) && isnan(c->ledger.g_kwh));
	assert_string_equal(c->ledger.currency, "EUR");
	assert_true(!c->ledger.g_path && !c->ledger.marginal);
}

static void what_disks_may_spend_on_sleep_is_read(void **state)
{
	_cleanup_(config_freep) Config *c = NULL;

	put(*state, 0, "storpower.conf",
	    "[storpower]\nspinups_at_once=64\nspinup_power=0.12kW\ncycles_a_day=0\n"
	    "service_years=0.5\n");
	c = get(*state, 0);
	assert_int_equal(c->spinups_at_once, 64);
	assert_true(c->spinup_w == 120);
	assert_true(c->cycles_a_day == 0 && c->service_years == 0.5);
	config_freep(&c);
	put(*state, 0, "storpower.conf.d/1.conf",
	    "[storpower]\nspinup_power=none\ncycles_a_day=1000\nservice_years=50\n");
	c = get(*state, 0);
	assert_true(isinf(c->spinup_w));
	assert_true(c->cycles_a_day == 1000 && c->service_years == 50);
}

static void a_disk_is_kept_awake_and_its_component_declared(void **state)
{
	static const char *const components[] = { "none",     "bcache", "writecache",
						  "mergerfs", "md",     "nvmet" };
	_cleanup_(config_freep) Config *c = NULL;

	for (size_t i = 0; i < ELEMENTSOF(components); i++) {
		_cleanup_free_ char *text = text_printf("[device a]\nredirect=%s\n[device b]\n"
							"keep_awake=yes\n",
							components[i]);

		put(*state, 0, "storpower.conf", text);
		config_freep(&c);
		c = get(*state, 0);
		assert_string_equal(c->devices[0].redirect, components[i]);
		assert_null(c->devices[1].redirect);
		assert_false(c->devices[0].keep_awake);
		assert_true(c->devices[1].keep_awake);
	}
	put(*state, 0, "storpower.conf.d/1.conf",
	    "[device a]\nredirect=\n[device b]\nkeep_awake=no\n");
	config_freep(&c);
	c = get(*state, 0);
	assert_null(c->devices[0].redirect);
	assert_false(c->devices[1].keep_awake);
}

static void the_first_main_file_wins_whole(void **state)
{
	_cleanup_(config_freep) Config *c = NULL;

	put(*state, 1, "storpower.conf", "[storpower]\npolicy=run\n");
	put(*state, 2, "storpower.conf", "[storpower]\npolicy=usr\nbpf=no\n");
	c = get(*state, 0);
	assert_string_equal(c->policy, "run");
	assert_true(c->bpf);
}

static void drop_ins_merge_by_name_and_override_single_keys(void **state)
{
	_cleanup_(config_freep) Config *c = NULL;

	put(*state, 0, "storpower.conf",
	    "[storpower]\npolicy=main\nguard=1W\n[device a]\ngroup=x\n");
	put(*state, 2, "storpower.conf.d/10-a.conf",
	    "[device b]\n[storpower]\npolicy=ten\nbpf=no\n");
	put(*state, 0, "storpower.conf.d/20-b.conf", "[storpower]\npolicy=twenty\n");
	put(*state, 1, "storpower.conf.d/20-b.conf", "[storpower]\npolicy=hidden\nbpf=yes\n");
	put(*state, 1, "storpower.conf.d/30-c.conf", "[device a]\nprofile=p\n");
	put(*state, 0, "storpower.conf.d/40-d.conf~", "rubbish");
	c = get(*state, 0);
	assert_string_equal(c->policy, "twenty");
	assert_false(c->bpf);
	assert_true(c->guard_w == 1);
	assert_int_equal(c->n_devices, 2);
	assert_string_equal(c->devices[0].name, "a");
	assert_string_equal(c->devices[0].profile, "p");
	assert_string_equal(c->devices[0].group, "x");
	assert_string_equal(c->devices[1].name, "b");
}

static void a_section_alone_names_a_device(void **state)
{
	_cleanup_(config_freep) Config *c = NULL;

	put(*state, 0, "storpower.conf", "[device loop7]\n  [device loop8] # second\n");
	put(*state, 0, "storpower.conf.d/1.conf", "[device loop7]\n");
	c = get(*state, 0);
	assert_int_equal(c->n_devices, 2);
	assert_string_equal(c->devices[0].name, "loop7");
	assert_string_equal(c->devices[1].name, "loop8");
}

static void a_device_goes_by_an_id_of_any_length_and_may_be_left_alone(void **state)
{
	_cleanup_(config_freep) Config *c = NULL;

	put(*state, 0, "storpower.conf",
	    "[device wwid:t10.ATA_____SAMSUNG_MZ7LH960HAJR-00005_____________________S45NNA0N1]\n"
	    "manage=no\ngroup=x\nwake_tested=yes\n"
	    "[device wwid:t10.ATA_____SAMSUNG_MZ7LH960HAJR-00005_____________________S45NNA0N2]\n"
	    "group=y\n[device a]\nmanage=no\n");
	put(*state, 0, "storpower.conf.d/1.conf", "[device a]\nmanage=yes\n");
	c = get(*state, 0);
	assert_int_equal(c->n_devices, 3);
	assert_true(c->devices[0].unmanaged && c->devices[0].wake_tested);
	assert_string_equal(c->devices[0].group, "x");
	assert_false(c->devices[1].unmanaged || c->devices[1].wake_tested);
	assert_string_equal(c->devices[1].group, "y");
	assert_false(c->devices[2].unmanaged);
}

static void an_empty_value_takes_back_what_an_earlier_file_set(void **state)
{
	_cleanup_(config_freep) Config *c = NULL;

	put(*state, 0, "storpower.conf",
	    "[storpower]\nsimulate=mixed\npolicy=latency\n[device a]\nprofile=p\n");
	put(*state, 0, "storpower.conf.d/1.conf",
	    "[storpower]\nsimulate=\npolicy=\n[device a]\nprofile=\n");
	c = get(*state, 0);
	assert_null(c->simulate);
	assert_null(c->policy);
	assert_null(c->devices[0].profile);
}

static void what_is_wrong_is_counted_and_the_rest_is_used(void **state)
{
	static const char *const bad[] = {
		"[storpower]\npolcy=x\n",
		"[storpower]\npolicy=a/b\n",
		"[storpower]\npolicy=..\n",
		"[storpower]\nsimulate=tiny.node\n",
		"[storpower]\nbus=sytem\n",
		"[storpower]\nbus=:1\n",
		"[storpower]\nstate_directory=\n",
		"[storpower]\nruntime_directory=run\n",
		"[storpower]\nbpf=maybe\n",
		"[storpower]\ndiscover=all\n",
		"[device a]\nmanage=\n",
		"[device a]\nkeep_awake=sometimes\n",
		"[device a]\nwake_tested=\n",
		"[device a]\nredirect=lvm\n",
		"[storpower]\nspinups_at_once=0\n",
		"[storpower]\nspinups_at_once=65\n",
		"[storpower]\nspinups_at_once=-1\n",
		"[storpower]\nspinups_at_once=2.5\n",
		"[storpower]\nspinup_power=\n",
		"[storpower]\nspinup_power=0W\n",
		"[storpower]\nspinup_power=50\n",
		"[storpower]\nspinup_power=50%\n",
		"[storpower]\ncycles_a_day=-1\n",
		"[storpower]\ncycles_a_day=1001\n",
		"[storpower]\ncycles_a_day=nan\n",
		"[storpower]\ncycles_a_day=\n",
		"[storpower]\nservice_years=0\n",
		"[storpower]\nservice_years=51\n",
		"[storpower]\nservice_years=-5\n",
		"[storpower]\non_conflict=fight\n",
		"[storpower]\nmode=observe\n",
		"[storpower]\nguard=5\n",
		"[storpower]\nguard=5%\n",
		"[storpower]\nguard=-1W\n",
		"[storpower]\nlog_level=loud\n",
		"policy=x\n",
		"[storage]\nx=1\ny=2\n",
		"[device a/b]\nprofile=x\n",
		"[device]\n",
		"[device ]\n",
		"[device a]\nweight=3\n",
		"[device a]\ngroup=../x\n",
		"[device a]\ngroup=rack/\n",
		"[device a]\ngroup=$(x)\n",
		"[device a]\ngroup=-x\n",
		"[sensor a/b]\n",
		"[sensor ..]\n",
		"[storpower]\nthis is no line\n",
	};

	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		_cleanup_(config_freep) Config *c = NULL;

		put(*state, 0, "storpower.conf", bad[i]);
		put(*state, 0, "storpower.conf.d/1.conf", "[storpower]\nlog_level=error\n");
		c = get(*state, 1);
		assert_null(c->policy);
		assert_true(c->bpf);
		assert_int_equal(c->log_level, LOG_ERR);
		assert_int_equal(c->spinups_at_once, 2);
		assert_true(isinf(c->spinup_w));
		assert_true(c->cycles_a_day == 10 && c->service_years == 5);
	}
}

/* Line by line: what is there twice, or holds what is no text, is left out. */
static void what_is_there_twice_is_counted_and_the_first_is_used(void **state)
{
	static const struct {
		const char *text;
		size_t warnings;
	} cases[] = {
		{ "[device a]\ngroup=x\n[device a]\n", 1 },
		{ "[device a]\ngroup=x\n[device b]\n[device  a]\n", 1 },
		{ "[device a]\ngroup=x\n[device a]\ngroup=y\nkeep_awake=yes\n", 1 },
		{ "[device a]\ngroup=x\ngroup=y\n", 1 },
		{ "[device a]\ngroup=x\n  y\n", 1 },
		{ "[device a]\ngroup=x\n[storpower]\nbpf=yes\n[storpower]\nbpf=no\n", 1 },
	};

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_(config_freep) Config *c = NULL;

		put(*state, 0, "storpower.conf", cases[i].text);
		c = get(*state, cases[i].warnings);
		assert_string_equal(c->devices[0].group, "x");
		assert_false(c->devices[0].keep_awake);
		assert_true(c->bpf);
	}
}

static void a_line_that_is_no_text_is_counted_and_the_rest_is_used(void **state)
{
	static const char *const bad[] = {
		"group=gr\374",         "policy=x\033[31m",    "group=\302\233x",
		"group=a\342\200\256b", "wake_tested=yes\377", "keep_awake\302\205=yes",
	};

	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		_cleanup_(config_freep) Config *c = NULL;
		_cleanup_free_ char *text =
			text_printf("# caf\351\n[device a]\n%s\nprofile=p\n", bad[i]);

		put(*state, 0, "storpower.conf", text);
		c = get(*state, 1);
		assert_string_equal(c->devices[0].profile, "p");
		assert_null(c->devices[0].group);
		assert_null(c->policy);
		assert_false(c->devices[0].wake_tested || c->devices[0].keep_awake);
	}
}

/* The keys below it are another device's. */
static void below_a_heading_that_cannot_be_read_nothing_is_used(void **state)
{
	static const char *const bad[] = { "[device b", "[device b]keep_awake=no", "[device \374]",
					   "[decive b]" };

	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		_cleanup_free_ char *text =
			text_printf("[device a]\ngroup=x\n%s\nmanage=no\nkeep_awake=yes\n", bad[i]);
		_cleanup_(config_freep) Config *c = NULL;

		put(*state, 0, "storpower.conf", text);
		c = get(*state, 1);
		assert_int_equal(c->n_devices, 1);
		assert_false(c->devices[0].unmanaged || c->devices[0].keep_awake);
	}
}

static void a_line_that_is_too_long_is_not_used_cut(void **state)
{
	_cleanup_(config_freep) Config *c = NULL;
	char text[512] = "[storpower]\nstate_directory=/";

	memset(text + strlen(text), 'x', 300);
	put(*state, 0, "storpower.conf", text);
	c = get(*state, 1);
	assert_string_equal(c->state_directory, "/var/lib/storpower");
}

static void a_pool_spreads_where_its_section_says_so_and_nowhere_else(void **state)
{
	_cleanup_(config_freep) Config *c = NULL, *later = NULL;

	put(*state, 0, "storpower.conf", "[pool zpool tank]\nspread=any\n[pool md0]\n");
	c = get(*state, 0);
	assert_int_equal(c->n_pools, 2);
	assert_string_equal(c->pools[0].name, "zpool tank");
	assert_true(c->pools[0].spreads);
	assert_false(c->pools[1].spreads);
	put(*state, 0, "storpower.conf.d/later.conf", "[pool zpool tank]\nspread=common\n");
	later = get(*state, 0);
	assert_int_equal(later->n_pools, 2);
	assert_false(later->pools[0].spreads);
}

static void a_spread_that_is_neither_common_nor_any_is_complained_of_and_ignored(void **state)
{
	static const char *const bad[] = { "spread=all", "spread=", "spread=Any", "spred=any" };

	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		_cleanup_free_ char *text = text_printf("[pool md0]\n%s\n", bad[i]);
		_cleanup_(config_freep) Config *c = NULL;

		put(*state, 0, "storpower.conf", text);
		c = get(*state, 1);
		assert_false(c->pools[0].spreads);
	}
}

static void nothing_is_taken_off_a_sensor_that_names_no_other(void **state)
{
	_cleanup_(config_freep) Config *c = NULL;

	put(*state, 0, "storpower.conf", "[sensor a]\ntype=dcmi\nof=node\nless=\n");
	c = get(*state, 0);
	assert_int_equal(c->n_sensors, 1);
	assert_null(c->sensors[0].less);
}

static void a_file_with_a_nul_byte_is_counted(void **state)
{
	static const char text[] = "[storpower]\npolicy=a\0b\n";
	const Folders *f = *state;
	_cleanup_free_ char *path = text_printf("%s/storpower.conf", f->paths[0]);
	_cleanup_(config_freep) Config *c = NULL;

	put(f, 0, "storpower.conf", "");
	assert_int_equal(write_bytes_atomic(path, text, sizeof(text) - 1, 0644), 0);
	c = get(f, 1);
	assert_null(c->policy);
}

static void a_file_that_cannot_be_read_is_counted(void **state)
{
	const Folders *f = *state;
	_cleanup_free_ char *path = text_printf("%s/storpower.conf", f->paths[0]);
	_cleanup_(config_freep) Config *c = NULL;

	assert_int_equal(mkdir_parents(path, 0755), 0); /* a folder in its place */
	c = get(f, 1);
	assert_string_equal(c->bus, "system");
}

/* "#key=value" and "#[section]" are examples, "# text" is prose. */
static char *uncommented(const char *path)
{
	char *text = NULL, *to;

	assert_int_equal(read_file(path, &text), 0);
	to = text;
	for (const char *from = text; *from; from++) {
		bool starts = from == text || from[-1] == '\n';

		if (!starts || *from != '#' || strchr(" #\n", from[1]))
			*to++ = *from;
	}
	*to = '\0';
	return text;
}

static void the_shipped_example_is_right_and_shows_the_defaults(void **state)
{
	_cleanup_free_ char *text = uncommented("packaging/storpower.conf");
	_cleanup_(config_freep) Config *c = NULL, *defaults = get(*state, 0);

	put(*state, 0, "storpower.conf", text);
	c = get(*state, 0);
	assert_string_equal(c->policy ?: "", defaults->policy ?: "");
	assert_string_equal(c->bus, defaults->bus);
	assert_string_equal(c->state_directory, defaults->state_directory);
	assert_string_equal(c->runtime_directory, defaults->runtime_directory);
	assert_null(c->simulate);
	assert_true(c->bpf == defaults->bpf && c->guard_w == defaults->guard_w);
	assert_true(c->discover == defaults->discover);
	assert_int_equal(c->log_level, defaults->log_level);
	assert_int_equal(c->spinups_at_once, defaults->spinups_at_once);
	assert_true(c->spinup_w == defaults->spinup_w);
	assert_true(c->cycles_a_day == defaults->cycles_a_day);
	assert_true(c->service_years == defaults->service_years);
	assert_int_equal(c->n_devices, 1);
	assert_string_equal(c->devices[0].name, "sdb");
	assert_false(c->devices[0].keep_awake || c->devices[0].wake_tested);
	assert_null(c->devices[0].redirect);
	config_freep(&c);
	free(text);
	text = NULL;
	assert_int_equal(read_file("packaging/storpower.conf", &text), 0);
	put(*state, 0, "storpower.conf", text);
	c = get(*state, 0);
	assert_int_equal(c->n_devices, 0);
}

#define config_test(f) cmocka_unit_test_setup_teardown(f, make_folders, remove_folders)

int main(void)
{
	const struct CMUnitTest tests[] = {
		config_test(without_files_there_are_defaults),
		config_test(every_key_is_read),
		config_test(what_the_ledger_counts_by_is_read),
		config_test(what_makes_no_sense_of_the_ledger_is_counted),
		config_test(what_disks_may_spend_on_sleep_is_read),
		config_test(a_disk_is_kept_awake_and_its_component_declared),
		config_test(the_first_main_file_wins_whole),
		config_test(drop_ins_merge_by_name_and_override_single_keys),
		config_test(a_section_alone_names_a_device),
		config_test(a_device_goes_by_an_id_of_any_length_and_may_be_left_alone),
		config_test(an_empty_value_takes_back_what_an_earlier_file_set),
		config_test(what_is_wrong_is_counted_and_the_rest_is_used),
		config_test(what_is_there_twice_is_counted_and_the_first_is_used),
		config_test(a_line_that_is_no_text_is_counted_and_the_rest_is_used),
		config_test(below_a_heading_that_cannot_be_read_nothing_is_used),
		config_test(a_line_that_is_too_long_is_not_used_cut),
		config_test(a_pool_spreads_where_its_section_says_so_and_nowhere_else),
		config_test(a_spread_that_is_neither_common_nor_any_is_complained_of_and_ignored),
		config_test(nothing_is_taken_off_a_sensor_that_names_no_other),
		config_test(a_file_with_a_nul_byte_is_counted),
		config_test(a_file_that_cannot_be_read_is_counted),
		config_test(the_shipped_example_is_right_and_shows_the_defaults),
	};

	log_set_max_level(LOG_CRIT); /* the warnings are provoked */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
