/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/text.h"
#include "model/predict.h"
#include "model/profile.h"

static char directory[] = "/tmp/test-model-profile-XXXXXX";
static char *stderr_path;

static char *in_directory(const char *name)
{
	char *path = text_printf("%s/%s", directory, name);

	assert_non_null(path);
	return path;
}

static void write_profile(const char *path, const char *text)
{
	assert_int_equal(write_file_atomic(path, text, 0600), 0);
}

/* Reads a profile with stderr in a file. */
static int read_heard(const char *path, Profile **ret, char **ret_heard)
{
	int fd = open(stderr_path, O_RDWR | O_CREAT | O_TRUNC, 0600), kept = dup(STDERR_FILENO), r;

	assert_true(fd >= 0 && kept >= 0);
	fflush(stderr);
	dup2(fd, STDERR_FILENO);
	r = profile_read(path, ret);
	fflush(stderr);
	dup2(kept, STDERR_FILENO);
	close(fd);
	close(kept);
	assert_int_equal(read_file(stderr_path, ret_heard), 0);
	return r;
}

static void every_shipped_profile_reads_without_complaint(void **state)
{
	static const char *const directories[] = { "policies/profiles", NULL };
	_cleanup_(strv_freep) char **paths = NULL;
	size_t n = 0;

	(void)state;
	assert_int_equal(list_files(directories, ".profile", &paths), 0);
	for (char **path = paths; *path; path++, n++) {
		_cleanup_(profile_freep) Profile *p = NULL;
		_cleanup_free_ char *heard = NULL;

		assert_int_equal(read_heard(*path, &p, &heard), 0);
		assert_string_equal(heard, "");
		assert_true(p->n_points >= 12);
	}
	assert_int_equal(n, 11);
}

#define FILE_OF(kind, rated, idle, more)                                                           \
	"[profile]\nmatch = ACME*\nkind = " kind "\nrated = " rated "\nidle = " idle "\n" more     \
	"[points]\npoint = qd=64 chunk=256K write random: 9W 1000MB/s\n"
#define WITH(more) FILE_OF("nvme", "10 W", "3 W", "error = 5%\n" more)
#define GOOD       WITH("")

