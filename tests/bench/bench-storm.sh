#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Limits in a storm, for a minute, on the simulated node archive and over a private bus: a thousand
# clients with 4 095 claims, ten users of whom each has ten connections with fifty questions in flight,
# and three clients that never read their answers.
#
#   tests/bench/bench-storm.sh [--json=FILE]

export TMPDIR=/var/tmp
# shellcheck source=tests/bus/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../bus/lib.sh"

SPAN=${SPAN:-60}
((EUID == 0)) || { echo "only root can ask as ten users: left out"; exit 77; }

# Users of this system, because dbus-daemon lets no others in
mapfile -t uids < <(awk -F: '$3 { print $3 }' /etc/passwd | sort -un | head -n 10)
# shellcheck disable=SC2034 # for lib.sh
bus_limits='<limit name="max_connections_per_user">2000</limit>'
what=(--simulate=archive --no-bpf)
start_bus
chmod 711 "$tmp" # for others to get to the bus
start_daemon --log-level=warning
"$build/tests/bench/bench-storm" "$@" "$address" "$daemon_pid" "$SPAN" &
bench_pid=$!
within 300 grep -q '^State:.*stopped' "/proc/$bench_pid/status" || exit 1
for uid in "${uids[@]}"; do
	"$root/tests/bus/flood.py" "$tmp/bus" "$uid" on 50 10 >>"$tmp/full" &
	floods+=($!)
done
for uid in "${uids[@]:0:3}"; do
	"$root/tests/bus/flood.py" "$tmp/bus" "$uid" deaf 1000 &
	floods+=($!)
done
everybody_floods() {
	[[ $(wc -l <"$tmp/full") == "${#uids[@]}" ]]
}
within 60 everybody_floods || exit 1
kill -CONT "$bench_pid"
wait "$bench_pid"
status=$?
kill "${floods[@]}" || { echo "bench: it was no storm: a client has left" >&2; status=1; }
wait "${floods[@]}" 2>/dev/null
exit "$status"
