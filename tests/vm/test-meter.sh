#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: all
# smp: 2
# alone
# long: 6.1
# limit: 600
#
# The eBPF meter on a multi-queue disk: it agrees with the kernel's statistics and with fio, tells
# cgroups apart, says who wakes a disk, and costs little.
. "$(dirname "$0")/lib.sh"

disk=nb0 cgroups=/sys/fs/cgroup

consumers() { # FILE: what the daemon has counted so far, an array of plain objects
	busctl --address="$address" --json=short call org.storpower1 /org/storpower1 \
		org.storpower1.Manager ListConsumers | jq '.data[0] | map(map_values(.data))' >"$tmp/$1"
}

statistics() { # FILE
	cat "/sys/block/$disk/stat" >"$tmp/$1"
}

# What a row has grown by: the device's is that of cgroup "".
grown() { # FROM TO CGROUP KEY
	jq -n --arg g "$3" --arg k "$4" --slurpfile a "$tmp/$1" --slurpfile b "$tmp/$2" '
		def of($rows): [$rows[0][] | select(.Cgroup == $g) | .[$k]] | add // 0;
		of($b) - of($a)'
}

# The sum over all cgroups
grown_of_all() { # FROM TO KEY
	jq -n --arg k "$3" --slurpfile a "$tmp/$1" --slurpfile b "$tmp/$2" '
		def of($rows): [$rows[0][] | select(.Cgroup != "") | .[$k]] | add // 0;
		of($b) - of($a)'
}

stat_grown() { # FROM TO FIELD
	awk -v n="$3" 'NR == 1 { a = $n } NR == 2 { print $n - a }' "$tmp/$1" "$tmp/$2"
}

is_near() { # WHAT GOT WANTED PERCENT
	awk -v what="$1" -v a="$2" -v b="$3" -v most="$4" 'BEGIN {
		off = b > 0 ? 100 * (a / b - 1) : 100 * (a != b)
		printf "%s: %s, wanted %s, %+.2f %%\n", what, a, b, off
		exit !(off <= most && off >= -most) }'
}

started=()
start_in() { # as load_in, in the background
	load_in "$@" &
	started+=($!)
}

end_all() {
	wait "${started[@]}"
	started=()
}

# fio in a cgroup; its report is in $tmp/NAME.json
load_in() { # CGROUP NAME OPTION...
	bash -c 'echo $$ >"$1/cgroup.procs" && shift && exec fio "$@"' load "$cgroups/$1" \
		--name="$2" --filename="/dev/$disk" --direct=1 --ioengine=libaio --iodepth=8 \
		--output-format=json --output="$tmp/$2.json" --allow_file_create=0 "${@:3}"
}

fio_says() { # NAME read|write total_ios|io_bytes
	jq ".jobs[0].$2.$3" "$tmp/$1.json"
}

# Each figure of a cgroup against that of the fio in it
agrees() { # FROM TO CGROUP NAME read|write
	local key=Read
	[[ $5 == read ]] || key=Write
	is_near "$3 IOs" "$(grown "$1" "$2" "$3" ${key}IOs)" "$(fio_says "$4" "$5" total_ios)" 1 &&
		is_near "$3 bytes" "$(grown "$1" "$2" "$3" ${key}Bytes)" "$(fio_says "$4" "$5" io_bytes)" 1
}

agrees_with_stat() { # FROM TO STAT-FROM STAT-TO
	is_near "reads" "$(grown "$1" "$2" "" ReadIOs)" "$(stat_grown "$3" "$4" 1)" 1 &&
		is_near "read bytes" "$(grown "$1" "$2" "" ReadBytes)" "$((512 * $(stat_grown "$3" "$4" 3)))" 1 &&
		is_near "writes" "$(grown "$1" "$2" "" WriteIOs)" "$(stat_grown "$3" "$4" 5)" 1 &&
		is_near "written bytes" "$(grown "$1" "$2" "" WriteBytes)" "$((512 * $(stat_grown "$3" "$4" 7)))" 1
}

adds_up() { # FROM TO
	local key
	for key in ReadIOs WriteIOs ReadBytes WriteBytes SequentialIOs LatencyTotal Joules; do
		is_near "$key" "$(grown_of_all "$1" "$2" "$key")" "$(grown "$1" "$2" "" "$key")" 0.0001 || return
	done
}

