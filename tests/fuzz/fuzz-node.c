/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"
#include "sim/simulated.h"

static void on_device(Device *d, DeviceEvent event, void *userdata)
{
	(void)event;
	(void)userdata;
	fuzz_check(d->id && d->name && d->model);
}

/* A node that opens starts, and its nature can be asked. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *const directories[] = { "policies/profiles", NULL };
	static ProfileStore *profiles; /* read once a process */
	_cleanup_(inventory_freep) Inventory *node = NULL;
	_cleanup_free_ char *dump = NULL;
	_cleanup_close_ int fd = fuzz_file(data, size);

	if (!profiles)
		fuzz_check(profile_store_read(directories, &profiles) == 0 && profiles->n > 0);
	if (sim_node_open(fuzz_path(fd).text, NULL, profiles, &clock_boottime, &node) < 0)
		return 0;
	fuzz_check(inventory_start(node, on_device, NULL) == 0);
	fuzz_check(sim_node_true_watts(node) >= 0);
	fuzz_check(sim_node_true_mb_s(node) >= 0);
	fuzz_check(sim_node_dump(node, &dump) == 0);
	return 0;
}
