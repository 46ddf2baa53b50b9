/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* An NVMe controller in the place of the kernel: libnvme's open() and ioctl() end here, so that
 * every word of a command is seen as the kernel would. Words that must be 0, the save bit among
 * them, are checked at each command. */

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include <cmocka.h>
#include <libnvme.h>

#include "base/clock.h"
#include "base/text.h"

#define ADMIN_GET_LOG      0x02
#define ADMIN_IDENTIFY     0x06
#define ADMIN_SET_FEATURES 0x09
#define ADMIN_GET_FEATURES 0x0a

#define FAKE_MS 10000 /* the time limit of each command */

typedef struct FakeNvme {
	/* what it is */
	uint8_t identify[4096], uuids[4096], smart[512], power_log[512];
	uint32_t feature[2][256]; /* of nvme0 and nvme1, which lead to one subsystem */
	/* what it does wrong */
	int open_error;          /* errno of open() */
	int error;               /* errno of ioctl() */
	unsigned status;         /* NVMe status of every command ... */
	unsigned status_of[256]; /* ... or of one opcode */
	unsigned status_of_cns;  /* ... or of every Identify but the controller's */
	bool ignores;            /* accepts Set Features and keeps what it had */
	uint64_t takes_us;       /* for each command */
	/* what was seen */
	struct nvme_passthru_cmd command[64];
	unsigned n_commands, n_sets, n_opens;
	unsigned opened; /* which of them was, last */
	int fd;
} FakeNvme;

static FakeNvme fake;
static uint64_t fake_passed_us;

static inline void fake_put16(uint8_t *p, unsigned v)
{
	p[0] = v & 0xff;
	p[1] = v >> 8 & 0xff;
}

static inline void fake_put32(uint8_t *p, uint32_t v)
{
	fake_put16(p, v & 0xffff);
	fake_put16(p + 2, v >> 16);
}

/* One of the power state descriptors; NPSS follows the last. */
static inline void fake_state(unsigned i, unsigned mp, unsigned flags, uint32_t entry_us,
			      uint32_t exit_us)
{
	uint8_t *p = fake.identify + 2048 + 32 * i;

	fake_put16(p, mp);
	p[3] = (uint8_t)flags;
	fake_put32(p + 4, entry_us);
	fake_put32(p + 8, exit_us);
	if (fake.identify[263] < i)
		fake.identify[263] = (uint8_t)i;
}

/* As the Dell PS1010 in facts of real drives: 25, 20, 17, 14 W, and 5 W non-operational. */
static inline void fake_reset(void)
{
	static const unsigned watts[] = { 25, 20, 17, 14, 5 };

	fake = (FakeNvme){ .fd = -EBADF };
	memset(fake.identify + 4, ' ', 68);
	memcpy(fake.identify + 4, "SN42", 4);
	memcpy(fake.identify + 24, "Fake Drive", 10);
	memcpy(fake.identify + 64, "1.0", 3);
	for (unsigned i = 0; i < ELEMENTSOF(watts); i++)
		fake_state(i, watts[i] * 100, i == 4 ? 2 : 0, 30000, 30000);
}

static inline void fake_ctratt(uint32_t bits)
{
	fake_put32(fake.identify + 96, bits);
}

/* OCP's UUID at this index, from 1. */
static inline void fake_ocp(unsigned index)
{
	static const uint8_t ocp[16] = { 0xc1, 0x94, 0xd5, 0x5b, 0xe0, 0x94, 0x47, 0x94,
					 0xa2, 0x1d, 0x29, 0x99, 0x8f, 0x56, 0xbe, 0x6f };

	memset(fake.uuids + 32, 0x11, 32 * (index - 1));
	memcpy(fake.uuids + 32 * index + 16, ocp, sizeof(ocp));
}

static inline const struct nvme_passthru_cmd *fake_last(void)
{
	assert_true(fake.n_commands > 0);
	return &fake.command[fake.n_commands - 1];
}

int nvme_open(const char *name)
{
	assert_true(streq(name, "nvme0") || streq(name, "nvme1"));
	fake.opened = name[4] == '1';
	assert_true(fake.fd < 0 || fcntl(fake.fd, F_GETFD) < 0); /* the one before was closed */
	if (fake.open_error) {
		errno = fake.open_error;
		return -1;
	}
	fake.n_opens++;
	fake.fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return fake.fd;
}

