/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/ctl.h"

#include "base/log.h"

static const struct {
	const char *name, *usage;
	int min_args, max_args; /* -1: any number */
	int (*run)(Ctl *c);
} verbs[] = {
	{ "list", "", 0, 0, ctl_model_list },
	{ "validate", " FILE...", 1, -1, ctl_model_validate },
	{ "drift", "", 0, 0, ctl_model_drift },
};

int verb_model(Ctl *c)
{
	const char *name = *c->args++;

	c->n_args--;
	log_set_plain();
	for (size_t i = 0; i < ELEMENTSOF(verbs); i++) {
		if (!streq(verbs[i].name, name))
			continue;
		if (c->n_args < verbs[i].min_args ||
		    (verbs[i].max_args >= 0 && c->n_args > verbs[i].max_args))
			return complain(STATUS_USAGE, "Usage: storpowerctl model %s%s", name,
					verbs[i].usage);
		return verbs[i].run(c);
	}
	return complain(STATUS_USAGE, "model %s: list, validate or drift would be right", name);
}
