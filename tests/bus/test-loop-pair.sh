#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# alone
# long: all
# limit: 900
#
# Two loop devices that one host serves, loaded by fio, under limits near what they draw: a limit above
# that costs nothing, and one below it costs what the watts cost, and not more. All figures are ratios to
# what is drawn and served just before and just after without a limit. Root alone.
. "$(dirname "$0")/lib.sh"

fio_pid='' loops=()
tolerates=yes # read by start_daemon

clean_up() {
	[[ -z $fio_pid ]] || stop_fio
	[[ -z $daemon_pid ]] || stop_daemon
	local loop
	for loop in "${loops[@]}"; do
		put_back "$loop"
		losetup -d "$loop"
	done
}

# Only where storpowerd failed to: a loop device keeps its queue's settings when it is detached.
put_back() { # DEVICE
	local file=$tmp/found-${1#/dev/} queue=/sys/block/${1#/dev/}/queue
	[[ -s $file ]] || return
	local scheduler requests sectors
	read -r scheduler requests sectors <"$file"
	[[ $(values "$1") == "$(<"$file")" ]] || {
		echo "$scheduler" >"$queue/scheduler"
		echo "$requests" >"$queue/nr_requests"
		echo "$sectors" >"$queue/max_sectors_kb"
	}
}

values() { # DEVICE
	local queue=/sys/block/${1#/dev/}/queue
	echo "$(sed 's/.*\[\(.*\)\].*/\1/' "$queue/scheduler") $(<"$queue/nr_requests") $(<"$queue/max_sectors_kb")"
}

[[ $(id -u) == 0 ]] || skip_all "loop devices and eBPF need root"
for tool in fio losetup; do
	command -v $tool >/dev/null || skip_all "$tool is missing: run packaging/deps"
done
at_end=(clean_up "${at_end[@]}")
for i in 1 2; do
	fallocate -l 256M "$tmp/disk$i" || skip_all "no 512 MB free in $tmp"
	loop=$(losetup --find --show --direct-io=on "$tmp/disk$i" 2>"$tmp/losetup" ||
		losetup --find --show "$tmp/disk$i" 2>"$tmp/losetup") ||
		skip_all "no loop device to be had: $(<"$tmp/losetup")"
	[[ $(<"/sys/block/${loop#/dev/}/loop/backing_file") == "$tmp/disk$i" ]] || {
		echo "Bail out! $loop is not the device just made"
		exit 1
	}
	loops+=("$loop")
	values "$loop" >"$tmp/found-${loop#/dev/}"
done

as_found() {
	local loop
	for loop in "${loops[@]}"; do
		[[ $(values "$loop") == "$(<"$tmp/found-${loop#/dev/}")" ]] || return 1
	done
}

start_fio() {
	(cd "$tmp" && exec fio --output=fio.out --direct=1 --ioengine=libaio --rw=randwrite --bs=256k \
		--iodepth=64 --time_based --runtime=900 --allow_file_create=0 --name=one \
		--filename="${loops[0]}" --name=two --filename="${loops[1]}" 2>fio.err) &
	fio_pid=$!
}

stop_fio() {
	kill -INT "$fio_pid" 2>/dev/null
	wait "$fio_pid" 2>/dev/null
	fio_pid=
}

# Means over so many looks, a second apart, into `watts`, `served` and `planned`.
look() { # LOOKS
	local i
	for ((i = 0; i < $1; i++)); do
		property '| "\(.EstimatedPower) \(.Throughput) \(.ExpectedThroughput)"' | tr -d '"'
		sleep 1
	done >"$tmp/looks"
	read -r watts served planned < <(awk '{ w += $1; s += $2; p += $3 }
		END { print w / NR, s / NR, p / NR }' "$tmp/looks")
}

calculate() { # EXPRESSION
	awk "BEGIN { print ($1) }"
}

holds() { # CONDITION
	[[ $(calculate "$1") == 1 ]]
}

# Above idle each byte costs about the same: of what is served without a limit that part can be served.
affordable() { # LIMIT_W
	calculate "($1 - $idle_w) / ($free_w - $idle_w) * $free_mb_s"
}

# Ten seconds in which most of what the watts can serve, and of the plan, is served within the limit.
serves_what_it_can() { # LIMIT_W
	look 10
	echo "$watts W of $1 W, $served MB/s of $planned planned, $(affordable "$1") affordable"
	holds "$watts <= $1 && $served >= 0.75 * $planned && $served >= 0.7 * $(affordable "$1")"
}

costs_nothing() { # LIMIT_W: judged by lost_nothing, once it is known what is served without it
	look 20
	held_mb_s=$served
	echo "$served MB/s at $watts W of $1 W"
}

# What the host gave now and then without a limit may differ by as much as that.
spread() {
	calculate "$before_mb_s > $free_mb_s ? $before_mb_s - $free_mb_s : $free_mb_s - $before_mb_s"
}

least() {
	calculate "$before_mb_s < $free_mb_s ? $before_mb_s : $free_mb_s"
}

lost_nothing() {
	holds "$held_mb_s >= 0.97 * $(least)"
}

# A host that serves others besides gives now more, now less: what a limit costs cannot be told then.
host_explains_loss() {
	holds "$held_mb_s >= 0.97 * $(least) - $(spread)"
}

host_is_unsteady() {
	holds "$(spread) > 0.1 * $(least)"
}

eventually_serves() { # LIMIT_W
	within 90 serves_what_it_can "$1"
}

skip() { # PROMISE WHY
	n_tests=$((n_tests + 1))
	echo "ok $n_tests - $1 # SKIP $2"
}

without_limit() {
	before_mb_s=${free_mb_s:-0}
	look 10
	free_w=$watts free_mb_s=$served
}

# Judged when it is known what is served without a limit before and after; in one of three attempts.
promise() { # PROMISE PART COMMAND VERDICT EXCUSE
	local attempt good limit
	for attempt in 1 2 3; do
		without_limit
		limit=$(calculate "$2 * $free_w")
		ctl set "${limit}W" --yes >"$tmp/out" 2>&1 || break
		good=yes
		"$3" "$limit" >"$tmp/seen" 2>&1 || good=
		holds "$(property Overload) <= 3" || good=
		ctl clear >/dev/null
		within 30 as_found || break
		sleep 3
		without_limit
		"$4" || good=
		sed 's/^/# /' "$tmp/seen"
		echo "# attempt $attempt: $before_mb_s MB/s before, $free_mb_s MB/s after${good:+: it holds}"
		[[ ! $good ]] || break
	done
	if [[ ! $good ]] && "$5"; then
		skip "$1" "the host gave $before_mb_s MB/s before the limit, and $free_mb_s MB/s after it"
	else
		ok "$1" test "$good"
	fi
}

mkdir -p "$tmp/etc"
{
	printf '[storpower]\ndiscover = no\n'
	printf '[device %s]\nprofile = samsung-pm9a3\n' "${loops[@]#/dev/}"
} >"$tmp/etc/storpower.conf"
what=()
start_bus
start_daemon
idle_w=$(property EstimatedPower)
start_fio
[[ $(property Meter) == '"ebpf"' ]] || echo "# metered without eBPF: $(property MeterWhyNot)"
ctl status >/dev/null
sleep 5

promise "a limit 5 % above the draw costs no more than 3 % of the throughput" \
	1.05 costs_nothing lost_nothing host_explains_loss
promise "within nine tenths of the draw they serve what the watts can serve" \
	0.9 eventually_serves true host_is_unsteady
promise "within four fifths of it, too" 0.8 eventually_serves true host_is_unsteady
ok "clear puts everything back" eventually as_found
stop_daemon
stop_fio
done_testing
