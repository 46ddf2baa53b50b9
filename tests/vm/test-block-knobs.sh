#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: all
# smp: 2
# alone
# limit: 600
#
# Every knob of the block layer on real devices of each kind: what it sets, reads back and puts back,
# byte for byte.
. "$(dirname "$0")/lib.sh"

turn=$build/tests/testbed/turn-knob
cgroups=/sys/fs/cgroup
export disk cgroups tmp

number() {
	cat "/sys/block/$disk/dev"
}

# All that the knobs could change. An io.cost line stays once it was used, off and with the kernel's
# own numbers.
dump() {
	grep -s . "/sys/block/$disk"/{queue/*,queue/iosched/*,device/queue_depth}
	grep "^$(number) " $cgroups/*/io.max
	grep -h "^$(number) " $cgroups/io.cost.qos $cgroups/io.cost.model |
		grep -v -e "enable=0 ctrl=auto" -e "[0-9] ctrl=auto"
}

# A knob there and back; while it holds, the commands must succeed.
holds() { # KNOB SETTING COMMANDS
	dump >"$tmp/before"
	"$turn" "$disk" "$1" "$2" bash -c "set -e; $3"
	local status=$?
	dump >"$tmp/after"
	diff "$tmp/before" "$tmp/after" && return $status
}

refused() { # WORDS KNOB SETTING
	dump >"$tmp/before"
	! "$turn" "$disk" "$2" "$3" >"$tmp/refused" 2>&1 || return
	dump >"$tmp/after"
	cat "$tmp/refused"
	grep -q -- "$1" "$tmp/refused" && diff "$tmp/before" "$tmp/after"
}

not_offered() { # KNOB WORDS
	"$turn" "$disk" >"$tmp/offered" 2>&1
	cat "$tmp/offered"
	grep -q "^$1 no: .*$2" "$tmp/offered"
}

attribute() { # FILE VALUE: so now?
	local found
	found=$(sed 's/.*\[\(.*\)\].*/\1/' "/sys/block/$disk/$1")
	echo "$1 is $found"
	[[ $found == "$2" ]]
}

line() { # CGROUP-FILE WORDS: this disk's line says them
	local found
	found=$(grep "^$(number) " "$cgroups/$1")
	echo "$1: $found"
	[[ $found == *"$2"* ]]
}

# While 64 are asked for, the device never has more than so many, and at some time that many.
# Never more than that, and nearly as many: a slow guest need not be looked at when all are out.
depth_is() { # NUMBER
	local most=0 reads writes pid
	fio --name=deep --filename="/dev/$disk" --direct=1 --ioengine=libaio --iodepth=64 --rw=randread \
		--bs=4k --time_based --runtime=3 --size=8M --output="$tmp/deep" &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		read -r reads writes <"/sys/block/$disk/inflight"
		((reads + writes <= most)) || most=$((reads + writes))
		sleep 0.01
	done
	wait $pid
	echo "at most $most outstanding"
	((most <= $1 && most * 4 >= $1 * 3))
}

# Shares of a rate, of both cgroups
shared() {
	line a/io.max "riops=" && line b/io.max "riops=" && ! line a/io.max "riops=max"
}

export -f attribute line number depth_is shared

# Refused (EINVAL), or taken for as much as there is
is_bounded() { # FILE MOST
	echo $(($2 + 4)) >"/sys/block/$disk/$1"
	attribute "$1" "$2"
}

chunk() { # WHAT
	ok "$1: a chunk of 64 KiB, and back" holds max-sectors chunk=64 "attribute queue/max_sectors_kb 64"
}

strict() { # WHAT COMMAND
	ok "$1: depth 1 by a strict BFQ, and back" holds bfq-strict depth=1 \
		"attribute queue/scheduler bfq; attribute queue/iosched/strict_guarantees 1; $2"
}

paced() { # WHAT
	ok "$1: io.cost, and back" holds io-cost pace=1 \
		"line io.cost.qos enable=1; line io.cost.model ctrl=user"
	throttled "$1"
}

throttled() { # WHAT
	ok "$1: io.max shared by the cgroups, and no line left" holds io-max pace=1 shared
	echo "$(number) wiops=100" >$cgroups/a/io.max
	ok "$1: somebody's own io.max is left alone" refused "io.max of a already" io-max pace=1
	echo "$(number) wiops=max" >$cgroups/a/io.max
}

modprobe -a bfq loop dm-mod raid0 || { echo "Bail out! no modules"; exit 1; }
echo +io >$cgroups/cgroup.subtree_control
mkdir -p $cgroups/a $cgroups/b

nullb disk0 256 2000000 submit_queues=2 poll_queues=0 hw_queue_depth=64 || { echo "Bail out! no null_blk"; exit 1; }
disk=disk0
ok "null_blk has two hardware queues" test -d /sys/block/disk0/mq/1
ok "null_blk: 4 requests of each queue are depth 8, and back" holds nr-requests depth=8 \
	"attribute queue/nr_requests 4"
ok "null_blk: no depth between 1 and 8 can be had" refused "out of range" nr-requests depth=6
echo 2 >/sys/block/disk0/queue/nr_requests
ok "null_blk: the kernel itself takes no fewer than 4" attribute queue/nr_requests 4
echo 64 >/sys/block/disk0/queue/nr_requests
strict null_blk 'depth_is 1'
chunk null_blk
hardware=$(<"/sys/block/disk0/queue/max_hw_sectors_kb")
ok "null_blk: the kernel itself never goes above what the hardware can" is_bounded queue/max_sectors_kb "$hardware"
paced null_blk

nullb single 256 2000000 submit_queues=1 poll_queues=0 hw_queue_depth=64
disk=single
ok "one queue: depth 16 by its requests, and back" holds nr-requests depth=16 \
	"attribute queue/nr_requests 16; depth_is 16"
echo mq-deadline >/sys/block/single/queue/scheduler
ok "one queue, mq-deadline: depth 8, and all of it back" holds nr-requests depth=8 \
	"attribute queue/nr_requests 8"

modprobe scsi_debug dev_size_mb=64 delay=5 max_queue=64 || { echo "Bail out! no scsi_debug"; exit 1; }
udevadm settle --timeout=20
disk=$(basename "$(ls -d /sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*/block/*)")
ok "scsi_debug: depth 4 by queue_depth, and back" holds queue-depth depth=4 \
	"attribute device/queue_depth 4; depth_is 4"
ok "scsi_debug: nr_requests has nothing to add" not_offered nr-requests "queue_depth is exact"
ok "scsi_debug: and BFQ has not" not_offered bfq-strict "queue_depth is exact"
chunk scsi_debug
paced scsi_debug

truncate -s 64M "$tmp/file"
loop=$(losetup --find --show --direct-io=on "$tmp/file" || losetup --find --show "$tmp/file")
disk=${loop#/dev/}
is "the loop device is the one just made" "$(<"/sys/block/$disk/loop/backing_file")" "$tmp/file"
ok "loop: depth 16 by its requests, and back" holds nr-requests depth=16 "attribute queue/nr_requests 16"
strict loop true
chunk loop
paced loop
losetup -d "$loop"

dmsetup create linear --table "0 262144 linear /dev/disk0 0"
disk=$(basename "$(realpath /dev/mapper/linear)")
ok "dm: it has no request queue of its own to pace" not_offered io-cost "no request queue"
ok "dm: nor any depth" not_offered nr-requests "no request queue"
chunk dm
throttled dm
dmsetup remove linear

mdadm --build /dev/md9 --level=0 --raid-devices=2 --assume-clean --run /dev/disk0 /dev/single >/dev/null 2>&1
disk=md9
ok "md: it has no request queue of its own to pace" not_offered io-cost "no request queue"
chunk md
throttled md
mdadm --stop /dev/md9 >/dev/null 2>&1
done_testing
