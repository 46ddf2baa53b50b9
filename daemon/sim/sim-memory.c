/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/sim-memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/log.h"

#define MAGIC   0x65646f6e6d6973ULL /* "simnode" */
#define VERSION 2

static size_t memory_size(size_t n_records)
{
	return sizeof(SimHeader) + n_records * sizeof(SimRecord);
}

static SimHeader expected_header(uint64_t hash, size_t n_records)
{
	return (SimHeader){ .magic = MAGIC,
			    .version = VERSION,
			    .hash = hash,
			    .record_size = sizeof(SimRecord),
			    .n_records = n_records };
}

static bool fits(const SimHeader *found, const SimHeader *expected)
{
	SimHeader h = *found;

	h.epoch_us = expected->epoch_us;
	return memcmp(&h, expected, sizeof(h)) == 0;
}

/* The locks are shared and robust, because a process that is killed with a lock held leaves it to
 * the next. */
static int init_locks(SimMemory *m)
{
	pthread_mutexattr_t a;
	int r = pthread_mutexattr_init(&a);

	if (r)
		return -r;
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	for (uint64_t i = 0; i < m->header->n_records && !r; i++)
		r = pthread_mutex_init(&m->records[i].lock, &a);
	pthread_mutexattr_destroy(&a);
	return -r;
}

/* Empties the file unless it is this node's. */
static int prepare_file(SimMemory *m, const SimHeader *expected, const char *path)
{
	SimHeader found = { 0 };
	struct stat st;

	if (fstat(m->fd, &st) < 0 || pread(m->fd, &found, sizeof(found), 0) < 0)
		return -errno;
	m->fresh = (size_t)st.st_size != m->size || !fits(&found, expected);
	if (!m->fresh)
		return 0;
	if (!m->alone) {
		log_error(
			"%s is in use for another node: stop its user, or give this node a file of "
			"its own",
			path);
		return -EBUSY;
	}
	if (st.st_size)
		log_info("%s does not fit the node file: switching the simulated devices on anew",
			 path);
	if (ftruncate(m->fd, 0) < 0 || ftruncate(m->fd, (off_t)m->size) < 0)
		return -errno;
	return 0;
}

static int open_file(SimMemory *m, const char *path, const SimHeader *expected)
{
	m->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (m->fd < 0)
		return -errno;
	m->alone = flock(m->fd, LOCK_EX | LOCK_NB) == 0;
	if (!m->alone && flock(m->fd, LOCK_SH) < 0)
		return -errno;
	return prepare_file(m, expected, path);
}

static int open_memory(SimMemory *m, const char *path, const SimHeader *expected)
{
	int flags = MAP_SHARED, r = 0;
	void *p;

	if (path)
		r = open_file(m, path, expected);
	else
		flags |= MAP_ANONYMOUS | MAP_NORESERVE;
	if (r < 0)
		return r;
	p = mmap(NULL, m->size, PROT_READ | PROT_WRITE, flags, path ? m->fd : -1, 0);
	if (p == MAP_FAILED)
		return -errno;
	m->header = p;
	m->records = (SimRecord *)(m->header + 1);
	if (m->fresh)
		m->header->n_records = expected->n_records;
	return m->alone ? init_locks(m) : 0;
}

int sim_memory_open(const char *path, uint64_t hash, size_t n_records, SimMemory *ret)
{
	SimHeader expected = expected_header(hash, n_records);
	SimMemory m = {
		.fd = -EBADF, .size = memory_size(n_records), .alone = true, .fresh = true
	};
	int r = open_memory(&m, path, &expected);

	if (r < 0) {
		sim_memory_close(&m);
		return log_error_errno(r, "Cannot use %s as the simulated devices' memory",
				       path ?: "anonymous memory");
	}
	*ret = m;
	return 0;
}

int sim_memory_ready(SimMemory *m)
{
	SimHeader *h = m->header;

	h->version = VERSION;
	h->record_size = sizeof(SimRecord);
	__atomic_store_n(&h->magic, MAGIC, __ATOMIC_RELEASE);
	return m->fd >= 0 && flock(m->fd, LOCK_SH) < 0 ? -errno : 0;
}

void sim_memory_close(SimMemory *m)
{
	if (m->header)
		munmap(m->header, m->size);
	closep(&m->fd);
	*m = (SimMemory){ .fd = -EBADF };
}

void sim_record_lock(SimRecord *r)
{
	if (pthread_mutex_lock(&r->lock) == EOWNERDEAD)
		pthread_mutex_consistent(&r->lock);
}

void sim_record_unlock(SimRecord *r)
{
	pthread_mutex_unlock(&r->lock);
}