static const struct Bad {
	const char *text;
	unsigned line; /* 0: of the whole file */
	const char *says;
} bad[] = {
	{ GOOD "colour = red\n", 9, "no key \"colour\"" },
	{ WITH("colour = red\n"), 7, "no key \"colour\"" },
	{ GOOD "[power-state 1]\nmax = 8 W\ncolour = red\n", 11, "no key" },
	{ GOOD "[condition idle_a]\nwatts = 2 W\ncolour = red\n", 11, "no key" },
	{ GOOD "[energy]\ncolour = 1 J\n", 10, "no key" },
	{ GOOD "[colours]\nx = 1\n", 9, "unknown section" },
	{ GOOD "[colours]\n", 9, "unknown section" },
	{ GOOD "[power-state 3]\n", 9, "without max=" },
	{ GOOD "[energy] error = 5%\n", 9, "nothing behind it" },
	{ FILE_OF("tape", "10 W", "3 W", ""), 3, "tape" },
	{ FILE_OF("nvme", "10", "3 W", ""), 4, "not watts" },
	{ FILE_OF("nvme", "nan W", "3 W", ""), 4, "not watts" },
	{ FILE_OF("nvme", "5000 W", "3 W", ""), 4, "not watts" },
	{ FILE_OF("nvme", "10 W", "12 W", ""), 4, "idle (12 W) is above rated (10 W)" },
	{ WITH("link_saving = 4 W\n"), 4, "link_saving" },
	{ FILE_OF("nvme", "10 W", "3 W", "error = 5\n"), 6, "percentage" },
	{ WITH("cycles = many\n"), 7, "spin-downs" },
	{ WITH("match =\n"), 7, "no glob" },
	{ GOOD "[profile]\nkind = hdd\nrated = 99 W\n", 9,
	  "a second [profile], the first is in line 1" },
	{ GOOD "[ points ]\npoint = qd=1 chunk=4K read random: 9W 1MB/s\n", 9,
	  "a second [points], the first is in line 7" },
	{ GOOD "[points]\npoint = qd=1 chunk=4K read random: 9W 1MB/s\n", 9,
	  "a second [points], the first is in line 7" },
	{ GOOD "[energy]\nerror = 5%\n[energy]\nerror = 6%\n", 11,
	  "a second [energy], the first is in line 9" },
	{ WITH("error = 6%\n"), 7, "[profile] has \"error\" already, in line 6" },
	{ WITH("kind = hdd\n"), 7, "[profile] has \"kind\" already, in line 3" },
	{ GOOD "[power-state 01]\nmax = 8 W\n", 9, "0 to 31" },
	{ WITH("# gr\374n\nmatch = gr\374n\n"), 8, "column 11 has the byte 0xFC" },
	{ GOOD "[power-state 1]\nmax = 8 W\n[power-state 1]\nmax = 7 W\n", 11,
	  "a second [power-state 1], the first is in line 9" },
	{ GOOD "[power-state 1]\nentry = 70us\n", 9, "without max=" },
	{ GOOD "[power-state 1]\nmax = 2 W\n", 9, "below idle" },
	{ GOOD "[power-state 32]\nmax = 8 W\n", 9, "0 to 31" },
	{ GOOD "[power-state 1]\nmax = 8 W\nentry = 2d\n", 11, "up to an hour" },
	{ GOOD "[power-state 1]\nmax = 8 W\noperational = maybe\n", 11, "neither yes nor no" },
	{ GOOD "[condition standby_z]\nwatts = 4 W\n", 9, "above idle" },
	{ GOOD "[condition idle_c]\nwatts = 1 W\n[condition standby_z]\nwatts = 2 W\n", 11,
	  "shallower" },
	{ GOOD "[condition standby_z]\nwatts = 1 W\nwake_watts = 20 W\n", 9, "belong together" },
	{ GOOD "[condition standby_z]\nrecovery = 3s\n", 9, "without watts=" },
	{ GOOD "[condition standby_z]\nwatts = 1 W\n[condition standby_z]\nwatts = 1 W\n", 11,
	  "a second [condition standby_z], the first is in line 9" },
	{ GOOD "[condition asleep]\nwatts = 1 W\n", 9, "conditions are" },
	{ GOOD "[energy]\nread_random_io = 5\n", 10, "not joules" },
	{ GOOD "[energy]\nread_random_io = -5 uJ\n", 10, "not joules" },
	{ GOOD "point = qd=64 chunk=256K write random: 11W 1000MB/s\n", 9, "above rated" },
	{ GOOD "point = qd=1 chunk=256K write random: 2W 1000MB/s\n", 9, "below idle" },
	{ GOOD "point = qd=64 chunk=256K write random: 9W 1000MB/s\n", 9, "already in line 8" },
	{ GOOD "point = ps=1 qd=64 chunk=256K write random: 9W 1000MB/s\n", 9, "not described" },
	{ GOOD "point = ps=1 qd=1 chunk=4K read random: 9W 1MB/s\n[power-state 1]\nmax = 8 W\n", 9,
	  "max (8 W)" },
	{ GOOD "point = ps=1 qd=1 chunk=4K read random: 4W 1MB/s\n[power-state 1]\nmax = 8 W\n"
	       "operational = no\n",
	  9, "serves no IO" },
	{ GOOD "point = qd=1 chunk=4K read random: 9W 0MB/s\n", 9, "without throughput" },
	{ GOOD "point = qd=1 chunk=4K read random: 9W 100MB/s 1000iops\n", 9,
	  "1000 IOPS of 4 KiB" },
	{ GOOD "point = qd=1 chunk=4K read: 9W 1MB/s\n", 9, "without random or sequential" },
	{ GOOD "point = qd=1 chunk=4K read random 1MB/s\n", 9, "without W" },
	{ GOOD "point = qd=1 qd=2 chunk=4K read random: 9W 1MB/s\n", 9, "twice" },
	{ GOOD "point = qd=1 chunk=4K read write random: 9W 1MB/s\n", 9, "twice" },
	{ GOOD "point = qd=1 chunk=4K read=50% read random: 9W 1MB/s\n", 9,
	  "a share of reads is neither read nor write" },
	{ GOOD "point = qd=1 chunk=4K read=100% random: 9W 1MB/s\n", 9, "must be 1 to 99%" },
	{ GOOD "point = qd=1 chunk=4K random: 9W 1MB/s\n", 9, "without read, write or read=" },
	{ GOOD "point = qd=1 chunk=4K read=50% random: 9W 1MB/s\n"
	       "point = qd=1 chunk=4K read=50% random: 8W 1MB/s\n",
	  10, "already in line 9" },
	{ GOOD "point = qd=128 chunk=256K write random: 8W 1000MB/s\n", 9,
	  "draws less than at depth 64 (9 W, line 8)" },
	{ GOOD "point = qd=1 chunk=256K write random: 8W 100MB/s p99=9us\n"
	       "point = qd=2 chunk=256K write random: 8W 100MB/s p99=8us\n",
	  10, "answers sooner than at depth 1 (9 us, line 9)" },
	{ FILE_OF("sata-ssd", "10 W", "3 W", ""), 7, "above what sata carries (600 MB/s)" },
	{ FILE_OF("hdd", "10 W", "3 W", ""), 7, "above what sata carries (600 MB/s)" },
	{ FILE_OF("hdd", "10 W", "3 W", "interface = sas-12\n") "point = qd=8 chunk=256K read "
								"sequential: 9W 1300MB/s\n",
	  9, "above what sas-12 carries (1200 MB/s)" },
	{ GOOD "point = qd=64 chunk=256K read random: 9W 99999MB/s\n", 9,
	  "above what pcie5x8 carries (31508 MB/s)" },
	{ WITH("interface = pcie3x2\n") "point = qd=64 chunk=256K read random: 9W 2000MB/s\n", 10,
	  "above what pcie3x2 carries (1969 MB/s)" },
	{ WITH("interface = pcie3x2\n") "point = qd=64 chunk=256K read=80% random: 9W 2600MB/s\n",
	  10, "point (2080 MB/s) is above what pcie3x2 carries" },
	{ WITH("interface = scsi\n"), 7, "sata, sas-12, sas-24, or pcie" },
	{ WITH("read_mb_s = 0\n"), 7, "above 0" },
	{ WITH("read_mb_s = 2000\n") "point = qd=64 chunk=256K read random: 9W 2101MB/s\n", 10,
	  "point (2101 MB/s) is above the sheet (read_mb_s = 2000)" },
	{ WITH("write_mb_s = 900\n"), 9, "above the sheet (write_mb_s = 900)" },
	{ WITH("read_iops = 100000\n") "point = qd=64 chunk=4K read random: 9W 431MB/s\n", 10,
	  "above the sheet (read_iops = 100000)" },
	{ WITH("write_iops = 1000\n"), 9, "above the sheet (write_iops = 1000)" },
	{ GOOD "point = qd=1 chunk=4K read random: 4W 1100MB/s\n"
	       "point = qd=8 chunk=4K read random: 5W 1040MB/s\n",
	  10, "is served less than at depth 1 (1100 MB/s, line 9)" },
	{ WITH("estimated = watts\n"), 7, "a list of rated, idle, link_saving" },
	{ WITH("estimated =\n"), 7, "a list of rated, idle, link_saving" },
	{ GOOD "point = qd=1.5 chunk=4K read random: 9W 1MB/s\n", 9, "whole" },
	{ GOOD "point = qd=0 chunk=4K read random: 9W 1MB/s\n", 9, "1 to 65536" },
	{ GOOD "point = qd=1 chunk=4 read random: 9W 1MB/s\n", 9, "not understood" },
	{ GOOD "point = qd=1 chunk=4K read random: 9W 1MB/s soon\n", 9, "not understood" },
	{ GOOD "this is not ini\n", 9, "neither" },
	{ "[profile]\nkind = hdd\nrated = 9 W\nidle = 2 W\n", 0, "no match=" },
	{ "[profile]\nmatch = a\nkind = hdd\nrated = 9 W\nidle = 2 W\n", 0, "no point=" },
	{ "[profile]\nmatch = a\nrated = 9 W\nidle = 2 W\n", 0, "no kind=" },
	{ "[profile]\nmatch = a\nkind = hdd\nidle = 2 W\n", 0, "no rated=" },
	{ "[profile]\nmatch = a\nkind = hdd\nrated = 9 W\n", 0, "no idle=" },
	{ "", 0, "no match=" },
};

