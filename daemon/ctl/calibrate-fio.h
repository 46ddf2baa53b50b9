/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One fio job a point, listened to while it runs. */

#include "ctl/ctl.h"
#include "model/profile.h"

#define FIO_VERSION_SIZE 32

typedef struct FioJob {
	const char *path;    /* of a device or a file */
	const char *engine;  /* as of fio_engine() */
	Point at;            /* depth, chunk, share of reads and pattern count */
	unsigned most_s;     /* it ends by itself then, whoever has started it */
	unsigned processors; /* of this machine */
} FioJob;

/* What was done in about a second. */
typedef struct FioRound {
	double seconds, mb_s, iops;
} FioRound;

typedef struct FioRun FioRun;

/* "fio-3.33", into the caller's buffer. -ENOENT: fio is not installed. */
int fio_version(char version[FIO_VERSION_SIZE]);
/* "io_uring" where the kernel lets it read this file, else "libaio"; -EIO: neither does. */
int fio_engine(const char *path, const char **ret);
/* The arguments of the job, for strv_free(). Whoever only reads says --readonly, so that nothing
 * that is wrong in the others can write. */
int fio_arguments(const FioJob *job, char ***ret);
int fio_start(const FioJob *job, FioRun **ret);
/* Waits for the next round. -ENODATA: the job has ended; -EINTR: a signal came; -ETIMEDOUT: fio
 * says nothing; -EIO: IO failed. */
int fio_round(FioRun *f, FioRound *ret);
/* Of all IOs that ended after the first `from` rounds, in microseconds. -ENODATA: there are none.
 */
int fio_percentiles(const FioRun *f, size_t from, double *ret_p50_us, double *ret_p99_us);
/* Ends the job, whether it runs or not. Returns NULL. */
FioRun *fio_end(FioRun *f);
DEFINE_CLEANUP(FioRun *, fio_end);
