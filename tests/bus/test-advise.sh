#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Observe first: in mode advise limits are planned for and shown, and nothing is set.
. "$(dirname "$0")/lib.sh"

all_as_found() {
	ctl list --json=short | jq -e 'length > 0 and all(.Setting == "as found")'
}

any_set() {
	ctl list --json=short | jq -e 'any(.Setting != "as found")'
}

advised() { # FILTER of the property Advice
	property Advice | jq -e "$1"
}

journal_is_empty() {
	[[ ! -s $tmp/state/journal ]]
}

said() { # TEXT COMMAND...: the command's output has the text
	local text=$1
	shift
	"$@" | grep -F -- "$text"
}

start_bus
start_daemon
ok "the mode is to enforce" said enforce ctl mode
ok "an unknown mode is refused" refused InvalidOption SetMode observe
ok "nothing is advised then" advised '. == {}'

ok "a limit is held" ctl set 70%
ok "and something is set for it" eventually any_set
gdbus monitor --session --dest org.storpower1 --object-path /org/storpower1 >"$tmp/signals" &
monitor=$!
eventually grep -q 'is owned by' "$tmp/signals"
ok "the mode becomes to advise" ctl mode advise
ok "which is told" said advise ctl mode
ok "and announced" eventually grep -q "'Mode': <'advise'>" "$tmp/signals"
ok "with the claims, of which none is in force any more" eventually grep -q "'InForce': <false>" "$tmp/signals"
kill "$monitor"
wait "$monitor" 2>/dev/null
ok "everything is given back" eventually all_as_found
ok "the journal is empty" eventually journal_is_empty
ok "the claim stays" claim_count_is 1
ok "nothing is enforced" property_is Enforcing false
ok "no claim is in force" property_is 'Claims[0].InForce' false
ok "nothing is degraded" property_is Degraded false
ok "what would be done is counted" eventually advised '.Devices > 0 and .Changes > 0 and .CapPower <= .Limit'
ok "and what it would save" eventually advised '.Seconds > 0 and .SavedPower >= .LeastSavedPower and .MeanSavedPower != null'
ok "status says that the limit is not held" said "advised, not held" ctl status
ok "status says what would be done" said "devices would be set" ctl status
ok "list says what would be set" said "advised, not set: " ctl list
ok "show says it of one device" said "Advised" ctl show nvme0
ok "explain says why" said "advised, not set: " ctl explain nvme0
ok "and what was decided" said "advised, not done: " ctl explain
ok "a new limit is advised alone" said "limits are only advised" ctl set 65%
ok "hold runs its command and holds nothing" ctl hold 60% -- true
ok "nothing has been set for them" all_as_found
ok "no disk is tested" refused Refused WakeTest sda
ok "limits are held again" ctl mode enforce
ok "at once" eventually any_set
ok "nothing is advised any more" advised '. == {}'
ok "the claims are in force" eventually property_is 'Enforcing' true

ctl mode advise >/dev/null
stop_daemon
start_daemon
ok "the mode lasts until the daemon restarts" said enforce ctl mode
ok "and what was claimed is held then" eventually any_set
stop_daemon
printf '[storpower]\nmode = advise\n' >"$tmp/etc/storpower.conf"
start_daemon
ok "the configuration chooses the mode" said advise ctl mode
ok "the claims are there" claim_count_is 2
ok "and nothing is set for them" all_as_found
done_testing
