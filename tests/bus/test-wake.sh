#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# limit: 600
#
# Disks that sleep: what they cost, who wakes them, and that nothing but asking does.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rest-node.sh"

write_rest_node idle
sed 's/standby_z/idle_b/' "$tmp/etc/policies/sleepy.policy" >"$tmp/etc/policies/sleepless.policy"
# shellcheck disable=SC2034 # for lib.sh
what=(--simulate="$node" --no-bpf)

device() { # NAME FILTER: of its properties, as JSON
	ctl show "$1" --json=short | jq -c "$2"
}
asleep() { # NAME...
	local name
	for name in "$@"; do
		[[ $(device "$name" '[.Asleep, .Changing]') == '[true,false]' ]] || return 1
	done
}
awake() { # NAME...
	local name
	for name in "$@"; do
		[[ $(device "$name" '[.Asleep, .Changing]') == '[false,false]' ]] || return 1
	done
}
stays_awake() { # NAME
	ctl show "$1" | grep "^ Stays awake  ."
}
wakeups() { # FILTER
	ctl list --wakeups --json=short | jq -c "$1"
}
tests_wake() { # NAME
	ctl wake-test "$1" --json=short
}
under_way() { # a wake test is: another is refused for that reason, before all others
	call WakeTest "$flash" | grep "Error.Refused: Another wake test"
}

start_bus
start_daemon
mapfile -t disks < <(ctl list --json=short | jq -r '.[] | select(.Kind == "hdd") | .Name')
a=${disks[0]} b=${disks[1]}
flash=$(ctl list --json=short | jq -r '.[] | select(.Kind == "nvme") | .Name')

is "a new account is full" "$(device "$a" '[.StartsLeft == .StartsPerDay, .LoadsLeft == .LoadsPerDay, .StartsUsed]')" '[true,true,0]'
is "ten starts a day, when nobody says otherwise" "$(device "$a" .StartsPerDay)" 10
status "show" 0 ctl show "$a"
ok "tells the wear of a disk" \
	grep -qx "        Wear  10 of 10 start/stop cycles left today, [0-9.]* of [0-9.]* load/unload; 0 used" "$tmp/out"
status "show of a drive that cannot wear out that way" 0 ctl show "$flash"
ok "tells none" bash -c "! grep -q '^ *Wear ' '$tmp/out'"
is "no cache lies above: its room and its misses have no number" \
	"$(device "$a" '[.CacheDirty, .CacheRoom, .CacheMisses, .Redirect]')" '[0,null,null,"as found"]'
is "nobody has woken" "$(wakeups .)" '[]'

ctl set 9W >"$tmp/out" 2>&1 # degraded until they sleep
ok "a budget that only sleep can hold puts the disks to sleep" eventually asleep "$a" "$b"
is "each has used a start" "$(device "$a" '[.StartsUsed, (.StartsLeft | round)]')" '[1,9]'
is "a disk that sleeps has no reason to be awake" "$(device "$a" .AwakeReason)" '""'
status "clear" 0 ctl clear
status "wake" 0 ctl wake "/dev/$a"
ok "wakes that disk" eventually awake "$a"
ok "and no other: a budget given back wakes nothing" asleep "$b"
is "who asked is told" "$(wakeups 'map([.Device, .Why, .Cgroup, .Process, .Pid, .Kind, .Bytes])')" \
	"[[\"$a\",\"asked for\",\"\",\"\",0,\"\",0]]"
ok "and when" jq -en "($(wakeups '.[0].TimeUSec') / 1e6 - now | fabs) < 3600"
status "list --wakeups" 0 ctl list --wakeups
ok "is a table" grep -Eq "^TIME +DEVICE +WHY +CGROUP +PROCESS +WHAT$" "$tmp/out"
ok "with a line for each" grep -Eq "^2.* $a +asked for +- +- +-$" "$tmp/out"
ok "explain tells it too" grep -q "asked for" <(ctl explain "$a")

ctl set 9W >"$tmp/out" 2>&1
ok "the same budget puts both to sleep again" eventually asleep "$a" "$b"
status "clear --wake" 0 ctl clear --wake
ok "ends the claims" claim_count_is 0
ok "and wakes all" eventually awake "$a" "$b"
is "each was noted" "$(wakeups 'map(.Device) | sort')" "[\"$a\",\"$a\",\"$b\"]"
status "wake --all, when nothing sleeps" 0 ctl wake --all

starts=$(device "$a" .StartsUsed)
status "wake-test" 0 ctl wake-test "$a"
ok "says first what it costs" grep -q "start/stop cycles, takes up to two minutes" "$tmp/out"
ok "and then what came of it" grep -q "^$a: ." "$tmp/out"
ok "the disk is awake again" eventually awake "$a"
is "it was charged" "$(device "$a" .StartsUsed)" $((starts + 1))
ok "wake-test --json" jq -e ".Device == \"$a\" and .Seconds >= 0 and (.Text | length) > 0" \
	<(ctl wake-test "$a" --json)
status "of a drive without standby it is refused" 4 ctl wake-test "$flash"
ok "with the reason" grep -q "WakeTest: ." "$tmp/err"

ctl_background wake-test "$a" >"$tmp/test" 2>&1
test=$!
ok "one wake test at a time" eventually under_way
kill -KILL $test
{ wait $test; } 2>/dev/null
ok "one that nobody waits for any more ends by itself" eventually tests_wake "$b"
starts=$(device "$a" .StartsUsed)
ctl_background wake-test "$a" >"$tmp/test" 2>&1
test=$!
ok "a wake test is under way" eventually under_way
stop_daemon TERM
wait $test
is "whoever waits is told when the daemon ends meanwhile" $? 3
is "which ends well" "$daemon_status" 0
start_daemon
ok "the account survives the daemon" jq -en "$(device "$a" .StartsUsed) >= $starts"
stop_daemon KILL
start_daemon
ok "and a kill" jq -en "$(device "$a" .StartsUsed) >= $starts"
stop_daemon TERM
printf '[storpower]\ncycles_a_day = 0\n' >"$tmp/etc/storpower.conf"
start_daemon
starts=$(device "$a" .StartsUsed)
ctl set 9W >"$tmp/out" 2>&1
ok "without a start left a disk rests" eventually asleep "$a"
is "no deeper than it may, and none is charged" "$(device "$a" '[.Condition, .StartsUsed]')" \
	"[\"idle_c\",$starts]"
ok "and nothing is left of its account" grep -q "^ *Wear  0 of 0 start/stop" <(ctl show "$a")
status "a policy under which none sleeps" 0 ctl policy sleepless
ctl clear --wake >"$tmp/out"
ok "keeps it awake" eventually awake "$a"
ctl set 9W >"$tmp/out" 2>&1
ok "whatever the budget, and show says why" eventually stays_awake "$a"
ok "but not of what never sleeps" bash -c "! grep -q 'Stays awake' <<<'$(ctl show "$flash")'"
ok "the daemon lives" daemon_lives
done_testing