static void every_mistake_is_refused_with_its_line_and_what_is_wrong(void **state)
{
	_cleanup_free_ char *path = in_directory("bad.profile");

	(void)state;
	for (const struct Bad *b = bad; b < bad + ELEMENTSOF(bad); b++) {
		_cleanup_free_ char *heard = NULL, *where = NULL;
		Profile *p = NULL;

		write_profile(path, b->text);
		assert_int_equal(read_heard(path, &p, &heard), -EINVAL);
		assert_null(p);
		where = b->line ? text_printf("%s:%u: ", path, b->line) : text_printf("%s: ", path);
		if (!strstr(heard, where) || !strstr(heard, b->says))
			fail_msg("case %zu: expected \"%s\" and \"%s\" in: %s", (size_t)(b - bad),
				 where, b->says, heard);
	}
}

static void all_complaints_of_a_file_are_made_at_once(void **state)
{
	_cleanup_free_ char *path = in_directory("many.profile"), *heard = NULL;
	Profile *p = NULL;

	(void)state;
	write_profile(path, FILE_OF("nvme", "10 W", "12 W", "y = 2\n") "x = 1\n");
	assert_int_equal(read_heard(path, &p, &heard), -EINVAL);
	assert_non_null(strstr(heard, "\"x\""));
	assert_non_null(strstr(heard, "\"y\""));
	assert_non_null(strstr(heard, "above rated"));
}

