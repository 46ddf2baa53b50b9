#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Draws the README's picture from a run of the real daemon: a simulated node of 28 drives whose limit is
# lowered twice and lifted again. Takes two minutes, and needs gnuplot (packaging/deps --suggest).
#
#   tests/bench/plot-budget.sh FILE.svg

# shellcheck source=tests/bus/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../bus/lib.sh"

command -v gnuplot >/dev/null || { echo "gnuplot is missing: run packaging/deps --suggest"; exit 1; }
picture=${1:?"which file? Say FILE.svg"}
# shellcheck disable=SC2034 # for lib.sh
what=(--simulate=mixed --no-bpf) tolerates=yes
samples=$tmp/samples
start_bus
start_daemon --log-level=warning

# Draw, limit and throughput each half second, for so many seconds
sample() {
	local end=$((${EPOCHREALTIME/./} + $1 * 1000000))
	while ((${EPOCHREALTIME/./} < end)); do
		ctl status --json=short |
			jq -r --arg at "$EPOCHREALTIME" '[($at | tonumber), .EstimatedPower,
				(.EffectiveLimit // "nan"), .Throughput / 1000] | @tsv' >>"$samples"
		sleep 0.5
	done
}

within 30 eval '(( $(property "Throughput|floor") > 0 ))'
sample 15
ctl set 80% --yes >/dev/null
sample 25
ctl set 60% --yes >/dev/null
sample 25
ctl clear --all >/dev/null
sample 15

gnuplot <<END
set terminal svg size 860,360 font "sans-serif,13" background rgb "#ffffff"
set output "$picture"
first = $(head -n 1 "$samples" | cut -f 1)
set xlabel "seconds"
set ylabel "watts"
set y2label "GB/s"
set yrange [0:*]
set y2range [0:*]
set ytics nomirror
set y2tics
set grid ytics lc rgb "#dddddd"
set key outside top center horizontal
set border 11
plot "$samples" using (\$1 - first):3 with steps lw 2 dt 2 lc rgb "#c62828" title "limit", \
     "" using (\$1 - first):2 with lines lw 2 lc rgb "#1565c0" title "draw", \
     "" using (\$1 - first):4 axes x1y2 with lines lw 1 lc rgb "#888888" title "throughput"
END
