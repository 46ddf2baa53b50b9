#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# limit: 900
#
# `storpowerctl set 60%` with fio running on an NVMe drive (nvmesim) and on a null_blk disk under
# io.cost: what goes over the wire, what becomes of the throughput, and who can witness it. Time
# goes by instructions, so that a busy host does not show.
. "$(dirname "$0")/lib.sh"

cgroups=/sys/fs/cgroup

# Its states are slowed by their watts: 9, 5 and 3 W above idle.
write_drive() {
	slow_drive
	cat >>"$tmp/sim.drive" <<-END
		[state 1]
		max_w = 8
		entry_us = 100
		exit_us = 100
		[state 2]
		max_w = 6
		entry_us = 100
		exit_us = 100
	END
}

# What the same drive looks like to one who has measured it. Its energies are known badly, so that
# a power state, which is exact, keeps more throughput than pacing does.
write_profiles() {
	mkdir -p "$tmp/etc/profiles"
	cat >"$tmp/etc/profiles/sim.profile" <<-END
		[profile]
		match = STORPOWER SIM*
		kind = nvme
		rated = 12 W
		idle = 3 W
		error = 0.1%
		[power-state 0]
		max = 12 W
		[power-state 1]
		max = 8 W
		[power-state 2]
		max = 6 W
		[points]
		$(for state in "0 12 20" "1 8 11.11" "2 6 6.67"; do
			read -r ps watts mb_s <<<"$state"
			for qd in 1 64; do
				for direction in read write; do
					echo "point = ps=$ps qd=$qd chunk=64K $direction random: ${watts}W ${mb_s}MB/s"
				done
			done
		done)
		[energy]
		error = 30%
		read_random_io = 0.7mJ
		read_random_page = 1.8mJ
		write_random_io = 0.7mJ
		write_random_page = 1.8mJ
	END
	cat >"$tmp/etc/profiles/null.profile" <<-END
		[profile]
		match = none
		kind = nvme
		rated = 6 W
		idle = 1 W
		error = 0.1%
		[points]
		point = ps=0 qd=1 chunk=64K write random: 6W 10MB/s
		point = ps=0 qd=64 chunk=64K write random: 6W 10MB/s
		[energy]
		error = 0.1%
		read_random_io = 4mJ
		read_random_page = 1.7mJ
		write_random_io = 4mJ
		write_random_page = 1.7mJ
	END
	printf '%s\n' "[storpower]" "policy = now" "[device flat]" "profile = null" \
		"[device nqn:$(nvmesim_nqn sim)]" >"$tmp/etc/storpower.conf"
	mkdir -p "$tmp/etc/policies"
	sed 's/^sleep_idle.*/sleep_idle = 1s/; s/^sleep_min.*/sleep_min = 1s/; s/^dwell.*/dwell = 1s/' \
		"$root/policies/archive.policy" >"$tmp/etc/policies/now.policy"
}

load() { # DISK
	(
		echo $BASHPID >$cgroups/work/cgroup.procs
		exec fio --name=load --filename="/dev/$1" --direct=1 --ioengine=libaio --iodepth=32 --bs=64k \
			--rw=randwrite --norandommap --time_based --runtime=3600 --output="$tmp/$1.fio"
	) &
	at_end_kill+=($!)
}

end_load() {
	local pid
	for pid in "${at_end_kill[@]}"; do
		kill "$pid" 2>/dev/null
	done
}
at_end_kill=()

sectors() { # DISK
	awk '{ print $3 + $7 }' "/sys/block/$1/stat"
}

# MB/s of both disks over SECONDS, by the kernel's own counters: sets sim_mb_s, flat_mb_s
measure() { # SECONDS
	local a b from until
	a=$(sectors "$nvmesim_disk") b=$(sectors flat)
	from=$(cut -d ' ' -f 1 /proc/uptime)
	sleep "$1"
	until=$(cut -d ' ' -f 1 /proc/uptime)
	sim_mb_s=$(awk -v n="$(($(sectors "$nvmesim_disk") - a))" -v t="$until" -v f="$from" 'BEGIN { print n * 512e-6 / (t - f) }')
	flat_mb_s=$(awk -v n="$(($(sectors flat) - b))" -v t="$until" -v f="$from" 'BEGIN { print n * 512e-6 / (t - f) }')
}

moving() {
	measure 1
	awk -v a="$sim_mb_s" -v b="$flat_mb_s" 'BEGIN { exit !(a > 1 && b > 1) }'
}

settled() {
	ctl status --json=short | jq -e '.Enforcing and .CapPower <= .EffectiveLimit + 0.001' >/dev/null
}

spindle_is() { # CONDITION
	[[ $(hddsim_get spindle condition) == "$1" ]]
}

near() { # NUMBER WANTED PERCENT
	echo "$1, wanted $2"
	awk -v a="$1" -v b="$2" -v p="$3" 'BEGIN { d = a / b - 1; exit !(d < p / 100 && d > -p / 100) }'
}

as_before() {
	state_of_all >"$tmp/after"
	diff "$tmp/before" "$tmp/after"
}

