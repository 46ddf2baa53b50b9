/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config/config-reread.h"

#include "base/log.h"
#include "base/text.h"

static void say(const char *section, const char *key)
{
	log_notice("[%s] %s has changed: it takes effect when storpowerd starts again", section,
		   key);
}

static void keep_text(const char *section, const char *key, char **now, char **was)
{
	char *read = *now;

	if (read && *was ? !streq(read, *was) : read != *was)
		say(section, key);
	*now = *was;
	*was = read;
}

static void keep_bool(const char *section, const char *key, bool *now, bool was)
{
	if (*now != was)
		say(section, key);
	*now = was;
}

void config_keep_started(Config *now, Config *was)
{
	keep_text("storpower", "simulate", &now->simulate, &was->simulate);
	keep_text("storpower", "bus", &now->bus, &was->bus);
	keep_text("storpower", "state_directory", &now->state_directory, &was->state_directory);
	keep_text("storpower", "runtime_directory", &now->runtime_directory,
		  &was->runtime_directory);
	keep_bool("storpower", "bpf", &now->bpf, was->bpf);
	keep_bool("ledger", "keep", &now->ledger.keep, was->ledger.keep);
	keep_text("ledger", "currency", &now->ledger.currency, &was->ledger.currency);
	keep_text("ledger", "carbon_file", &now->ledger.g_path, &was->ledger.g_path);
}
