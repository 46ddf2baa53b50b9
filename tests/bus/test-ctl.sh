#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Every verb of storpowerctl, its exit status, its tables and its JSON.
. "$(dirname "$0")/lib.sh"

status "--help" 0 ctl --help
ok "documents the exit status" grep -q "^Exit status:" "$tmp/out"
ok "fits 80 columns" test "$(wc -L <"$tmp/out")" -le 80
for verb in status set clear list show top plan explain verify doctor monitor hold wake wake-test \
	policy model calibrate carbon efficiency metrics version help; do
	ok "--help knows $verb" grep -q "^  $verb " "$tmp/out"
done
status "--version needs no daemon" 0 ctl --version
status "without a bus: 3" 3 ctl status

# Whatever --help says takes an option does, and nothing else. -o has a line for each of its meanings.
ctl help --json >"$tmp/verbs"
mapfile -t verbs < <(jq -r '.[].Verb' "$tmp/verbs")
told_options() { # VERB
	ctl help "$1" | sed -n '/^  -/p' | grep -o -- '--[a-z-]*' | grep -v -x -- '--output' | sort -u | xargs
}
taken_options() { # VERB
	jq -r --arg v "$1" '.[] | select(.Verb == $v).Options[] | select(. != "output") | "--" + .' "$tmp/verbs" | sort -u | xargs
}
is "--help has every verb" "$(ctl --help | sed -n '/^  status/,/^  help/s/^  \([a-z-]*\) .*/\1/p' | sort -u | xargs)" \
	"$(printf '%s\n' "${verbs[@]}" | sort | xargs)"
for verb in "${verbs[@]}"; do
	is "help $verb tells of the options that $verb takes" "$(told_options "$verb")" "$(taken_options "$verb")"
done
is "--help has every option" "$(ctl --help | sed -n '/^Exit/q; /^  -/p' | grep -o -- '--[a-z][a-z-]*' | sort -u | xargs)" \
	"$(jq -r '.[].Options[] | "--" + .' "$tmp/verbs" | sort -u | xargs)"
is "VERB --help is the same as help VERB" "$(ctl plan --help)" "$(ctl help plan)"
is "help is --help" "$(ctl help)" "$(ctl --help)"
status "help of no verb is wrong usage" 2 ctl help stauts
ok "and suggests one" grep -q 'did you mean status?$' "$tmp/err"
status "and so is help of two" 2 ctl help list plan

# meant ARGUMENTS WORDS: what is said to somebody whose fingers have slipped
meant() {
	ok "$1: $2" grep -qF -- "$2" <(ctl $1 2>&1)
}
meant stauts 'Unknown verb "stauts": did you mean status?'
meant lits 'did you mean list?'
meant stat 'did you mean status?'
ok "but not where nothing is near" grep -q 'Unknown verb "frobnicate": see storpowerctl --help$' <(ctl frobnicate 2>&1)
meant "model shw" "did you mean model show?"
meant "set 80% --reson=x" "Unknown option --reson: did you mean --reason?"
meant "set 80% --cla=x" "--cla can be more than one option"
meant "set -5W" '"-5W" begins with "-", as options do, and no number here is below 0'
meant "plan -0.5kW" "would be right"
meant "set 80% --for" "--for wants a value"
meant "set 80% --all=1" "--all takes no value"
meant "list -x" "Unknown option -x"
for wrong in stauts "set -5W" "set 80% --reson=x" "set 80% --for" "list -x" "help help help"; do
	status "which is wrong usage: $wrong" 2 ctl $wrong
done

start_bus
status "without a daemon: 3" 3 ctl status
ok "says what to do" grep -q "systemctl start storpowerd, or name its bus with --bus=" "$tmp/err"
start_daemon
device=$(ctl list --json=short | jq -r '.[0].Name')

