# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by tests in shell: TAP, and a temporary folder that ends with the script.

set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034 # for the tests
build=${B:-build}
[[ $build == /* ]] || build=$root/$build
tmp=$(mktemp -d)
n_tests=0 n_failed=0
at_end=() # functions to call at the end, with 1 when something failed

# ok PROMISE COMMAND...: the promise holds when the command succeeds
ok() {
	local promise=$1
	shift
	n_tests=$((n_tests + 1))
	if "$@" >"$tmp/ok.log" 2>&1; then
		echo "ok $n_tests - $promise"
	else
		n_failed=$((n_failed + 1))
		echo "not ok $n_tests - $promise"
		echo "# failed: $*"
		sed 's/^/# /' "$tmp/ok.log"
	fi
}

# is PROMISE GOT WANTED
is() {
	ok "$1" test "$2" = "$3"
	[[ $2 == "$3" ]] || echo "# got \"$2\", wanted \"$3\""
}

# status PROMISE WANTED COMMAND...: the exit status
status() {
	local promise=$1 wanted=$2 got
	shift 2
	"$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	is "$promise" "$got" "$wanted"
	[[ $got == "$wanted" ]] || sed 's/^/# /' "$tmp/err"
}

# jq 1.6 calls -e fulfilled where nothing came in: what was to be asked about had failed.
jq() {
	local out
	[[ $1 == -e ]] || { command jq "$@"; return; }
	out=$(command jq "$@") && [[ -n $out ]] && printf '%s\n' "$out"
}

# Prints a port of loopback that nobody listened to a moment ago.
free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# within SECONDS COMMAND...: until it succeeds, without its words. In vain: what it says then, and what a
# test's `show` says.
within() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		((SECONDS < end)) && sleep 0.05 && continue
		"$@" && return
		! declare -F show >/dev/null || show
		return 1
	done
}

eventually() { # COMMAND...
	within 10 "$@"
}

# Every promise of the test, each with the reason why it was not looked at.
skip_all() { # REASON
	echo "# $1"
	sed -nE 's/^(ok|is|status|told) "([^"]*)".*/\2/p' "$0" | awk -v why="$1" '
		{ print "ok " NR " - " $0 " # SKIP " why }
		END { print "1.." NR }'
	exit 0
}

done_testing() {
	echo "1..$n_tests"
}

finish() {
	local s=$((n_failed || $? ? 1 : 0)) command
	for command in "${at_end[@]}"; do
		"$command" $s
	done
	rm -rf --one-file-system "$tmp"
	exit $s
}
trap finish EXIT
