#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# From a claim to the last fast knob: the real daemon, on real time and with its real threads, on a
# simulated node of 24 NVMe drives and 60 disks, over a private bus. Twice: with drives whose power
# state takes 60 ms, and with drives that take next to nothing, which leaves the daemon's own share.
#
#   tests/bench/bench-latency.sh [--json=FILE]

# The journal is synced before the first knob is turned: on a disk, not on a tmpfs, or it costs nothing.
export TMPDIR=/var/tmp
# shellcheck source=tests/bus/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../bus/lib.sh"
json=("$@")

# All are busy: slow knobs (spindles) are not what is measured here, and would not be back in time.
write_node() { # PROFILE
	cat <<-END
		[node]
		name = latency
		policy = brisk
		seed = 84
		model_error = 4%
		noise = 1%
		sensors = nvme

		[devices flash]
		count = 24
		profile = $1
		group = flash
		queues = 8
		read = 40%
		random = 100%
		read_size = 16K
		write_size = 128K
		depth = 64
		demand = saturate

		[devices disk]
		count = 60
		profile = seagate-exos-7e2000
		group = bulk
		read = 60%
		random = 70%
		read_size = 256K
		write_size = 256K
		depth = 16
		demand = saturate
	END
}

bench() { # PROFILE
	write_node "$1" >"$tmp/$1.node"
	what=(--simulate="$tmp/$1.node" --no-bpf)
	start_daemon --log-level=warning
	sleep 2
	"$build/tests/bench/bench-latency" "${json[@]}" "$address" "$1" || exit 1
	stop_daemon TERM
}

printf '%-16s %-10s %6s %5s | %-23s | %s\n' '' '' '' '' 'claim to last fast knob' 'the D-Bus call'
printf '%-16s %-10s %6s %5s | %7s %7s %7s | %7s %7s %7s   ms\n' 'NVMe drives' class rounds knobs \
	median p99 max median p99 max
# What is given back rises soon again, so that the next round has as much to lower.
mkdir -p "$tmp/etc/policies"
sed 's/^dwell = .*/dwell = 1ms/' "$root/policies/balanced.policy" >"$tmp/etc/policies/brisk.policy"
start_bus
bench intel-p5510
bench samsung-pm9a3
