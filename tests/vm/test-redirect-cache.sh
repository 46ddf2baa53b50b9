#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# long: all
# limit: 600
#
# bcache and dm-writecache over a disk that sleeps: half a minute of writes and syncs sends it nothing,
# by its own count and the kernel's; hdparm and sg_requests see it in standby. Drained, it has every
# byte, and held again at once it is not woken either.

. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/devices.sh"
. "$(dirname "$0")/devices-redirect.sh"

seconds=30 mib=48
at_end+=(hddsim_stop_all)

turn_knob() {
	"$B/tests/testbed/turn-knob" "$@"
}

# Witnesses: the disk itself, and what asks it

state_is() { # CONDITION
	[[ $(hddsim_get "$disk_name" condition) == "$1" ]] || { hddsim_say "$disk_name" state; false; }
}

says_standby() {
	if [[ $disk_name == sata ]]; then
		hdparm -C "/dev/$disk" | tee "$tmp/said"
		grep -q "drive state is:  standby\$" "$tmp/said"
	else
		sg_requests "/dev/$sg" 2>&1 | tee "$tmp/said"
		grep -qi "additional sense: standby" "$tmp/said"
	fi
}

# What the disk says of reads and writes, and the kernel of sectors: to the latter a flush is a write
# of none, and bcache hands those on. A disk has nothing to do for one when its own cache is empty.
ios() {
	echo "$(hddsim_get "$disk_name" reads) $(hddsim_get "$disk_name" writes)" "$(awk '{ print $3, $7 }' "/sys/block/$disk/stat")"
}

flushes() { # sent to the disk
	awk '{ print $16 }' "/sys/block/$disk/stat"
}

# MIB of a pattern in random order, 4 KiB at a time, over SECONDS, with syncs; fio notes what it wrote
# in each block, and can check that.
fio_writes() { # DEVICE
	fio --name=w --filename="$1" --offset=64m --size="$((mib / 4))m" --rw=randwrite --bs=4k --direct=1 \
		--rate="$((mib * 256 / seconds))k" --fdatasync=64 --verify=crc32c --do_verify=0 "${@:2}"
}

cached() { # FIGURE: 1 size, 3 dirty, 6 room
	turn_knob "$disk" "redirect-$component" cache | grep -o '[0-9]*' | sed -n "$1p"
}

drained() {
	[[ $(cached 2) -eq 0 ]]
}

to_standby() {
	"$B/tests/testbed/disk-ask" --wake-tested "$disk" set standby_z && eventually state_is standby_z
}

# COMPONENT is made over $disk and is DEVICE; what is at byte N there is at byte N + OFFSET of ORIGIN.
sleeps_through_writes() { # COMPONENT DEVICE ORIGIN OFFSET
	local component=$1 device=$2 origin=$3 offset=$4 before
	is "$component: the knob is offered" "$(turn_knob "$disk" | sed -n "s/^redirect-$1 //p")" yes
	# the first write of all marks the disk as dirty
	pattern 1 3 | dd of="$device" oflag=direct bs=1M seek=1 iflag=fullblock status=none
	ok "$component: it is held" knob_turn hold "$disk" "redirect-$1" redirect=hold
	sed -n '1,2s/^/# /p' "$tmp/hold.values"
	udevadm settle --timeout=20
	udevadm control --stop-exec-queue || echo "# udev does not stop"
	ok "$component: the disk goes to standby" to_standby

	before=$(ios) flushed=$(flushes) dirty=$(cached 2)
	ok "$component: $seconds s of writes and syncs" fio_writes "$device"
	ok "$component: a long sequential write" dd if="$tmp/pattern" of="$device" oflag=direct bs=1M \
		seek=100 conv=fsync
	is "$component: the disk was sent nothing" "$(ios)" "$before"
	echo "# but $(($(flushes) - flushed)) flushes"
	ok "$component: and is in standby" state_is standby_z
	ok "$component: as hdparm or sg_requests sees" says_standby
	ok "$component: what was written is read back" fio_writes "$device" --verify_only
	ok "$component: all of it" same_as "$device" $((100 << 20)) "$mib" <"$tmp/pattern"
	dd if="$device" iflag=direct bs=1M skip=64 count=$((mib / 4)) status=none >"$tmp/fio"
	is "$component: still without the disk" "$(ios)" "$before"
	echo "# held: $(turn_knob "$disk" "redirect-$1" cache)"
	ok "$component: the cache tells how much it holds" test $(($(cached 2) - dirty)) -ge \
		$((mib << 20)) -a "$(cached 3)" -gt 0

	ok "$component: it is drained" knob_turn drain "$disk" "redirect-$1" redirect=drain
	ok "$component: until nothing is left" within 60 drained
	ok "$component: which woke the disk" state_is active
	ok "$component: every byte is on the disk" same_as "$origin" $(((100 << 20) + offset)) "$mib" \
		<"$tmp/pattern"
	ok "$component: and of fio's" same_as "$origin" $(((64 << 20) + offset)) $((mib / 4)) <"$tmp/fio"

	ok "$component: the knob is put back" knob_back drain
	is "$component: it is held again" "$knob_value" "$(sed -n 2p "$tmp/hold.values")"
	ok "$component: and sleeps again" to_standby
	before=$(ios)
	pattern 1 2 | dd of="$device" oflag=direct bs=64k seek=512 iflag=fullblock conv=fsync status=none
	sleep 2
	is "$component: the first write after draining does not wake it" "$(ios)" "$before"
	found=$(head -n 1 "$tmp/hold.values")
	ok "$component: the knob is put back for good" knob_back hold
	is "$component: what was found is there" "$knob_value" "$found"
	# as found, bcache writes back what it holds
	[[ $component == bcache ]] || ok "$component: which does not wake the disk" state_is standby_z
	udevadm control --start-exec-queue
}

