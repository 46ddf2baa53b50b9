/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Limits while power fails: claims of class "emergency" while a UPS is on battery, a supply is
 * offline or an alarm is raised. */

#include "signal/power.h"

static int read_config(const char *path, void **ret, size_t *ret_warnings)
{
	return power_config_read(path, (PowerConfig **)ret, ret_warnings);
}

static void free_config(void *config)
{
	power_config_free(config);
}

static int start(const SignalHost *host, void *config, const void *before, void **ret)
{
	return power_start(host, config, before, (Power **)ret);
}

static void stop(void *state)
{
	power_free(state);
}

int main(int argc, char **argv)
{
	static const Signal power = {
		.name = "power",
		.source = "power",
		.about =
			"Limits the power of this node's storage while a UPS, a supply or a rail fails.",
		.read = read_config,
		.free_config = free_config,
		.start = start,
		.stop = stop,
	};

	return signal_main(&power, argc, argv);
}
