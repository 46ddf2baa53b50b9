#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# alone
# limit: 500
#
# A real block device on the running kernel: a loop device made here, loaded by fio, shaped by the real
# knobs and metered by eBPF. Root alone.
. "$(dirname "$0")/lib.sh"

fio_pid='' loop='' hold_pid=''
block_kib=256
declare -A chunk_of

clean_up() {
	[[ -z $hold_pid ]] || kill "$hold_pid" 2>/dev/null
	[[ -z $fio_pid ]] || stop_fio
	[[ -z $daemon_pid ]] || stop_daemon
	if [[ -n $loop ]]; then
		put_back
		losetup -d "$loop"
	fi
}

# Only where storpowerd failed to: a loop device keeps its queue's settings when it is detached.
put_back() {
	if [[ ! -s $tmp/found ]] || as_found >/dev/null; then
		return
	fi
	echo "$scheduler" >"$queue/scheduler"
	echo "$requests" >"$queue/nr_requests"
	echo "$sectors" >"$queue/max_sectors_kb"
}

[[ $(id -u) == 0 ]] || skip_all "loop devices and eBPF need root"
for tool in fio losetup; do
	command -v $tool >/dev/null || skip_all "$tool is missing: run packaging/deps"
done
fallocate -l 256M "$tmp/disk" || skip_all "no 256 MB free in $tmp"
loop=$(losetup --find --show --direct-io=on "$tmp/disk" 2>"$tmp/losetup" ||
	losetup --find --show "$tmp/disk" 2>"$tmp/losetup") ||
	skip_all "no loop device to be had: $(<"$tmp/losetup")"
at_end=(clean_up "${at_end[@]}")
name=${loop#/dev/} queue=/sys/block/${loop#/dev/}/queue
[[ $(<"/sys/block/$name/loop/backing_file") == "$tmp/disk" ]] || {
	loop=
	echo "Bail out! $name is not the device just made"
	exit 1
}

dump() { # all of the queue, as FILE=VALUE
	grep -s . "$queue"/* "$queue"/iosched/*
}

as_found() {
	diff "$tmp/found" <(dump)
}

changed() {
	! as_found
}

knob() { # FILE, the chosen one where there is a choice
	sed 's/.*\[\(.*\)\].*/\1/' "$queue/$1"
}

device() { # FILTER: on the device as JSON
	ctl show "$name" --json=short | jq -r "$1"
}

# Do the kernel's knobs say what the daemon says, and is the depth or the chunk less than it was?
narrowed() { # DEPTH and CHUNK of before
	local depth chunk
	read -r depth chunk < <(device '"\(.DepthLimit) \(.ChunkLimit)"')
	echo "$(device .Setting), can draw $(device .CapPower) W"
	dump | grep -E 'scheduler|nr_req|max_sectors|strict'
	(((depth > 0 && depth < $1) || (chunk > 0 && chunk < $2))) || return 1
	((chunk == 0)) || [[ $(knob max_sectors_kb) == "$chunk" ]] || return 1
	if ((depth == 1)); then
		[[ $(knob scheduler) == bfq && $(knob iosched/strict_guarantees) == 1 ]]
	else
		((depth == 0)) || [[ $(knob nr_requests) == "$depth" ]]
	fi
}

is_depth_1() {
	[[ $(device .DepthLimit) == 1 ]] && narrowed "$requests" "$sectors"
}

start_fio() {
	(cd "$tmp" && exec fio --name=load --filename="$loop" --output=fio.out --direct=1 \
		--ioengine=libaio --rw=randwrite --bs=${block_kib}k --iodepth=64 --time_based \
		--runtime=300 --allow_file_create=0 --write_bw_log=fio --write_iops_log=fio \
		--log_avg_msec=100 --log_unix_epoch=1 2>fio.err) &
	fio_pid=$!
}

stop_fio() { # it writes its logs at its end
	kill -INT "$fio_pid" 2>/dev/null
	wait "$fio_pid" 2>/dev/null
	fio_pid=
}

sample() { # SECONDS
	local now end
	end=$((${EPOCHREALTIME/./} / 1000 + 1000 * $1))
	while now=$((${EPOCHREALTIME/./} / 1000)) && ((now < end)); do
		echo "$now $(device '"\(.Throughput) \(.IOPS)"')"
		sleep 0.03
	done >"$tmp/samples"
}

in_force() {
	echo "$(device .Setting), $(knob nr_requests), $(knob max_sectors_kb)"
}

# The daemon's figures over three spans of three seconds, in all of which one setting was in force, into
# $tmp/PHASE: a throughput that the model has missed is learned, and planned for anew. It looks once a
# second: a figure holds from the look before to the one at which it is first seen.
observe() { # PHASE
	local setting='' end=$((SECONDS + 60))
	while ((SECONDS < end)) && [[ $setting != "$(in_force)" ]]; do
		setting=$(in_force)
		chunk_of[$1]=$(knob max_sectors_kb)
		sample 10
	done
	awk 'NR > 1 && $1 - before > gap { gap = $1 - before }
	     { before = $1 }
	     $2 != last { if (from && last) { mb += $2 * ($1 - to); io += $3 * ($1 - to); n++ }
			  else if (last) from = $1
			  to = $1; last = $2
			  if (n == 3) { print from, to, mb / (to - from), io / (to - from), gap
					from = to; mb = io = n = gap = 0 } }' "$tmp/samples" >"$tmp/$1"
}

# fio's own figure between two times: bw or iops. An entry is a mean since the one before, which is longer
# ago where fio had to wait for a processor.
fio_between() { # LOG FROM TO
	awk -F, -v from="$2" -v to="$3" '$1 > from && $1 <= to { sum += $2 * ($1 - before); n += $1 - before }
		{ before = $1 }
		END { print n ? sum / n : 0 }' "$tmp/fio_$1.1.log"
}

fio_says() { # LOG PHASE
	fio_between "$1" "$(head -n 1 "$tmp/$2" | cut -d ' ' -f 1)" "$(tail -n 1 "$tmp/$2" | cut -d ' ' -f 2)"
}

within_percent() { # PERCENT WHAT A B
	awk -v most="$1" -v what="$2" -v a="$3" -v b="$4" 'BEGIN {
		off = b > 0 ? 100 * (a / b - 1) : 100
		printf "%s: fio %.1f, storpowerd %.1f, %+.2f %%\n", what, b, a, off
		exit !(off <= most && off >= -most) }'
}