new_disk() { # NAME ata|sas
	disk_name=$1
	hddsim_start "$1" "$2" --mb-s=50 --size-mb=512 --condition=standby_z:1.5:300:2000
	disk=$hddsim_disk sg=$hddsim_sg
	nullb "fast-$1" 512 50000 memory_backed=1
}

# Whoever has written to the device itself and closes it has udev read it, and so the disk below.
mkdir -p /run/udev/rules.d
echo 'SUBSYSTEM=="block", OPTIONS:="nowatch"' >/run/udev/rules.d/00-nowatch.rules
udevadm control --reload

pattern $mib 1 >"$tmp/pattern"
new_disk sata ata
ok "bcache over a SATA disk" bcache_make "$disk" fast-sata
[[ -b /dev/bcache0 ]] || exit 1
is "the kernel takes sizes in bytes alone" "$(echo 4M 2>&1 >"$bcache_folder/sequential_cutoff" | wc -l)" 1
sleeps_through_writes bcache /dev/bcache0 "/dev/$disk" $((8 << 10))
ok "bcache is taken apart" bcache_stop "$disk"

new_disk sas sas
ok "dm-writecache by LVM over a SAS disk" writecache_make "$disk" fast-sas
[[ -b /dev/wc/data ]] || exit 1
table=$(writecache_table)
sleeps_through_writes writecache /dev/wc/data "/dev/$disk" $((1 << 20))
is "writecache: the table is what LVM made it" "$(writecache_table)" "$table"

tables() {
	dmsetup info wc-data | sed -n 's/^Tables present: *//p'
}
udevadm settle --timeout=20
dmsetup table wc-data | dmsetup load wc-data
is "a table that a kill leaves behind" "$(tables)" "LIVE & INACTIVE"
is "is thrown away when the same value is put back" \
	"$("$B/tests/testbed/disk-ask" "$disk" apply redirect-writecache writecache; tables)" \
	"writecache"$'\n'LIVE
dmsetup --noudevsync suspend wc-data
is "a device that another has suspended is left alone" "$("$B/tests/testbed/disk-ask" "$disk" \
	apply redirect-writecache "writecache high_watermark=95 low_watermark=90")" EBUSY
dmsetup --noudevsync resume wc-data
is "options that the kernel refuses are an error" "$("$B/tests/testbed/disk-ask" "$disk" \
	apply redirect-writecache "writecache high_watermark=10 low_watermark=90")" EINVAL
is "and leave all as it was" "$(writecache_table), $(tables)" "$table, LIVE"
ok "dm-writecache is taken apart" writecache_stop
done_testing