static void what_a_point_leaves_out_is_completed(void **state)
{
	_cleanup_free_ char *path = in_directory("good.profile"), *heard = NULL;
	_cleanup_(profile_freep) Profile *p = NULL;

	(void)state;
	write_profile(path,
		      GOOD "point = read sequential qd=8, chunk=4K 5W 100MB/s p99=900us estimated\n"
			   "[energy]\nwrite_random_io = 20 uJ\nerror = 7%\n");
	assert_int_equal(read_heard(path, &p, &heard), 0);
	assert_string_equal(heard, "");
	assert_string_equal(p->name, "good");
	assert_int_equal(p->n_points, 2);
	assert_float_equal(p->points[0].iops, 1e9 / 262144, 1e-6);
	assert_float_equal(p->points[0].error, 0.05, 1e-12);
	assert_float_equal(p->points[1].error, 0.10, 1e-12);
	assert_float_equal(p->points[1].p99_us, 900, 1e-12);
	assert_true(p->points[1].estimated);
	assert_float_equal(p->energy[WRITE_IO][RANDOM_IO].io_j, 20e-6, 1e-15);
	assert_float_equal(p->energy_error, 0.07, 1e-12);
}

/* Up to what the interface carries one way, and as far above the sheet as the watts may be off. */
static void what_a_drive_may_serve_is_no_fault(void **state)
{
	_cleanup_free_ char *path = in_directory("good.profile"), *heard = NULL;
	_cleanup_(profile_freep) Profile *p = NULL;

	(void)state;
	write_profile(
		path,
		FILE_OF("sata-ssd", "10 W", "3 W",
			"error = 5%\ninterface = sas-12\nread_mb_s = 1000\nread_iops = 50000\n"
			"estimated = idle, rated\n") "point = qd=64 chunk=256K read sequential: 9W 1050MB/s\n"
						     "point = qd=64 chunk=256K read=50% random: 9W 2090MB/s\n"
						     "point = qd=64 chunk=4K read sequential: 9W 1000MB/s\n"
						     "point = qd=128 chunk=4K read sequential: 9W 951MB/s\n"
						     "point = qd=64 chunk=1K read random: 9W 200MB/s\n");
	assert_int_equal(read_heard(path, &p, &heard), 0);
	assert_string_equal(heard, "");
	assert_int_equal(p->sheet.interface, INTERFACE_SAS_12);
	assert_float_equal(p->sheet.mb_s[READ_IO], 1000, 1e-9);
	assert_float_equal(p->sheet.iops[READ_IO], 50000, 1e-9);
	assert_int_equal(p->estimated_figures, FIGURE_IDLE | FIGURE_RATED);
}

static void no_generic_profile_promises_more_than_its_interface(void **state)
{
	(void)state;
	for (DeviceKind k = 0; k < _KIND_MAX; k++) {
		_cleanup_(profile_freep) Profile *p = NULL;

		assert_int_equal(profile_generic(&(Descriptor){ .kind = k }, &p), 0);
		for (size_t i = 0; i < p->n_points; i++)
			assert_true(p->points[i].mb_s <= profile_ceiling_mb_s(p));
	}
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	return *seed ^= *seed << 17;
}

