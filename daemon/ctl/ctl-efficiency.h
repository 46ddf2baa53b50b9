/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* storpowerctl efficiency: what its files share. */

#include "ctl/ctl-carbon.h"
#include "model/efficiency.h"

/* The workloads of which everything is told where none is given. */
typedef enum IoSize { LARGE_IO, SMALL_IO, _IO_SIZE_MAX } IoSize;
typedef enum IoKind { IO_READ, IO_WRITE, IO_MIXED, _IO_KIND_MAX } IoKind;

/* What a device of a profile gives. */
typedef struct EfficiencyRow {
	const Profile *profile;
	Efficiency at[_IO_SIZE_MAX][_IO_KIND_MAX];
	double both[_IO_SIZE_MAX]; /* reads and writes in turn: MB/J of large IO, IO/J of small */
	Efficiency asked;          /* of --workload */
	double full_w;             /* at full load: of --workload, else the operating maximum */
} EfficiencyRow;

typedef struct EfficiencyReport {
	EfficiencyRow *rows;
	size_t n;
	const char *workload; /* NULL: none was given */
	Mix mix;
	double price_kwh, g_kwh; /* NAN: not given */
	double usable_tb;        /* of a device; likewise */
} EfficiencyReport;

/* ctl-efficiency.c: those workloads. */
Mix efficiency_mix(IoSize size, IoKind kind);
const char *efficiency_kind_name(IoKind kind);
const char *efficiency_size_name(IoSize size);

/* efficiency-print.c; both sort the rows, the best first. */
void efficiency_print(const Ctl *c, EfficiencyReport *r);
/* efficiency-json.c */
json_object *efficiency_json(EfficiencyReport *r);
/* By the size of the IO, or by what was asked. */
void efficiency_sort(EfficiencyReport *r, IoSize size);