# A block that is larger than the chunk reaches the device in parts. fio counts it when the last is done:
# all that it keeps outstanding may be half done at either end of the span.
agree_over() { # CHUNK FROM TO MB/S IOPS GAP
	local parts=1 most blocks
	blocks=$(fio_between iops "$2" "$3")
	# on a machine that is busy otherwise the span is known only to the time between two questions
	most=$(awk "BEGIN { print 2 + 100 * $6 / ($3 - $2) }")
	if (($1 < block_kib)); then
		parts=$((block_kib / $1))
		most=$(awk "BEGIN { print $blocks ? $most + 100 * 64 / ($blocks * ($3 - $2) / 1000) : $most }")
	fi
	within_percent "$most" "MB/s" "$4" "$(awk "BEGIN { print $(fio_between bw "$2" "$3") * 1024 / 1e6 }")" &&
		within_percent "$most" "blocks/s" "$(awk "BEGIN { print $5 / $parts }")" "$blocks"
}

# In one of the three spans: what a busy host did between two questions is no fault of the daemon, and what
# the daemon counts wrongly it counts wrongly in all of them.
agree() { # PHASE
	local span
	while read -ra span; do
		! agree_over "${chunk_of[$1]}" "${span[@]}" || return 0
	done <"$tmp/$1"
	return 1
}

# Throughput in one phase is less than a share of that in another, by fio's word
# A busy host slows one phase, and not the other: one of the other phases has to be faster.
felt() { # PHASE SHARE OTHER-PHASE...
	local phase=$1 share=$2 other
	for other in "${@:3}"; do
		awk -v a="$(fio_says bw "$phase")" -v b="$(fio_says bw "$other")" -v share="$share" 'BEGIN {
			printf "%.1f of %.1f MB/s\n", a * 1024 / 1e6, b * 1024 / 1e6
			exit !(a > 0 && a < share * b) }' && return
	done
	return 1
}

restore() {
	"$storpowerd" --restore --state-directory="$tmp/state" --runtime-directory="$tmp/run" \
		--config-directory="$tmp/etc" --data-directory="$root/policies"
}

