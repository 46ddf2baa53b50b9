#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: all
# long: 6.1
# limit: 600
#
# What an application waits for its IO is told, while nothing holds it up and while io.cost does: fio's
# own times against the meter's. Each of fio's threads has one IO out, so that what holds up its
# submission is in its completion time.
. "$(dirname "$0")/lib.sh"

disk=waited cgroups=/sys/fs/cgroup idle_w=1

# Of the working cgroup: how many IOs waited how long so far
waits() { # FILE
	busctl --address="$address" --json=short call org.storpower1 /org/storpower1 \
		org.storpower1.Manager ListConsumers |
		jq '[.data[0][] | map_values(.data) | select(.Cgroup == "work") | .Waits] | add // []' >"$tmp/$1"
}

load() { # SECONDS
	bash -c 'echo $$ >"$1/work/cgroup.procs" && shift && exec fio "$@"' load $cgroups --name=load \
		--filename=/dev/$disk --direct=1 --ioengine=psync --numjobs=4 --thread --group_reporting \
		--rw=randread --bs=4k --norandommap --time_based --runtime="$1" --output-format=json \
		--output="$tmp/load.json" --allow_file_create=0
}

# The number of a wait's power of two; the meter's of the part of the IOs, fio's of a percentile
meter_place() { # PERCENT
	jq -n --argjson p "$1" --slurpfile a "$tmp/before" --slurpfile b "$tmp/after" '
		[range(0; $b[0] | length) | $b[0][.] - ($a[0][.] // 0)] as $n | ($n | add) as $all |
		[foreach $n[] as $k (0; . + $k)] | map(. >= $all * $p / 100) | index(true)'
}

fio_ns() { # PERCENT
	jq ".jobs[0].read.clat_ns.percentile.\"$1.000000\"" "$tmp/load.json"
}

fio_place() { # PERCENT
	awk -v ns="$(fio_ns "$1")" 'BEGIN { for (n = 0; ns >= 1024 * 2 ^ n;) n++; print n }'
}

agrees() { # PERCENT
	local fio meter
	fio=$(fio_place "$1") meter=$(meter_place "$1")
	echo "p$1: fio $(fio_ns "$1") ns, in place $fio; the meter in place $meter"
	((meter - fio >= -1 && meter - fio <= 1))
}

measure() { # SECONDS
	waits before
	load "$1"
	waits after
}

agree() { # WHEN
	told "$1 the median is fio's" agrees 50
	told "$1 the 99th percentile is fio's" agrees 99
}

wait_is() { # PROPERTY RELATION US
	ctl show $disk --json=short | jq -e --argjson us "$3" ".$1 $2 \$us" >/dev/null
}

show_says() { # WORDS
	ctl show $disk | grep -q "$1"
}

nullb $disk 1024 5000000 || { echo "Bail out! no null_blk disk"; exit 1; }
paced_drives $disk $idle_w
printf '[storpower]\ndiscover = no\n[device %s]\nprofile = %s\n' $disk $disk >"$tmp/etc/storpower.conf"
echo +io >$cgroups/cgroup.subtree_control
mkdir $cgroups/work
start_bus
start_daemon
measure 8
agree "While nothing holds IO up,"
load 8 &
loader=$!
ok "the device's wait is told" eventually wait_is WaitP50 ">" 4000
ok "and there is none before a limit" wait_is WaitP50Before == null
wait $loader

# 4 IOs of 2.02 mJ are out: 0.1 W holds each up for 80 ms
ctl set "$(awk "BEGIN { print $idle_w + 0.1 }")W" --replace >/dev/null
load 2
measure 20
agree "While io.cost holds it up,"
load 8 &
loader=$!
ok "the device's wait is what it has become" eventually wait_is WaitP50 ">" 40000
ok "and what it was before is kept" wait_is WaitP50Before "<" 20000
ok "while the device's own latency tells nothing of it" wait_is Latency "<" 20000
ok "show says both" show_says "Wait .* before the limit"
ctl show $disk | grep -E "Latency|Wait" | sed 's/^/# /'
ctl top --once | sed 's/^/# /'
wait $loader
ctl clear >/dev/null
ok "without a limit there is no before" eventually wait_is WaitP50Before == null
stop_daemon
nullb_remove $disk
done_testing
