#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: all
# long: 6.1 7.2
# limit: 300
# smp: 2
# alone
#
# A controller that was reset under load has lost its cap: it is back within 100 ms of the
# reconnection, by the simulator's log. The processors are emulated, and may stand still for longer
# than that at any time: the median of six rounds counts, and all are printed. A drive that accepts a cap and ignores it is found, reported as Degraded and planned
# around. Two drives of 25, 20, 17 and 14 W, by power states alone.

. "$(dirname "$0")/lib.sh"

start_drive() { # NAME: into controller[NAME]
	nvmesim_start "$1" --drive=ps1010 --scale=0.001 || return
	controller[$1]=$nvmesim_ctrl
	printf '[device %s]\n' "$nvmesim_ctrl" >>"$tmp/etc/storpower.conf"
	fio --name="$1" --filename="/dev/$nvmesim_disk" --direct=1 --ioengine=libaio --iodepth=8 \
		--rw=randread --bs=16k --time_based --runtime=600 --output="$tmp/fio-$1" &
	loads+=($!)
}

cap() { # NAME: by the drive itself
	nvmesim_get "$1" cap
}

caps_are() { # WATTS: of both together at most
	awk -v a="$(cap one)" -v b="$(cap two)" -v w="$1" \
		'BEGIN { print a " W + " b " W"; exit !(a + b <= w) }'
}

ps_is() { # NAME STATE
	[[ $(nvmesim_get "$1" ps) == "$2" ]]
}

problem() { # NAME
	ctl list --json=short | jq -r ".[] | select(.Name == \"${controller[$1]}\") | .Problem"
}

has_problem() { # NAME WORDS
	[[ $(problem "$1") == *"$2"* ]]
}

connected_after() { # NAME N: its admin queue and IO queues, N more than once
	[[ $(nvmesim_get "$1" connects) -gt $2 ]] && nvmesim_live "$1"
}

# From the last reconnection until the power state is set: milliseconds from when the admin queue was
# connected, and from when the controller was live, which is when the kernel asks for its namespaces
figures() { # NAME
	awk '{ split($1, t, "=") }
		/event=connect qid=0/ { admin = t[2]; live = set = 0 }
		/op=0x06 nsid=0x0 cdw10=0x2 / && admin && !live { live = t[2] }
		/op=0x09 .*cdw10=0x2 cdw11=0x[1-9a-f].* status=0x0 / && admin && !set { set = t[2] }
		END { if (set && live) printf "%.1f %.1f\n", (set - admin) * 1000, (set - live) * 1000 }' \
		"$nvmesim_folder/$1.log"
}

# Which state it is may have been planned anew: a drive that is being reset does little.
is_capped() { # NAME
	[[ $(nvmesim_get "$1" ps) != 0 ]]
}

reset_by() { # COMMAND...: and wait until the cap is back; adds to "measured"
	local n
	n=$(nvmesim_get one connects)
	"$@" >/dev/null || return
	soon connected_after one "$n" || return
	soon is_capped one || return
	measured+=("$(figures one)")
	echo "${measured[-1]}"
}

median() { # "MILLISECONDS MILLISECONDS"...: of the second figures
	printf '%s\n' "$@" | sort -n -k 2 | awk '
		{ v[NR] = $2 }
		END { print "# median: " (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 " ms; the aim is 100" }'
}

soon() { # however slow the machine
	within 30 "$@"
}

cleanup() {
	local pid
	for pid in "${loads[@]}"; do
		kill "$pid" 2>/dev/null
	done
	[[ $1 -eq 0 ]] || tail -n 12 "$nvmesim_folder"/*.log | sed 's/^/# /'
}
at_end+=(cleanup)

declare -A controller
loads=() measured=()
mkdir -p "$tmp/etc/policies"
printf '[policy]\nforbid = depth chunk pacing\n' >"$tmp/etc/policies/states.policy"
printf '[storpower]\npolicy = states\ndiscover = no\n' >"$tmp/etc/storpower.conf"

ok "a drive connects" start_drive one
ok "a second drive connects" start_drive two
start_bus
start_daemon
ok "both are managed" soon property_is DeviceCount 2
ok "34 W for both" ctl set 34W
ok "both drives are capped to them, by what they say themselves" soon caps_are 34
ok "none of it is saved" test "$(nvmesim_get one saved)$(nvmesim_get two saved)" = 00
is "nothing is degraded" "$(property Degraded)" false

# Show 3: the cap is back within 100 ms of the reconnection

for round in 1 2 3; do
	ok "round $round: a drive that resets itself under load has its cap back" \
		reset_by nvmesim_say one reset
	ok "round $round: and one that the host resets" \
		reset_by nvme reset "/dev/${controller[one]}"
done
# a figure to be read, not a promise: an emulated processor on a busy host stalls for longer than that
median "${measured[@]}"
printf '# the cap was back after %s ms (admin queue connected, controller live)\n' "${measured[@]}"
ok "the budget holds as before" caps_are 34
is "nothing is degraded by it" "$(property Degraded)" false
ok "the load never noticed" kill -0 "${loads[@]}"
ok "clear gives everything back" ctl clear
ok "both are at their best again" soon eval 'ps_is one 0 && ps_is two 0'

# A drive that accepts and ignores

nvmesim_say two ignore 02h
ctl set 28W --replace >/dev/null 2>&1
ok "14 W each: a drive that accepts this and ignores it is found" \
	soon has_problem two "nvme-power-state could not be set to 3: accepted, but reads back otherwise"
ok "and reported as Degraded" soon property_is Degraded true
ok "the other is brought down all the same" soon ps_is one 3
ctl set 40W --replace >/dev/null 2>&1
ok "40 W: the other makes room beside the 25 W that nothing holds" soon ps_is one 3
ok "so that the budget holds" caps_are 40
is "by what the daemon says of it as well" "$(property "CapPower | floor")" 39
nvmesim_say two clear-faults
ctl set 28W --replace >/dev/null 2>&1
recovered() {
	property_is Degraded false && [[ -z $(problem two) ]] && ps_is two 3 && caps_are 28
}
ok "it is tried again, and takes its part when it obeys" soon recovered
ctl clear
ok "both are given back" soon eval 'ps_is one 0 && ps_is two 0'
stop_daemon
is "the daemon ends well" "$daemon_status" 0
for load in "${loads[@]}"; do
	kill "$load"
	wait "$load" 2>/dev/null
done
loads=()
status "one ends well" 0 nvmesim_stop one
status "two ends well" 0 nvmesim_stop two
done_testing
