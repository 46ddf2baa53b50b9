#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# long: all
# limit: 400
#
# A disk that will not wake: the operator is told, its pool is kept up, and it is not stopped again before
# a wake test has passed on its HBA; a disk of another HBA and pool sleeps on. Two SAS disks of an md
# array, which nobody may stop before such a test, and a SATA disk, each on an HBA of its own.
. "$(dirname "$0")/lib.sh"

options=(--mb-s=20 --size-mb=64 --spin-up-ms=2000 --watts=10.8:9.3:9 --condition=standby_z:1.5:300:2000)

cleanup() { # FAILED
	show_and_stop "$1"
	mdadm --stop /dev/md0 2>/dev/null
	hddsim_stop_all
}
at_end=(cleanup "${at_end[@]}")

show() {
	local name
	for name in one two alone; do
		hddsim_say $name state | xargs
	done
	ctl list
	ctl list --wakeups
	ctl show "$one"
	ctl show "$two"
	dmesg | tail -n 20
	tail -n 60 "$tmp/daemon.log"
}

condition_is() { # NAME CONDITION
	[[ $(hddsim_get "$1" condition) == "$2" ]]
}

# Resting or not, it turns.
is_up() { # NAME
	[[ $(hddsim_get "$1" condition) != standby* ]]
}

all_are() { # CONDITION...: of one, two and alone
	[[ "$(hddsim_get one condition) $(hddsim_get two condition) $(hddsim_get alone condition)" == "$*" ]]
}

hddsim_start one sas "${options[@]}" && one=$hddsim_disk &&
	hddsim_start two sas "${options[@]}" && two=$hddsim_disk &&
	hddsim_start alone ata "${options[@]}" && alone=$hddsim_disk &&
	modprobe raid1 && mdadm --create /dev/md0 --run --level=1 --assume-clean --metadata=1.2 \
	--raid-devices=2 "/dev/$one" "/dev/$two" 2>&1 || { echo "Bail out! no disks"; exit 1; }
udevadm settle --timeout=20
udevadm control --stop-exec-queue
quick_disks 2 9 # so that the budget bears it
printf '%s\n' "[storpower]" "policy = emergency" "cycles_a_day = 100" >"$tmp/etc/storpower.conf"
start_bus
start_daemon

is "two disks are of one pool" "$(says "$one" Pool) $(says "$two" Pool) $(says "$alone" Pool)" "md0 md0 "
is "a SAS disk is not stopped before a wake test" "$(says "$one" WakeUntested) $(says "$alone" WakeUntested)" \
	"true false"
ok "a wake test is done on request" ctl wake-test "$one"
is "and is good for its HBA alone" "$(says "$one" WakeUntested) $(says "$two" WakeUntested)" "false true"
ok "so the other's does one, too" ctl wake-test "$two"
ctl set 28W >/dev/null
ok "then a budget stops all" within 90 all_are standby_z standby_z standby_z
stop_daemon KILL
start_daemon
is "the tests are known after a kill" "$(says "$one" WakeUntested) $(says "$two" WakeUntested)" "false false"
sleep 3
ok "and all sleep on" within 1 all_are standby_z standby_z standby_z

# its IO fails after so long, before the kernel loses patience with the disk (30 s)
hddsim_say one no-wake 25
dd if="/dev/$one" of=/dev/null bs=4k count=1 iflag=direct status=none &
stuck=$!
ok "an IO to a disk that does not wake wakes the others of its pool" within 20 condition_is two active
problem_said() { [[ $(says "$one" Problem) == *"does not wake"* ]]; }
ok "the operator is told what is wrong" within 60 problem_said
ok "and in the log" grep -q "$one: it does not wake" "$tmp/daemon.log"
sleep 65 # longer than the policy keeps a disk up
ok "its pool is kept up, whatever the budget" is_up two
ok "why is said" eval 'ctl show "$two" | grep -q "did not wake"'
ok "a disk of another HBA sleeps on" condition_is alone standby_z
is "the other's HBA is not to blame" "$(ctl wake-test "$two" >/dev/null; echo $?)" 0
hddsim_say one clear-faults
within 60 eval "! kill -0 $stuck 2>/dev/null"
ok "it wakes after all" eval 'dd if="/dev/$one" of=/dev/null bs=4k count=1 skip=100 iflag=direct status=none && is_up one'
sleep 3
ok "and is not stopped as long as no wake test has passed there" is_up one
ok "one does" within 30 ctl wake-test "$one"
ok "which ends that" within 120 all_are standby_z standby_z standby_z
done_testing
