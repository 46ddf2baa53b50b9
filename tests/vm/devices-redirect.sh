# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced in the guest, beside devices.sh: write caches over a disk, patterns to write through them, and
# the daemon's knob turned by hand for as long as a test wants.

# /dev/bcache0 over DISK, with its cache on the disk CACHE. Sets bcache_folder.
bcache_make() { # DISK CACHE
	modprobe bcache && make-bcache --writeback -b 256k -B "/dev/$1" -C "/dev/$2" >/dev/null || return
	bcache_open "$@"
}

# The same where it was made before.
bcache_open() { # DISK CACHE
	modprobe bcache && udevadm settle --timeout=20
	echo "/dev/$2" >/sys/fs/bcache/register_quiet
	echo "/dev/$1" >/sys/fs/bcache/register_quiet
	bcache_folder=/sys/block/$1/bcache
	eventually test -e "$bcache_folder/cache" && udevadm settle --timeout=20 && [[ -b /dev/bcache0 ]]
}

# All that storpower may change, a line each
bcache_settings() {
	(cd "$bcache_folder" && grep . cache_mode writeback_running writeback_percent sequential_cutoff \
		readahead_cache_policy cache/congested_{read,write}_threshold_us)
}

# Writes back what it holds, and takes it apart.
bcache_stop() { # DISK
	local folder=/sys/block/$1/bcache set
	set=$(readlink -f "$folder/cache")
	echo 1 >"$folder/detach"
	eventually test ! -e "$folder/cache" || return
	echo 1 >"$folder/stop"
	echo 1 >"$set/stop"
	eventually test ! -e "$set"
}

# The logical volume wc/data over DISK, with its cache on the disk CACHE, as LVM makes it.
writecache_make() { # DISK CACHE [OPTION...]
	local waiter made
	modprobe dm_writecache || return
	# LVM takes no disk of a driver that it does not know
	echo 'devices { types = [ "nullb", 16 ] }' >/etc/lvm/lvmlocal.conf
	end_waits &
	waiter=$!
	{
		vgcreate --yes wc "/dev/$1" "/dev/$2" &&
			lvcreate --yes --wipesignatures n -n data -l 100%PVS wc "/dev/$1" &&
			lvcreate --yes --wipesignatures n --activate n -n fast -l 100%PVS wc "/dev/$2" &&
			lvconvert --yes --type writecache "${@:3}" --cachevol fast wc/data
	} >/dev/null && udevadm settle --timeout=20
	made=$?
	kill "$waiter" 2>/dev/null
	return $made
}

# LVM waits for udev without end where udev hangs on another device: that is said, and LVM goes on.
end_waits() {
	local pid
	sleep 60
	for pid in $(pidof systemd-udevd); do
		echo "# udev, process $pid: $(tr '\0' ' ' <"/proc/$pid/cmdline") $(tr '\n' ' ' <"/proc/$pid/stack")"
	done
	dmsetup udevcomplete_all --yes >/dev/null
}

# The same where it was made before.
writecache_open() {
	modprobe dm_writecache && vgchange -ay wc && udevadm settle --timeout=20
}

# Without LVM's wait for udev, which never ends where udev misses an event.
writecache_stop() {
	vgchange --noudevsync -an wc && udevadm settle --timeout=20
	vgremove --noudevsync --force --yes wc
}

# "s 8:0 253:1 4096 0"
writecache_table() {
	dmsetup table wc-data | cut -d ' ' -f 4-
}

# MIB of text in which no two blocks are the same; another SEED (1 to 9): another one.
pattern() { # MIB SEED
	seq "${2}00000000" "${2}99999999" | head -c "$1M"
}

# Is what comes in on the device from byte OFFSET on? Reads past the page cache.
same_as() { # DEVICE OFFSET MIB
	dd if="$1" iflag=direct,skip_bytes,count_bytes bs=1M skip="$2" count="$3M" status=none \
		>"$tmp/same_as" && cmp - "$tmp/same_as"
}

# Turns the knob and keeps it so until knob_back. Prints what it was found at and what it is now.
knob_turn() { # NAME DISK KNOB SETTING
	mkfifo "$tmp/$1.go"
	"$B/tests/testbed/turn-knob" "$2" "$3" "$4" sh -c "touch $tmp/$1.turned; read -r go <$tmp/$1.go" \
		>"$tmp/$1.values" 2>&1 &
	echo $! >"$tmp/$1.pid"
	eventually test -e "$tmp/$1.turned" -o ! -d "/proc/$!"
	cat "$tmp/$1.values"
	[[ -e $tmp/$1.turned ]]
}

