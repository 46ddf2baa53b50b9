#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# limit: 600
#
# Which disks sleep and wake together, by the kernel's own md, LVM and btrfs over disks of hddsim; what
# keeps them up; and the wake test. Asking about any of that wakes no disk.

. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/devices.sh"

ask() { # [--wake-tested] DISK QUESTION...
	"$B/tests/testbed/disk-ask" "$@" 2>>"$tmp/words"
}

place() { # DISK KEY
	ask "$1" place | sed -n "s/^$2=//p"
}

may_sleep() { # DISK: "yes", or why not
	ask "$1" may-sleep | head -n 1
}

pools() { # DISK...: their names, once each
	local disk
	for disk; do place "$disk" pool; done | sort -u
}

read_block() { # DISK
	dd if="/dev/$1" of=/dev/null bs=4k count=1 skip=$((RANDOM % 10000)) iflag=direct status=none
}

is_idle() { # ARRAY
	[[ $(<"/sys/block/$1/md/sync_action") == idle ]]
}

cleanup() { # FAILED
	[[ $1 -eq 0 ]] || tail -n 12 "$tmp/words" | sed 's/^/# /'
	hddsim_stop_all
}
at_end+=(cleanup)

options=(--mb-s=40 --seek-ms=2 --condition=standby_z:1.5:300:1000 --condition=standby_y:3.7:200:900
	--condition=idle_c:3.7:200:900 --condition=idle_b:5.4:100:400 --condition=stopped:1.5:300:2000)
declare -A disk
for name in a b c d; do
	hddsim_start $name ata "${options[@]}" || exit 1
	disk[$name]=$hddsim_disk
done
hddsim_start sas sas "${options[@]}" || exit 1
disk[sas]=$hddsim_disk
nullb flash 64 0 memory_backed=1
a=${disk[a]} b=${disk[b]} c=${disk[c]} d=${disk[d]} sas=${disk[sas]}
modprobe -a raid1 raid456 dm_raid btrfs loop 2>/dev/null
# Once udev has read the disks anew, which it may only begin to do after it was waited for.
pools_are() { # POOLS DISK...
	local got
	got=$(pools "${@:2}")
	echo "$got"
	[[ $got == "$1" ]]
}

settle() {
	udevadm settle --timeout=20
}

echo "# --- alone"
ok "a disk by itself is in no pool" eventually pools_are "" "$a" "$b" "$c" "$d"
is "and may sleep" "$(may_sleep "$a")" yes
is "it hangs on its adapter" "$(place "$a" hba | grep -c '^tcm_loop_adapter_[0-9]*$')" 1

echo "# --- md"
mdadm --create /dev/md0 --run --force --level=5 --raid-devices=3 --metadata=1.2 --homehost=any \
	--assume-clean "/dev/$a" "/dev/$b" "/dev/$c" >/dev/null 2>>"$tmp/words"
settle
ok "the members of an array are one pool" eventually pools_are md0 "$a" "$b" "$c"
ok "another disk is not in it" eventually pools_are "" "$d"
is "two parts of it are data and one is parity" "$(place "$a" protection) $(place "$d" protection)" "2+1 "
is "a disk has the bytes that the kernel says" "$(place "$a" bytes)" "$(blockdev --getsize64 "/dev/$a")"
is "an array at rest may sleep" "$(may_sleep "$b")" yes
echo 100 >/sys/block/md0/md/sync_speed_max
echo check >/sys/block/md0/md/sync_action
is "one that is checked may not" "$(may_sleep "$b")" "md0 is being checked (check)"
echo idle >/sys/block/md0/md/sync_action
ok "the check ends" eventually is_idle md0
mdadm --fail /dev/md0 "/dev/$c" >/dev/null 2>&1 && mdadm --remove /dev/md0 "/dev/$c" >/dev/null 2>&1
is "a degraded one may not" "$(may_sleep "$a")" "md0 is degraded"
mdadm --zero-superblock "/dev/$c"
mdadm --add /dev/md0 "/dev/$c" >/dev/null 2>&1
recovers() { [[ $(<"/sys/block/md0/md/sync_action") == recover ]]; }
ok "a new member is rebuilt" eventually recovers
is "meanwhile no member may sleep, not even the new one" "$(may_sleep "$c")" \
	"md0 is being resynced (recover)"
