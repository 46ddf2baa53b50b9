#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# limit: 600
#
# The redirections that steer IO elsewhere and hold nothing back, each for what it can do: reads of an
# md raid1, new files of a mergerfs, hosts of an NVMe-oF target. On disks that sleep (hddsim), with
# their own counters as witness.

. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/devices.sh"
. "$(dirname "$0")/devices-redirect.sh"

turn=$build/tests/testbed/turn-knob
disk_options=(--mb-s=20 --condition=standby_z:1.5:300:1000)
export tmp hddsim_folder B nvmet

cleanup() { # FAILED
	[[ $1 -eq 0 ]] || { dmesg | tail -n 20; tail -n 12 "$hddsim_folder"/*.log; } | sed 's/^/# /'
	nvme disconnect -n $nvmet_nqn >/dev/null 2>&1
	hddsim_stop_all
}

offered() { # DISK KNOB
	"$turn" "$1" >"$tmp/offered" 2>&1
	cat "$tmp/offered"
	grep -q "^$2 yes" "$tmp/offered"
}

not_offered() { # DISK KNOB WORDS
	"$turn" "$1" >"$tmp/offered" 2>&1
	cat "$tmp/offered"
	grep -q "^$2 no: .*$3" "$tmp/offered"
}

# A knob at hold and back; while it holds, the commands must succeed. Its values are then in $tmp/values:
# as found, held, back.
held() { # DISK KNOB COMMANDS
	"$turn" "$1" "$2" redirect=hold bash -c "set -e; $3" >"$tmp/said"
	local status=$?
	cat "$tmp/said"
	{ sed -n 1,2p "$tmp/said"; tail -n 1 "$tmp/said"; } >"$tmp/values"
	return $status
}

values_are() { # FOUND HELD
	printf '%s\n' "$1" "$2" "$1" | diff - "$tmp/values"
}

asleep() { # NAME
	local condition
	condition=$(hddsim_get "$1" condition)
	echo "$1 is in $condition"
	[[ $condition == standby_z ]]
}

awake() { # NAME
	! asleep "$1"
}

to_sleep() { # NAME DISK: with nothing left to be written
	sync
	sleep 1
	hdparm -y "/dev/$2" >/dev/null
	eventually asleep "$1"
}

# What a disk does while the command runs: sets reads, writes and wakes
while_doing() { # NAME COMMAND...
	local before=() after=() key
	for key in reads writes wakes; do before+=("$(hddsim_get "$1" $key)"); done
	"${@:2}" || return
	for key in reads writes wakes; do after+=("$(hddsim_get "$1" $key)"); done
	reads=$((after[0] - before[0])) writes=$((after[1] - before[1])) wakes=$((after[2] - before[2]))
	echo "$1: $reads reads, $writes writes, $wakes wakes"
}

export -f asleep to_sleep while_doing read_200 write_one within eventually hddsim_get hddsim_say

# md raid1: reads

steer_reads() {
	ok "md: a disk that sleeps, and another leg" eval \
		'hddsim_start leg ata "${disk_options[@]}" && nullb other 256 10000 memory_backed=1'
	disk=$hddsim_disk
	# else md prefers the leg that does not turn
	echo 1 >/sys/block/other/queue/rotational
	ok "md: a raid1 of its partition and that" raid1_make "$disk" other
	udevadm control --stop-exec-queue
	member=md9/dev-${disk}1
	state=/sys/block/md9/md/dev-${disk}1/state
	found=$(<"$state")
	while_doing leg read_200 /dev/md9 >"$tmp/ok.log"
	ok "md: as found, reads reach the disk ($reads of 200)" test "$reads" -gt 0
	ok "md: the knob is offered for a member that is a partition" offered "$disk" redirect-md
	ok "md: held and asleep, 200 reads are served by the other leg" held "$disk" redirect-md "
		grep -q write_mostly $state
		to_sleep leg $disk
		while_doing leg read_200 /dev/md9
		[[ \$reads == 0 && \$writes == 0 && \$wakes == 0 ]]
		$turn $disk >/dev/null
		asleep leg"
	sed -n 's/^leg: /# md: /p' "$tmp/said"
	ok "md: as found, held, and back" values_are "$member=balanced" "$member=write_mostly"
	is "md: the state of the member is what it was" "$(<"$state")" "$found"
	ok "md: taking the flag back writes the superblock, which wakes it" eventually awake leg
	ok "md: while held, a write wakes it" held "$disk" redirect-md "
		to_sleep leg $disk
		while_doing leg write_one /dev/md9
		[[ \$writes -ge 1 && \$wakes == 1 ]]"
	echo writemostly >/sys/block/md9/md/dev-other/state
	ok "md: not offered where no other leg takes reads" not_offered "$disk" redirect-md \
		"md9 has no other leg that is in sync and takes reads"
	echo -writemostly >/sys/block/md9/md/dev-other/state
	echo faulty >/sys/block/md9/md/dev-other/state
	ok "md: nor where the other leg has failed" not_offered "$disk" redirect-md "no other leg"
	mdadm --stop /dev/md9 >/dev/null 2>&1
	udevadm control --start-exec-queue
	nullb_remove other
}

# mergerfs: new files

new_files() {
	local i
	for i in $(seq 50); do
		head -c 20000 /dev/urandom >"/pool/photos/$1$i" || return
	done
	sync -f /ssd
}
export -f new_files mergerfs_control

steer_files() {
	ok "mergerfs: a disk that sleeps, and a branch beside it" eval \
		'hddsim_start branch ata "${disk_options[@]}" && nullb fast 64 10000 memory_backed=1'
	disk=$hddsim_disk
	ok "mergerfs: over the two" mergerfs_make "$disk" fast
	udevadm control --stop-exec-queue
	found=$(mergerfs_control branches)
	new_files a
	is "mergerfs: as found, new files go to the disk" "$(ls /hdd/photos | wc -l)" 50
	mergerfs_control category.create epmfs
	ok "mergerfs: not offered where files stay with their folder" not_offered "$disk" \
		redirect-mergerfs "/pool creates files by policy epmfs"
	mergerfs_control category.create mfs
	ok "mergerfs: the knob is offered" offered "$disk" redirect-mergerfs
	ok "mergerfs: held and asleep, 50 new files of a folder on the disk go to the other branch" \
		held "$disk" redirect-mergerfs "
			mergerfs_control branches
			to_sleep branch $disk
			while_doing branch new_files b
			[[ \$reads == 0 && \$writes == 0 && \$wakes == 0 ]]
			$turn $disk >/dev/null
			$turn $disk redirect-mergerfs cache >/dev/null"
	ok "mergerfs: neither asking nor putting it back wakes it" asleep branch
	sed -n 's/^branch: /# mergerfs: /p' "$tmp/said"
	is "mergerfs: all 50" "$(ls /ssd/photos | wc -l)" 50
	ok "mergerfs: its own limit was kept" grep -qx "/hdd=NC,2M:/ssd=RW" "$tmp/said"
	ok "mergerfs: as found, held, and back" values_are "/hdd=RW" "/hdd=NC"
	is "mergerfs: the branches are what they were" "$(mergerfs_control branches)" "$found"
	new_files c
	is "mergerfs: new files go to the disk again" "$(ls /hdd/photos | wc -l)" 100
	room=$("$turn" "$disk" redirect-mergerfs cache)
	size=$(($(stat -f -c '%b * %S' /ssd) - 1048576)) free=$(($(stat -f -c '%a * %S' /ssd) - 1048576))
	is "mergerfs: the room is what is free on the other branch, less minfreespace" "$room" \
		"$size bytes, 0 dirty, room for $free"
	ok "mergerfs: others' edits while it holds survive" held "$disk" redirect-mergerfs \
		"mergerfs_control branches '/ssd=RW,3M:/hdd=NC,2M'"
	is "mergerfs: only this disk's mode is put back" "$(mergerfs_control branches)" "/ssd=RW,3M:/hdd=RW,2M"
	nullb third 64 10000 memory_backed=1
	dmsetup create --noudevsync both --table "0 65536 linear /dev/${disk}2 0
65536 65536 linear /dev/third 0"
	dmsetup mknodes
	mkfs.ext4 -qF /dev/mapper/both && mkdir /both && mount /dev/mapper/both /both
	mergerfs_control branches "/ssd=RW:/both=RW:/hdd=RW"
	is "mergerfs: a branch that lies on another disk, too, is not this one's to steer" \
		"$("$turn" "$disk" redirect-mergerfs redirect=hold true | sed -n 2p)" "/hdd=NC"
	umount /both
	mergerfs_control branches "/hdd=RW:/ssd=NC"
	dmsetup remove --noudevsync both && nullb_remove third
	ok "mergerfs: not offered where no other branch takes files" not_offered "$disk" \
		redirect-mergerfs "no other branch of /pool takes new files"
	umount /pool /hdd /ssd
	ok "mergerfs: unmounted, there is nothing to redirect" not_offered "$disk" redirect-mergerfs \
		"no mergerfs"
	udevadm control --start-exec-queue
	nullb_remove fast
}

# NVMe-oF target: hosts with another path

# The host's path by that port: a block device that is hidden from all but sysfs
path_of() { # NUMBER
	local controller
	controller=$(dirname "$(grep -l "trsvcid=442$1" /sys/class/nvme/nvme*/address)")
	basename "$(ls -d "$controller"/nvme*c*n*)"
}