static double watts_at(const Profile *p, double read_share, double kib, const Setting *s,
		       Prediction *ret)
{
	const Mix mix = { read_share, 1, kib, kib, 64, NULL };

	predict(p, &mix, s, ret);
	return ret->watts;
}

/* One that draws more than its parts and serves less. */
static void a_measured_mix_is_predicted_and_its_watts_are_within_caps(void **state)
{
	const Setting shaped = { .power_state = -1, .depth = 64, .chunk_kib = 256 };
	_cleanup_free_ char *path = in_directory("mix.profile");
	_cleanup_(profile_freep) Profile *p = NULL;
	Prediction mix, half, far;

	(void)state;
	write_profile(path, GOOD "point = qd=64 chunk=256K read random: 7W 2000MB/s\n"
				 "point = qd=64 chunk=256K read=50% random: 9.5W 900MB/s "
				 "error=5%\n");
	assert_int_equal(profile_read(path, &p), 0);
	assert_int_equal(p->n_points, 2);
	assert_int_equal(p->n_mixes, 1);
	assert_float_equal(watts_at(p, 0.5, 256, &SETTING_AS_FOUND, &mix), 9.5, 1e-9);
	assert_float_equal(mix.mb_s, 900, 1e-6);
	assert_float_equal(mix.error, 0.05, 1e-9);
	assert_true(watts_at(p, 0.5, 256, &shaped, &mix) <= cap_watts(p, &shaped));
	assert_true(profile_operating_w(p) >= 9.5);
	/* half way to reads alone, half of it */
	watts_at(p, 0.75, 256, &SETTING_AS_FOUND, &half);
	assert_float_equal(half.mb_s, 1e3 / (0.75 / 2 + 0.25) * (1 + 900.0 / (4e3 / 3)) / 2, 1e-6);
	/* of another size the same, and less sure */
	watts_at(p, 0.5, 1024, &SETTING_AS_FOUND, &far);
	assert_float_equal(far.mb_s / mix.mb_s, 1, 0.1);
	assert_true(far.error > mix.error + 0.2);
}

static void garbage_is_refused_and_never_crashes(void **state)
{
	static const char *const pieces[] = {
		"[",
		"]",
		"=",
		":",
		"\n",
		"point",
		"qd=",
		"chunk=",
		"-1",
		"1e308",
		"nan",
		"W",
		"MB/s",
		"\x01",
		"[power-state ",
		"[condition standby_z]\n",
		"rated",
		"idle",
		" ",
		",",
		"%",
		"\xff",
		"999999999999",
		"[profile]\n",
		"[points]\npoint = ps=31 qd=1 chunk=4K read random: 4W 1MB/s\n",
		"match = *\n",
		"[energy]\nread_random_io = 0 J\n",
		"kind = hdd\n",
		"max = 4 W\n",
		"watts = 0 W\n",
	};
	_cleanup_free_ char *path = in_directory("garbage.profile");
	uint64_t seed = 0x5eed;

	(void)state;
	for (int i = 0; i < 1500; i++) {
		char text[1024] = GOOD;
		_cleanup_free_ char *heard = NULL;
		_cleanup_(profile_freep) Profile *p = NULL;
		int r;

		if (i % 3 == 0)
			text[next_random(&seed) % strlen(GOOD)] =
				(char)(1 + next_random(&seed) % 255);
		else
			text[next_random(&seed) % strlen(GOOD)] = '\0';
		for (size_t n = next_random(&seed) % 12; n > 0; n--)
			strcat(text, pieces[next_random(&seed) % ELEMENTSOF(pieces)]);
		/* not synced: fifteen hundred files */
		FILE *f = fopen(path, "w");
		assert_non_null(f);
		fputs(text, f);
		fclose(f);
		r = read_heard(path, &p, &heard);
		assert_true(r == 0 || r == -EINVAL);
		assert_true(r == 0 ? p != NULL : p == NULL && *heard);
		if (p)
			assert_true(isfinite(
				cap_watts(p, &(Setting){ .power_state = -1, .depth = 1 })));
	}
}

