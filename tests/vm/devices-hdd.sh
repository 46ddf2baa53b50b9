# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced in the guest: hard disks by hddsim (tests/testbed/hddsim) behind the kernel's SCSI target.
#
# Whoever opens /dev/sdX for writing wakes the disk when he closes it again: udev then reads it anew,
# and of a stopped SAS disk the kernel even makes a started one. sg_start, sdparm and smartctl open
# for writing, even when they only ask. Give them the sg node, which nobody watches; hdparm opens
# /dev/sdX for reading.

hddsim_folder=/run/hddsim

# Starts a disk and sets hddsim_disk (sda) and hddsim_sg (sg0). Options are hddsim's. Its log is
# $hddsim_folder/NAME.log. On return udev has done with it.
hddsim_start() { # NAME ata|sas [OPTION...]
	local path=$hddsim_folder/$1 i
	mkdir -p $hddsim_folder
	modprobe -a target_core_user tcm_loop sd_mod sg || return
	"$B/tests/testbed/hddsim" --log="$path.log" --control="$path.control" "${@:3}" "$1" "$2" \
		>"$path.out" 2>&1 &
	echo $! >"$path.pid"
	for ((i = 0; i < 400; i++)); do
		hddsim_disk=$(sed -n 's/^ready //p' "$path.out")
		[[ $hddsim_disk || ! -d /proc/$(<"$path.pid") ]] && break
		sleep 0.05
	done
	[[ $hddsim_disk ]] || { cat "$path.out" >&2; return 1; }
	udevadm settle --timeout=20
	# shellcheck disable=SC2034 # for the caller
	hddsim_sg=$(ls "/sys/block/$hddsim_disk/device/scsi_generic")
	# SATA has 32 tags
	[[ $2 == sas ]] || echo 32 >"/sys/block/$hddsim_disk/device/queue_depth"
}

# Says something on the control socket: hddsim_say NAME refuse standby_z
hddsim_say() { # NAME COMMAND...
	"$B/tests/testbed/hddsim" --send "$hddsim_folder/$1.control" "${*:2}"
}

# One figure of the simulator's state: hddsim_get NAME condition
hddsim_get() { # NAME KEY
	hddsim_say "$1" state | sed -n "s/^$2=//p"
}

# Takes the disk away; the simulator's exit status.
hddsim_stop() { # NAME
	hddsim_say "$1" quit
	wait "$(<"$hddsim_folder/$1.pid")"
}

hddsim_stop_all() {
	local control name
	for control in "$hddsim_folder"/*.control; do
		[[ -S $control ]] || continue
		name=${control##*/}
		hddsim_stop "${name%.control}"
	done
}
