#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Claims from their making to their end.
. "$(dirname "$0")/lib.sh"

start_bus
start_daemon
operating=$(property OperatingPower)
device=$(ctl list --json=short | jq -r '.[0].Name')

share() { # PERCENT: of the operating power
	jq -n "$operating * $1 / 100 * 1000 | round"
}
limit_is() { # PERCENT
	[[ $(property 'EffectiveLimit * 1000 | round') == "$(share "$1")" ]]
}
unlimited() {
	property_is EffectiveLimit null && property_is Enforcing false
}
settled() {
	ctl list --json=short | jq -e 'any(.[]; .Changing) | not'
}
# A disk that is still on its way when the next claim comes makes that one degraded: status 6.
ctl_set() { # ARGUMENT...
	eventually settled
	ctl set "$@"
}
said_settled() { # COOKIE TIMES [REST]: alone, or with what was changed just before
	[[ $(grep -cE "claims? ([0-9]+, )*$1 settled after ${3:-}" "$tmp/monitor") == "$2" ]]
}
held() { # COMMAND...: hold in the background, until the command runs; sets hold_pid
	ctl_background hold "$@"
	hold_pid=$!
	eventually pgrep -P $hold_pid >/dev/null
}

ok "nothing is limited at first" unlimited
status "set succeeds" 0 ctl_set 90% --reason "a test"
ok "set prints the claim" grep -q "^Claim [0-9]*: node limited to" "$tmp/out"
ok "the limit is in force" limit_is 90
ok "the caps keep to it" jq -en "$(property CapPower) <= $(property EffectiveLimit) + 1e-6"
is "a claim of set is standing" "$(property 'Claims[0].Standing')" true
is "its reason is kept" "$(property 'Claims[0].Reason')" '"a test"'
first=$(property 'Claims[0].Cookie')
status "a lower set succeeds" 0 ctl_set 85% --for=2h
ok "it is a claim of its own" claim_count_is 2
ok "the lower limit is in force" limit_is 85
ok "set says until when" grep -qE "^Claim [0-9]+: node limited to 85 % \(.* W\) until [0-9:]{5}$" "$tmp/out"
ok "and what stands behind it" \
	grep -qE "^Claim $first, 90 % \(.* W\) until cleared, stands behind it$" "$tmp/out"
second=$(property 'Claims[1].Cookie')
status "a higher set succeeds" 0 ctl_set 95%
ok "the lowest limit stays in force" limit_is 85
ok "set says that another claim is lower" grep -q "^Claim .* until cleared, but another claim is lower$" "$tmp/out"
ok "which one, and how to end it" \
	grep -qE "^Claim $second, 85 % .*, still holds: \"storpowerctl clear $second\" ends it, and set --replace" "$tmp/out"
ok "and which stands beside it" grep -q "^Claim $first, .* stands beside it$" "$tmp/out"
status "the end of the lowest" 0 ctl clear "$second"
ok "brings the next one into force" limit_is 90
status "a shorter, lower claim" 0 ctl_set 70% --for=1s
ok "leaves the longer one in force when it ends" eventually limit_is 90
status "set --replace" 0 ctl_set 95% --replace
ok "is one claim instead of those before" claim_count_is 1
ok "so that a limit can be raised" limit_is 95
ok "and names what it has replaced" grep -q "^Claim $first, 90 % .*, has ended: it is replaced$" "$tmp/out"
is "in JSON as well" "$(ctl set 94% --replace --json | jq -c '.Replaced | map(.Limit)')" '[95]'
status "another class is another claim" 0 ctl_set 90% --class=emergency --replace
ok "there are two claims" claim_count_is 2
ok "the lowest wins" limit_is 90
status "an operator's --replace does not lift an emergency" 0 ctl_set 95% --replace
ok "it still holds" limit_is 90
is "the emergency is in force" \
	"$(property 'Claims[] | select(.InForce) | .Class')" '"emergency"'
status "a claim on a device" 0 ctl_set 80% --device="$device"
status "and --replace on the node" 0 ctl_set 96% --replace
ok "leaves the device's claim" claim_count_is 3
for _ in 1 2 3 4 5 6 7; do ctl set 97% >"$tmp/out"; done
ok "many claims are not all listed" grep -q "^2 more of yours stand beside it: see storpowerctl list --claims$" "$tmp/out"
ok "the emergency's fast knobs were done within a second" \
	jq -en "$(property LastEnforceUSec) < 1000000"
