#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# long: all
# limit: 500
#
# storpowerd puts a disk to sleep although it is read from, written to or exported, by what steers the IO
# elsewhere: reads of an md raid1, new files of a mergerfs, the hosts of an NVMe-oF target. Each by a limit
# on the daemon, with the disk's own counters as witness, and given back as it was found.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/devices-redirect.sh"

name='' disk='' reader=''

cleanup() { # FAILED
	[[ -z $reader ]] || kill "$reader"
	[[ $1 -eq 0 ]] || dmesg | tail -n 20 | sed 's/^/# /'
	nvme disconnect -n "$nvmet_nqn" >/dev/null 2>&1
}
at_end=(cleanup "${at_end[@]}")

show() {
	hddsim_say "$name" state | xargs
	ctl show "$disk"
	ctl explain "$disk"
	tail -n 40 "$tmp/daemon.log"
}

condition_is() {
	[[ $(hddsim_get "$name" condition) == "$1" ]]
}

begin() { # NAME
	name=$1
	hddsim_start "$name" ata --mb-s=50 --spin-up-ms=2000 --watts=10.8:9.3:9 --condition=standby_z:1.5:300:2000
	disk=$hddsim_disk
}

start_storpower() { # [LINE...]: of its section
	quick_disks 2 9
	printf '%s\n' "[storpower]" "policy = quick" "cycles_a_day = 100" "[device $disk]" "$@" \
		>"$tmp/etc/storpower.conf"
	start_daemon
}

# Reads, writes and wakes of the disk by its own count
counts() {
	local key
	for key in reads writes wakes; do hddsim_get "$name" $key; done | xargs
}

# It sleeps on, and nothing reaches it, while the command runs.
undisturbed() { # COMMAND...
	local before after
	before=$(counts)
	"$@" || return
	after=$(counts)
	echo "reads, writes, wakes: $before before, $after after"
	condition_is standby_z && [[ $before == "$after" ]]
}

to_sleep() {
	ctl set 4W >/dev/null 2>&1 # degraded, until it sleeps
	within 60 condition_is standby_z && within 5 says_it "$disk" Redirect held
}

reads_of() { # DISK
	awk '{ print $1 }' "/sys/block/$1/stat"
}

# The reader goes on meanwhile, by the other leg.
read_elsewhere() {
	local before
	before=$(reads_of "$1")
	sleep 10
	echo "$(($(reads_of "$1") - before)) reads of $1"
	(($(reads_of "$1") - before >= 50))
}

serves_reads() {
	local before
	before=$(hddsim_get "$name" reads)
	eventually eval '[[ $(hddsim_get "$name" reads) -gt $before ]]'
}

array_state_is() { # FLAG, or none
	local flags
	flags=$(<"/sys/block/md9/md/dev-${disk}1/state")
	[[ $flags == *write_mostly* ]] && flags=write_mostly || flags=none
	[[ $flags == "$1" ]]
}

steer_reads() {
	ok "md: a raid1 of a disk that may sleep, and another leg" eval \
		'begin leg && nullb other 256 2000000 memory_backed=1 && raid1_make "$disk" other'
	udevadm control --stop-exec-queue
	pattern 16 1 >"$tmp/pattern"
	dd if="$tmp/pattern" of=/dev/md9 bs=1M oflag=direct status=none
	# by fours: one at a time would all go to the leg that does not turn
	fio --name=read --filename=/dev/md9 --direct=1 --ioengine=libaio --rw=randread --bs=4k --size=64M \
		--iodepth=4 --iodepth_batch=4 --iodepth_batch_complete_min=4 --thinktime=100ms \
		--thinktime_blocks=4 --time_based --runtime=400 >"$tmp/fio.log" 2>&1 &
	reader=$!
	start_storpower
	ok "md: as found, it serves reads" serves_reads
	ok "md: although it is read all the time, a limit puts it to sleep" to_sleep
	ok "md: as write-mostly" array_state_is write_mostly
	ok "md: ten seconds of reads do not reach it" undisturbed read_elsewhere other
	ok "md: nor does reading back what was written" undisturbed same_as /dev/md9 0 16 <"$tmp/pattern"
	wakes=$(hddsim_get leg wakes)
	write_one /dev/md9
	ok "md: a write wakes it" test "$(hddsim_get leg wakes)" -gt "$wakes"
	ok "md: which is known" within 5 eval 'ctl list --wakeups --json=short | jq -e ".[] | select(.Why == \"IO\")"'
	ok "md: and it sleeps again" within 60 condition_is standby_z
	ctl clear >/dev/null
	ok "md: the limit lifted, it sleeps on" undisturbed sleep 5
	ctl wake "$disk"
	ok "md: woken, it takes reads again" within 30 array_state_is none
	kill $reader && wait $reader
	reader=''
	ok "md: no read has failed" eval '! grep -i error "$tmp/fio.log"'
	stop_daemon
	mdadm --stop /dev/md9 2>/dev/null
	udevadm control --start-exec-queue
	nullb_remove other
	hddsim_stop leg
}