# The share of a cgroup's IOs that was taken for sequential, in percent
sequential() { # FROM TO CGROUP
	awk -v s="$(grown "$1" "$2" "$3" SequentialIOs)" -v r="$(grown "$1" "$2" "$3" ReadIOs)" \
		-v w="$(grown "$1" "$2" "$3" WriteIOs)" 'BEGIN { printf "%.1f\n", 100 * s / (r + w) }'
}

at_least() { # GOT WANTED
	echo "$1, wanted $2 or more"
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a >= b) }'
}

at_most() { # GOT WANTED
	echo "$1, wanted $2 or less"
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a <= b) }'
}

# Nanoseconds that eBPF programs have run
run_ns() { # NAMES, a regular expression
	bpftool prog show -j | jq --arg names "^($1)" \
		'[.[] | select(.name // "" | test($names)) | .run_time_ns // 0] | add // 0'
}

biolatency_ns() {
	run_ns 'block_rq_(insert|issue|complete)'
}

biolatency_runs() {
	[[ $(biolatency_ns) -gt 0 ]]
}

# At completion; and at submission, where the kernel does not note the time itself
meter_programs='storpower_(meter|begin|split)'

# What the meter and biolatency (libbpf-tools) take for each IO of the same load. On an emulated
# processor only their ratio means anything.
cost() {
	local meter latency ios pid
	sysctl -q kernel.bpf_stats_enabled=1
	biolatency -d "$disk" 600 1 >"$tmp/biolatency" 2>&1 &
	pid=$!
	start_in a.slice cost --rw=randread --bs=4k --time_based --runtime=12 --iodepth=4
	eventually biolatency_runs
	statistics cost.0
	meter=$(run_ns "$meter_programs") latency=$(biolatency_ns)
	sleep 3
	meter=$(($(run_ns "$meter_programs") - meter)) latency=$(($(biolatency_ns) - latency))
	statistics cost.1
	kill -INT $pid
	end_all
	wait $pid 2>/dev/null
	sysctl -q kernel.bpf_stats_enabled=0
	ios=$(stat_grown cost.0 cost.1 1)
	cat "$tmp/biolatency"
	echo "$ios reads: meter $((meter / ios)) ns, biolatency $((latency / ios)) ns each"
	((meter > 0 && latency > 0)) && at_most "$((100 * meter / latency))" 100
}

top_shows() { # LINE
	ctl top --once >"$tmp/top" && grep -q "$1" "$tmp/top"
}

# Reads at a rate, while meter-ask watches: each IO is 1 mJ, a window 0.1 s.
overruns() { # READS_PER_S JOULES_PER_S
	local pid
	rm -f "$tmp/overruns" "$tmp/end"
	mkfifo "$tmp/end"
	"$build/tests/testbed/meter-ask" "/dev/$disk" "$2" <"$tmp/end" >"$tmp/overruns" &
	pid=$!
	exec 9>"$tmp/end"
	eventually grep -q ready "$tmp/overruns"
	load_in a.slice paced --rw=randread --bs=4k --iodepth=1 --rate_iops="$1" --rate_process=linear \
		--time_based --runtime=3 9>&-
	exec 9>&-
	wait $pid
	cat "$tmp/overruns"
	grep -c '^[0-9]' "$tmp/overruns" >"$tmp/count"
}

over_the_cap() { # 0.4 J/s of 0.1: in about each of thirty windows, once
	overruns 400 0.1
	at_least "$(<"$tmp/count")" 15 && at_most "$(<"$tmp/count")" 35 &&
		at_most "$(awk '/^[0-9]/ && $1 > 0.0111' "$tmp/overruns" | wc -l)" 0
}

within_the_cap() {
	overruns 100 1
	at_least "$(awk '/^total/ { print $2 }' "$tmp/overruns")" 0.1 && at_most "$(<"$tmp/count")" 0
}

# Runs a command in a cgroup, while meter-ask watches a disk; what it told is in $tmp/wakes.
watch() { # DISK CGROUP COMMAND...
	local pid
	rm -f "$tmp/wakes" "$tmp/end"
	mkfifo "$tmp/end"
	"$build/tests/testbed/meter-ask" "/dev/$1" wake <"$tmp/end" >"$tmp/wakes" &
	pid=$!
	exec 9>"$tmp/end"
	eventually grep -q ready "$tmp/wakes"
	bash -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' watch "$cgroups/$2" "${@:3}" 9>&-
	sleep 0.2
	exec 9>&-
	wait $pid
	cat "$tmp/wakes"
}

