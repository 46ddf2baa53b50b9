/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hw/nvme-controller.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include <libnvme.h>

#include "base/clock.h"

/* Controller Attributes of Identify Controller, NVMe base specification 2.3 */
#define CTRATT_UUID_LIST   (1u << 9)
#define CTRATT_POWER_LIMIT (1u << 20)
#define CTRATT_POWER_MEAS  (1u << 21)

#define STATUS_CODE_MASK 0x7ffu /* type in bits 10:8, code in 7:0 */
#define STATUS_PATH      0x300u
#define INVALID_LIMIT    0x13eu /* NVMe 2.3; unknown to libnvme 1 */

/* OCP Datacenter NVMe SSD specification 2.0, UUID for DSSD specific information */
static const uint8_t ocp_uuid[16] = { 0xc1, 0x94, 0xd5, 0x5b, 0xe0, 0x94, 0x47, 0x94,
				      0xa2, 0x1d, 0x29, 0x99, 0x8f, 0x56, 0xbe, 0x6f };

static const struct {
	unsigned status;
	int error;
} errors[] = {
	{ NVME_SC_INVALID_OPCODE, -EOPNOTSUPP },
	{ NVME_SC_INVALID_FIELD, -EINVAL },
	{ NVME_SC_INVALID_NS, -EINVAL },
	{ NVME_SC_OP_DENIED, -EPERM },
	{ NVME_SC_SANITIZE_IN_PROGRESS, -EBUSY },
	{ NVME_SC_CMD_INTERRUPTED, -EAGAIN },
	{ NVME_SC_TRAN_TPORT_ERROR, -EAGAIN },
	{ NVME_SC_PROHIBITED_BY_CMD_AND_FEAT, -EPERM },
	{ NVME_SC_ADMIN_CMD_MEDIA_NOT_READY, -EBUSY },
	{ NVME_SC_NS_NOT_READY, -EBUSY },
	{ NVME_SC_FORMAT_IN_PROGRESS, -EBUSY },
	{ 0x100 | NVME_SC_INVALID_LOG_PAGE, -EOPNOTSUPP },
	{ 0x100 | NVME_SC_FEATURE_NOT_CHANGEABLE, -EPERM },
	{ 0x100 | NVME_SC_FEATURE_NOT_PER_NS, -EINVAL },
	{ 0x100 | NVME_SC_SELF_TEST_IN_PROGRESS, -EBUSY },
	{ INVALID_LIMIT, -ERANGE },
};

static int status_error(unsigned status)
{
	if ((status & 0x700) == STATUS_PATH)
		return -EAGAIN;
	for (size_t i = 0; i < ELEMENTSOF(errors); i++)
		if (errors[i].status == (status & STATUS_CODE_MASK))
			return errors[i].error;
	return -EIO;
}

static int system_error(int error)
{
	switch (error) {
	case ENOENT:
	case ENXIO: return -ENODEV;
	/* the kernel cancelled the command, to reset the controller for somebody else's sake */
	case EINTR: return -EAGAIN;
	default: return -error;
	}
}

/* Takes the answer to a command that was sent at start_us; r is what libnvme returned, beside
 * errno. */
static int take_answer(Controller *c, int r, uint64_t start_us)
{
	int error = errno;
	uint64_t took_us = clock_now_us(&clock_boottime) - start_us;

	c->status = r < 0 ? -error : r;
	if (!r)
		return 0;
	if (took_us >= CONTROLLER_TIMEOUT_MS * USEC_PER_MSEC) {
		c->status = -ETIMEDOUT;
		return -ETIMEDOUT;
	}
	return r < 0 ? system_error(error) : status_error((unsigned)r);
}

const char *controller_answer(const Controller *c)
{
	if (c->status == -ETIMEDOUT)
		return "no answer in time";
	if (c->status == -EINTR)
		return "cancelled, the controller is being reset";
	if (c->status <= 0)
		return strerror(-c->status);
	if ((c->status & STATUS_CODE_MASK) == INVALID_LIMIT)
		return "Invalid Power Limit";
	return nvme_status_to_string(c->status, false);
}

int controller_open(const char *name, Controller *ret)
{
	int fd = nvme_open(name);

	if (fd < 0)
		return system_error(errno);
	*ret = (Controller){ .fd = fd };
	return 0;
}

void controller_close(Controller *c)
{
	closep(&c->fd);
	c->fd = -EBADF;
}

static int identify_structure(Controller *c, enum nvme_identify_cns cns, void *ret)
{
	struct nvme_identify_args args = {
		.args_size = sizeof(args),
		.fd = c->fd,
		.timeout = CONTROLLER_TIMEOUT_MS,
		.cns = cns,
		.data = ret,
	};
	uint64_t start_us = clock_now_us(&clock_boottime);

	return take_answer(c, nvme_identify(&args), start_us);
}