for wrong in "set" "set 80" "set -- -1W" "set 101%" "set nan%" "set 1e99W" "set 80% --for=soon" \
	"set 80% --for=0s" "set 80% --device=a --group=b" \
	"set 80% --replace --start-in=1h" "hold 80% --replace -- true" "plan" "plan 80" "plan 80% --device=a --group=b" "frob" "show" "plan 80 x" \
	"list --for=2h" "status --frob" "status a b" "hold 80%" "clear x" "clear 1 --all" \
	"status --json=xml" "top --lines=0" "top --lines=x" "top sda" "list --once" "list -o narrow" "status -o wide" \
	"list --claims --wakeups" "list --wake" "set 80% --wake" "wake" "wake sda --all" "wake-test"; do
	status "wrong usage is 2: $wrong" 2 ctl $wrong
	ok "and says so" test -s "$tmp/err"
done
ok "a bare number is told what would be right" grep -q "80%, or a power such as 350W" <(ctl set 80 2>&1)
for refusal in "set 80% --class=urgent" "set 80% --device=nosuch" "set 80% --group=nosuch" \
	"plan 80% --policy=nosuch" "plan 80% --device=nosuch" "plan 80% --group=nosuch" "set 80% --dry-run --device=nosuch" "plan 80% --only=magic" "show nosuch" "explain nosuch" \
	"clear 424242" "policy nosuch" "wake nosuch" "wake-test nosuch"; do
	status "refusal is 4: $refusal" 4 ctl $refusal
	ok "and says why" test -s "$tmp/err"
done
ok "none of this made a claim" claim_count_is 0

status "status" 0 ctl
ok "shows the budget" grep -q "^ *Limit  none$" "$tmp/out"
status "set" 0 ctl set 90% --reason "to look at"
status "status" 0 ctl status
ok "shows the limit and whose it is" grep -q "Limit  90 % (.* W) until cleared, by storpowerctl.*to look at" "$tmp/out"
ok "says whether it is held" grep -q "Held  \(yes, for\|not yet\)" "$tmp/out"
ok "says what it costs" grep -q "Costs  .* MB/s are served, " "$tmp/out"
is "says how to undo it" "$(sed -n 's/^ *Undo  //p' "$tmp/out")" "storpowerctl clear $(property 'Claims[0].Cookie')"
ok "says that the node is simulated" grep -qF "Simulated  by $node: " "$tmp/out"
ok "writes no escape codes to a file" bash -c "! grep -q $'\033' '$tmp/out'"
status "list" 0 ctl list
ok "fits 80 columns" test "$(wc -L <"$tmp/out")" -le 80
ok "has a header" grep -q "^DEVICE .*AT MOST .*DRAWS .*SETTING" "$tmp/out"
status "status DEVICE" 0 ctl status "$device"
ok "is of that device" grep -q "^ *Device  $device, " "$tmp/out"
ok "and tells the limit that holds it" grep -q "^ *Limit  90 % .* until cleared, by storpowerctl" "$tmp/out"
ok "what it draws" grep -Eq "^ *Draws  .* W, (measured|modelled); at most .* W as" "$tmp/out"
ok "and serves" grep -q "^ *Costs  " "$tmp/out"
ok "and how to undo it" grep -q "^ *Undo  storpowerctl clear [0-9]*$" "$tmp/out"
ok "and does not compare it with itself" bash -c "! grep -q 'The worst is' '$tmp/out'"
ok "within 80 columns" test "$(wc -L <"$tmp/out")" -le 80
is "in JSON it is the device" "$(ctl status "$device" --json | jq -r .Name)" "$device"
status "list --group" 0 ctl list --group="$(ctl list --json=short | jq -r '.[0].Group')" --json=short
is "lists those of the group alone" "$(jq -r 'map(.Group) | unique | join(" ")' "$tmp/out")" "$(ctl list --json=short | jq -r '.[0].Group')"
status "list of no group is refused" 4 ctl list --group=nosuch
status "list --group --claims is wrong usage" 2 ctl list --group=x --claims
meant "status nmve0" 'Did you mean "nvme0"?'
meant "show nmve0" 'Did you mean "nvme0"?'
meant "explain nmve0" 'Did you mean "nvme0"?'
meant "plan 80% --device=nmve0" 'Did you mean "nvme0"?'
meant "plan 80% --group=flsh" 'Did you mean "flash"?'
meant "list --group=fla" 'Did you mean "flash"?'
ok "another disk is no slip of the fingers" bash -c "! '$build/storpowerctl' status sdz 2>&1 | grep -q 'Did you mean'"
mkdir -p "$tmp/files/etc/storpower/policies" && touch "$tmp/files/etc/storpower/policies/latency.policy"
ok "a policy is meant" grep -q 'Did you mean "latency"?' <(STORPOWER_ROOT=$tmp/files ctl plan 80% --policy=latncy 2>&1)
for limit in "350 W" "0.35 kW" 350w "350 w" 0.35kw; do
	is "a limit may be typed as $limit" "$(ctl plan $limit --json | jq .Budget)" 350