settle

echo "# --- LVM on the array: one pool, by one name"
pvcreate -qq -ff -y /dev/md0 "/dev/$d" >/dev/null 2>>"$tmp/words"
vgcreate -qq my-vg /dev/md0 "/dev/$d" >/dev/null 2>>"$tmp/words"
lvcreate -qq -y -L 16M -n one my-vg /dev/md0 >/dev/null 2>>"$tmp/words"
settle
ok "a group with a volume on the array alone" eventually pools_are md0 "$a" "$b" "$c"
lvcreate -qq -y -L 16M -n two my-vg "/dev/$d" >/dev/null 2>>"$tmp/words"
settle
ok "with a volume on another disk joins that, and is the larger" eventually pools_are my-vg "$a" "$b" "$c" "$d"
is "and what is rebuilt at one end keeps the other's array up" "$(may_sleep "$a")" \
	"md0 is being resynced (recover)"
vgchange -qq -an my-vg && vgremove -qq -ff -y my-vg >/dev/null
mdadm --stop /dev/md0 2>>"$tmp/words"
mdadm --zero-superblock "/dev/$a" "/dev/$b" "/dev/$c"
settle
ok "all of it gone, the disks are free again" eventually pools_are "" "$a" "$b" "$c" "$d"

echo "# --- LVM over two disks"
vgcreate -qq vg0 "/dev/$a" "/dev/$b" >/dev/null 2>>"$tmp/words"
lvcreate -qq -y -i 2 -L 16M -n striped vg0 >/dev/null 2>>"$tmp/words"
settle
ok "a volume group is a pool" eventually pools_are vg0 "$a" "$b"
is "and may sleep" "$(may_sleep "$a")" yes
lvcreate -qq -y --type raid1 -m 1 -L 24M --maxrecoveryrate 128k -n mirror vg0 >/dev/null 2>>"$tmp/words"
settle
is "not while a RAID of LVM's is resynced" "$(may_sleep "$b")" "vg0-mirror is being resynced (resync)"
vgchange -qq -an vg0 && vgremove -qq -ff -y vg0 >/dev/null
wipefs -aq "/dev/$a" "/dev/$b"
settle

echo "# --- an array with flash"
mdadm --create /dev/md1 --run --force --level=1 --raid-devices=2 --metadata=1.2 --homehost=any \
	--assume-clean "/dev/$a" /dev/flash >/dev/null 2>>"$tmp/words"
settle
ok "a disk that is mirrored to flash is in no pool: flash keeps nobody awake" eventually pools_are "" "$a"
mdadm --stop /dev/md1 2>>"$tmp/words"
mdadm --zero-superblock "/dev/$a"
settle

echo "# --- bcache and dm-writecache"
modprobe -a bcache dm_writecache 2>/dev/null
is "flash by itself serves nobody" "$(place flash keep_awake)" ""
dd if=/dev/zero of=/dev/flash bs=1M count=4 oflag=direct status=none
dmsetup create wc --table "0 $(blockdev --getsz "/dev/$a") writecache s /dev/$a /dev/flash 4096 0"
settle
is "the cache of a dm-writecache is kept awake" "$(place flash keep_awake)" "it is the cache of wc"
is "its origin is not" "$(place "$a" keep_awake)" ""
ok "nor are they a pool" eventually pools_are "" "$a"
dmsetup remove wc
dd if=/dev/zero of=/dev/flash bs=1M count=4 oflag=direct status=none
settle
make-bcache -b 64k -C /dev/flash -B "/dev/$a" --wipe-bcache >/dev/null 2>>"$tmp/words"
settle
echo /dev/flash >/sys/fs/bcache/register 2>/dev/null
echo "/dev/$a" >/sys/fs/bcache/register 2>/dev/null
is_cached() { [[ -e /sys/block/$a/bcache/cache ]]; }
ok "a bcache is attached" eventually is_cached
is "its cache is kept awake" "$(place flash keep_awake)" "it is the cache of bcache0"
is "its backing disk is not" "$(place "$a" keep_awake)" ""
echo 1 >"/sys/block/$a/bcache/stop"
echo 1 >/sys/block/flash/bcache/set/stop
is_free() { [[ ! -e /sys/block/$a/bcache && ! -e /sys/block/flash/bcache ]]; }
eventually is_free
wipefs -aq "/dev/$a"
settle