status "clear ends what set set" 0 ctl clear
ok "nothing is limited again" unlimited

status "a claim on a device" 0 ctl_set 80% --device="$device"
ok "names its device" property_is 'Claims[0].Target' "\"$device\""
ok "does not limit the node" property_is EffectiveLimit null
status "clear takes a cookie" 0 ctl clear "$(property 'Claims[0].Cookie')"
ok "and the claim is gone" claim_count_is 0
status "a cookie that is gone is refused" 4 ctl clear 1

status "a lease" 0 ctl_set 90% --for=1s
ok "tells its end" jq -en "$(property 'Claims[0].ExpiresIn') <= 1"
ok "ends by itself" eventually claim_count_is 0
ok "and lifts the limit" eventually unlimited
status "a later start" 0 ctl_set 90% --start-in=2s --for=4s
is "does not limit yet" "$(property 'Claims[0].Active')" false
ok "begins by itself" eventually limit_is 90
ok "and ends by itself" eventually unlimited

ok "a claim over D-Bus ends with its caller" grep -q "uint64" <(call SetBudget 90 % '@a{sv} {}')
ok "at once" eventually claim_count_is 0
ok "unless it asks to stand" grep -q "uint64" <(call SetBudget 90 % "{'standing': <true>}")
ok "then it stays" claim_count_is 1
ok "and clear leaves it alone, saying so" grep -q "Left alone" <(ctl clear)
ok "it is still there" claim_count_is 1
is "another's lower claim is named with its source" "$(ctl set 95% | grep -c ', of gdbus, still holds: ')" 1
ok "replace over D-Bus" grep -q "uint64" \
	<(call SetBudget 92 % "{'standing': <true>, 'replace': <true>}")
is "ends those of the same source alone" "$(property 'Claims | map(.Limit)')" '[95,92]'
ok "what is replaced would be without a limit until a later start: refused" \
	refused InvalidOption SetBudget 92 % "{'replace': <true>, 'start_in_seconds': <9.0>}"
status "clear --all ends them" 0 ctl clear --all
ok "and it is gone" claim_count_is 0

held 90% --reason "a reason" -- sleep 60
ok "a claim is held" eventually claim_count_is 1
unit=$(grep -oE '[^/]+\.(service|scope)' /proc/$hold_pid/cgroup | head -n 1)
is "it says which process of whom and of which unit made it" \
	"$(property 'Claims[0] | [.Uid, .Pid, .SystemdUnit]')" "[$UID,$hold_pid,\"$unit\"]"
ctl list --claims >"$tmp/claims"
ok "and so does the list" grep -qF ": a reason (uid $UID, pid $hold_pid${unit:+, $unit})" "$tmp/claims"
kill -TERM $hold_pid
wait $hold_pid
status "a claim of many words" 0 ctl_set 100% --for=1h --reason "$(printf 'many words %.0s' {1..20})"
maker=$(property 'Claims[0] | [.Uid, .Pid, .SystemdUnit]')
ctl list --claims >"$tmp/claims"
ok "no line of the list is wider than the terminal" test "$(wc -L <"$tmp/claims")" -le 80
stop_daemon KILL
start_daemon
is "who made it is known after a restart of the daemon" "$(property 'Claims[0] | [.Uid, .Pid, .SystemdUnit]')" "$maker"
status "it is cleared" 0 ctl clear

ctl_background monitor >"$tmp/monitor"
monitor=$!
ok "somebody listens" eventually grep -q "drawing " "$tmp/monitor"
ok "a claim to be changed is made" grep -q "uint64" <(call SetBudget 90 % "{'standing': <true>, 'reason': <'cool'>}")
cookie=$(property 'Claims[0].Cookie')
ok "and told of when the draw is within it, with the seconds and the watts" \
	within 60 said_settled "$cookie" 1 '[0-9.]+ s: .* W drawn, .* W allowed$'
is "Update changes it" "$(call Update "$cookie" 80 % '@a{sv} {}')" "()"
ok "the new limit is in force when it returns" limit_is 80
is "in the same claim, of which the rest stays" \
	"$(property 'Claims | map([.Cookie, .Limit, .Reason])')" "[[$cookie,80,\"cool\"]]"
