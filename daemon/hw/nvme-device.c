/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hw/nvme-device.h"

#include <errno.h>
#include <scsi/sg_unaligned.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "hw/nvme-controller.h"

struct NvmeDevice {
	char **names; /* of its controllers */
	ControllerIdentity identity;
	atomic_uint last_refusal; /* feature and error of the one logged last; 0 none */
};

int nvme_device_open(char *const *controllers, NvmeDevice **ret)
{
	_cleanup_(controller_close) Controller c = CONTROLLER_CLOSED;
	_cleanup_(nvme_device_freep) NvmeDevice *n = calloc(1, sizeof(*n));
	int r;

	if (!n)
		return -ENOMEM;
	r = controller_open(controllers[0], &c);
	if (r < 0)
		return r;
	r = controller_identify(&c, &n->identity);
	if (r < 0 && r != -EAGAIN)
		log_warning("%s: it does not say what it is: %s", controllers[0],
			    controller_answer(&c));
	for (; r >= 0 && *controllers; controllers++)
		r = strv_add(&n->names, *controllers);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(n);
	return 0;
}

NvmeDevice *nvme_device_free(NvmeDevice *n)
{
	if (!n)
		return NULL;
	strv_free(n->names);
	free(n);
	return NULL;
}

uint32_t nvme_device_power_states(const NvmeDevice *n)
{
	uint32_t states = 0;

	for (unsigned i = 0; i < n->identity.n_states; i++)
		if (n->identity.states[i].operational)
			states |= 1u << i;
	return states;
}

void nvme_device_describe(const NvmeDevice *n, Descriptor *ret)
{
	*ret = (Descriptor){
		.kind = KIND_NVME,
		.model = n->identity.model,
		.n_states = n->identity.n_states,
	};
	memcpy(ret->states, n->identity.states, sizeof(ret->states));
}

/* Some drives answer a feature that they do not know with success and rubbish: a feature that can
 * be advertised is sent only to drives that do so. */
static bool is_advertised(const NvmeDevice *n, uint8_t feature)
{
	switch (feature) {
	case FEATURE_POWER_LIMIT: return n->identity.limits_power;
	case FEATURE_OCP_POWER_STATE: return n->identity.ocp_index > 0;
	default: return true;
	}
}

static uint8_t uuid_index(const NvmeDevice *n, uint8_t feature)
{
	return feature == FEATURE_OCP_POWER_STATE ? n->identity.ocp_index : 0;
}

static int get_one(const NvmeDevice *n, const char *name, uint8_t feature, uint32_t *ret_value)
{
	_cleanup_(controller_close) Controller c = CONTROLLER_CLOSED;
	int r = controller_open(name, &c);

	if (r < 0)
		return r;
	r = controller_feature_get(&c, feature, uuid_index(n, feature), ret_value);
	if (r < 0)
		log_debug("%s: Get Features %02Xh: %s", name, feature, controller_answer(&c));
	return r;
}

/* Power states are counted from the one that draws the most. */
static bool allows_more(uint8_t feature, uint32_t value, uint32_t than)
{
	return feature == FEATURE_POWER_LIMIT ? value > than : value < than;
}

int nvme_device_feature_get(NvmeDevice *n, uint8_t feature, uint32_t *ret_value)
{
	uint32_t most = 0, value;
	int r = is_advertised(n, feature) ? 0 : -EOPNOTSUPP;

	for (char **name = n->names; r >= 0 && *name; name++) {
		r = get_one(n, *name, feature, &value);
		if (r >= 0 && (name == n->names || allows_more(feature, value, most)))
			most = value;
	}
	if (r >= 0)
		*ret_value = most;
	return r;
}

/* An error that passes by itself is not logged: the caller tries again. */
static void log_refusal(NvmeDevice *n, const char *name, const Controller *c, uint32_t refusal,
			uint32_t value)
{
	if (atomic_exchange(&n->last_refusal, refusal) != refusal)
		log_warning("%s: Set Features %02Xh to 0x%x: %s", name, refusal >> 16, value,
			    controller_answer(c));
}

static int set_one(NvmeDevice *n, const char *name, uint8_t feature, uint32_t value)
{
	_cleanup_(controller_close) Controller c = CONTROLLER_CLOSED;
	int r = controller_open(name, &c);

	if (r < 0)
		return r;
	r = controller_feature_set(&c, feature, uuid_index(n, feature), value);
	if (r < 0 && r != -EAGAIN && r != -ENODEV)
		log_refusal(n, name, &c, (uint32_t)feature << 16 | (uint32_t)-r, value);
	return r;
}

int nvme_device_feature_set(NvmeDevice *n, uint8_t feature, uint32_t value)
{
	int first = is_advertised(n, feature) ? 0 : -EOPNOTSUPP;

	for (char **name = n->names; first != -EOPNOTSUPP && *name; name++) {
		int r = set_one(n, *name, feature, value);

		first = first ?: r;
	}
	return first;
}

/* NVMe base specification 2.3: value in bits 15:0, scale in 17:16 as in the power state
 * descriptors. */
static int interval_power(uint32_t field, double *ret_w)
{
	static const double scales_w[4] = { 0, 0.0001, 0.01, 0 };
	double watts = (field & 0xffff) * scales_w[field >> 16 & 3];

	if (!(watts > 0))
		return -EOPNOTSUPP;
	*ret_w = watts;
	return 0;
}

/* SMART, Interval Power Measurement: the mean of the last second. */
static int smart_power(Controller *c, double *ret_w)
{
	uint8_t page[512] = { 0 };
	int r = controller_log(c, LOG_SMART, page, sizeof(page));

	return r < 0 ? r : interval_power(sg_get_unaligned_le32(page + 240), ret_w);
}

/* Power Measurement log, Average Interval Power, of a measurement that somebody else has
 * started: starting one of our own would end it. */
static int measured_power(Controller *c, double *ret_w)
{
	uint8_t page[64] = { 0 };
	int r = controller_log(c, LOG_POWER_MEASUREMENT, page, sizeof(page));

	if (r < 0)
		return r;
	return page[2] & 1 ? interval_power(sg_get_unaligned_le32(page + 40), ret_w) : -EOPNOTSUPP;
}

int nvme_device_power(NvmeDevice *n, double *ret_w)
{
	_cleanup_(controller_close) Controller c = CONTROLLER_CLOSED;
	int r = controller_open(n->names[0], &c);

	if (r < 0)
		return r;
	r = smart_power(&c, ret_w);
	if (r == -EOPNOTSUPP && n->identity.measures_power)
		r = measured_power(&c, ret_w);
	return r;
}
