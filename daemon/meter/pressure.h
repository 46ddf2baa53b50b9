/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Private to the meter: how much of the time tasks stand still for IO, by the kernel's pressure
 * stall information (Documentation/accounting/psi.rst). It counts what io.cost and io.max hold up
 * too, and whatever else a task waits for of a disk. */

/* Of the cgroups just below the root, which are what pacing acts on, the one whose tasks waited
 * most: the percentage of the last ten seconds in which at least one of them did. Where none of
 * them tells, node_file tells of all tasks, as "/". root: NULL where no hierarchy is mounted.
 * *ret_cgroup is malloc'd. -EOPNOTSUPP: the kernel does not tell. */
int pressure_worst(const char *root, const char *node_file, char **ret_cgroup, double *ret_percent);
