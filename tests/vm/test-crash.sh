#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# long: all
# limit: 1500
#
# storpowerd is killed at a random moment, over and over, with every kind of knob in use on real
# kernel devices; what the unit runs then (storpowerd --restore) leaves nothing different from before.
#
# Ten rounds in CI; all 200: tests/vm/boot tests/vm/test-crash.sh 200
. "$(dirname "$0")/lib.sh"

rounds=${1:-10} cgroups=/sys/fs/cgroup
RANDOM=${SEED:-1}

write_config() {
	local policy
	mkdir -p "$tmp/etc/policies"
	for policy in all no-pacing; do
		sed 's/^sleep_idle.*/sleep_idle = 1ms/; s/^sleep_min.*/sleep_min = 1ms/; s/^dwell.*/dwell = 1ms/' \
			"$root/policies/archive.policy" >"$tmp/etc/policies/$policy.policy"
	done
	echo "forbid = pacing power-state" >>"$tmp/etc/policies/no-pacing.policy"
	printf '[device %s]\n' flat "$loop" "nqn:$(nvmesim_nqn sim)" >"$tmp/etc/storpower.conf"
}

# All that a knob may have touched, and what goes with it
state_of_all() {
	local disk
	nvme get-feature "/dev/$nvmesim_ctrl" -f 2
	for disk in "$nvmesim_disk" "$spindle" "$scsi" flat "$loop"; do
		grep -s . /sys/block/"$disk"/queue/* /sys/block/"$disk"/queue/iosched/* \
			/sys/block/"$disk"/device/queue_depth
	done
	grep -s . /sys/class/scsi_host/*/link_power_management_policy $cgroups/*/io.max
	# a line once written stays, switched off
	sed 's/ctrl=auto.*/ctrl=auto/' $cgroups/io.cost.qos $cgroups/io.cost.model |
		grep -v 'enable=0 ctrl=auto$\|^[0-9:]* ctrl=auto$'
	echo "spindle $(awake)"
}

# A disk that IO or a restore woke may be idle or active: asleep or not is what counts.
awake() {
	case $(hddsim_get spindle condition) in
	standby*) echo asleep ;;
	*) echo awake ;;
	esac
}

# Mostly while knobs are being turned, sometimes later
moment() {
	echo "$((RANDOM % 4 ? RANDOM % 150 : RANDOM % 1500))e-3"
}

one_round() { # NUMBER
	local policy=all knob
	((RANDOM % 3)) || policy=no-pacing
	start_daemon || return
	[[ $(ctl policy) == "$policy "* ]] || ctl policy $policy
	ctl set "$((35 + RANDOM % 60))%" --replace >/dev/null &
	local setting=$!
	sleep "$(moment)"
	if ((RANDOM % 3 == 0)); then
		ctl set "$((35 + RANDOM % 60))%" --replace >/dev/null 2>&1 &
		sleep "$(moment)"
	fi
	for knob in $(sed -nE 's/^original .* knob="([a-z-]*)" value=.*/\1/p' "$tmp/state/journal" | sort -u); do
		seen[$knob]=$((${seen[$knob]:-0} + 1))
	done
	kill -KILL "$daemon_pid"
	wait "$daemon_pid" 2>/dev/null
	daemon_pid=
	wait "$setting" 2>/dev/null
	"$storpowerd" --restore --state-directory="$tmp/state" --runtime-directory="$tmp/run" \
		--config-directory="$tmp/etc" --data-directory="$root/policies" 2>>"$tmp/restore.log" ||
		{ echo "# round $1: --restore failed"; tail -n 5 "$tmp/restore.log" | sed 's/^/# /'; }
	rm -f "$tmp/state/claims"
	# a disk that sleeps is let sleep, and any IO wakes it
	dd if="/dev/$spindle" of=/dev/null bs=4k count=1 iflag=direct status=none
	state_of_all >"$tmp/after"
	cmp -s "$tmp/before" "$tmp/after" && return
	echo "# round $1 differs:"
	diff "$tmp/before" "$tmp/after" | sed 's/^/#   /'
	return 1
}

mkdir -p $cgroups/work
echo +io >$cgroups/cgroup.subtree_control
nvmesim_start sim --drive=p5510 --scale=0.005 || { echo "Bail out! no NVMe drive"; exit 1; }
hddsim_start spindle ata --spin-up-ms=300 || { echo "Bail out! no ATA disk"; exit 1; }
spindle=$hddsim_disk
nullb flat 256 50000 hw_queue_depth=128
modprobe -a scsi_debug bfq loop
scsi=$(basename "$(ls -d /sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*/block/*)")
truncate -s 64M "$tmp/file"
loop=$(basename "$(losetup --find --show "$tmp/file")")
udevadm settle --timeout=20
declare -A seen=()
write_config
start_bus
state_of_all >"$tmp/before"
failed=0
for ((i = 1; i <= rounds; i++)); do
	one_round $i || failed=$((failed + 1))
	[[ $failed -lt 5 ]] || break
done
for knob in "${!seen[@]}"; do
	echo "# $knob was in force in ${seen[$knob]} rounds"
done
is "killed $rounds times, nothing differs from before" "$failed" 0
ok "the journal holds nothing" test ! -s "$tmp/state/journal"
losetup -d "/dev/$loop"
done_testing
