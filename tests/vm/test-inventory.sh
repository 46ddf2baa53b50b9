#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: all
# long: 6.12 7.2
# limit: 600
# qemu: -device ahci,id=ahci -drive if=none,id=disk,format=raw,file.driver=null-co,file.size=64M -device ide-hd,drive=disk,bus=ahci.0,serial=AHCI0001,wwn=0x5000c50012345678 -drive if=none,id=flash,format=raw,file.driver=null-co,file.size=64M -device nvme,drive=flash,serial=QEMUNVME1
#
# What storpowerd finds on a machine: what it manages, ignores and protects, what lies on it, and how
# that changes as devices come, go and are mounted.

. "$(dirname "$0")/lib.sh"

managed() { # NAME
	ctl list --json=short | jq -e --arg name "$1" 'any(.[]; .Name == $name)'
}

unmanaged() {
	! managed "$1"
}

knob_says() { # NAME KNOB: why it is not offered
	ctl show "$1" --json=short | jq -r --arg knob "$2" '.Knobs[] | select(.Name == $knob).WhyNot'
}

attribute() { # NAME FILE
	cat "/sys/block/$1/$2"
}

names() {
	ctl list --json=short | jq -r '[.[].Name] | sort | join(" ")'
}

logged() { # TEXT
	grep -qF "$1" "$tmp/daemon.log"
}

scsi_disk() { # the newest of scsi_debug
	basename "$(ls -d /sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*/block/* | tail -n 1)"
}

begin() { # LINE... of the configuration
	[[ -z $daemon_pid ]] || stop_daemon
	: >"$tmp/daemon.log"
	printf '%s\n' "$@" >"$tmp/etc/storpower.conf"
	start_daemon
}

mkdir -p "$tmp/etc" "$tmp/mnt"
ahci=$(grep -l 5000c50012345678 /sys/block/sd*/device/wwid | cut -d / -f 4)
truncate -s 64M "$tmp/file"
modprobe loop
loop=$(losetup --find --show "$tmp/file")
modprobe brd rd_nr=1 rd_size=4096
nullb null 64 0 memory_backed=1
start_bus

echo "# --- the machine as it starts"
begin
is "the controller and the disk are managed, loop, ram, virtio and null_blk are not" \
	"$(names)" "nvme0 $ahci"
is "the controller is known by its serial number" "$(says nvme0 Id)" "serial:QEMUNVME1"
is "the disk by its world-wide name" "$(says "$ahci" Id)" "wwid:naa.5000c50012345678"
is "a program opens the controller, not its namespace" "$(says nvme0 Node)" /dev/nvme0
is "the model is the drive's own word" "$(says nvme0 Model)" "QEMU NVMe Ctrl"
is "the disk is a hard disk" "$(says "$ahci" Kind)" hdd
is "nothing lies on them" "$(says nvme0 Stack)$(says "$ahci" Stack)" ""
is "the disk's depth is its own" "$(knob_says "$ahci" queue-depth)" ""
is "the controller's block settings are its namespace's" "$(knob_says nvme0 nr-requests)" ""
ok "a device can be asked for by its id" ctl show serial:QEMUNVME1

echo "# --- what is named"
begin "[storpower]" "discover = no" "[device ${loop#/dev/}]" "[device null]" "[device ram0]" \
	"[device nvme0n1]" "group = flash" "[device wwid:naa.5000c50012345678]" "manage = no"
is "named devices are managed, memory never" "$(names)" "${loop#/dev/} null nvme0"
is "the section of a namespace is its controller's" "$(says nvme0 Group)" flash
ok "why not is said" logged "ram0: not managed, because it is memory"
begin "[device $ahci]" "manage = no" "[device nvme0]" "manage = no"
is "what is to be left alone is" "$(names)" ""
ok "a node without storage says so" logged "There is no storage to manage here"

