#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# limit: 600
#
# A device mapper that is suspended below a mergerfs all of whose threads wait for it: whoever asks that
# mergerfs anything waits, too. storpowerd has to ask it about the disk; it answers all the same, and
# other disks are enforced.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/devices-redirect.sh"

hung='' free='' writers=()

cleanup() { # FAILED
	dmsetup --noudevsync resume slow 2>/dev/null
	[[ ${#writers[@]} -eq 0 ]] || kill "${writers[@]}" 2>/dev/null
	[[ $1 -eq 0 ]] || dmesg | tail -n 20 | sed 's/^/# /'
}
at_end=(cleanup "${at_end[@]}")

show() {
	ctl list
	ctl explain
	tail -n 40 "$tmp/daemon.log"
}

disk_make() { # NAME
	hddsim_start "$1" ata --mb-s=50 --spin-up-ms=2000 --watts=10.8:9.3:9 \
		--condition=standby_z:1.5:300:2000
}

# /pool, a mergerfs of the volume "slow" on DISK's first partition, and of OTHER
pool_make() { # DISK OTHER
	mkdir -p /hdd /ssd /pool
	partitions_make "$1" &&
		dmsetup create slow --table "0 $(blockdev --getsz "/dev/${1}1") linear /dev/${1}1 0" &&
		dmsetup mknodes && udevadm settle --timeout=20 &&
		mkfs.ext4 -qF -E lazy_itable_init=0,lazy_journal_init=0 /dev/mapper/slow &&
		mkfs.ext4 -qF -E lazy_itable_init=0,lazy_journal_init=0 "/dev/$2" &&
		udevadm settle --timeout=20 &&
		mount -o noatime /dev/mapper/slow /hdd && mount -o noatime "/dev/$2" /ssd &&
		mergerfs -o category.create=ff,minfreespace=1M,direct_io /hdd=RW:/ssd /pool
}

# So many that no thread of the mergerfs is left to answer
suspend() {
	local i
	dmsetup --noudevsync suspend --nolockfs --noflush slow || return
	for ((i = 0; i < 64; i++)); do
		dd if=/dev/zero of="/pool/file$i" bs=64k count=16 oflag=direct,sync status=none 2>/dev/null &
		writers+=($!)
	done
}

mergerfs_hangs() {
	timeout 5 bash -c "$(declare -f mergerfs_control); mergerfs_control branches"
	[[ $? -eq 124 ]]
}

# The place of the disk changes, so that the daemon asks what lies above it.
move() {
	mkdir -p /again && mount --bind /hdd /again
}

sleeps() { # NAME
	[[ $(hddsim_get "$1" condition) == standby_z ]]
}

modprobe -a ext4 dm-mod
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
start_bus
ok "two disks" eval 'disk_make hung && hung=$hddsim_disk && disk_make free && free=$hddsim_disk'
ok "a mergerfs of a volume on one of them" eval \
	'nullb fast 64 10000 memory_backed=1 && pool_make "$hung" fast'
udevadm control --stop-exec-queue
quick_disks 2 9
printf '%s\n' "[storpower]" "policy = quick" "cycles_a_day = 100" "[device $hung]" "[device $free]" \
	>"$tmp/etc/storpower.conf"
start_daemon
ok "the mergerfs is asked and answers" eval 'ctl show "$hung" | grep -i mergerfs'
ok "the volume is suspended, and the mergerfs hangs" eval 'suspend && within 30 mergerfs_hangs'
ok "what lies on the disk changes" move
status "a limit on the other disk is answered" 6 ctl set 4W --device="$free"
ok "the other disk is put to sleep by it" within 60 sleeps free
status "a limit on the one that hangs is answered, too" 6 ctl set 4W --device="$hung"
ok "the daemon answers" ctl status
ok "and tells all of its devices" test "$(ctl list --json=short | jq length)" = 2
ok "the mergerfs hangs yet" mergerfs_hangs
ok "everything is released" ctl clear --all
ok "the volume is resumed, and the mergerfs answers" eval \
	'dmsetup --noudevsync resume slow && within 60 mergerfs_control branches'
ok "the disk is as it was" within 60 says_it "$hung" Changing false
ok "the daemon lives" daemon_lives
wait "${writers[@]}" 2>/dev/null
writers=()
stop_daemon
is "and ends well" "$daemon_status" 0
umount /again /pool /hdd /ssd
dmsetup --noudevsync remove slow
udevadm control --start-exec-queue
done_testing
