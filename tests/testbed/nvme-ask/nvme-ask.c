/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* nvme-ask CONTROLLER QUESTION: the daemon's NVMe device and knobs without the daemon, so that a
 * test in a guest sees what each command does to a real host driver. An error is printed by its
 * name, "EPERM". */

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "hw/nvme-device.h"
#include "redirect/knob-registry.h"

static const char help[] =
	"nvme-ask CONTROLLER identify | get FEATURE | set FEATURE VALUE | power |\n"
	"                    probe | apply KNOB VALUE\n";

static int feature_get(Device *d, uint8_t feature, uint32_t *ret)
{
	return nvme_device_feature_get(d->impl, feature, ret);
}

static int feature_set(Device *d, uint8_t feature, uint32_t value)
{
	return nvme_device_feature_set(d->impl, feature, value);
}

static int power(Device *d, double *ret_w)
{
	return nvme_device_power(d->impl, ret_w);
}

static void release(Device *d)
{
	nvme_device_free(d->impl);
}

static const DeviceOps ops = {
	.feature_get = feature_get,
	.feature_set = feature_set,
	.power = power,
	.free = release,
};

static int open_device(const char *name, Device **ret)
{
	_cleanup_(nvme_device_freep) NvmeDevice *n = NULL;
	_cleanup_(device_unrefp) Device *d = NULL;
	Descriptor descriptor;
	int r = nvme_device_open((char *const[]){ (char *)name, NULL }, &n);

	if (r < 0)
		return r;
	nvme_device_describe(n, &descriptor);
	d = device_new(name, name, descriptor.model, KIND_NVME, &ops, n);
	if (!d)
		return -ENOMEM;
	TAKE_PTR(n);
	d->power_states = nvme_device_power_states(d->impl);
	r = device_match_profile(d, NULL, &descriptor);
	if (r >= 0)
		*ret = TAKE_PTR(d);
	return r;
}

static int ask_identify(Device *d, char **arguments)
{
	Descriptor descriptor;

	(void)arguments;
	nvme_device_describe(d->impl, &descriptor);
	printf("model=%s\nstates=0x%x\n", descriptor.model, d->power_states);
	for (unsigned i = 0; i < descriptor.n_states; i++) {
		const PowerState *ps = &descriptor.states[i];

		printf("state%u=%gW %s %u+%uus\n", i, ps->max_w,
		       ps->operational ? "operational" : "non-operational", ps->entry_us,
		       ps->exit_us);
	}
	return 0;
}

static int ask_get(Device *d, char **arguments)
{
	uint32_t value;
	int r = d->ops->feature_get(d, (uint8_t)strtoul(arguments[0], NULL, 0), &value);

	if (r >= 0)
		printf("0x%x\n", value);
	return r;
}

static int ask_set(Device *d, char **arguments)
{
	return d->ops->feature_set(d, (uint8_t)strtoul(arguments[0], NULL, 0),
				   (uint32_t)strtoul(arguments[1], NULL, 0));
}

static int ask_power(Device *d, char **arguments)
{
	double watts;
	int r = d->ops->power(d, &watts);

	(void)arguments;
	if (r >= 0)
		printf("%.4f\n", watts);
	return r;
}

static int ask_probe(Device *d, char **arguments)
{
	Offer offer = {};

	(void)arguments;
	for (const Knob *const *k = knob_registry; *k; k++) {
		_cleanup_free_ char *why = NULL;

		if (strncmp((*k)->name, "nvme-", 5) == 0)
			printf("%s: %s\n", (*k)->name,
			       (*k)->probe(d, &offer, &why) < 0 ? why : "offered");
	}
	if (offer.mechanisms & MECHANISM_POWER_LIMIT)
		printf("limit: %g to %g W\n", offer.limit_min_w, offer.limit_max_w);
	return 0;
}

static int ask_apply(Device *d, char **arguments)
{
	const Knob *k = knob_find(arguments[0]);
	KnobValue v, found;
	int r;

	if (!k)
		return -ENOENT;
	snprintf(v.text, sizeof(v.text), "%s", arguments[1]);
	r = knob_apply(k, d, &v, &found);
	if (r >= 0)
		printf("%s\n", found.text);
	return r;
}

static const struct {
	const char *name;
	int n_arguments;
	int (*ask)(Device *d, char **arguments);
} questions[] = {
	{ "identify", 0, ask_identify }, { "get", 1, ask_get },     { "set", 2, ask_set },
	{ "power", 0, ask_power },       { "probe", 0, ask_probe }, { "apply", 2, ask_apply },
};

int main(int argc, char **argv)
{
	_cleanup_(device_unrefp) Device *d = NULL;
	int r = -EINVAL;

	for (size_t i = 0; argc > 2 && i < ELEMENTSOF(questions); i++) {
		if (!streq(argv[2], questions[i].name) || argc != 3 + questions[i].n_arguments)
			continue;
		r = open_device(argv[1], &d);
		if (r >= 0)
			r = questions[i].ask(d, argv + 3);
		if (r < 0)
			printf("%s\n", strerrorname_np(-r));
		return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	}
	fputs(help, stderr);
	return 2;
}
