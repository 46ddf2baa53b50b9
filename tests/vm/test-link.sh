#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.1
# long: all
# limit: 500
# qemu: -device ahci,id=ahci -drive if=none,id=a,format=raw,file.driver=null-co,file.size=64M -device ide-hd,drive=a,bus=ahci.0,serial=AHCI1,model=INTEL_SSDSC2KB960G8,rotation_rate=1
#
# The link of an idle SATA SSD sleeps under a budget, by the kernel's own policy of its port. QEMU's port
# does not manage link power, which newer kernels know; 6.1 keeps its policy all the same. Time goes by
# instructions, and what is slept through takes none.

. "$(dirname "$0")/lib.sh"

show() {
	ctl status
	ctl show "$ssd"
	ctl explain
	tail -n 30 "$tmp/daemon.log"
}
at_end=(show_and_stop "${at_end[@]}")

# What storpowerd asks the kernel for: the page in which INQUIRY gives a SATA disk's IDENTIFY data. No
# drive of QEMU's puts its link to sleep (word 78, bit 3), so that this one is made to say so.
say_dipm() { # DISK
	cp "/sys/block/$1/device/vpd_pg89" "$tmp/vpd_pg89"
	printf '\010\000' | dd of="$tmp/vpd_pg89" bs=1 seek=$((60 + 2 * 78)) conv=notrunc status=none
	mount --bind "$tmp/vpd_pg89" "$(readlink -f "/sys/block/$1/device/vpd_pg89")"
}
link_is() { # POLICY
	[[ $(<"$link") == "$1" ]] || { cat "$link"; false; }
}
why_not_offered() {
	ctl show "$ssd" --json=short | jq -r '.Knobs[] | select(.Name == "link-power") | .WhyNot'
}
saves_half() {
	jq -en "$(says "$ssd" EstimatedPower) < 0.6 * $awake_w" >/dev/null || says "$ssd" EstimatedPower
}
read_it() {
	while sleep 0.02; do
		dd if="/dev/$ssd" of=/dev/null bs=64k count=4 iflag=direct status=none
	done
}

modprobe -a ahci sd-mod
udevadm settle --timeout=30
ssd=$(grep -l INTEL_SSDSC2KB96 /sys/block/sd*/device/model | cut -d / -f 4)
is "INQUIRY has 16 characters of the model" "$(xargs <"/sys/block/$ssd/device/model")" INTEL_SSDSC2KB96
link=/sys/class/scsi_host/$(readlink -f "/sys/block/$ssd/device" | grep -o 'host[0-9]*' |
	tail -n 1)/link_power_management_policy
found=$(<"$link")

mkdir -p "$tmp/etc/profiles" # QEMU's models have no blanks
sed 's/^match = INTEL SSDSC2KB\*/match = INTEL_SSDSC2KB960G8/' "$root/policies/profiles/intel-d3-s4510.profile" \
	>"$tmp/etc/profiles/intel-d3-s4510.profile"
start_bus
start_daemon
is "and the profile is found by the whole of it" "$(says "$ssd" Model) $(says "$ssd" Profile)" \
	"INTEL_SSDSC2KB960G8 intel-d3-s4510"
is "a drive that does not put its link to sleep is not offered it" "$(why_not_offered)" \
	"the drive does not say that it puts its link to sleep (DIPM)"
stop_daemon

say_dipm "$ssd"
start_daemon
is "one that does is" "$(why_not_offered)" ""
sleep 120
awake_w=$(says "$ssd" EstimatedPower)
ok "without a budget its link is as found" link_is "$found"
ctl set 100% >/dev/null
ok "under one it sleeps when the drive is idle" within 300 link_is med_power_with_dipm
ok "as storpower says" within 30 says_it "$ssd" LinkSaving true
ok "which saves half of the idle watts" within 30 saves_half
read_it &
reader=$!
ok "who works with the drive gets it back" within 60 link_is "$found"
kill "$reader"
ok "it sleeps again when the drive is idle again" within 300 link_is med_power_with_dipm
ctl clear >/dev/null
ok "and is put back when the budget is lifted" within 60 link_is "$found"
ok "with nothing left in the journal" within 60 test ! -s "$tmp/state/journal"
stop_daemon
is "and the daemon ends well" "$daemon_status" 0
done_testing