state_of_all() {
	nvme get-feature "/dev/$nvmesim_ctrl" -f 2
	grep -s . "/sys/block/$nvmesim_disk"/queue/* /sys/block/flat/queue/* "/sys/block/$nvmesim_disk"/queue/iosched/*
	sed 's/ctrl=auto.*/ctrl=auto/' $cgroups/io.cost.qos $cgroups/io.cost.model | grep -v 'enable=0 ctrl=auto\|^[0-9:]* ctrl=auto'
}

witnesses() { # JQ-FILTER over the rows
	ctl verify --witness --json=short | tee "$tmp/witness" | jq -e ".Witnesses | $1" >/dev/null || { cat "$tmp/witness"; false; }
}

# Every Set Features of the power state so far: "cdw11 nsid cdw10"
settings_sent() {
	sed -n 's/.*op=0x09 nsid=\([^ ]*\) cdw10=\([^ ]*\) cdw11=\([^ ]*\) .*/\2 \3 \1/p' \
		"$nvmesim_folder/sim.log" | awk '$1 ~ /0x0*2$|0x80000002/ { print }'
}

write_drive
write_profiles
nvmesim_start sim "--drive=$tmp/sim.drive" || { echo "Bail out! no NVMe drive"; exit 1; }
nullb flat 1024 100000 hw_queue_depth=128 max_sectors=128 || { echo "Bail out! no null_blk"; exit 1; }
echo +io >$cgroups/cgroup.subtree_control
mkdir -p $cgroups/work
udevadm settle --timeout=20
udevadm control --stop-exec-queue
at_end+=(end_load)

start_bus
state_of_all >"$tmp/before"
start_daemon
is "what there is, is found" "$(ctl list --json=short | jq -r '[.[].Name] | sort | join(" ")')" \
	"flat $nvmesim_ctrl"
load "$nvmesim_disk"
load flat
ok "fio writes to both disks" eventually moving
sleep 3
measure 6
echo "# free: $nvmesim_ctrl $sim_mb_s MB/s, flat $flat_mb_s MB/s"
ok "unlimited, the drive does what its first state can" near "$sim_mb_s" 20 5
sent=$(settings_sent | wc -l)
is "nothing was sent to the drive before there was a budget" "$sent" 0

# Both busy ones write what the plan says of them.
as_planned() { # WHEN
	sleep 3
	measure 8
	sim_plan=$(says "$nvmesim_ctrl" ExpectedThroughput) flat_plan=$(says flat ExpectedThroughput)
	echo "# $1: $nvmesim_ctrl $(says "$nvmesim_ctrl" Setting): $sim_mb_s MB/s, planned $sim_plan"
	echo "# $1: flat $(says flat Setting): $flat_mb_s MB/s, planned $flat_plan"
	ok "$1: the drive writes what the plan says, within 5 %" near "$sim_mb_s" "$sim_plan" 5
	ok "$1: the paced disk writes what the plan says, within 5 %" near "$flat_mb_s" "$flat_plan" 5
}

# What was last asked for on the wire is the state that is said to be in force.
wire_agrees() {
	local state
	state=$(says "$nvmesim_ctrl" PowerState)
	settings_sent | tail -n 1
	[[ $(settings_sent | tail -n 1) == "0x2 0x${state} 0x0" ]]
}

ctl set 60% >/dev/null
ok "60 % of the node is being held" eventually settled
as_planned "60 % of the node"
ok "the drive is in a lower power state" test "$(says "$nvmesim_ctrl" PowerState)" -gt 0
ok "the wire saw Set Features 02h with that state, for the controller, unsaved" wire_agrees
is "the drive was asked to save nothing" "$(nvmesim_get sim saved)" 0

ctl clear >/dev/null
ctl set 60% --device="$nvmesim_ctrl" >/dev/null
udevadm control --start-exec-queue
hddsim_start spindle ata --spin-up-ms=1500 || { echo "Bail out! no ATA disk"; exit 1; }
ata=$hddsim_disk
hddsim_start sas sas --spin-up-ms=1500 || { echo "Bail out! no SAS disk"; exit 1; }
sas=$hddsim_disk
udevadm settle --timeout=20
udevadm control --stop-exec-queue
ok "disks that are plugged in are managed" eventually says_it "$sas" Kind hdd
ok "nvme-cli, hdparm and sg_requests agree with what is said" \
	witnesses "length == 3 and all(.[]; .Agrees)"
# until it stands still the limit is not kept, which set says
ctl set 2W --device="$ata" >"$tmp/set" 2>&1
ok "the SATA disk, idle, is put to sleep by a limit of its own" eventually spindle_is standby_z
ok "and says so on the bus" eventually says_it "$ata" Condition standby_z
ok "hdparm agrees" witnesses "any(.[]; .Device == \"$ata\" and .Theirs == \"standby\" and .Agrees)"
hdparm -y "/dev/$ata" >/dev/null
nvme set-feature "/dev/$nvmesim_ctrl" -f 2 -v 0 >/dev/null
status "what somebody else has changed is named" 5 ctl verify --witness
ok "and set again" eventually witnesses "all(.[]; .Agrees)"

ok "clear ends it" ctl clear --all
ok "everything is as it was" eventually as_before
sleep 3
measure 6
echo "# free again: $nvmesim_ctrl $sim_mb_s MB/s, flat $flat_mb_s MB/s"
ok "the drive is as fast as before" near "$sim_mb_s" 20 5
stop_daemon
is "the daemon ends well" "$daemon_status" 0
done_testing