echo "# --- plugging"
modprobe scsi_debug dev_size_mb=64 num_parts=3
ok "a disk that is plugged in is managed" eventually managed "$(scsi_disk)"
sdb=$(scsi_disk)
echo 1 >/sys/bus/pseudo/drivers/scsi_debug/add_host
is_another() { [[ $(scsi_disk) != "$sdb" ]]; }
eventually is_another
sdc=$(scsi_disk)
ok "and another" eventually managed "$sdc"
echo -1 >/sys/bus/pseudo/drivers/scsi_debug/add_host
ok "and goes when it is unplugged" eventually unmanaged "$sdc"
ok "the first one stays" managed "$sdb"
begin
ok "a drive across a network is connected" nvmesim_start one
udevadm settle --timeout=20
is "and left alone, as nobody has named it" "$(names)" "nvme0 $ahci $sdb"
begin "[device nqn:$(nvmesim_nqn one)]"
ok "and managed" eventually managed nvme1
is "by its own name" "$(says nvme1 Id)" "nqn:$(nvmesim_nqn one)"
ok "with its namespace" eventually says_it nvme1 Model "SAMSUNG MZQL23T8HCLS-00A07"
ok "and its block settings" test -z "$(knob_says nvme1 nr-requests)"

echo "# --- a budget through a reset"
status "a budget for that drive" 0 ctl set 8W --device nvme1
state_is() { [[ $(nvmesim_get one ps) == "$1" ]]; }
ok "its power state is set" eventually says_it nvme1 PowerState 1
ok "in the drive itself" state_is 1
echo 1 >/sys/class/nvme/nvme1/reset_controller
ok "a reset is noticed" eventually logged "nvme1: a device was reset"
ok "and the state set again" eventually state_is 1
status "clear" 0 ctl clear
ok "is back to the first state" eventually state_is 0
nvme disconnect -n "$(nvmesim_nqn one)" >/dev/null
ok "a drive that is disconnected goes" eventually unmanaged nvme1
ok "and comes back" nvmesim_connect one 4420
ok "as the same" eventually says_it "$nvmesim_ctrl" Id "nqn:$(nvmesim_nqn one)"
nvmesim_stop one >/dev/null 2>&1

echo "# --- what lies on a disk"
mkfs.ext4 -qF "/dev/${sdb}1"
mount "/dev/${sdb}1" "$tmp/mnt"
ok "a mounted partition" eventually says_it "$sdb" Stack "${sdb}1: $tmp/mnt"
dmsetup create above --table "0 8192 linear /dev/${sdb}2 0" && udevadm settle --timeout=20
ok "a mapped one" eventually says_it "$sdb" Stack "${sdb}1: $tmp/mnt; ${sdb}2: above"
mdadm --create /dev/md7 --run --force --level=1 --raid-devices=1 --metadata=1.2 --homehost=any \
	"/dev/${sdb}3" >/dev/null 2>&1 && udevadm settle --timeout=20
ok "one of an array" eventually says_it "$sdb" Stack \
	"${sdb}1: $tmp/mnt; ${sdb}2: above; ${sdb}3: md7"
mkfs.ext4 -qF /dev/md7
umount "$tmp/mnt"
ok "and what is no longer mounted" eventually says_it "$sdb" Stack \
	"${sdb}1: unused ext4; ${sdb}2: above; ${sdb}3: md7, unused ext4"

echo "# --- a disk that becomes vital"
depth=$(attribute "$sdb" device/queue_depth)
status "a budget" 0 ctl set 3W --device "$sdb"
limited() { [[ $(attribute "$sdb" device/queue_depth) -lt $depth ]]; }
as_found() { [[ $(attribute "$sdb" device/queue_depth) -eq $depth ]]; }
ok "limits the disk" eventually limited
mount /dev/md7 /boot
ok "what comes to hold /boot is protected" eventually says_it "$sdb" ProtectedReason \
	"holds the boot files"
ok "and given back" eventually as_found
ok "and left alone" test -n "$(knob_says "$sdb" queue-depth)"
umount /boot
ok "and free again when it no longer does" eventually says_it "$sdb" ProtectedReason ""
ok "and limited again" eventually limited
mkswap -q "/dev/${sdb}1" >/dev/null 2>&1
swapon "/dev/${sdb}1"
ok "swap protects a disk" eventually says_it "$sdb" ProtectedReason "holds swap space"
ok "and gives it back" eventually as_found
swapoff "/dev/${sdb}1"
status "clear at the end" 0 ctl clear
dmsetup remove above
mdadm --stop /dev/md7 2>/dev/null
rmmod scsi_debug
ok "a disk that vanishes is gone" eventually unmanaged "$sdb"
ok "and the daemon lives" daemon_lives
stop_daemon
is "and ends in order" "$daemon_status" 0
done_testing
