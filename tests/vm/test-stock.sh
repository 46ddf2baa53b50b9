#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# long: all
# limit: 900
# qemu: -device ahci,id=ahci -drive if=none,id=a,format=raw,file.driver=null-co,file.size=64M -device ide-hd,drive=a,bus=ahci.0,serial=AHCI1 -drive if=none,id=b,format=raw,file.driver=null-co,file.size=64M -device ide-hd,drive=b,bus=ahci.1,serial=AHCI2 -drive if=none,id=c,format=raw,file.driver=null-co,file.size=64M -device ide-hd,drive=c,bus=ahci.2,serial=AHCI3 -drive if=none,id=flash,format=raw,file.driver=null-co,file.size=64M -device nvme,drive=flash,serial=QEMUNVME1
#
# QEMU's own AHCI disks accept STANDBY IMMEDIATE and go on turning, as some firmware does. A budget that
# they would have to sleep for is held by what else they have; they are asked three times, and no more.
# Time goes by instructions, and what is slept through takes none.

. "$(dirname "$0")/lib.sh"

show() {
	ctl status
	ctl list
	ctl explain
	tail -n 30 "$tmp/daemon.log"
}
at_end=(show_and_stop "${at_end[@]}")

modprobe -a ahci sd-mod nvme
udevadm settle --timeout=30
read -ra disks <<<"$(grep -l '^QEMU HARDDISK' /sys/block/sd*/device/model | cut -d / -f 4 | xargs)"
is "there are three AHCI disks" "${#disks[@]}" 3
[[ ${#disks[@]} -eq 3 ]] || exit 1

caps_fit() {
	[[ $(ctl status --json=short | jq '.CapPower <= .EffectiveLimit + 0.001') == true ]]
}
asked() { # DISK: how often it was told to change its condition, and did not
	grep -c "$1: condition \(could not be set\|is not used\)" "$tmp/daemon.log"
}
withdrawn() {
	[[ $(ctl show "${disks[0]}" --json=short |
		jq -r '.Knobs[] | select(.Name == "condition") | "\(.Offered) \(.WhyNot)"') == "false it did not obey 3 times"* ]]
}

# Whoever asks often keeps the guest from sleeping through the time.
in_hours() { # HOURS COMMAND...
	local end=$((SECONDS + $1 * 3600))
	shift
	until "$@" >/dev/null 2>&1; do
		((SECONDS < end)) || { "$@"; return; }
		sleep 300
	done
}

mkdir -p "$tmp/etc"
{
	printf '%s\n' "[storpower]" "policy = emergency" "cycles_a_day = 100"
	printf '[device %s]\nwake_tested = yes\n' "${disks[@]}"
} >"$tmp/etc/storpower.conf"
start_bus
start_daemon
ctl set 80% >/dev/null 2>&1
ok "the budget is held" within 60 caps_fit
sleep 300
ok "and goes on being held, when they have been told to sleep" caps_fit
ok "they were told" test "$(asked "${disks[0]}")" -ge 1
ok "after an hour and a bit they are not told any more" in_hours 3 withdrawn
is "they were told three times" "$(asked "${disks[0]}")" 3
starts=$(says "${disks[0]}" StartsUsed)
sleep 7200
is "and are not told again" "$(asked "${disks[0]}") $(says "${disks[0]}" StartsUsed)" "3 $starts"
ok "the budget is held" caps_fit
ctl clear >/dev/null
ok "nothing is left when it is lifted" within 60 test ! -s "$tmp/state/journal"
stop_daemon
is "and the daemon ends well" "$daemon_status" 0
done_testing