done
is "and a share with a blank" "$(ctl plan 80 % --json | jq .Budget)" "$(ctl plan 80% --json | jq .Budget)"
for time in 2hours "2 hours" 120min "1h 60 minutes"; do
	is "a time may be typed as $time" "$(ctl set 100% --for="$time" --json | jq '.Cookie as $c | .Claims[] | select(.Cookie == $c).ExpiresIn / 60 | round')" 120
	ctl clear "$(property 'Claims | max_by(.Cookie).Cookie')" >/dev/null
done

escapes() { # VARIABLE...: how many lines of a list at a terminal have them
	env TERM=xterm "$@" script -qec "'$build/storpowerctl' --no-pager list" /dev/null | grep -c $'\033'
}
is "at a terminal the header is bold" "$(escapes)" 1
is "not with NO_COLOR" "$(escapes NO_COLOR=1)" 0
is "nor on a dumb terminal" "$(escapes TERM=dumb)" 0
is "an empty NO_COLOR is none" "$(escapes NO_COLOR=)" 1
status "list -o wide" 0 ctl list -o wide
ok "shows each device" grep -q "^$device " "$tmp/out"
ok "has a header" grep -q "^DEVICE .*SETTING .*EXACTNESS .*REASON" "$tmp/out"
status "list -o wide --no-legend" 0 ctl list -o wide --no-legend
ok "has none" bash -c "! grep -q ^DEVICE '$tmp/out'"
status "list --claims" 0 ctl list --claims
ok "shows the reason" grep -q "to look at" "$tmp/out"
status "show" 0 ctl show "$device"
ok "shows the knobs" grep -q "^KNOB .*STATE" "$tmp/out"
held=$(ctl list --json=short | jq -r '[.[] | select(.Knobs | any(.Wanted != ""))][0].Name')
ok "and what a held knob was found at" grep -q "^  originally  " <(ctl show "$held")
status "show /dev/NAME" 0 ctl show "/dev/$device"
status "top, where there is no terminal" 0 ctl top
ok "shows each device once, with watts" test "$(grep -c " (all) .* W " "$tmp/out")" = "$(ctl list -o wide --no-legend | wc -l)"
ok "sums up" grep -q " W by IO, .* W idle; .* MB/s$" "$tmp/out"
status "top --lines" 0 ctl top --once --lines=1 --no-legend
is "prints no more" "$(wc -l <"$tmp/out")" 1
status "top --json" 0 ctl top --json=short
ok "has the greatest spender first" jq -e '.[0].IOPower == (map(.IOPower) | max) and .[0].WholeDevice' "$tmp/out"
status "plan" 0 ctl plan 70%
ok "sums up" grep -q "^Throughput .* lost$" "$tmp/out"
status "plan in watts" 0 ctl plan 0.01kW
status "plan with depth and chunk alone" 0 ctl plan 80% --only=depth,chunk --json=short
is "uses nothing else" "$(jq '[.Devices[] | select(.PowerState != -1 or .Pace != 0 or .Condition != "active")] | length' "$tmp/out")" 0
status "plan without pacing" 0 ctl plan 80% --forbid=pacing --json=short
is "does not pace" "$(jq '[.Devices[] | select(.Pace != 0)] | length' "$tmp/out")" 0
is "a plan is not a claim" "$(property 'Claims|length')" 1
status "explain" 0 ctl explain
ok "shows decisions" grep -q "^TIME .*DECISION, AND WHY" "$tmp/out"
ok "says what a watt more would bring" grep -q "^A watt more would bring " "$tmp/out"
status "explain DEVICE" 0 ctl explain "$device"
status "explain /dev/DEVICE" 0 ctl explain "/dev/$device"
ok "shows the reason" grep -q "^$device " "$tmp/out"
status "verify: all as set" 0 ctl verify
ok "counts" grep -q "values read back, 0 differ" "$tmp/out"
status "policy" 0 ctl policy
is "tells that it is the configured one" "$(<"$tmp/out")" "balanced (configured)"
status "policy NAME" 0 ctl policy throughput
ok "changes it, and tells who did so and when" grep -qE \
	"^throughput \(chosen by storpowerctl \((root|uid [0-9]+)\) at 20[-0-9]+ [:0-9]+; balanced is configured\)$" \
	<(ctl policy)
