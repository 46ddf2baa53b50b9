/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The kernel's types as far as they are used, so that neither the BTF nor the headers of the
 * machine that builds matter: libbpf finds each field's real place in the running kernel's BTF.
 * Names and meaning are the same in Linux 6.1 to 7.2 (include/linux/blk-mq.h, blkdev.h,
 * blk_types.h, bvec.h, cgroup-defs.h, kernfs.h, sched.h, block/blk-cgroup.h). */

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;

typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

typedef _Bool bool;

/* Only what is used (include/uapi/linux/bpf.h): kernel interface, these numbers never change. */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_HASH = 5,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_NOEXIST = 1, /* of an update */
};

enum {
	BPF_F_NO_PREALLOC = 1, /* of a map */
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct gendisk {
	int major;
	int first_minor;
};

struct request_queue {
	unsigned int nr_hw_queues;
	struct gendisk *disk; /* NULL for a queue of commands only */
};

struct kernfs_node {
	__u64 id;
};

struct cgroup_root {
	int hierarchy_id; /* 0: version 2's */
};

struct cgroup {
	int level; /* of the root: 0 */
	struct kernfs_node *kn;
	struct cgroup_root *root;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct css_set {
	struct cgroup_subsys_state *subsys[1]; /* by cgroup_subsys_id */
};

struct task_struct {
	struct css_set *cgroups;
};

struct blkcg {
	struct cgroup_subsys_state css;
};

struct blkcg_gq {
	struct blkcg *blkcg;
};

struct block_device {
	struct gendisk *bd_disk; /* a partition's is the whole disk */
};

struct bvec_iter {
	unsigned int bi_size;
};

struct bio_issue {
	__u64 value; /* BIO_ISSUE_TIME_BITS of it are nanoseconds */
};

struct bio {
	struct block_device *bi_bdev;
	__u32 bi_opf;
	struct bvec_iter bi_iter;
	struct blkcg_gq *bi_blkg;  /* CONFIG_BLK_CGROUP */
	struct bio_issue bi_issue; /* the same, up to Linux 6.17 */
};

struct request {
	struct request_queue *q;
	struct bio *bio; /* NULL when it carries no data */
	__u32 cmd_flags;
	unsigned int __data_len; /* what is still to be done */
	__u64 __sector;
	__u64 start_time_ns;
	__u64 io_start_time_ns;
};

#pragma clang attribute pop

#define BIO_ISSUE_TIME_BITS 51

/* Reading and writing have been 0 and 1 for good; the others were renumbered now and then, so
 * theirs are looked up (include/linux/blk_types.h). */
enum req_op {
	REQ_OP_READ = 0,
	REQ_OP_WRITE = 1,
	REQ_OP_ZONE_APPEND = 7,
	REQ_OP_DRV_IN = 34,
	REQ_OP_DRV_OUT = 35,
};

enum cgroup_subsys_id {
	io_cgrp_id = 3, /* CONFIG_BLK_CGROUP; as many as the kernel is built with come before */
};