echo "# --- btrfs"
mkdir -p "$tmp/mnt"
mkfs.btrfs -q -f -d raid1 -m raid1 "/dev/$c" "/dev/$d" 2>>"$tmp/words"
# udev does not see a disk being closed while it reads it
udevadm trigger --action=change "/dev/$c" "/dev/$d"
settle
uuid=$(blkid -o value -s UUID "/dev/$c")
ok "a btrfs that is not mounted is a pool" eventually pools_are "btrfs $uuid" "$c" "$d"
mount -t btrfs "/dev/$c" "$tmp/mnt"
ok "and one that is" eventually pools_are "btrfs $uuid" "$c" "$d"
is "at rest it may sleep" "$(may_sleep "$d")" yes
dd if=/dev/urandom of="$tmp/mnt/data" bs=1M count=32 status=none
sync
# slow enough to be seen
for speed in "/sys/fs/btrfs/$uuid"/devinfo/*/scrub_speed_max; do
	echo 4M >"$speed"
done
btrfs scrub start -B "$tmp/mnt" >/dev/null 2>>"$tmp/words" &
scrub=$!
why=
for ((i = 0; i < 100; i++)); do
	why=$(may_sleep "$d")
	[[ $why != yes || ! -d /proc/$scrub ]] && break
done
wait $scrub
is "while it is scrubbed it may not" "$why" "btrfs on $tmp/mnt is being scrubbed"
is "and then it may again" "$(may_sleep "$c")" yes
sync
udevadm control --stop-exec-queue
ask "$c" set standby_z && ask "$d" set standby_z
before="$(hddsim_get c wakes) $(hddsim_get d wakes)"
is "asking a pool that sleeps" "$(may_sleep "$c") $(pools "$c" "$d")" "yes btrfs $uuid"
is "wakes none of it" "$(hddsim_get c wakes) $(hddsim_get d wakes)" "$before"
is "it sleeps on" "$(hddsim_get c condition) $(hddsim_get d condition)" "standby_z standby_z"
udevadm control --start-exec-queue
umount "$tmp/mnt"

echo "# --- the wake test"
is "a SAS disk says that it is untested" "$(place "$sas" untested)" yes
is "and not where the configuration answers for it" \
	"$(ask --wake-tested "$sas" place | sed -n 's/^untested=//p')" no
wakes=$(hddsim_get sas wakes) stops=$(hddsim_get sas spin_ups)
ok "the test of a disk that a read wakes succeeds" eval 'ask "$sas" wake-test >"$tmp/test"'
ok "and says how long it took" grep -qE '^a read brought it back after [0-9.]+ s$' "$tmp/test"
is "it was asleep, once" "$(($(hddsim_get sas spin_ups) - stops))" 1
is "and woken" "$(($(hddsim_get sas wakes) - wakes))" 1
is "it is awake" "$(hddsim_get sas condition)" active
hddsim_say sas no-wake 1
ok "a disk that does not wake fails it" eval '! ask "$sas" wake-test >"$tmp/test"'
ok "in words" grep -q 'reading from it in standby failed' "$tmp/test"
is "as a failure of the wake-up itself" "$(tail -n 1 "$tmp/test")" EREMOTEIO
hddsim_say sas clear-faults
ask "$sas" set active
ok "it serves reads again" read_block "$sas"
hddsim_say sas refuse standby_z
is "a disk that refuses standby teaches nothing" "$(ask "$sas" wake-test | tail -n 1)" EOPNOTSUPP
hddsim_say sas clear-faults
done_testing