create_files() { # PREFIX
	local i
	for i in 1 2 3 4 5 6 7 8 9 10; do
		head -c 20000 /dev/urandom >"/pool/photos/$1$i" || return
		sleep 1
	done
	sync -f /ssd
}

branches_are() {
	[[ $(mergerfs_control branches) == "$1" ]]
}

steer_files() {
	ok "mergerfs: a disk that may sleep, and a branch beside it" eval \
		'begin branch && nullb fast 64 10000 memory_backed=1 && mergerfs_make "$disk" fast'
	udevadm control --stop-exec-queue
	sync
	start_storpower
	ok "mergerfs: a limit puts it to sleep" to_sleep
	ok "mergerfs: it takes no new files" branches_are "/hdd=NC,2M:/ssd=RW"
	ok "mergerfs: ten seconds of new files do not reach it" undisturbed create_files a
	is "mergerfs: all of them are elsewhere" "$(ls /ssd/photos | wc -l)" 10
	ctl clear >/dev/null
	ok "mergerfs: the limit lifted, it takes files again" within 10 branches_are "/hdd=RW,2M:/ssd=RW"
	ok "mergerfs: and sleeps until there is one" condition_is standby_z
	create_files b
	sync -f /hdd
	ok "mergerfs: there they are" eval '[[ $(ls /hdd/photos | wc -l) == 10 && $(ls /pool/photos | wc -l) == 20 ]]'
	stop_daemon
	umount /pool /hdd /ssd
	udevadm control --start-exec-queue
	nullb_remove fast
	hddsim_stop branch
}

ports_are() { # STATE
	[[ $(cat "$nvmet"/ports/*/ana_groups/2/ana_state | sort -u) == "$1" ]]
}

# The host's path, as it has heard of it
path_is() { # STATE
	[[ $(cat /sys/block/nvme*c*n*/ana_state) == "$1" ]]
}

steer_hosts() {
	modprobe -a nvmet nvmet-tcp nvme-tcp
	ok "nvmet: a disk that may sleep, exported by two ports" eval 'begin target && nvmet_make "$disk"'
	udevadm control --stop-exec-queue
	ok "nvmet: a host" eval 'nvme connect -t tcp -a 127.0.0.1 -s 4421 -n $nvmet_nqn \
		-q nqn.2026-01.org.storpower:host && within 20 path_is optimized'
	start_storpower "redirect = nvmet"
	ok "nvmet: a limit puts it to sleep" to_sleep
	ok "nvmet: its ports ask for another path" ports_are non-optimized
	ok "nvmet: the host has heard of it" within 20 path_is non-optimized
	ok "nvmet: where there is no other, IO gets through, and wakes it" eval \
		'read_200 /dev/nvme*n1 && ! condition_is standby_z'
	ctl clear >/dev/null
	ok "nvmet: the limit lifted, the ports are as they were" within 20 ports_are optimized
	ok "nvmet: the host has heard of that" within 20 path_is optimized
	stop_daemon
}

modprobe -a raid1 ext4
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
start_bus
[[ $# -gt 0 ]] || set -- reads files hosts # an argument: just that part
for part; do steer_"$part"; done
done_testing