# The wake-ups told are these and no more
wakes_are() { # LINE...
	printf 'wake %s\n' "$@" >"$tmp/wanted"
	grep '^wake' "$tmp/wakes" | diff "$tmp/wanted" -
}

reader_is_told() {
	watch $disk a.slice/inner dd if=/dev/$disk of=/dev/null bs=8k count=4 iflag=direct &&
		wakes_are "io read 8192 a.slice/inner dd"
}

# The kernel's flusher writes what a process in a.slice has dirtied; the second one asks for it.
writeback_is_told() {
	local mount=$tmp/mount
	nullb nbfs 64 10000 memory_backed=1 && mkfs.ext4 -q -O ^has_journal -E lazy_itable_init=0 /dev/nbfs &&
		mkdir -p "$mount" && mount /dev/nbfs "$mount" && udevadm settle --timeout=20 || return
	bash -c 'echo $$ >"$1/cgroup.procs" && echo >"$2/first" && sync -f "$2" && echo again >"$2/file"' \
		dirty $cgroups/a.slice "$mount"
	watch nbfs b.slice sync -f "$mount"
	umount "$mount" && nullb_remove nbfs
	grep -q '^wake io write [0-9]* a.slice kworker' "$tmp/wakes"
}

command_is_told() {
	hddsim_start spinner sas || return
	watch "$hddsim_disk" b.slice sg_turs "/dev/$hddsim_sg" && wakes_are "command read 0 b.slice sg_turs"
}

nullb $disk 1024 100000 submit_queues=2 || { echo "Bail out! no null_blk disk"; exit 1; }
ok "the disk has two queues" test -d /sys/block/$disk/mq/1
echo +io +memory >$cgroups/cgroup.subtree_control
mkdir $cgroups/a.slice $cgroups/b.slice $cgroups/short.slice
mkdir -p "$tmp/etc"
printf '[storpower]\ndiscover = no\n[device %s]\nprofile = samsung-pm9a3\n' $disk >"$tmp/etc/storpower.conf"
start_bus
start_daemon
is "eBPF counts" "$(property Meter)" '"ebpf"'
udevadm settle --timeout=20

consumers 0
statistics stat.0
start_in a.slice a --rw=randread --bs=4k --io_size=12m
start_in b.slice b --rw=randwrite --bs=16k --io_size=24m
start_in . root --rw=randread --bs=8k --io_size=4m
end_all
load_in short.slice short --rw=randread --bs=4k --io_size=1m
rmdir $cgroups/short.slice
sleep 0.2
consumers 1
statistics stat.1
told "it agrees with the kernel's statistics" agrees_with_stat 0 1 stat.0 stat.1
told "and with fio in one cgroup" agrees 0 1 a.slice a read
told "and with fio in the other" agrees 0 1 b.slice b write
told "what the root cgroup did is told as such" agrees 0 1 / root read
is "and as uncontrolled" "$(jq -r '.[] | select(.Uncontrolled) | .Cgroup' "$tmp/1")" /
is "a cgroup that has gone is said to be" "$(jq '[.[] | select(.Gone)] | length' "$tmp/1")" 1
told "the cgroups add up to the device" adds_up 0 1
told "random IO is random" at_most "$(sequential 0 1 a.slice)" 5

start_in a.slice low --rw=read --bs=16k --io_size=32m --size=256m --cpus_allowed=0
start_in b.slice high --rw=read --bs=16k --io_size=32m --offset=512m --size=256m --cpus_allowed=1
end_all
consumers 2
told "streams on two queues are each sequential" at_least "$(sequential 1 2 a.slice)" 95
told "both" at_least "$(sequential 1 2 b.slice)" 95

start_in a.slice a --rw=randread --bs=4k --time_based --runtime=15
start_in . root --rw=randread --bs=4k --time_based --runtime=15 --iodepth=1
ok "top shows who spends" eventually top_shows "^$disk  *a\.slice .* W "
sed 's/^/# /' "$tmp/top"
ok "and who is not paced" eventually top_shows "^$disk  */ (root: not paced)"
end_all
told "an overrun is told once a window, at the IO that made it" over_the_cap
told "within the cap nothing is told" within_the_cap
mkdir $cgroups/a.slice/inner
told "who wakes a disk is told, by its own cgroup" reader_is_told
told "of buffered writes the cgroup that dirtied" writeback_is_told
told "who sends a command is told" command_is_told
hddsim_stop_all
told "an IO costs no more than with biolatency" cost
rmdir $cgroups/a.slice/inner
rmdir $cgroups/a.slice $cgroups/b.slice
done_testing