static void the_users_own_directory_of_profiles_comes_first(void **state)
{
	_cleanup_(strv_freep) char **given = NULL, **usual = NULL;

	(void)state;
	assert_int_equal(profile_store_directories("/own", "/shipped", &given), 0);
	assert_int_equal(strv_length(given), 2);
	assert_string_equal(given[0], "/own/profiles");
	assert_string_equal(given[1], "/shipped/profiles");
	assert_int_equal(profile_store_directories(NULL, NULL, &usual), 0);
	assert_string_equal(usual[0], "/etc/storpower/profiles");
	assert_string_equal(usual[1], STORPOWER_DATADIR "/profiles");
}

static void a_users_own_profile_wins_by_name_and_by_match(void **state)
{
	_cleanup_free_ char *own = in_directory("own"), *shipped = in_directory("shipped");
	_cleanup_free_ char *a = text_printf("%s/zz.profile", own),
			    *b = text_printf("%s/aa.profile", shipped),
			    *c = text_printf("%s/zz.profile", shipped),
			    *d = text_printf("%s/bad.profile", own);
	const char *const directories[] = { own, shipped, "/nonexistent", NULL };
	_cleanup_(profile_store_freep) ProfileStore *s = NULL;

	(void)state;
	assert_int_equal(mkdir_parents(own, 0700), 0);
	assert_int_equal(mkdir_parents(shipped, 0700), 0);
	write_profile(a, GOOD);
	write_profile(b, GOOD);
	write_profile(c, GOOD "unknown = 1\n");
	write_profile(d, "[profile]\n");
	assert_int_equal(profile_store_read(directories, &s), 0);
	assert_int_equal(s->n, 2);
	assert_string_equal(profile_store_match(s, "ACME Fast 1T")->path, a);
	assert_string_equal(profile_store_get(s, "aa")->path, b);
	assert_null(profile_store_match(s, "Other"));
	assert_null(profile_store_get(s, "bad"));
}

static void shipped_profiles_match_the_models_they_are_named_for(void **state)
{
	static const char *const cases[][2] = {
		{ "SAMSUNG MZQL23T8HCLS-00A07", "samsung-pm9a3" },
		{ "INTEL SSDPF2KX076TZ", "intel-p5510" },
		{ "SAMSUNG MZPLJ3T2HBJR-00007", "samsung-pm1735" },
		{ "SAMSUNG MZWLJ7T6HALA-00007", "samsung-pm1733" },
		{ "SAMSUNG MZWLL1T6HEHP-00003", "samsung-pm1725" },
		{ "Dell NVMe PS1010 RI U.2 3.84TB", "dell-ps1010" },
		{ "INTEL SSDSC2KB960G8", "intel-d3-s4510" },
		{ "Samsung SSD 860 EVO 1TB", "samsung-860-evo" },
		{ "ST2000NX0253", "seagate-exos-7e2000" },
		{ "ST2000NX0463", "seagate-st2000nx0463" },
		{ "ST32000645SS", "seagate-constellation-es2" },
	};
	static const char *const directories[] = { "policies/profiles", NULL };
	_cleanup_(profile_store_freep) ProfileStore *s = NULL;

	(void)state;
	assert_int_equal(profile_store_read(directories, &s), 0);
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		const Profile *p = profile_store_match(s, cases[i][0]);

		assert_non_null(p);
		assert_string_equal(p->name, cases[i][1]);
	}
	assert_null(profile_store_match(s, "QEMU NVMe Ctrl"));
}

static void a_generic_profile_follows_the_descriptors(void **state)
{
	Descriptor d = { .kind = KIND_NVME, .model = "Any" };

	(void)state;
	for (int round = 0; round < 2; round++) {
		_cleanup_(profile_freep) Profile *p = NULL;

		assert_int_equal(profile_generic(&d, &p), 0);
		assert_true(p->estimated);
		assert_string_equal(p->name, "generic-nvme");
		assert_float_equal(p->rated_w, round ? 20 : 25, 1e-12);
		assert_float_equal(p->idle_w, round ? 6 : 7.5, 1e-12);
		assert_float_equal(cap_watts(p, &SETTING_AS_FOUND), p->rated_w, 1e-12);
		assert_float_equal(profile_operating_w(p), p->rated_w, 0);
		if (round) {
			assert_false(p->states[2].present);
			assert_float_equal(cap_watts(p, &(Setting){ .power_state = 1 }), 12, 1e-12);
		}
		d.n_states = 3;
		d.states[0] = (PowerState){ .present = true, .operational = true, .max_w = 20 };
		d.states[1] = (PowerState){ .present = true, .operational = true, .max_w = 12 };
		d.states[2] = (PowerState){ .present = true, .operational = true, .max_w = 0 };
	}
}