# Sets knob_value to what is found after it was put back.
knob_back() { # NAME
	local status
	[[ ! -e $tmp/$1.turned ]] || echo go >"$tmp/$1.go"
	wait "$(<"$tmp/$1.pid")"
	status=$?
	# shellcheck disable=SC2034 # for the caller
	knob_value=$(sed -n 3p "$tmp/$1.values")
	rm -f "$tmp/$1".{go,turned,pid,values}
	return $status
}

# Two partitions of 96 MiB each
partitions_make() { # DISK
	printf '%b' '\0\0\0\0\xfd\0\0\0\0\x08\0\0\0\0\x03\0' '\0\0\0\0\xfd\0\0\0\0\x10\x03\0\0\0\x03\0' |
		dd of="/dev/$1" bs=1 seek=446 status=none &&
		printf '\x55\xaa' | dd of="/dev/$1" bs=1 seek=510 status=none &&
		udevadm settle --timeout=20 && blockdev --rereadpt "/dev/$1" &&
		udevadm settle --timeout=20 && [[ -b /dev/${1}1 && -b /dev/${1}2 ]]
}

# /dev/md9, a raid1 of DISK's first partition and the disk OTHER
raid1_make() { # DISK OTHER
	partitions_make "$1" &&
		mdadm --create /dev/md9 --run --level=1 --raid-devices=2 --assume-clean --bitmap=none \
			--metadata=1.2 "/dev/${1}1" "/dev/$2" && udevadm settle --timeout=20
}

# Through NODE, past the page cache
read_200() { # NODE
	fio --name=read --filename="$1" --direct=1 --ioengine=libaio --iodepth=4 --rw=randread --bs=4k \
		--number_ios=200 --size=64M --minimal >/dev/null
}

write_one() { # NODE
	dd if=/dev/urandom of="$1" bs=4k count=1 seek=5000 oflag=direct conv=notrunc status=none
}

# One setting of the mergerfs at /pool
mergerfs_control() { # KEY [VALUE]
	python3 -c 'import os, sys
name = "user.mergerfs." + sys.argv[1]
if len(sys.argv) > 2:
    os.setxattr("/pool/.mergerfs", name, sys.argv[2].encode())
else:
    print(os.getxattr("/pool/.mergerfs", name).decode())' "$@"
}

# /pool, a mergerfs of DISK's first partition at /hdd and the disk OTHER at /ssd
mergerfs_make() { # DISK OTHER
	mkdir -p /hdd /ssd /pool
	partitions_make "$1" &&
		mkfs.ext4 -qF -E lazy_itable_init=0,lazy_journal_init=0 "/dev/${1}1" &&
		mkfs.ext4 -qF -E lazy_itable_init=0,lazy_journal_init=0 "/dev/$2" &&
		udevadm settle --timeout=20 &&
		mount -o noatime "/dev/${1}1" /hdd && mount -o noatime "/dev/$2" /ssd &&
		mkdir /hdd/photos &&
		mergerfs -o category.create=mfs,minfreespace=1M /hdd=RW,2M:/ssd /pool
}

nvmet=/sys/kernel/config/nvmet
nvmet_nqn=nqn.2026-01.org.storpower:steer

nvmet_namespace() { # ID DEVICE
	local folder=$nvmet/subsystems/$nvmet_nqn/namespaces/$1
	mkdir "$folder" && echo "$2" >"$folder/device_path" && echo 2 >"$folder/ana_grpid" &&
		echo 1 >"$folder/enable"
}

nvmet_port() { # NUMBER
	local folder=$nvmet/ports/$1
	mkdir "$folder" "$folder/ana_groups/2" && echo tcp >"$folder/addr_trtype" &&
		echo ipv4 >"$folder/addr_adrfam" && echo 127.0.0.1 >"$folder/addr_traddr" &&
		echo "442$1" >"$folder/addr_trsvcid" && echo optimized >"$folder/ana_groups/2/ana_state" &&
		ln -s "$nvmet/subsystems/$nvmet_nqn" "$folder/subsystems/"
}

# DISK, exported by two ports
nvmet_make() { # DISK
	mkdir "$nvmet/subsystems/$nvmet_nqn" && echo 1 >"$nvmet/subsystems/$nvmet_nqn/attr_allow_any_host" &&
		nvmet_namespace 1 "/dev/$1" && nvmet_port 1 && nvmet_port 2
}
