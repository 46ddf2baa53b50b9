/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the kernel and the machine offer, by their files. It serves where the daemon does not run,
 * and for what the daemon does not tell. */

#include "ctl/doctor.h"

#define CGROUPS "/sys/fs/cgroup"

static void look_at_ebpf(Doctor *d)
{
	if (doctor_exists(d->root, "/sys/kernel/btf/vmlinux"))
		doctor_find(d, GRADE_OK, "Node", NULL,
			    "eBPF: the kernel tells its types, so that every IO can be counted");
	else
		doctor_find(d, GRADE_MISSING, "Node", NULL,
			    "eBPF: the kernel does not tell its types, and the devices' own "
			    "counters serve instead; boot one with CONFIG_DEBUG_INFO_BTF=y, as "
			    "the distributions build it");
}

static void look_at_pacing(Doctor *d)
{
	if (doctor_exists(d->root, CGROUPS "/io.cost.qos"))
		doctor_find(d, GRADE_OK, "Node", NULL,
			    "io.cost: IO can be held to any number of watts");
	else if (doctor_exists(d->root, CGROUPS "/cgroup.controllers"))
		doctor_find(d, GRADE_MISSING, "Node", NULL,
			    "io.cost: the kernel has none, and IO is not held to watts; boot one "
			    "with CONFIG_BLK_CGROUP_IOCOST=y");
	else
		doctor_find(d, GRADE_MISSING, "Node", NULL,
			    "io.cost: it needs cgroup v2, which this host does not use, and IO is "
			    "not held to watts; boot it with systemd.unified_cgroup_hierarchy=1");
}

/* The daemon reads those that the configuration names, and those of drives. */
static void look_at_sensors(Doctor *d)
{
	if (json_count(json_member(d->state, "Sensors")))
		return;
	if (doctor_exists(d->root, "/sys/class/hwmon/hwmon*/power*_input "
				   "/sys/class/hwmon/hwmon*/power*_average /dev/ipmi0"))
		doctor_find(d, GRADE_NOTE, "Node", NULL,
			    "sensors: the machine has one of power, and the configuration names "
			    "none; give it a section [sensor NAME] as storpower.conf(5) says, and "
			    "watts are measured");
	else
		doctor_find(d, GRADE_NOTE, "Node", NULL,
			    "sensors: the machine has none of power that is known; watts are "
			    "modelled");
}

void doctor_look_at_host(Doctor *d)
{
	if (!d->state)
		look_at_ebpf(d); /* else the daemon says whether it counts */
	look_at_pacing(d);
	look_at_sensors(d);
}
