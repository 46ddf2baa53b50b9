#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# alone
#
# Many claims, and many questions of those who may only ask.
. "$(dirname "$0")/lib.sh"

NOBODY=65534
what=(--simulate=archive --no-bpf)
flood=$root/tests/bus/flood.py

# set_many N: standing claims that limit nothing
set_many() {
	for ((i = 0; i < $1; i++)); do
		call SetBudget 100 % "{'standing': <true>}" >/dev/null || return 1
	done
}
# Somebody else than the one who floods
asks_for_a_limit() {
	setpriv --reuid=1 --clear-groups gdbus call --session --dest org.storpower1 --object-path \
		/org/storpower1 --method org.storpower1.Manager.SetBudget -- 90 % '@a{sv} {}' 2>&1
}
changed() { # PATTERN: has been announced
	grep -q "$1" "$tmp/monitor"
}

# shellcheck disable=SC2034 # for lib.sh
bus_limits='<limit name="max_connections_per_user">1000</limit>'
start_bus
start_daemon
gdbus monitor --session --dest org.storpower1 --object-path /org/storpower1 >"$tmp/monitor" 2>&1 &
monitor_pid=$!
ok "somebody listens" eventually grep -q "is owned by" "$tmp/monitor"
ok "a claim is set" set_many 1
ok "of few claims the value is announced" eventually changed "PropertiesChanged.*'Claims': <"
ok "many claims are set" set_many 64
ok "of many it is announced that they have changed" eventually changed "PropertiesChanged.*\['Claims'\]"
ok "and each that is added is" changed "ClaimAdded (uint64 65,"
ok "all of them can be read" claim_count_is 65
stop_daemon KILL
start_daemon
ok "and are there after kill -9 and a restart" claim_count_is 65
status "they are cleared" 0 ctl clear --all
ok "and are gone" claim_count_is 0
stop_daemon KILL
start_daemon
ok "and stay gone after kill -9 and a restart" claim_count_is 0
kill "$monitor_pid"

if ((EUID)); then
	echo "# not root, so there is no other user to ask as: the rest is left out"
	done_testing
	exit
fi
chmod 711 "$tmp" # for others to get to the bus
# A connection bears 512 match rules.
"$flood" "$tmp/bus" 0 claims 700 >"$tmp/made" &
owners_pid=$!
ok "many owners make claims" within 60 test -s "$tmp/made"
is "each gets its own" "$(<"$tmp/made")" "700 0"
ok "all are there" claim_count_is 700
kill "$owners_pid"
wait "$owners_pid" 2>/dev/null
ok "and end with their owners" within 60 claim_count_is 0
"$flood" "$tmp/bus" $NOBODY once 64 >"$tmp/asked"
is "whoever asks within reason is answered" "$(<"$tmp/asked")" "64 0"
"$flood" "$tmp/bus" 0 once 120 >"$tmp/asked"
is "root is always" "$(<"$tmp/asked")" "120 0"
for _ in 1 2 3; do
	"$flood" "$tmp/bus" $NOBODY on 100 10 >>"$tmp/full" &
	floods+=($!)
done
ok "whoever asks for more is refused" eventually test -s "$tmp/full"
status "an emergency is in force while thirty connections ask on" 0 ctl set 100% --class=emergency
ok "it is" property_is 'Claims[0].InForce' true
ok "another user is answered: that limits are not for him" grep -q NotAuthorized <(asks_for_a_limit)
ok "they are still asking" kill -0 "${floods[@]}"
kill "${floods[@]}"
wait "${floods[@]}" 2>/dev/null
answered() {
	[[ $("$flood" "$tmp/bus" $NOBODY once 1) == "1 0" ]]
}
ok "who asked too much is answered when the others are gone" eventually answered
stop_daemon TERM
is "the daemon ends well" "$daemon_status" 0
done_testing