ok "listeners are told" eventually grep -q "claim $cookie changed: node .*limited to" "$tmp/monitor"
ok "and once more when the draw is within it" within 60 said_settled "$cookie" 2
is "Update without a unit leaves the limit" \
	"$(call Update "$cookie" 0 '""' "{'reason': <'hot'>, 'class': <'emergency'>}")" "()"
is "and changes what is named" "$(property 'Claims | map([.Limit, .Reason, .Class])')" '[[80,"hot","emergency"]]'
is "Renew gives it an end" "$(call Renew "$cookie" 60)" "()"
ok "which it tells" jq -en "$(property 'Claims[0].ExpiresIn') <= 60"
is "or another one" "$(call Renew "$cookie" 0.1)" "()"
ok "at which it ends" eventually claim_count_is 0
ok "then it cannot be renewed" refused UnknownClaim Renew "$cookie" 60
ok "its end is told" eventually grep -q "claim $cookie ended: expired" "$tmp/monitor"
ok "and when the devices have their watts back" \
	within 60 said_settled "$cookie" 1 '.* W drawn, no limit$'
kill -TERM $monitor
wait $monitor

status "hold returns the command's status" 7 ctl hold 90% -- sh -c 'exit 7'
ok "and leaves no claim" claim_count_is 0
ok "and says nothing of its own" test ! -s "$tmp/err"
status "hold: killed by a signal is 128+N" 143 ctl hold 90% -- sh -c 'kill -TERM $$'
status "hold: not found is 127" 127 ctl hold 90% -- /nonexistent/command
status "hold: not executable is 126" 126 ctl hold 90% -- /etc/passwd
status "hold: refused before the command runs" 4 ctl hold 90% --class=nosuch -- touch "$tmp/ran"
ok "it did not run" test ! -e "$tmp/ran"
is "the claim holds while the command runs" \
	"$(ctl hold 90% -- "$build/storpowerctl" status --json=short | jq -c '[.Claims[].Standing]')" \
	'[false]'
held 90% -- sleep 60
ok "hold makes a claim" eventually claim_count_is 1
kill -TERM $hold_pid
wait $hold_pid
is "hold forwards signals" $? 143
held 90% -- sleep 60
ok "hold makes a claim" eventually claim_count_is 1
sleeper=$(pgrep -P $hold_pid)
kill -KILL $hold_pid
ok "the claim ends when its owner is killed" eventually claim_count_is 0
wait $hold_pid 2>/dev/null
kill $sleeper 2>/dev/null

# One that is stopped stays on the bus, but does not claim again by itself.
claim_is() { # COOKIE ORPHANED
	[[ $(property 'Claims | map([.Cookie, .Orphaned])') == "[[$1,$2]]" ]]
}
held 80% -- sleep 60
ok "a claim is held" eventually claim_count_is 1
cookie=$(property 'Claims[0].Cookie')
kill -STOP $hold_pid
stop_daemon KILL
start_daemon
ok "a held claim survives kill -9 and restart while its owner lives" claim_is "$cookie" false
ok "and is in force" limit_is 80
kill -CONT $hold_pid
renewed() { # COOKIE: what it was
	claim_count_is 1 && [[ $(property 'Claims[0].Cookie') != "$1" ]] && limit_is 80
}
ok "its owner may make it anew: then it is renewed" eventually renewed "$cookie"
cookie=$(property 'Claims[0].Cookie')
ok "the log tells it" grep -q "ended: renewed by a new claim" "$tmp/daemon.log"
kill -STOP $hold_pid
stop_daemon KILL
sleeper=$(pgrep -P $hold_pid)
kill -KILL $hold_pid $sleeper
wait $hold_pid 2>/dev/null
start_daemon
ok "when its owner is gone it is kept for a while" claim_is "$cookie" true
ok "and in force" limit_is 80
ok "and it is told when it ends" jq -en "$(property 'Claims[0].ExpiresIn') <= 30"
ok "the table tells it" grep -q " orphaned$" <(ctl list --claims)
ok "the log too" grep -q "Claim $cookie by storpowerctl .*unless it is renewed" "$tmp/daemon.log"
ctl_background monitor >"$tmp/monitor"
monitor=$!
ok "somebody listens" eventually grep -q "drawing " "$tmp/monitor"
held 75% -- sleep 60
ok "a claim of the same source renews it" eventually limit_is 75
ok "so that it stands alone" claim_count_is 1
ok "which is told with both cookies" \
	eventually grep -q "claim $cookie is replaced by claim $(property 'Claims[0].Cookie')" "$tmp/monitor"