path_state() { # NUMBER STATE
	[[ $(<"/sys/block/$(path_of "$1")/ana_state") == "$2" ]]
}

path_ios() { # NUMBER
	awk '{ print $1 }' "/sys/block/$(path_of "$1")/stat"
}

connect_host() { # NUMBER
	nvme connect -t tcp -a 127.0.0.1 -s "442$1" -n $nvmet_nqn -q nqn.2026-01.org.storpower:host \
		--hostid=11111111-2222-3333-4444-555555555555 >&2 && eventually path_state "$1" optimized
}

# The reads of each path while the host reads: sets by_1 and by_2
host_reads() {
	local one two
	one=$(path_ios 1) two=$(path_ios 2)
	read_200 "$(ls /dev/nvme*n1)" || return
	by_1=$(($(path_ios 1) - one)) by_2=$(($(path_ios 2) - two))
	echo "host: $by_1 by port 1, $by_2 by port 2"
}
export -f path_of path_state path_ios host_reads

steer_hosts() {
	ok "nvmet: a disk to export" hddsim_start target ata "${disk_options[@]}"
	disk=$hddsim_disk
	modprobe -a nvmet nvmet-tcp nvme-tcp
	ok "nvmet: by two ports, in an ANA group of its own" nvmet_make "$disk"
	ok "nvmet: a host with both paths" eval 'connect_host 1 && connect_host 2'
	ok "nvmet: not offered unless it is declared" not_offered "$disk" redirect-nvmet \
		"redirect = nvmet"
	export TURN_KNOB_REDIRECT=nvmet
	ok "nvmet: the knob is offered" offered "$disk" redirect-nvmet
	# the second port then plays another node that has the same data
	ok "nvmet: held, IO still gets through, and none comes by it where there is another path" \
		held "$disk" redirect-nvmet "
			eventually path_state 1 non-optimized
			eventually path_state 2 non-optimized
			host_reads
			[[ \$((by_1 + by_2)) -ge 200 ]]
			echo optimized >$nvmet/ports/2/ana_groups/2/ana_state
			eventually path_state 2 optimized
			host_reads
			[[ \$by_1 == 0 && \$by_2 -ge 200 ]]
			echo non-optimized >$nvmet/ports/2/ana_groups/2/ana_state
			echo optimized >$nvmet/ports/1/ana_groups/2/ana_state
			eventually path_state 1 optimized
			host_reads
			[[ \$by_1 -ge 200 && \$by_2 == 0 ]]"
	sed -n 's/^host: /# nvmet: /p' "$tmp/said"
	ok "nvmet: as found, held, and back" values_are "1/2=optimized 2/2=optimized" \
		"1/2=non-optimized 2/2=non-optimized"
	ok "nvmet: the host sees both optimized again" eval \
		'eventually path_state 1 optimized && eventually path_state 2 optimized'
	nullb third 64 10000
	nvmet_namespace 2 /dev/third
	ok "nvmet: not offered where the group has others in it" not_offered "$disk" redirect-nvmet \
		"/dev/third of $nvmet_nqn namespace 2"
	nvme disconnect -n $nvmet_nqn >/dev/null
	rm "$nvmet"/ports/*/subsystems/*
	ok "nvmet: not offered where no port exports it" not_offered "$disk" redirect-nvmet "no NVMe-oF port"
	rmdir "$nvmet"/ports/*/ana_groups/2 "$nvmet"/ports/* "$nvmet/subsystems/$nvmet_nqn/namespaces"/* \
		"$nvmet/subsystems/$nvmet_nqn"
}

at_end+=(cleanup)
modprobe -a raid1 ext4
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
export turn
[[ $# -gt 0 ]] || set -- reads files hosts # an argument: just that part
for part; do steer_"$part"; done
done_testing