hold() { # LIMIT: until end_hold
	ctl_background hold "$1" -- sleep 60 2>/dev/null
	hold_pid=$!
	eventually narrowed "$requests" "$sectors" >/dev/null
}

end_hold() {
	kill "$hold_pid"
	wait "$hold_pid" 2>/dev/null
	hold_pid=
}

told() { # as ok, with what was seen beside the verdict
	local failed=$n_failed
	ok "$@"
	((n_failed > failed)) || sed 's/^/# /' "$tmp/ok.log"
}

mkdir -p "$tmp/etc"
printf '[storpower]\ndiscover = no\n[device %s]\nprofile = samsung-pm9a3\n' "$name" >"$tmp/etc/storpower.conf"
what=()
dump >"$tmp/found"
scheduler=$(knob scheduler) requests=$(knob nr_requests) sectors=$(knob max_sectors_kb)
start_bus
start_fio
start_daemon

if [[ $(property Meter) == '"ebpf"' ]]; then
	metered="eBPF"
else
	metered="the device's counters"
	echo "# eBPF is not to be had here: $(property MeterWhyNot)"
fi
echo "# $name: nr_requests $requests, max_sectors_kb $sectors; metered by $metered"

ok "nothing is touched before a claim" as_found
sleep 2
observe free
status "a budget of 84 %" 0 ctl set 84%
ok "84 % changes the queue" eventually changed
sleep 2
observe at84
status "a budget of 70 %" 0 ctl set 70%
ok "70 % narrows the queue, in the kernel as the daemon says" eventually narrowed "$requests" "$sectors"
sleep 2
observe at70
ok "verify finds all as set" ctl verify
held=$(knob max_sectors_kb)
echo $((held * 2)) >"$queue/max_sectors_kb"
status "verify notices a knob that somebody else turned: 5" 5 ctl verify
ok "and names it" grep -q "max-sectors" "$tmp/out"
# or to what was planned meanwhile
set_again() { [[ $(knob max_sectors_kb) -ne $((held * 2)) ]] && ctl verify; }
ok "and it is set again" eventually set_again
ok "and verify is content" ctl verify
status "a budget of 58 %" 0 ctl set 58%
ok "58 % is depth 1 by a strict BFQ" eventually is_depth_1
sleep 2
observe at58
status "clear" 0 ctl clear
ok "clear puts every file of the queue back" eventually as_found
sleep 1
observe cleared

hold 58%
stop_daemon KILL
end_hold
ok "kill -9 leaves the queue limited" changed
ok "storpowerd --restore succeeds" restore
ok "and every file of the queue is back" as_found
ok "a second restore does no harm" restore
ok "all is still as found" as_found

start_daemon
hold 70%
stop_daemon KILL
end_hold
ok "killed again, the queue is limited again" changed
start_daemon
# the claim holds for 30 s without its owner: the queue is limited by it again
ok "the next start alone puts every file of the queue back" within 60 as_found
stop_daemon

start_daemon --no-bpf
is "without eBPF the daemon counts by sysfs, and says so" "$(property Meter)" '"device counters"'
ok "and why" test -n "$(property MeterWhyNot | tr -d '"')"
ok "and that it does not know how long applications wait, but who waits most" \
	grep -q "Wait *not known: eBPF.*; some task .* waited for IO in [0-9.]* %" <(ctl status | tr '\n' ' ' | tr -s ' ')
sleep 2
observe sysfs
status "a budget without eBPF" 0 ctl set 70%
ok "narrows the queue all the same" eventually narrowed "$requests" "$sectors"
stop_daemon
ok "an orderly end puts every file of the queue back" as_found

stop_fio
told "fio feels 84 %" felt at84 0.95 free cleared
told "fio feels 70 % more" felt at70 0.9 at84
told "fio feels 58 %" felt at58 0.5 at84
told "fio is rid of it after clear" felt at58 0.5 cleared
told "fio's figures and the daemon's agree within 2 % and what is in flight: without a budget" agree free
told "and at 84 %" agree at84
told "and at 70 %, in parts" agree at70
told "and at 58 %, one part at a time" agree at58
told "and after clear" agree cleared
told "and without eBPF" agree sysfs
done_testing
