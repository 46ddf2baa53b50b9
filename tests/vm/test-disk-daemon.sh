#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# limit: 300
# clock: real
#
# storpowerd on two SATA disks and a SAS disk with true power conditions: a budget that only sleep can
# keep is kept by it, what it says is what the disks are, and all of it is given back, also after a kill;
# but nothing is woken for that.

. "$(dirname "$0")/lib.sh"

options=(--mb-s=20 --condition=standby_z:1.5:300:2000 --condition=idle_c:3.7:200:900
	--condition=idle_b:5.4:100:400 --condition=standby_y:3.7:200:900)

show() {
	local name
	for name in one two sas; do
		echo "$name: $(hddsim_get $name condition)"
	done
	ctl status
	ctl list
	tail -n 30 "$tmp/daemon.log"
}

all_are() { # CONDITION...: of one, two and sas
	[[ "$(hddsim_get one condition) $(hddsim_get two condition) $(hddsim_get sas condition)" == "$*" ]]
}

as_told() { # NAME DISK: what storpowerd says is what the disk is
	local told real
	told=$(says "$2" Condition) real=$(hddsim_get "$1" condition)
	echo "told $told, is $real"
	[[ $told == "$real" ]]
}

cleanup() { # FAILED
	show_and_stop "$1"
	hddsim_stop_all
}
at_end=(cleanup "${at_end[@]}")

mkdir -p "$tmp/etc"
for name in one two sas; do
	kind=ata
	[[ $name != sas ]] || kind=sas
	hddsim_start $name $kind "${options[@]}" || { echo "Bail out! no disk"; exit 1; }
	declare "$name=$hddsim_disk"
done
udevadm control --stop-exec-queue
printf '%s\n' "[storpower]" "policy = emergency" >"$tmp/etc/storpower.conf"
start_bus
start_daemon

offered() { # DISK: the knob of conditions
	ctl show "$1" --json=short | jq -r '.Knobs[] | select(.Name == "condition").Offered'
}
# shellcheck disable=SC2154 # one, two and sas are declared above
is "the knob of conditions is offered for all" "$(offered "$one") $(offered "$two") $(offered "$sas")" \
	"true true true"
# 32.4 W rated; 2 x 1.5 W of SATA in standby and 3.7 W of SAS in idle_c is what is left
settings() {
	cat /sys/block/{"$one","$two","$sas"}/{device/queue_depth,queue/max_sectors_kb} | xargs
}
found=$(settings)
ctl set 9W >/dev/null 2>&1 # Degraded, until they sleep
ok "within a minute the SATA disks are in standby, the SAS disk in idle_c" \
	within 60 all_are standby_z standby_z idle_c
ok "it says so" eval 'within 5 as_told one "$one" && within 5 as_told sas "$sas"'
ok "hdparm agrees" eval 'hdparm -C "/dev/$one" | grep -q standby'
sleep 5
ok "and leaves them asleep" all_are standby_z standby_z idle_c
is "nobody stopped the SAS disk" "$(grep -cE ' 1b......[0-9a-f][02468ace]' "$hddsim_folder/sas.log")" 0
wakes=$(hddsim_get two wakes)
stop_daemon KILL
is "killed, it leaves them as they are" "$(hddsim_get two wakes)" "$wakes"
start_daemon
sleep 5
ok "started again, its claim stands and they sleep on" all_are standby_z standby_z idle_c
is "none was woken to be found" "$(hddsim_get two wakes)" "$wakes"
ctl clear >/dev/null
is_restored() { [[ $(settings) == "$found" ]]; }
within 30 is_restored
is "cleared, all else is set as found" "$(settings)" "$found"
sleep 5
ok "and they sleep on: giving a budget back wakes nothing" all_are standby_z standby_z idle_c
ok "asked for, all are woken" eval 'ctl wake --all && within 60 all_are active active active'
is "why is known" "$(ctl list --wakeups --json=short | jq -r '.[].Why' | sort | uniq -c | xargs)" "3 asked for"
sleep 8
ok "and stay so" all_are active active active
ok "put to sleep by a budget once more" eval \
	'ctl set 9W >/dev/null 2>&1; within 120 all_are standby_z standby_z idle_c'
wakes=$(hddsim_get two wakes)
stop_daemon
is "nor does the daemon wake any when it ends" "$(hddsim_get two wakes)" "$wakes"
is "and set as found" "$(settings)" "$found"
ok "nothing is left in the journal" test ! -s "$tmp/state/journal"
done_testing