status "and back" 0 ctl policy balanced
status "version" 0 ctl version
ok "tells both" grep -q "^storpowerd " "$tmp/out"
ok "Reload succeeds" grep -q "()" <(call Reload)

for verb in status list "list --claims" "list --wakeups" "show $device" "plan 70%" explain verify policy version; do
	ok "$verb --json is JSON" jq -e . <(ctl $verb --json)
	is "$verb --json=short is one line" "$(ctl $verb --json=short | wc -l)" 1
done
ok "set --json tells the cookie" jq -e '.Cookie > 0' <(ctl set 90% --json)
is "powers that are not there are null" "$(ctl clear >/dev/null; property EffectiveLimit)" null

status "a budget below the floor: in force, and 6" 6 ctl set 0.001W
ok "says by how much" eval 'tr -s "\n " " " <"$tmp/err" | grep -q "Degraded: no settings .* W are missing"'
is "Degraded" "$(property Degraded)" true
ok "the shortfall is told" jq -en "$(property Shortfall) > 0"
status "clear" 0 ctl clear

# asked at a terminal
at_terminal() { # ANSWER ARGUMENT...
	local answer=$1
	shift
	echo "$answer" | script -qec "'$build/storpowerctl' --no-pager $*" /dev/null
}
status "set --dry-run" 0 ctl set 70% --dry-run
ok "says what it would cost" grep -q "^Predicted: .* MB/s served, .* lost; about .* drawn$" "$tmp/out"
ok "set --dry-run --json is the plan" jq -e '.Devices[0].Floor >= 0' <(ctl set 70% --dry-run --json)
status "set --dry-run of one device" 0 ctl set 70% --dry-run --device="$device"
ok "says what it would cost that device" grep -q "^Predicted for $device: .* MB/s served, .* lost; about .* drawn$" "$tmp/out"
is "of which alone the plan is" "$(ctl set 70% --dry-run --json --device="$device" | jq -c '[.Devices[].Name]')" "[\"$device\"]"
group=$(ctl list --json=short | jq -r '[.[].Group | select(. != "")][0]')
status "set --dry-run of a group" 0 ctl set 70% --dry-run --group="$group"
ok "says what it would cost the group" grep -q "^Predicted for group $group: " "$tmp/out"
is "of whose devices the plan is" "$(ctl plan 70% --json --group="$group" | jq -c '[.Devices[].Name] | sort')" \
	"$(ctl list --json | jq -c --arg g "$group" '[.[] | select(.Group == $g) | .Name] | sort')"
