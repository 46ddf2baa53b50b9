# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced in the guest: devices to be made there. Each simulator has a file of its own.

. "$(dirname "${BASH_SOURCE[0]}")/devices-nvme.sh"
. "$(dirname "${BASH_SOURCE[0]}")/devices-hdd.sh"

# A null_blk disk /dev/NAME that answers each request after COMPLETION_NS. KEY=VALUE: more of its
# attributes, in /sys/kernel/config/nullb. It stores nothing unless memory_backed=1. mbps= hangs for
# ever with requests that exceed its share of a timer's tick: limit max_sectors_kb with it.
nullb() { # NAME SIZE_MIB COMPLETION_NS [KEY=VALUE...]
	local folder=/sys/kernel/config/nullb/$1 setting
	modprobe null_blk nr_devices=0 && mkdir "$folder" || return
	for setting in size="$2" irqmode=2 completion_nsec="$3" submit_queues="$(nproc)" "${@:4}" power=1; do
		echo "${setting#*=}" >"$folder/${setting%%=*}" || return
	done
	udevadm settle --exit-if-exists="/dev/$1"
	[[ -b /dev/$1 ]]
}

nullb_remove() { # NAME
	echo 0 >"/sys/kernel/config/nullb/$1/power" && rmdir "/sys/kernel/config/nullb/$1"
}
