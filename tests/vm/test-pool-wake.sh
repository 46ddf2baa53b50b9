#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# long: all
# limit: 400
#
# Eight SATA disks of one md array, put to sleep by a budget: one IO wakes them all, as many at once as
# the spin-up power allows, where without the daemon each would be tripped over in its turn. Who woke
# them is known. The account of cycles outlives a kill, and what it does not afford is not done.
. "$(dirname "$0")/lib.sh"

spin_up_ms=3000
disks=()

cleanup() { # FAILED
	[[ -z $daemon_pid ]] || stop_daemon
	mdadm --stop /dev/md0 2>/dev/null
	hddsim_stop_all
}
at_end=(cleanup "${at_end[@]}")

make_pool() {
	local i
	for ((i = 0; i < 8; i++)); do
		hddsim_start "d$i" ata --mb-s=20 --size-mb=64 --spin-up-ms=$spin_up_ms \
			--condition=standby_z:1.5:300:$spin_up_ms || return
		# longer than its profile says, as the one or the other is
		hddsim_say "d$i" slow-wake 500
		disks+=("$hddsim_disk")
	done
	modprobe raid0
	mdadm --create /dev/md0 --run --level=0 --chunk=64 --raid-devices=8 "${disks[@]/#//dev/}" 2>&1
}

asleep() {
	local i n=0
	for ((i = 0; i < 8; i++)); do
		[[ $(hddsim_get "d$i" condition) != standby_z ]] || ((n++))
	done
	echo $n
}
asleep_are() { [[ $(asleep) -eq $1 ]]; }

# How long COMMAND takes, and by the disks' own clocks how many spin up for it at the same time, and
# what all draw then: that much to spin up, so much turning or asleep.
measure() { # COMMAND...
	local i began=$EPOCHREALTIME
	"$@"
	took=$(((${EPOCHREALTIME/./} - ${began/./}) / 100000))
	took=$((took / 10)).$((took % 10))
	read -r most peak <<<"$(for ((i = 0; i < 8; i++)); do
		echo "$(hddsim_get "d$i" spin_up_ms) $(hddsim_get "d$i" spun_up_ms)"
	done | awk '{ from[NR] = $1; until[NR] = $2 }
		END { for (i in from) {
			n = watts = 0
			for (j in from) {
				spins_up = from[j] <= from[i] && from[i] < until[j]
				n += spins_up
				watts += spins_up ? 23.6 : until[j] <= from[i] ? 7 : 1.5
			}
			most = n > most ? n : most
			peak = watts > peak ? watts : peak
		} print most, peak }')"
}

# From end to end, a stripe at a time: each disk in its turn.
read_array() {
	dd if=/dev/md0 of=/dev/null bs=64k count=16 iflag=direct status=none
}

make_pool || { echo "Bail out! no pool"; exit 1; }
udevadm control --stop-exec-queue
quick_disks 3 23.6
printf '%s\n' "[storpower]" "policy = emergency" "spinup_power = 100 W" "cycles_a_day = 2" \
	>"$tmp/etc/storpower.conf"
start_bus
start_daemon

is "the disks are of one pool" "$(for d in "${disks[@]}"; do says "$d" Pool; done | sort -u)" md0
ctl set 20W >/dev/null 2>&1
ok "a budget that only sleep can keep puts all eight to sleep" within 60 asleep_are 8
is "each has paid a cycle for it" "$(says "${disks[3]}" StartsUsed)" 1
ctl clear >/dev/null
sleep 10
is "giving the budget back wakes none of them" "$(asleep)" 8
measure read_array
echo "# woken together, within 100 W of spin-ups: $took s, $most at once, at most $peak W"
together=$took
is "as many spin up together as 100 W bear, of 23.6 W each, and no more" "$most" 4
is "all eight are awake" "$(asleep)" 0
ok "who woke them is known" eval \
	'ctl list --wakeups --json=short | jq -e ".[] | select(.Why == \"IO\" and .Process == \"dd\")"'
ok "the others woke with their pool" eval \
	'[[ $(ctl list --wakeups --json=short | jq "[.[] | select(.Why == \"its pool wakes\")] | length") -ge 7 ]]'
ok "explain says so" eval 'ctl explain "${disks[3]}" | tr -s " \n" " " | grep -q "its pool wakes"'

ctl set 20W >/dev/null 2>&1
ok "put to sleep once more" within 120 asleep_are 8
stop_daemon KILL
# a disk at a time, without anybody to look ahead
measure read_array
echo "# one by one: $took s, $most at once, at most $peak W"
alone=$took
ok "waking together is faster than one by one" eval "awk 'BEGIN { exit !($together < $alone) }'"
start_daemon
echo "# woken together $together s, one by one $alone s"
is "the account of cycles is the same after a kill" "$(says "${disks[3]}" StartsUsed)" 2
sleep 25
is "what the account does not afford is not done: all stay up" "$(asleep)" 0
ok "why is said" eval 'ctl show "${disks[3]}" | grep -qi "cycles"'
ok "and that the budget is not held" eval '[[ $(property Degraded) == true ]]'
ctl clear
done_testing
