#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# systemd
# limit: 900
# memory: 3072
# beside: tests/testbed/bmc.py
# qemu: -chardev socket,id=bmc,path=SHARE/bmc.sock,reconnect=1 -device ipmi-bmc-extern,id=bmc0,chardev=bmc -device isa-ipmi-kcs,bmc=bmc0
#
# The unit, hardened as it is, lets storpowerd and its --restore use every interface that they have for
# drives: NVMe admin commands, SG_IO, /sys, device mapper, a mergerfs, configfs, the BMC. Under one limit all
# of them are used; they are put back after a kill and at the end; and nothing has ever been refused.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/devices-redirect.sh"

declare -A disk
cached="sata sas" others="branch leg target"

show() {
	local name
	for name in $cached $others; do
		echo "$name (${disk[$name]:-not made}): $(hddsim_get $name condition)"
	done
	settings
	ctl status
	ctl list -o wide
	journalctl --unit=storpowerd --output=cat | tail -n 40
}

cleanup() { # FAILED
	[[ $1 -eq 0 ]] || show 2>&1 | sed 's/^/# /'
	systemctl kill --kill-who=main --signal=KILL storpowerd 2>/dev/null
}
at_end=(cleanup "${at_end[@]}")

bail() {
	echo "Bail out! $*"
	exit 1
}

start_disk() { # NAME ata|sas
	hddsim_start "$1" "$2" --mb-s=50 --spin-up-ms=1000 --watts=10.8:9.3:9 --condition=standby_z:1.5:300:1000 &&
		disk[$1]=$hddsim_disk
}

make_disks() {
	start_disk sata ata && nullb cache1 512 10000 memory_backed=1 && bcache_make "${disk[sata]}" cache1 || bail "no bcache"
	start_disk sas sas && nullb cache2 512 10000 memory_backed=1 && writecache_make "${disk[sas]}" cache2 || bail "no dm-writecache"
	start_disk branch ata && nullb ssd 64 10000 memory_backed=1 && mergerfs_make "${disk[branch]}" ssd || bail "no mergerfs"
	chown nobody /pool # O_NOATIME is for its owner, or CAP_FOWNER
	chmod 700 /pool
	start_disk leg ata && nullb other 256 10000 memory_backed=1 && raid1_make "${disk[leg]}" other || bail "no raid1"
	start_disk target ata && nvmet_make "${disk[target]}" || bail "no NVMe target"
}

# bcache marks its disk with the first write that it holds; later ones do not reach it.
write_through_caches() {
	local node
	for node in /dev/bcache0 /dev/wc/data; do
		pattern 1 3 | dd of=$node oflag=direct bs=1M seek=1 iflag=fullblock conv=fsync status=none || return
	done
}

# Of every knob that is turned, by the kernel and the drive
settings() {
	bcache_settings
	writecache_table
	mergerfs_control branches
	grep -o write_mostly "/sys/block/md9/md/dev-${disk[leg]}1/state"
	cat "$nvmet"/ports/*/ana_groups/2/ana_state
	cat /sys/block/{sd?,nvme?n1}/queue/{nr_requests,max_sectors_kb} /sys/block/sd?/device/queue_depth
	grep -s enable=1 /sys/fs/cgroup/io.cost.qos # once asked for, the line of a drive stays
	echo "power state $(nvmesim_get flash ps)"
}

as_found() {
	settings | diff "$tmp/found" -
}

asleep() { # NAME...
	local name
	for name; do
		[[ $(hddsim_get "$name" condition) == standby_z ]] || return
	done
}

in_force() { # PROMISE PART: each interface by itself, with as long as the disks need
	ok "$1: the NVMe drive is in another power state" within 60 eval '[[ $(nvmesim_get flash ps) != 0 ]]'
	ok "$1: the disks are in standby" within 120 asleep $cached $others
	ok "$1: bcache holds what is written" within 30 says_it "${disk[sata]}" Redirect held
	ok "$1: so does dm-writecache" within 30 says_it "${disk[sas]}" Redirect held
	ok "$1: mergerfs creates no files on the sleeping disk" within 30 eval '[[ $(mergerfs_control branches) == /hdd=NC* ]]'
	ok "$1: the raid1 reads from the other leg" within 30 grep -q write_mostly "/sys/block/md9/md/dev-${disk[leg]}1/state"
	ok "$1: the NVMe target asks for another path" within 30 \
		eval '[[ $(cat "$nvmet"/ports/*/ana_groups/2/ana_state | sort -u) == non-optimized ]]'
}

refusals() {
	journalctl --unit=storpowerd --output=cat |
		grep -iE 'not permitted|permission denied|read-only file system|function not implemented'
}

new_pid() { # OLD
	local now
	now=$(systemctl show --property=MainPID --value storpowerd)
	[[ $now != 0 && $now != "$1" ]] && ctl version
}

cp -a "$B/vm-root/." / || bail "make vm-tools installs nothing"
unset STORPOWER_BUS
modprobe -a raid1 ext4 nvmet nvmet-tcp ipmi_si ipmi_devintf
echo 60 >/share/watts
make_disks
udevadm settle --timeout=60
udevadm control --stop-exec-queue
sync
mkdir -p /etc/storpower
ln -s /etc/storpower "$tmp/etc"
quick_disks 1 9
sed -i "s/^forbid =.*/forbid = depth chunk pacing/" /etc/storpower/policies/quick.policy # test-service.sh has pacing
tolerate_nothing
cat >/etc/storpower/storpower.conf <<-END
	[storpower]
	policy = quick
	cycles_a_day = 100
	[device nvme0]
	[device ${disk[target]}]
	redirect = nvmet
	[sensor bmc]
	type = dcmi
	of = node
	subtract = 40W
END
systemctl daemon-reload
busctl call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus ReloadConfig

ok "the unit starts" systemctl start storpowerd
udevadm control --start-exec-queue
ok "an NVMe drive that comes later is asked what it offers" eval \
	'nvmesim_start flash --drive=ps1010 --scale=0.001 && within 30 eval "ctl show $nvmesim_ctrl --json=short |
		jq -e \".Knobs[] | select(.Name == \\\"nvme-power-state\\\").Offered\""'
udevadm settle --timeout=60
udevadm control --stop-exec-queue
ok "the BMC is read" within 30 eval 'ctl status --json=short | jq -e ".Sensors[] | select(.[0] == \"bmc\") | .[4] == 20"'
ok "the SAS disk passes a wake test" ctl wake-test "${disk[sas]}"
ok "the caches hold something" write_through_caches
sleep 2
settings >"$tmp/found"

ctl set 25W >/dev/null 2>&1 # degraded, until they sleep
in_force "under a limit"
ok "every setting reads back" ctl verify --witness
write_one /dev/md9
ok "it is known who woke a disk" within 30 eval \
	'ctl list --wakeups --json=short | jq -e --arg d "${disk[leg]}" ".[] | select(.Device == \$d and (tostring | contains(\"dd\")))"'
before=$(systemctl show --property=MainPID --value storpowerd)
systemctl kill --kill-who=main --signal=KILL storpowerd
ok "killed, it is started anew" within 120 new_pid "$before"
ok "after its settings were put back" within 10 eval \
	'journalctl --unit=storpowerd --output=cat | grep -q "settings were put back"'
in_force "started anew"
ok "stopping ends well" systemctl stop storpowerd
ok "nothing differs from before" as_found
ok "nothing is left in the journal" test ! -s /var/lib/storpower/journal
is "nothing was ever refused" "$(refusals)" ""
is "no unit has failed" "$(systemctl --failed --plain --no-legend)" ""
done_testing