/* ASCII by the specification; whatever else a drive says must not reach the bus as text. */
static void copy_text(char *to, const char *from, size_t n)
{
	while (n > 0 && (from[n - 1] == ' ' || from[n - 1] == '\0'))
		n--;
	for (size_t i = 0; i < n; i++)
		to[i] = (char)(from[i] >= ' ' && from[i] <= '~' ? from[i] : '?');
	to[n] = '\0';
}

static void copy_states(ControllerIdentity *to, const struct nvme_id_ctrl *from)
{
	/* NPSS is the last one's number */
	to->n_states = MIN(from->npss + 1u, (unsigned)PROFILE_STATES_MAX);
	for (unsigned i = 0; i < to->n_states; i++) {
		const struct nvme_id_psd *d = &from->psd[i];
		double scale_w = d->flags & NVME_PSD_FLAGS_MXPS ? 0.0001 : 0.01;

		to->states[i] = (PowerState){
			.present = true,
			.operational = !(d->flags & NVME_PSD_FLAGS_NOPS),
			.max_w = le16toh(d->mp) * scale_w,
			.entry_us = le32toh(d->enlat),
			.exit_us = le32toh(d->exlat),
		};
	}
}

static int find_ocp(Controller *c, uint8_t *ret_index)
{
	struct nvme_id_uuid_list list;
	int r = identify_structure(c, NVME_IDENTIFY_CNS_UUID_LIST, &list);

	if (r < 0)
		return r;
	/* counted from 1; 0 means none */
	for (size_t i = 0; i < ELEMENTSOF(list.entry); i++)
		if (memcmp(list.entry[i].uuid, ocp_uuid, sizeof(ocp_uuid)) == 0) {
			*ret_index = (uint8_t)(i + 1);
			break;
		}
	return 0;
}

int controller_identify(Controller *c, ControllerIdentity *ret)
{
	ControllerIdentity id = {};
	struct nvme_id_ctrl raw;
	uint32_t attributes;
	int r = identify_structure(c, NVME_IDENTIFY_CNS_CTRL, &raw);

	if (r < 0)
		return r;
	copy_text(id.model, raw.mn, sizeof(raw.mn));
	copy_states(&id, &raw);
	attributes = le32toh(raw.ctratt);
	id.limits_power = attributes & CTRATT_POWER_LIMIT;
	id.measures_power = attributes & CTRATT_POWER_MEAS;
	if (attributes & CTRATT_UUID_LIST)
		r = find_ocp(c, &id.ocp_index);
	/* a drive that refuses its own list is no OCP drive; one that fell silent is no drive */
	if (r < 0 && c->status < 0)
		return r;
	*ret = id;
	return 0;
}

int controller_feature_get(Controller *c, uint8_t feature, uint8_t uuid_index, uint32_t *ret)
{
	uint32_t result = 0;
	struct nvme_get_features_args args = {
		.args_size = sizeof(args),
		.fd = c->fd,
		.timeout = CONTROLLER_TIMEOUT_MS,
		.sel = NVME_GET_FEATURES_SEL_CURRENT,
		.fid = feature,
		.uuidx = uuid_index,
		.result = &result,
	};
	uint64_t start_us = clock_now_us(&clock_boottime);
	int r = take_answer(c, nvme_get_features(&args), start_us);

	if (r >= 0)
		*ret = result;
	return r;
}

int controller_feature_set(Controller *c, uint8_t feature, uint8_t uuid_index, uint32_t value)
{
	struct nvme_set_features_args args = {
		.args_size = sizeof(args),
		.fd = c->fd,
		.timeout = CONTROLLER_TIMEOUT_MS,
		.cdw11 = value,
		.save = false,
		.fid = feature,
		.uuidx = uuid_index,
	};
	uint64_t start_us = clock_now_us(&clock_boottime);

	return take_answer(c, nvme_set_features(&args), start_us);
}

int controller_log(Controller *c, uint8_t page, void *ret, uint32_t size)
{
	struct nvme_get_log_args args = {
		.args_size = sizeof(args),
		.fd = c->fd,
		.timeout = CONTROLLER_TIMEOUT_MS,
		.lid = page,
		.nsid = NVME_NSID_ALL,
		.lsi = NVME_LOG_LSI_NONE,
		.lsp = NVME_LOG_LSP_NONE,
		.log = ret,
		.len = size,
		.rae = true,
	};
	uint64_t start_us = clock_now_us(&clock_boottime);

	return take_answer(c, nvme_get_log(&args), start_us);
}