is "and whose sums these are" "$(ctl plan 70% --json --group="$group" | jq '(.CapPower - ([.Devices[].CapPower] | add)) * 1000 | round')" 0
ok "within the limit" jq -en "$(ctl plan 70% --json --group="$group" | jq .CapPower) <= $(ctl plan 70% --json --group="$group" | jq .Budget) + 0.001"
ok "none of this made a claim" claim_count_is 0
status "where much is lost it asks at a terminal: no" 4 at_terminal n set 45%
ok "names those below their floor" grep -q "^Below \(its\|their\) floor: " "$tmp/out"
ok "asks" grep -q "Set this limit? \[y/N\] " "$tmp/out"
ok "and changes nothing" claim_count_is 0
at_terminal y set 45% >"$tmp/out"
ok "yes sets it" claim_count_is 1
ctl clear >/dev/null
at_terminal n set 45% --yes >"$tmp/out"
ok "--yes does not ask" bash -c "! grep -q 'Set this limit' '$tmp/out'"
ok "and sets it" claim_count_is 1
ctl clear >/dev/null
status "8 % for 80 % is asked for: no" 4 at_terminal n set 8%
ok "8 % changes nothing" claim_count_is 0
status "so it is for a group: no" 4 at_terminal n set 8% --group="$group"
ok "asks about the group" grep -q "Set this limit? \[y/N\] " "$tmp/out"
ok "names what it costs the group" grep -q "^Predicted for group $group: " "$tmp/out"
ok "and does not limit it" claim_count_is 0
status "and for a device: no" 4 at_terminal n set 8% --device="$device"
ok "asks about the device" grep -q "Set this limit? \[y/N\] " "$tmp/out"
ok "and does not limit it" claim_count_is 0
at_terminal y set 8% --device="$device" >"$tmp/out"
ok "yes limits the device" claim_count_is 1
is "alone" "$(property 'Claims[0].Target')" "\"$device\""
ctl clear >/dev/null
at_terminal n set 95% >"$tmp/out"
ok "little is not asked for" claim_count_is 1
ctl clear >/dev/null
at_terminal n set 45% --class=emergency >"$tmp/out"
ok "nor is an emergency" claim_count_is 1
ok "which nothing is foretold of" bash -c "! grep -q Predicted '$tmp/out'"
ctl clear >/dev/null
ctl set 45% >"$tmp/out" </dev/null
ok "without a terminal nothing is asked" claim_count_is 1
ok "but foretold" grep -q "^Predicted: " "$tmp/out"
ctl clear >/dev/null

ctl_background monitor >"$tmp/monitor" 2>&1
monitor=$!
ctl_background monitor --json >"$tmp/monitor.json" 2>&1
json_monitor=$!
ok "monitor looks at the watts" eventually grep -q "drawing " "$tmp/monitor"
ok "monitor --json too" eventually test -s "$tmp/monitor.json"
ctl set 90% --reason "watch this" >/dev/null
ok "monitor tells of a claim" eventually grep -q "claim [0-9]*: node.*watch this" "$tmp/monitor"
ok "monitor tells of the plan" eventually grep -q "plan: at most" "$tmp/monitor"
ctl clear >/dev/null
ok "monitor tells of a claim's end" eventually grep -q "claim [0-9]* ended" "$tmp/monitor"
kill -TERM $monitor $json_monitor
wait $monitor
is "monitor ends well when stopped" $? 0
wait $json_monitor
ok "every line of monitor --json is JSON" jq -e .Event "$tmp/monitor.json"
ok "the daemon lives" daemon_lives

ctl_background monitor >"$tmp/monitor" 2>&1
monitor=$!
ok "monitor runs" eventually grep -q "drawing " "$tmp/monitor"
kill $bus_pid
wait $monitor
is "monitor ends with 3 when the bus goes away" $? 3
wait $daemon_pid
is "and the daemon ends with a failure, to be started again" $? 1
bus_pid='' daemon_pid=''

# a daemon that does not answer what a limit would cost
bus_limits='<policy context="mandatory"><deny send_interface="org.storpower1.Manager" send_member="Plan"/></policy>'
start_bus
start_daemon
status "where the cost is not known it asks: no" 4 at_terminal n set 95%
ok "says why it is not known" grep -q "What this limit costs is not known beforehand: " "$tmp/out"
ok "asks" grep -q "Set this limit? \[y/N\] " "$tmp/out"
ok "and changes nothing" claim_count_is 0
at_terminal n set 95% --yes >"$tmp/out"
ok "--yes sets it unasked" claim_count_is 1
ok "and says that the cost is not known" grep -q "is not known beforehand" "$tmp/out"
ctl clear >/dev/null
at_terminal y set 95% >"$tmp/out"
ok "yes sets it" claim_count_is 1
ctl clear >/dev/null
done_testing
