/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>

#include "config/config.h"
#include "fuzz.h"

/* Whatever stands in storpower.conf, there is a usable configuration. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char folder[] = "/dev/shm/fuzz-config-XXXXXX", path[64];
	const char *const directories[] = { folder, NULL };
	_cleanup_close_ int fd = fuzz_file(data, size);
	_cleanup_(config_freep) Config *c = NULL;
	size_t warnings;

	fuzz_check(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/storpower.conf", folder);
	fuzz_check(symlink(fuzz_path(fd).text, path) == 0);
	fuzz_check(config_read(directories, &c, &warnings) == 0);
	fuzz_check(c->bus && c->state_directory && c->runtime_directory && c->guard_w >= 0);
	fuzz_check(c->spinups_at_once >= 1 && c->spinup_w > 0);
	fuzz_check(c->cycles_a_day >= 0 && c->service_years > 0);
	for (size_t i = 0; i < c->n_devices; i++)
		fuzz_check(*c->devices[i].name && !strchr(c->devices[i].name, '/'));
	unlink(path);
	rmdir(folder);
	return 0;
}
