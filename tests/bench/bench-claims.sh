#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What a claim costs beside up to 4 095 others: SetBudget, Release and GetAll, over a private bus, on
# the simulated node archive.
#
#   tests/bench/bench-claims.sh [--json=FILE]

# Each claim is on disk before it is acknowledged: on a disk, not on a tmpfs, or it costs nothing.
export TMPDIR=/var/tmp
# shellcheck source=tests/bus/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../bus/lib.sh"

what=(--simulate=archive --no-bpf)
start_bus
start_daemon --log-level=warning
if [[ -n ${PERF:-} ]]; then
	perf record -q -g -o "$PERF" -p "$daemon_pid" &
	perf_pid=$!
fi
"$build/tests/bench/bench-claims" "$@" "$address" || exit 1
if [[ -n ${PERF:-} ]]; then
	kill -INT "$perf_pid"
	wait "$perf_pid"
fi
