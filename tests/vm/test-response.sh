#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# long: all
# limit: 900
#
# The 99th percentile that the Petri net predicts is the one that fio sees on a drive whose service
# times differ: four IOs are served at once, each takes 20 ms in the mean, lognormal, so that no net
# of ours is the drive's. The profile holds what fio saw at depths 1, 4 and 32, and of p99 that of
# depth 1 alone. Time goes by instructions, so that a busy host does not show.
. "$(dirname "$0")/lib.sh"

cat >"$tmp/four.drive" <<-END
	[drive]
	model = FOUR SERVERS
	idle_w = 3
	units = 4
	latency_deviation = 0.6
	read_page_j = 0.01
	write_page_j = 0.01
	[state 0]
	max_w = 12
	read_mb_s = 100
	write_mb_s = 100
	latency_us = 20000
END

run() { # DEPTH IOS: sets iops, p99_us and mean_us
	fio --name=load --filename="/dev/$nvmesim_disk" --direct=1 --ioengine=libaio --rw=randread --bs=4k \
		--size=32M --iodepth="$1" --number_ios="$2" --output-format=json --readonly >"$tmp/fio.json" || return
	read -r iops mean_us p99_us <<<"$(jq -r '.jobs[0].read |
		"\(.iops) \(.clat_ns.mean / 1000) \(.clat_ns.percentile["99.000000"] / 1000)"' "$tmp/fio.json")"
}

measure() { # DEPTH IOS
	run "$@"
	measured[$1]="${iops}iops"
	p99[$1]=$p99_us mean[$1]=$mean_us
	echo "# depth $1: $iops IO/s, mean $mean_us us, p99 $p99_us us"
}

point() { # DEPTH [P99]
	awk -v depth="$1" -v iops="${measured[$1]%iops}" -v p99="${2:+ p99=${2}us}" 'BEGIN {
		printf "point = ps=0 qd=%d chunk=4K read random: %.3fW %.4fMB/s%s\n", depth,
			3 + 0.01 * iops, iops * 4096 / 1e6, p99 }'
}

predicted() { # DEPTH KEY
	ctl model predict four --profiles="$tmp/profiles" --json \
		--workload="read=100% random=100% chunk=4K depth=$1" | jq ".Devices[0].$2"
}

within_15() { # GOT WANTED
	echo "$1, and fio saw $2"
	awk -v g="$1" -v w="$2" 'BEGIN { exit !(w > 0 && g >= 0.85 * w && g <= 1.15 * w) }'
}

declare -A measured p99 mean
ok "the simulated drive is there" nvmesim_start four --drive="$tmp/four.drive"
for depth in 1 2 4 8 16 32; do
	measure $depth $((depth == 1 ? 3000 : 6000))
done

mkdir "$tmp/profiles"
{
	printf '[profile]\nmatch = FOUR SERVERS\nkind = nvme\nrated = 12 W\nidle = 3 W\nerror = 5%%\n[points]\n'
	point 1 "${p99[1]}"
	point 4
	point 32
} >"$tmp/profiles/four.profile"
ok "the profile is usable" ctl model validate "$tmp/profiles/four.profile"
for depth in 2 4 8 16 32; do
	told "p99 at depth $depth is predicted within 15 %" within_15 "$(predicted $depth P99)" "${p99[$depth]}"
	told "and so is the mean" within_15 "$(predicted $depth MeanResponse)" "${mean[$depth]}"
done
is "none of these is a point's of the profile" "$(for depth in 2 4 8 16 32; do predicted $depth P99Measured; done | sort -u)" false
is "at depth 1 it is" "$(predicted 1 P99Measured)" true
done_testing