static void every_kind_has_a_generic_profile(void **state)
{
	(void)state;
	for (DeviceKind k = 0; k < _KIND_MAX; k++) {
		_cleanup_(profile_freep) Profile *p = NULL;
		Prediction q;

		assert_int_equal(kind_from_name(kind_name(k)), k);
		assert_int_equal(profile_generic(&(Descriptor){ .kind = k }, &p), 0);
		predict(p, &MIX_UNKNOWN, &SETTING_AS_FOUND, &q);
		assert_true(q.mb_s > 0 && q.watts > p->idle_w && q.watts <= p->rated_w &&
			    q.estimated);
		assert_true(mix_io_joules(p, &MIX_UNKNOWN) > 0);
	}
	assert_int_equal(kind_from_name("tape"), -EINVAL);
}

static bool is_saturated(const Profile *p, const Point *q)
{
	for (const Point *o = p->points; o < p->points + p->n_points; o++)
		if (o->direction == q->direction && o->pattern == q->pattern &&
		    o->chunk_kib == q->chunk_kib && o->depth > q->depth)
			return false;
	return q->power_state == 0;
}

static void pacing_at_full_watts_gives_every_saturated_point_within_its_error(void **state)
{
	static const char *const directories[] = { "policies/profiles", NULL };
	_cleanup_(profile_store_freep) ProfileStore *s = NULL;

	(void)state;
	assert_int_equal(profile_store_read(directories, &s), 0);
	for (size_t i = 0; i < s->n; i++) {
		const Profile *p = s->profiles[i];

		for (const Point *q = p->points; q < p->points + p->n_points; q++) {
			const Energy *e = &p->energy[q->direction][q->pattern];
			double io_j = e->io_j + q->chunk_kib / 4.0 * e->page_j;
			double watts = p->idle_w + q->iops * io_j;
			double allowed = MAX(q->error, p->energy_error);

			assert_true(e->io_j >= 0 && e->page_j >= 0);
			if (is_saturated(p, q) && fabs(watts / q->watts - 1) > allowed + 1e-9)
				fail_msg(
					"%s: qd %u chunk %u: energies give %.2f W, the point %.2f W",
					p->name, q->depth, q->chunk_kib, watts, q->watts);
		}
		if (p->energy_error > 0.3)
			fail_msg("%s: energies miss by %.0f %%", p->name, p->energy_error * 100);
	}
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	stderr_path = in_directory("stderr");
	return 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = { "bad.profile",
					     "many.profile",
					     "good.profile",
					     "mix.profile",
					     "garbage.profile",
					     "own/zz.profile",
					     "own/bad.profile",
					     "shipped/aa.profile",
					     "shipped/zz.profile",
					     "own",
					     "shipped",
					     "stderr" };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(names); i++) {
		_cleanup_free_ char *path = in_directory(names[i]);

		if (remove(path) < 0)
			return -1;
	}
	free(stderr_path);
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_shipped_profile_reads_without_complaint),
		cmocka_unit_test(every_mistake_is_refused_with_its_line_and_what_is_wrong),
		cmocka_unit_test(all_complaints_of_a_file_are_made_at_once),
		cmocka_unit_test(what_a_point_leaves_out_is_completed),
		cmocka_unit_test(what_a_drive_may_serve_is_no_fault),
		cmocka_unit_test(no_generic_profile_promises_more_than_its_interface),
		cmocka_unit_test(a_measured_mix_is_predicted_and_its_watts_are_within_caps),
		cmocka_unit_test(garbage_is_refused_and_never_crashes),
		cmocka_unit_test(the_users_own_directory_of_profiles_comes_first),
		cmocka_unit_test(a_users_own_profile_wins_by_name_and_by_match),
		cmocka_unit_test(shipped_profiles_match_the_models_they_are_named_for),
		cmocka_unit_test(a_generic_profile_follows_the_descriptors),
		cmocka_unit_test(every_kind_has_a_generic_profile),
		cmocka_unit_test(pacing_at_full_watts_gives_every_saturated_point_within_its_error),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