/* Whether what nvme_open() gave out is still open. */
static inline bool fake_is_open(void)
{
	return fake.fd >= 0 && fcntl(fake.fd, F_GETFD) >= 0;
}

static inline void fake_copy(const struct nvme_passthru_cmd *c, const uint8_t *from, size_t size)
{
	assert_true(c->data_len <= size);
	memcpy((void *)(uintptr_t)c->addr, from, c->data_len);
}

static unsigned fake_identify(const struct nvme_passthru_cmd *c)
{
	assert_int_equal(c->data_len, 4096);
	assert_int_equal(c->nsid, 0);
	assert_int_equal(c->cdw11 | c->cdw12 | c->cdw13 | c->cdw14 | c->cdw15, 0);
	if (c->cdw10 == 1) {
		fake_copy(c, fake.identify, sizeof(fake.identify));
		return 0;
	}
	assert_int_equal(c->cdw10, 0x17);
	fake_copy(c, fake.uuids, sizeof(fake.uuids));
	return fake.status_of_cns;
}

static unsigned fake_features(struct nvme_passthru_cmd *c)
{
	uint8_t feature = c->cdw10 & 0xff;

	/* neither the save bit nor another selection than the current value */
	assert_int_equal(c->cdw10 & ~0xffu, 0);
	assert_int_equal(c->nsid, 0);
	assert_int_equal(c->cdw12 | c->cdw13 | c->cdw15, 0);
	assert_true(!c->data_len && !c->addr);
	if (c->opcode == ADMIN_SET_FEATURES) {
		fake.n_sets++;
		if (!fake.ignores)
			fake.feature[fake.opened][feature] = c->cdw11;
	} else {
		assert_int_equal(c->cdw11, 0);
		c->result = fake.feature[fake.opened][feature];
	}
	return 0;
}

static unsigned fake_log(const struct nvme_passthru_cmd *c)
{
	uint8_t page = c->cdw10 & 0xff;

	assert_int_equal(c->nsid, 0xffffffff);
	assert_int_equal(c->cdw10 >> 8 & 0xff, 0x80); /* retain asynchronous events */
	assert_int_equal((c->cdw10 >> 16) + 1, c->data_len / 4);
	assert_int_equal(c->cdw11 | c->cdw12 | c->cdw13 | c->cdw14 | c->cdw15, 0);
	if (page == 0x02)
		fake_copy(c, fake.smart, sizeof(fake.smart));
	else if (page == 0x25)
		fake_copy(c, fake.power_log, sizeof(fake.power_log));
	else
		return 0x109;
	return 0;
}

static unsigned fake_answer(struct nvme_passthru_cmd *c)
{
	if (fake.status || fake.status_of[c->opcode])
		return fake.status ?: fake.status_of[c->opcode];
	switch (c->opcode) {
	case ADMIN_IDENTIFY: return fake_identify(c);
	case ADMIN_SET_FEATURES:
	case ADMIN_GET_FEATURES: return fake_features(c);
	case ADMIN_GET_LOG: return fake_log(c);
	default: return 0x001;
	}
}

int ioctl(int fd, unsigned long request, ...)
{
	struct nvme_passthru_cmd *c;
	va_list arguments;

	va_start(arguments, request);
	c = va_arg(arguments, void *);
	va_end(arguments);
	assert_int_equal(fd, fake.fd);
	assert_int_equal(request, NVME_IOCTL_ADMIN_CMD);
	assert_int_equal(c->flags | c->rsvd1 | c->cdw2 | c->cdw3 | c->metadata_len, 0);
	assert_int_equal(c->metadata, 0);
	assert_int_equal(c->timeout_ms, FAKE_MS);
	assert_true(fake.n_commands < ELEMENTSOF(fake.command));
	fake.command[fake.n_commands++] = *c;
	fake_passed_us += fake.takes_us;
	if (fake.error) {
		errno = fake.error;
		return -1;
	}
	return (int)fake_answer(c);
}

/* Time passes as the drive takes it. */
int clock_gettime(clockid_t clock, struct timespec *ret)
{
	int r = (int)syscall(SYS_clock_gettime, clock, ret);
	uint64_t us = (uint64_t)ret->tv_nsec / 1000 + fake_passed_us;

	ret->tv_sec += (time_t)(us / USEC_PER_SEC);
	ret->tv_nsec = (long)(us % USEC_PER_SEC * 1000);
	return r;
}
