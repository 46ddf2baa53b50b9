#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# long: all
# limit: 1200
#
# From an emergency's claim on D-Bus to the last fast knob of four NVMe drives, each moved through the
# kernel's own driver and read back: the median and the 99th percentile of 60 claims. The answer to the claim
# comes after the last knob, so that the client's own clock bounds it. Time goes by instructions, 4 ns each,
# so that a busy host does not show.
. "$(dirname "$0")/lib.sh"

drives=(a b c d)

show() {
	cat "$tmp/table" "$tmp/bench.err"
	ctl status
	ctl list
	tail -n 30 "$tmp/daemon.log"
}
at_end=(show_and_stop "${at_end[@]}")

measure() {
	"$B/tests/bench/bench-latency" --json="$tmp/json" "$address" nvmesim >"$tmp/table" 2>"$tmp/bench.err"
}

all_are_there() {
	[[ $(ctl list --json=short | jq 'length') -ge ${#drives[@]} ]]
}

emergency() { # KEY
	jq "select(.class == \"emergency\") | $1" "$tmp/json"
}

within_ms() { # LIMIT_MS
	local times
	times=$(emergency '"\(.rounds) claims, \(.knobs) knobs each: median \(.enforce_us.median / 1000) ms, " +
		"p99 \(.enforce_us.p99 / 1000) ms; with the D-Bus call median \(.call_us.median / 1000) ms, " +
		"p99 \(.call_us.p99 / 1000) ms"' | tr -d '"')
	echo "$times"
	emergency . | jq -e ".call_us.p99 >= .enforce_us.median and .call_us.p99 < $1 * 1000" >/dev/null
}

mkdir -p "$tmp/etc/policies" "$tmp/etc/storpower.conf.d"
for name in "${drives[@]}"; do
	ok "drive $name is there" nvmesim_start "$name" --drive=pm9a3
	printf '[device %s]\n' "$nvmesim_ctrl" >>"$tmp/etc/storpower.conf.d/50-drives.conf"
done
# what is given back rises soon again, so that the next claim has as much to lower
sed 's/^dwell = .*/dwell = 1ms/' "$root/policies/balanced.policy" >"$tmp/etc/policies/brisk.policy"
printf '[storpower]\npolicy = brisk\n' >"$tmp/etc/storpower.conf.d/40-brisk.conf"
start_bus
start_daemon --log-level=info
ok "the daemon has all of them" within 30 all_are_there
ok "limits come and go" measure
ok "each claim of an emergency moved a knob of each drive" test "$(emergency .knobs)" -ge ${#drives[@]}
told "from the call to the last fast knob: 99 of 100 within 100 ms" within_ms 100
done_testing