ok "and the end of the old one is told" eventually grep -q "claim $cookie ended.*renewed" "$tmp/monitor"
kill -TERM $monitor $hold_pid
wait $monitor $hold_pid
ok "the renewed one ends with its owner" eventually claim_count_is 0

held 80% -- sleep 60 2>"$tmp/hold"
ok "a claim is held" eventually claim_count_is 1
cookie=$(property 'Claims[0].Cookie')
kill -STOP $hold_pid
stop_bus
start_bus
start_daemon
ok "a held claim survives a restart of the bus for a while" claim_is "$cookie" true
kill -CONT $hold_pid
ok "and hold renews it there" eventually renewed "$cookie"
ok "as the new bus knows it" claim_is "$(property 'Claims[0].Cookie')" false
ok "it has said that the bus was gone" grep -q "The bus has gone: nothing is limited until" "$tmp/hold"
ok "and that it is back" grep -q "storpowerd is back: limited again" "$tmp/hold"
kill -TERM $hold_pid
wait $hold_pid
is "its status is the command's all the same" $? 143
ok "the claim ends with the command" eventually claim_count_is 0
as_long_as() { # FILE: a command that ends with it, with status 3
	cat <<-END
		while test -e "$1"; do sleep 0.1; done; exit 3
	END
}
touch "$tmp/runs"
held 80% -- sh -c "$(as_long_as "$tmp/runs")" 2>"$tmp/hold"
ok "a claim is held" eventually claim_count_is 1
stop_bus
ok "hold says that the bus is gone" eventually grep -q "The bus has gone" "$tmp/hold"
ok "and lets the command run on" kill -0 $hold_pid
rm "$tmp/runs"
wait $hold_pid
is "it ends with 125 when it was not limited again" $? 125
ok "and says what the command ended with" grep -q "not in force when the command ended, with status 3" "$tmp/hold"
start_bus
start_daemon
status "clear --all ends an orphan" 0 ctl clear --all
ok "at once" claim_count_is 0
touch "$tmp/runs"
held 80% -- sh -c "$(as_long_as "$tmp/runs")" 2>"$tmp/hold"
ok "a claim is held" eventually claim_count_is 1
stop_daemon TERM
ok "hold says that the daemon is gone" eventually grep -q "storpowerd has gone" "$tmp/hold"
rm "$tmp/runs"
wait $hold_pid
is "it ends with 125 as well" $? 125
start_daemon
ok "the claim of a hold that has ended is kept" claim_count_is 1
status "until it is cleared" 0 ctl clear --all
touch "$tmp/runs"
held 80% --for=1s -- sh -c "$(as_long_as "$tmp/runs")" 2>"$tmp/hold"
ok "a claim is held for a while" eventually claim_count_is 1
ok "it ends before the command" eventually claim_count_is 0
rm "$tmp/runs"
wait $hold_pid
is "as it was to: the status is the command's" $? 3
ok "and nothing is said" test ! -s "$tmp/hold"

status "a standing claim" 0 ctl_set 90% --reason "to stay"
cookie=$(property 'Claims[0].Cookie')
held 80% -- sleep 60
ok "and a held one" eventually claim_count_is 2
stop_daemon KILL
status "without a daemon: 3" 3 ctl status
ok "and what to do about it" grep -q "systemctl start storpowerd" "$tmp/err"
start_daemon
is "the standing claim survives kill -9 and restart" \
	"$(property "Claims[] | select(.Cookie == $cookie) | .Reason" | head -n 1)" '"to stay"'
ok "hold claims again when the daemon is back" eventually limit_is 80
kill -TERM $hold_pid
wait $hold_pid
ok "and ends it with the command" eventually limit_is 90
stop_daemon TERM
is "the daemon ends well" "$daemon_status" 0
start_daemon
ok "the claim survives an orderly restart" limit_is 90
status "clear" 0 ctl clear
ok "the end: nothing is limited" unlimited
as_found() {
	[[ $(ctl list --json=short | jq -c 'map(.Setting) | unique') == '["as found"]' ]]
}
# a queue is not stopped twice a second
ok "every device is as found" eventually as_found
done_testing
