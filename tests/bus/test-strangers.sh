#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Whoever may only look changes nothing, whatever he calls; and nobody brings the daemon down. What is called
# is what the daemon's introspection names, so that no method is forgotten. test-strangers-many.sh does the same
# with more clients and calls.
. "$(dirname "$0")/lib.sh"

NOBODY=65534
CLIENTS=${CLIENTS:-30} CALLS=${CALLS:-4000}
SEED=${SEED:-$RANDOM}
# Of memory that the daemon may have got for good, in KiB: the diary, the connections that it knows, claims.
GROWTH_MOST=$((16 * 1024))
conf=$root/packaging/org.storpower1.conf
# shellcheck disable=SC2034 # for lib.sh
bus_limits='<limit name="max_connections_per_user">4000</limit>'

calls() { # UID CLIENTS CALLS: their outcomes are in $tmp/outcomes then
	"$root/tests/bus/strangers.py" "$tmp/bus" "$1" "$2" "$3" "$SEED" >"$tmp/outcomes"
}
answered() { # the methods that gave an answer
	awk '$2 == "answer" { sub(/.*\./, "", $1); print $1 }' "$tmp/outcomes" | sort -u
}
# Of the contract: ours, those of sd-bus that say what was wrong, and the bus's own.
errors_are_named() {
	! awk '$2 != "answer" { print $1, $2 }' "$tmp/outcomes" | grep -vE ' org\.(storpower1\.Error\.[A-Za-z]+|freedesktop\.DBus\.Error\.(InvalidArgs|LimitsExceeded|PropertyReadOnly|InteractiveAuthorizationRequired|Unknown(Interface|Method|Object|Property)))$'
}
all_called() { # every method of the contract was
	comm -23 <(grep -o '<method name="[A-Za-z]*"' "$root/daemon/bus/org.storpower1.xml" | cut -d '"' -f 2 | sort) \
		<(awk '$1 ~ /^org\.storpower1\./ { sub(/.*\./, "", $1); print $1 }' "$tmp/outcomes" | sort -u) >"$tmp/missing"
	[[ ! -s $tmp/missing ]] || { cat "$tmp/missing"; return 1; }
}
open_to_all() { # what changes nothing
	printf '%s\n' Explain Get GetAll GetDrift GetFrontier GetMachineId GetManagedObjects GetWaiting Introspect \
		ListConsumers ListDevices ListWakeups Ping Plan Refresh
}
only_the_open_answer() {
	comm -23 <(answered) <(open_to_all | sort) >"$tmp/too-open"
	[[ ! -s $tmp/too-open ]] || { cat "$tmp/too-open"; return 1; }
}
state() { # all that somebody could have changed
	ctl status --json=short | jq -cS '[(.Claims | map(del(.StartsIn, .ExpiresIn))), .EffectiveLimit, .Enforcing, .Mode,
		.Policy, .Price, .CarbonIntensity]'
	ctl list --json=short | jq -cS 'map([.Name, .Setting, .Asleep, .Problem])'
}
is_unlimited() {
	[[ $(ctl list --json=short | jq -c 'map(.Setting) | unique') == '["as found"]' ]]
}
# The sanitizers keep what was freed.
judges_memory() {
	! grep -qa -e __asan_init -e __tsan_init "$storpowerd"
}
rss() {
	awk '/^VmRSS/ { print $2 }' "/proc/$daemon_pid/status"
}
memory_is_bounded() { # SINCE
	local now
	now=$(rss)
	echo "# memory: $1 KiB before, $now KiB now"
	! judges_memory || ok "its memory is bounded" test $((now - $1)) -le $GROWTH_MOST
}

((EUID == 0)) || skip_all "only root can call as another user"
# what asks for all it can get never rests by itself
sed 's/^demand = .*/demand = saturate/' "$root/policies/nodes/tiny.node" >"$tmp/busy.node"
# shellcheck disable=SC2034 # for lib.sh
what=(--simulate="$tmp/busy.node" --no-bpf)
echo "# SEED=$SEED"
start_bus
start_daemon
chmod 711 "$tmp" # for others to get to the bus
ok "a claim is there to be changed" grep -q "uint64" <(call SetBudget 100 % "{'standing': <true>}")
state >"$tmp/before"
before=$(rss)
status "$CLIENTS clients of another user are answered, each time" 0 calls $NOBODY "$CLIENTS" "$CALLS"
ok "every method of the contract was called" all_called
ok "whatever it does not answer it refuses with an error that has a name" errors_are_named
ok "it answers nothing but what changes nothing" only_the_open_answer
state >"$tmp/after"
ok "no cap, claim, policy or mode has changed" diff "$tmp/before" "$tmp/after"
memory_is_bounded "$before"
ok "the daemon lives" daemon_lives

start_polkit challenge
status "while polkit wants a password of each they are answered, too" 0 calls $NOBODY "$CLIENTS" $((CALLS / 2))
ok "or refused by name" errors_are_named
ok "polkit was asked" grep -q "^org.storpower1.set-budget 0" "$tmp/polkit/questions"
state >"$tmp/after"
ok "nothing has changed" diff "$tmp/before" "$tmp/after"
memory_is_bounded "$before"
stop_polkit

status "root's calls with random arguments are answered, too" 0 calls 0 20 $((CALLS / 2))
ok "or refused by name" errors_are_named
ok "some of them have made claims" grep -q "SetBudget answer" "$tmp/outcomes"
memory_is_bounded "$before"
ok "the daemon lives" daemon_lives
status "root's claims are cleared" 0 ctl clear --all
ok "limits are held again, if they were not" grep -q "()" <(call SetMode enforce)
ok "and every device is as found" within 60 is_unlimited
stop_daemon TERM
is "the daemon ends well" "$daemon_status" 0

stop_bus
bus_limits="<include>$conf</include>"
start_bus
start_daemon
status "behind the policy of the bus that is installed each call is answered, too" 0 calls $NOBODY 5 500
ok "by the daemon, unless it changes something" only_the_open_answer
ok "everybody is answered what everybody may ask for" grep -q "Manager.ListDevices answer" "$tmp/outcomes"
ok "and the daemon refuses what changes something" \
	grep -q "Manager.Reload org.storpower1.Error.NotAuthorized" "$tmp/outcomes"
stop_daemon TERM
is "the daemon ends well" "$daemon_status" 0
done_testing
