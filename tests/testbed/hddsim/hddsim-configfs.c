/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernel objects of one disk: a TCM user backing store, and a loopback target that shows it to
 * this machine's own SCSI layer. */

#include "hddsim.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/log.h"

#define TARGET "/sys/kernel/config/target"

typedef struct Paths {
	char hba[100], store[200], wwn[100], group[120], lun[140], link[160];
} Paths;

static Paths paths_of(const Options *o)
{
	unsigned long long hash = name_hash(o);
	Paths p;

	snprintf(p.hba, sizeof(p.hba), TARGET "/core/user_%llu", hash >> 4 & 0x3fffffff);
	snprintf(p.store, sizeof(p.store), "%s/%s", p.hba, o->name);
	snprintf(p.wwn, sizeof(p.wwn), TARGET "/loopback/naa.5001405%09llx", hash | 1);
	snprintf(p.group, sizeof(p.group), "%s/tpgt_1", p.wwn);
	snprintf(p.lun, sizeof(p.lun), "%s/lun/lun_0", p.group);
	snprintf(p.link, sizeof(p.link), "%s/disk", p.lun);
	return p;
}

static int make_folder(const char *path)
{
	if (mkdir(path, 0755) == 0 || errno == EEXIST)
		return 0;
	return log_error_errno(errno,
			       "Cannot make %s (are target_core_user and tcm_loop loaded, "
			       "and configfs mounted?)",
			       path);
}

static int set(const char *folder, const char *file, const char *text)
{
	char path[300];
	int r;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	r = write_attribute(path, text);
	return r < 0 ? log_error_errno(r, "Cannot write \"%s\" to %s", text, path) : 0;
}

int configfs_make(const Options *o)
{
	Paths p = paths_of(o);
	char text[200];
	int r;

	r = make_folder(p.hba);
	if (r < 0)
		return r;
	if (mkdir(p.store, 0755) < 0)
		return log_error_errno(errno,
				       "Cannot make %s (EEXIST: another hddsim has that name, "
				       "or died and left it)",
				       p.store);
	/* nobody answers netlink: do not wait for an answer */
	snprintf(text, sizeof(text),
		 "dev_config=hddsim,dev_size=%llu,hw_block_size=%u,hw_max_sectors=2048,"
		 "nl_reply_supported=-1",
		 (unsigned long long)o->size_bytes, BLOCK_BYTES);
	r = set(p.store, "control", text);
	if (r >= 0)
		r = set(p.store, "enable", "1");
	/* a disk may take longer to wake than the usual 30 s */
	if (r >= 0)
		r = set(p.store, "attrib/cmd_time_out", "180");
	return r;
}

int configfs_attach(const Options *o)
{
	Paths p = paths_of(o);
	const char *const folders[] = { TARGET "/loopback", p.wwn, p.group };
	char nexus[40];
	int r;

	for (unsigned i = 0; i < ELEMENTSOF(folders); i++) {
		r = make_folder(folders[i]);
		if (r < 0)
			return r;
	}
	snprintf(nexus, sizeof(nexus), "naa.5001405%09llx", (unsigned long long)name_hash(o) | 2);
	r = set(p.group, "nexus", nexus);
	if (r < 0)
		return r;
	r = make_folder(p.lun);
	if (r < 0)
		return r;
	if (symlink(p.store, p.link) < 0)
		return log_error_errno(errno, "Cannot link %s", p.link);
	return 0;
}

static int remove_one(int (*remove)(const char *), const char *path)
{
	if (remove(path) == 0 || errno == ENOENT)
		return 0;
	return log_error_errno(errno, "Cannot remove %s", path);
}

int configfs_remove(const Options *o)
{
	Paths p = paths_of(o);
	const char *const folders[] = { p.lun, p.group, p.wwn, p.store };
	int r = remove_one(unlink, p.link);

	for (unsigned i = 0; i < ELEMENTSOF(folders) && r >= 0; i++)
		r = remove_one(rmdir, folders[i]);
	/* the HBA folder may hold another disk, by a collision of names */
	if (r >= 0)
		(void)rmdir(p.hba);
	return r;
}

bool configfs_disk(const Options *o, char *name, size_t size)
{
	Paths p = paths_of(o);
	char path[300], address[40];
	_cleanup_closedir_ DIR *folder = NULL;
	struct dirent *entry;

	snprintf(path, sizeof(path), "%s/address", p.group);
	if (read_attribute(path, address, sizeof(address)) < 0)
		return false;
	snprintf(path, sizeof(path), "/sys/bus/scsi/devices/%s:0/block", address);
	folder = opendir(path);
	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.') {
			snprintf(name, size, "%s", entry->d_name);
			return true;
		}
	return false;
}
