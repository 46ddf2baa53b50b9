#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: all
# long: all
# limit: 900
#
# Pacing in joules: a null_blk disk under io.cost, set by storpowerd, metered by eBPF. Whatever the
# workload, it spends the budget and no more; one fixed rate does not. Time goes by instructions, so
# that a busy host does not show.
. "$(dirname "$0")/lib.sh"

disk=paced cgroups=/sys/fs/cgroup idle_w=1
budgets=(0.2 0.3 0.5 0.8 1.2)
declare -A arguments=(
	["4K random read"]="--rw=randread --bs=4k"
	["64K random write"]="--rw=randwrite --bs=64k"
	["16K mixed"]="--rw=randrw --bs=16k"
	["1M sequential"]="--rw=read --bs=1m"
)
workloads=("4K random read" "64K random write" "16K mixed" "1M sequential")

configure() {
	paced_drives $disk $idle_w
	printf '[storpower]\ndiscover = no\n[device %s]\nprofile = %s\n' $disk $disk >"$tmp/etc/storpower.conf"
}

# An io.cost line stays once it was used, off and with the kernel's own numbers.
io_files() {
	grep -s . /sys/block/$disk/queue/* /sys/block/$disk/queue/iosched/* $cgroups/*/io.max
	grep -hv -e "enable=0 ctrl=auto" -e "[0-9] ctrl=auto" $cgroups/io.cost.qos $cgroups/io.cost.model
}

why_not() { # KNOB WORDS
	[[ $(knob_says "$1" WhyNot) == *"$2"* ]]
}

knob_says() { # KNOB KEY
	ctl show $disk --json=short | jq -r --arg k "$1" ".Knobs[] | select(.Name == \$k) | .$2"
}

paced_to() { # WATTS
	ctl show $disk --json=short | jq -e --argjson w "$1" '.Pace > $w * 0.995 and .Pace <= $w * 1.0001'
}

# Joules of the working cgroup, by eBPF
joules() {
	busctl --address="$address" --json=short call org.storpower1 /org/storpower1 \
		org.storpower1.Manager ListConsumers |
		jq '[.data[0][] | map_values(.data) | select(.Cgroup | endswith("work")) | .Joules] | add // 0'
}

# In the working cgroup. Of each IO a line in run_iops.1.log. Pacing holds fio where it submits, and
# fio looks for what is done when as many as the depth are out: a greater depth would only blur the
# log.
load() { # WORKLOAD SECONDS
	(
		echo $BASHPID >$cgroups/work/cgroup.procs
		cd "$tmp" || exit
		# shellcheck disable=SC2086 # words
		exec fio --name=run --filename=/dev/$disk --direct=1 --ioengine=libaio --iodepth=2 \
			--time_based --runtime="$2" --norandommap --size=900M ${arguments[$1]} \
			--write_iops_log=run --output=run.json --output-format=json
	) >"$tmp/run.log" 2>&1 || sed 's/^/# /' "$tmp/run.log"
}

# Watts, and joules of the first second, of what came to so many joules. The log's lines are: ms, 1,
# direction, bytes; a large IO may reach the device in parts, each with its price.
spent() { # JOULES
	awk -F', *' -v ms="$(jq '.jobs[0] | [.read.runtime, .write.runtime] | max' "$tmp/run.json")" -v joules="$1" '
		{ j = ($3 ? 2 : 1) * (2e-3 + $4 / 4096 * 20e-6); all += j }
		$1 < 1000 { first += j }
		END { print joules * 1000 / ms, (all > 0 ? first * joules / all : 0) }' "$tmp/run_iops.1.log"
}

off() { # WATTS BUDGET: percent
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%+.2f", 100 * (a / b - 1) }'
}

not() {
	! "$@"
}

at_most() { # LIMIT NUMBER...
	printf '%s\n' "${@:2}" | awk -v most="$1" '{ v = $1 < 0 ? -$1 : $1; if (v > most) bad = 1; print }
		END { exit bad || !NR }'
}

# Every workload at every budget; prints a table, leaves the percentages in errors (of the watts) and
# first_errors (of the first second).
hold_budgets() { # SECONDS BUDGET...
	local budget workload before after watts first
	errors=() first_errors=()
	for budget in "${@:2}"; do
		"$set_budget" "$budget"
		after=$(joules)
		for workload in "${workloads[@]}"; do
			before=$after
			load "$workload" "$1"
			after=$(joules)
			read -r watts first <<<"$(spent "$(awk "BEGIN { print $after - $before }")")"
			errors+=("$(off "$watts" "$budget")") first_errors+=("$(off "$first" "$budget")")
			printf '# %5s W  %-16s %7.2f %%   first second %7.2f %%\n' "$budget" "$workload" \
				"${errors[-1]}" "${first_errors[-1]}"
		done
	done
}

by_storpower() { # WATTS
	ctl set "$(awk "BEGIN { print $idle_w + $1 }")W" --replace >/dev/null
	eventually paced_to "$1" >/dev/null ||
		echo "# wanted $1 W, paced to $(ctl show $disk --json=short | jq .Pace) W"
}

# The usual way: one IO limit, for the mean of the four workloads' energy
by_one_rate() { # WATTS
	local number iops
	number=$(</sys/block/$disk/dev)
	iops=$(awk -v w="$1" 'BEGIN { printf "%d", w / ((2.02 + 4.64 + 3.12 + 7.12) / 4 * 1e-3) }')
	echo "$number riops=$iops wiops=$iops" >$cgroups/work/io.max
}

nullb $disk 1024 20000 hw_queue_depth=128 max_sectors=4096 || { echo "Bail out! no null_blk"; exit 1; }
configure
start_bus
start_daemon
ok "where the io controller is not enabled, that is said" why_not io-cost "IOAccounting=yes"
ok "for io.max as well" why_not io-max "IOAccounting=yes"
stop_daemon
echo +io >$cgroups/cgroup.subtree_control
mkdir $cgroups/work
start_daemon
is "io.cost is offered where it is" "$(knob_says io-cost Offered)" true
ok "and io.max then is not, and says why" why_not io-max "io.cost"
io_files >"$tmp/found"

echo "# $(uname -r), io.cost by storpowerd:"
set_budget=by_storpower
hold_budgets 4 "${budgets[@]}"
ok "joules a second are within 3 % of each budget, for each workload" at_most 3 "${errors[@]}"
ok "and at most 5 % more in the first second" at_most 5 "${first_errors[@]/#-*/0}"
written=$(grep -c "io-cost .* -> " "$tmp/daemon.log")
is "each budget was one change" "$written" "${#budgets[@]}"
ok "verify agrees" ctl verify
ctl clear >/dev/null
as_found() {
	io_files >"$tmp/now"
	diff "$tmp/found" "$tmp/now"
}
ok "clear puts all back" eventually as_found
stop_daemon

start_daemon
echo "# the same by io.max with one fixed rate:"
set_budget=by_one_rate
hold_budgets 2 0.3 1.2
ok "one fixed rate misses some by more than 30 %" not at_most 30 "${errors[@]}"
echo "$(</sys/block/$disk/dev) riops=max wiops=max" >$cgroups/work/io.max
stop_daemon
nullb_remove $disk
done_testing
