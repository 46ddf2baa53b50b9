/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The ring that the kernel's target_core_user shares with us (linux/target_core_user.h). Commands
 * are copied out, so that they can be completed in any order. */

#include "hddsim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

#define __LINUX_UIO_H /* its struct iovec is sys/uio.h's again */
#include <linux/target_core_user.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"

#define UIO_FOLDER "/sys/class/uio"

/* "tcm-user/HBA/NAME/hddsim" */
static bool is_ours(const char *uio, const char *name)
{
	char path[300], text[300], wanted[200];
	const char *found;

	snprintf(path, sizeof(path), UIO_FOLDER "/%s/name", uio);
	snprintf(wanted, sizeof(wanted), "/%s/hddsim", name);
	if (read_attribute(path, text, sizeof(text)) < 0)
		return false;
	found = strstr(text, wanted);
	return found && streq(found, wanted);
}

static int find_uio(const char *name, char *ret_uio, size_t size)
{
	_cleanup_closedir_ DIR *folder = opendir(UIO_FOLDER);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (is_ours(entry->d_name, name)) {
			snprintf(ret_uio, size, "%s", entry->d_name);
			return 0;
		}
	return log_full(LOG_ERR, ENOENT, "The kernel made no uio device for %s: see its log", name);
}

static int map_size(const char *uio, size_t *ret)
{
	char path[300], text[40];
	int r;

	snprintf(path, sizeof(path), UIO_FOLDER "/%s/maps/map0/size", uio);
	r = read_attribute(path, text, sizeof(text));
	if (r < 0)
		return log_error_errno(r, "Cannot read %s", path);
	*ret = strtoull(text, NULL, 16);
	return 0;
}

int ring_open(Ring *r, const char *name)
{
	char uio[256], path[300];
	int k;

	k = find_uio(name, uio, sizeof(uio));
	if (k < 0)
		return k;
	k = map_size(uio, &r->size);
	if (k < 0)
		return k;
	snprintf(path, sizeof(path), "/dev/%s", uio);
	r->fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (r->fd < 0)
		return log_error_errno(errno, "Cannot open %s", path);
	r->mailbox = mmap(NULL, r->size, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (r->mailbox == MAP_FAILED) {
		r->mailbox = NULL;
		return log_error_errno(errno, "Cannot map %s", path);
	}
	if (r->mailbox->version != TCMU_MAILBOX_VERSION ||
	    !(r->mailbox->flags & TCMU_MAILBOX_FLAG_CAP_OOOC))
		return log_full(LOG_ERR, EPROTO, "%s: ring version %u, flags %x: too old", path,
				r->mailbox->version, r->mailbox->flags);
	r->has_read_len = r->mailbox->flags & TCMU_MAILBOX_FLAG_CAP_READ_LEN;
	r->fetched = r->mailbox->cmd_tail;
	return 0;
}

void ring_close(Ring *r)
{
	if (r->mailbox)
		munmap(r->mailbox, r->size);
	if (r->fd >= 0)
		close(r->fd);
	r->mailbox = NULL;
	r->fd = -1;
}

static struct tcmu_cmd_entry *entry_at(const Ring *r, uint32_t offset)
{
	return (void *)((char *)r->mailbox + r->mailbox->cmdr_off + offset);
}

static uint32_t next_offset(const Ring *r, uint32_t offset)
{
	return (offset + tcmu_hdr_get_len(entry_at(r, offset)->hdr.len_op)) % r->mailbox->cmdr_size;
}

static int copy_command(const Ring *r, const struct tcmu_cmd_entry *entry, Command **ret)
{
	char *base = (char *)r->mailbox;
	unsigned n = entry->req.iov_cnt;
	Command *c = calloc(1, sizeof(*c) + n * sizeof(c->iov[0]));

	if (!c)
		return log_oom();
	c->id = entry->hdr.cmd_id;
	c->n_iov = n;
	memcpy(c->cdb, base + entry->req.cdb_off, CDB_BYTES);
	for (unsigned i = 0; i < n; i++) {
		c->iov[i].iov_base = base + (size_t)entry->req.iov[i].iov_base;
		c->iov[i].iov_len = entry->req.iov[i].iov_len;
	}
	*ret = c;
	return 1;
}

int ring_fetch(Ring *r, Command **ret)
{
	while (r->fetched != __atomic_load_n(&r->mailbox->cmd_head, __ATOMIC_ACQUIRE)) {
		struct tcmu_cmd_entry *entry = entry_at(r, r->fetched);
		enum tcmu_opcode code = tcmu_hdr_get_op(entry->hdr.len_op);

		r->fetched = next_offset(r, r->fetched);
		if (code == TCMU_OP_CMD)
			return copy_command(r, entry, ret);
		if (code != TCMU_OP_PAD)
			entry->hdr.uflags |= TCMU_UFLAG_UNKNOWN_OP;
	}
	return 0;
}

static void advance_tail(Ring *r)
{
	struct tcmu_mailbox *m = r->mailbox;

	__atomic_store_n(&m->cmd_tail, next_offset(r, m->cmd_tail), __ATOMIC_RELEASE);
}

/* A completion may use any entry that was fetched: the oldest is taken, and named anew. */
void ring_complete(Ring *r, const Command *c)
{
	struct tcmu_cmd_entry *entry;

	while (tcmu_hdr_get_op(entry_at(r, r->mailbox->cmd_tail)->hdr.len_op) != TCMU_OP_CMD)
		advance_tail(r);
	entry = entry_at(r, r->mailbox->cmd_tail);
	memset(&entry->rsp, 0, sizeof(entry->rsp));
	entry->hdr.cmd_id = c->id;
	entry->hdr.uflags = 0;
	entry->rsp.scsi_status = c->status;
	memcpy(entry->rsp.sense_buffer, c->sense, MIN(SENSE_BYTES, TCMU_SENSE_BUFFERSIZE + 0U));
	if (r->has_read_len && c->data_bytes) {
		/* data can come with a sense, as ATA PASS-THROUGH has it */
		entry->hdr.uflags = TCMU_UFLAG_READ_LEN;
		entry->rsp.read_len = c->data_bytes;
	}
	advance_tail(r);
	r->completed = true;
}

void ring_acknowledge(Ring *r)
{
	uint32_t count;

	while (read(r->fd, &count, sizeof(count)) > 0)
		;
}

void ring_notify(Ring *r)
{
	uint32_t none = 0;

	if (!r->completed)
		return;
	r->completed = false;
	if (write(r->fd, &none, sizeof(none)) < 0)
		log_warning_errno(errno, "Cannot tell the kernel of completions");
}
