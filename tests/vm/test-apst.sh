#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# long: all
# limit: 500
# qemu: -drive driver=null-co,size=64M,if=none,id=plain -device nvme,drive=plain,serial=PLAIN
#
# How deep an idle NVMe drive may go by itself under a budget: never deeper than the policy's p99
# allows, by the latency tolerance from which the kernel makes the drive's table of transitions
# (APST). The drive is nvmesim's 970 EVO Plus: it is back from state 3 after 0.21 + 1.2 ms, and from
# state 4 after 2 + 8 ms. QEMU's own drive has no APST. Time goes by instructions.

. "$(dirname "$0")/lib.sh"

show() {
	ctl status
	ctl show "$nvmesim_ctrl"
	ctl explain
	tail -n 30 "$tmp/daemon.log"
	tail -n 8 "$nvmesim_folder"/evo.log
}
at_end=(show_and_stop "${at_end[@]}")

# The deepest state in the table that the kernel has given the drive; "none"
deepest() {
	nvme get-feature "/dev/$nvmesim_ctrl" --feature-id=0x0c --data-len=256 --raw-binary 2>/dev/null |
		od -An -v -t u8 -w8 | awk '$1 { s = int($1 / 8) % 32; if (s > most) most = s }
			END { print most ? most : "none" }'
}
tolerance_is() { # MICROSECONDS DEEPEST
	local found
	found="$(<"$tolerance") $(deepest)"
	[[ $found == "$1 $2" ]] || { echo "$found"; false; }
}
wake_it() {
	dd if="/dev/$nvmesim_disk" of=/dev/null bs=4k count=1 iflag=direct status=none
}
parked_in() { # STATE
	local ps
	ps=$(nvmesim_get evo ps)
	[[ $ps == "$1" ]] || { echo "$ps"; false; }
}
why_not_offered() { # DEVICE
	ctl show "$1" --json=short | jq -r '.Knobs[] | select(.Name == "idle-latency") | .WhyNot'
}
promise() { # P99: in a policy of its own
	mkdir -p "$tmp/etc/policies"
	{
		cat "$root/policies/balanced.policy"
		printf '[devices *]\np99 = %s\n' "$1"
	} >"$tmp/etc/policies/prompt.policy"
}

ok "a 970 EVO Plus connects" nvmesim_start evo --drive=970-evo-plus --scale=0.01 --apst
[[ -n ${nvmesim_ctrl:-} ]] || exit 1
tolerance=/sys/class/nvme/$nvmesim_ctrl/power/pm_qos_latency_tolerance_us
for f in /sys/class/nvme/nvme*/serial; do
	[[ $(xargs <"$f") != PLAIN ]] || plain=$(basename "$(dirname "$f")")
done
ok "the kernel parks it in its deepest state" tolerance_is 100000 4
wake_it
ok "and there it is" within 30 parked_in 4
mkdir -p "$tmp/etc"
printf '%s\n' "[storpower]" "policy = prompt" "[device $plain]" "[device nqn:$(nvmesim_nqn evo)]" \
	>"$tmp/etc/storpower.conf"
promise 5ms
start_bus
start_daemon
is "it is offered" "$(why_not_offered "$nvmesim_ctrl")" ""
is "but not for a drive that does not idle by itself" "$(why_not_offered "$plain")" \
	"the drive enters no idle states by itself (APST), or the kernel does not let it"

ok "without a budget it is as found" tolerance_is 100000 4
ctl set 100% >/dev/null
ok "under one it parks no deeper than its p99 allows" within 60 tolerance_is 5000 3
wake_it
ok "and there it is, too" within 30 parked_in 3
ok "as storpower says" within 30 says_it "$nvmesim_ctrl" Setting "wakes from idle within 5 ms"
ok "and why" within 30 says_it "$nvmesim_ctrl" Reason "no budget binds; idle states keep the policy's p99"
ok "what it sets reads back" ctl verify
nvme reset "/dev/$nvmesim_ctrl"
ok "a reset changes nothing" within 60 tolerance_is 5000 3
ctl clear >/dev/null
ok "it is put back when the budget is lifted" within 60 tolerance_is 100000 4
ok "with nothing left in the journal" within 60 test ! -s "$tmp/state/journal"
stop_daemon
is "and the daemon ends well" "$daemon_status" 0

promise 1ms
start_daemon
ctl set 100% >/dev/null
ok "where no state is quick enough it parks in none" within 60 tolerance_is 1000 none
stop_daemon KILL
ok "the daemon is killed and it stays so" tolerance_is 1000 none
ok "--restore puts it back" "$storpowerd" --restore --state-directory="$tmp/state" \
	--runtime-directory="$tmp/run" --config-directory="$tmp/etc" --data-directory="$root/policies"
ok "as it was found" tolerance_is 100000 4

rm -r "$tmp/state"
echo 2000 >"$tolerance"
promise 5ms
start_daemon
ctl set 100% >/dev/null
ok "a lower one of the operator's suits the plan" within 30 says_it "$nvmesim_ctrl" Reason \
	"no budget binds; idle states keep the policy's p99"
ok "and is not raised" tolerance_is 2000 3
stop_daemon

rm -r "$tmp/state"
echo 0 >"$tolerance"
start_daemon
ctl set 100% >/dev/null
is "where APST is off it stays off" "$(why_not_offered "$nvmesim_ctrl")" \
	"its idle states (APST) are switched off already: its latency tolerance is 0"
ok "all the time" tolerance_is 0 none
stop_daemon
status "the simulator ends well" 0 nvmesim_stop evo
done_testing
