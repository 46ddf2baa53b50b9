/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Since when an IO waits: the kernel's own note in the bio, else the programs of
 * bpf/submission.bpf.c. */

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>

#include "base/log.h"
#include "base/text.h"
#include "meter.skel.h"
#include "meter/meter-bpf-internal.h"
#include "submission.skel.h"

static bool has_member(const struct btf *btf, const char *type, const char *member)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);
	const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(btf, (__u32)id);

	for (int i = 0; t && i < btf_vlen(t); i++)
		if (streq(btf__name_by_offset(btf, btf_members(t)[i].name_off), member))
			return true;
	return false;
}

static bool kernel_stamps_bios(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool stamps = btf && has_member(btf, "bio", "bi_issue");

	btf__free(btf);
	return stamps;
}

static int load_and_attach(MeterBpf *m)
{
	int r;

	m->submission = submission_bpf__open();
	if (!m->submission)
		return -errno;
	r = bpf_map__reuse_fd(m->submission->maps.stamps, bpf_map__fd(m->skeleton->maps.stamps));
	if (r == 0)
		r = submission_bpf__load(m->submission);
	return r < 0 ? r : submission_bpf__attach(m->submission);
}

void meter_bpf_open_waits(MeterBpf *m)
{
	int r = kernel_stamps_bios() ? 0 : load_and_attach(m);

	m->sees_waits = r == 0;
	if (r == 0)
		return;
	log_warning_errno(r,
			  "This kernel does not let eBPF watch block_bio_queue and block_split: "
			  "how long applications wait for their IO is not known (log level debug "
			  "shows more)");
	meter_bpf_close_waits(m);
}

void meter_bpf_close_waits(MeterBpf *m)
{
	submission_bpf__destroy(m->submission);
	m->submission = NULL;
}

bool meter_bpf_sees_waits(const MeterBpf *m)
{
	return m->sees_waits;
}
