#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# How soon the daemon answers, and whether questions change anything: 10 000 of them a second for a
# minute, over a real bus.
#
#   asked   beside a quiet minute, both with a limit in force: what is set, what the journal holds and
#           how often a knob was turned must be the same
#   hung    every operation of one drive hangs, and a limit is in force: the other drives are enforced
#           by a second one, and systemd's watchdog is fed
#
#   tests/bench/bench-questions.sh [--json=FILE]

export TMPDIR=/var/tmp
# shellcheck source=tests/bus/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../bus/lib.sh"
json=("$@")

SPAN=${SPAN:-60}
RATE=10000
WATCHDOG_S=30 # as in the unit

# Steady loads, and no noise: a plan is made once.
write_node() { # NAME
	cat >"$tmp/$1.node" <<-END
		[node]
		name = $1
		policy = balanced
		seed = 5
		noise = 0%
		sensors = none

		[devices flash]
		count = 8
		profile = samsung-pm9a3
		queues = 4
		read = 40%
		random = 100%
		read_size = 16K
		write_size = 128K
		depth = 64
		demand = saturate

		[devices disk]
		count = 20
		profile = seagate-exos-7e2000
		read = 60%
		random = 70%
		read_size = 256K
		write_size = 256K
		depth = 16
		demand = saturate
	END
	what=(--simulate="$tmp/$1.node" --no-bpf)
}

ask() { # NAME
	"$build/tests/bench/bench-questions" "${json[@]}" "$address" "$1" "$SPAN" "$RATE"
}

# What is set, what the journal holds without its checksums, and the knobs turned so far
record() { # NAME
	{
		ctl list --json=short | jq -c '.[] | [.Name, .Setting, .CapPower, .Knobs]'
		sed 's/ #[0-9a-f]*$//' "$tmp/state/journal" | sort
		ctl explain --json=short | jq -c '.Decisions[] | select(.Device != "") | [.Device, .What]' | sort
	} >"$tmp/$1"
}

minute() { # NAME COMMAND...: with a limit in force
	write_node steady
	start_daemon --log-level=warning
	ctl set 60% >"$tmp/log" || exit 1
	"${@:2}" || exit 1
	record "$1"
	stop_daemon TERM
}

# The longest time between two signs of life, as systemd would see it, ms
watch_dog='import socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
s.settimeout(1)
last, longest = time.monotonic(), 0
while True:
    try:
        fed = b"WATCHDOG=1" in s.recv(4096)
    except TimeoutError:
        fed = False
    longest = max(longest, time.monotonic() - last)
    if fed:
        last = time.monotonic()
    with open(sys.argv[2], "w") as f:
        f.write("%.0f\n" % (1000 * longest))'

hang_all() { # DEVICE
	printf '%s\n' '' '[fault]' "device = $1" 'at = 3s' 'kind = hang' >>"$tmp/hung.node"
}

others_capped() {
	[[ $(ctl list --json=short | jq '[.[] | select(.CapPower >= .RatedPower)] | length') -le 1 ]]
}

hung_minute() {
	write_node hung
	hang_all nvme2
	python3 -c "$watch_dog" "$tmp/notify" "$tmp/longest" &
	dog=$!
	eventually test -S "$tmp/notify"
	NOTIFY_SOCKET=$tmp/notify WATCHDOG_USEC=$((WATCHDOG_S * 1000000)) \
		start_daemon --log-level=warning
	sleep 4
	ctl set 60% >"$tmp/log"
	ask hung || exit 1
	others_capped || { echo "the other drives are not held" >&2; exit 1; }
	kill "$dog"
	wait "$dog" 2>/dev/null
	stop_daemon KILL # or the end would wait for the drive
}

printf '%-8s %9s %9s %8s %8s %8s %8s\n' '' answers/s 'not given' errors 'median' p99 'longest ms'
start_bus
minute quiet sleep "$SPAN"
minute asked ask asked
hung_minute
if diff "$tmp/quiet" "$tmp/asked"; then
	echo "asked: what is set, journal and knobs turned are those of a quiet minute" \
		"($(wc -l <"$tmp/quiet") lines compared)"
else
	echo "bench: the minute in which questions were asked is not like the quiet one" >&2
	exit 1
fi
echo "hung: the watchdog, at $WATCHDOG_S s, waited for at most $(<"$tmp/longest") ms"
