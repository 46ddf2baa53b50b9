#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A calendar's limits hold while its windows are open, and no longer than it lives.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/signal.sh"
export TZ=UTC
signal=calendar conf=$tmp/signals/calendar.conf

check() {
	"$build/storpower-signal-calendar" --check-config --config="$conf"
}
status "the shipped example is right" 0 "$build/storpower-signal-calendar" --check-config \
	--config="$root/packaging/signals/calendar.conf"
status "and so are its lines without their #" 0 example_is_right
status "a configuration that is not there is refused" 1 check
ok "... and it is said where an example is" grep -q "calendar.conf: there is no such file: an example is in /usr" "$tmp/err"
printf '[node]\nlimit = Mon..Fry 07:00..19:00 70%%\n' >"$conf"
status "a line that is wrong is refused" 1 check
ok "... with file and line and what would be right" \
	grep -q 'calendar.conf:2: limit: "Mon..Fry 07:00..19:00" is no span: weekdays are Mon, Tue' "$tmp/err"
status "what is no option is wrong usage" 2 "$build/storpower-signal-calendar" now
ok "each option of the help is in the manual, and the reverse" options_agree
ok "each key and section is in the manual" keys_are_told

start_bus
at() { # SECONDS from now
	date -d "+$1 seconds" +%T
}

# a signal does not start the daemon, and waits for it
printf '[node]\nlimit = 00:00..24:00 90%%\n' >"$conf"
start_signal
ok "without a daemon it says so, once" eventually grep -q "storpowerd does not answer: nothing is limited by calendar" "$tmp/signal.log"
start_daemon
ok "the daemon comes, and the limit is in force" eventually limits_are '[90]'
is "it is a claim of class schedule" "$(property 'Claims[0].Class')" '"schedule"'
is "of the calendar" "$(property 'Claims[0].Source')" '"calendar"'
is "which ends with it" "$(property 'Claims[0].Standing')" false
ok "and status says why" grep -q "90 % .*, by calendar: 00:00..24:00" <<<"$(ctl status | tr -s ' \n' ' ')"

# windows
device=$(ctl list --json=short | jq -r '.[0].Name')
cookie=$(property 'Claims[0].Cookie')
cat >"$conf" <<-END
	[node]
	limit = 00:00..24:00 90%
	limit = $(at 3)..$(at 6) 70%
	[device $device]
	limit = $(at -60)..$(at 8) 60%
END
reload_signal
ok "a reload brings a device's limit" eventually limits_are '[60,90]'
is "on that device" "$(property "Claims | map(select(.Limit == 60).Target)[0]")" "\"$device\""
is "and leaves the claim that stays" "$(property 'Claims | map(select(.Limit == 90).Cookie)[0]')" "$cookie"
ok "a window opens" eventually limits_are '[60,70,90]'
is "of those that are open the lowest is in force" "$(property 'Claims | map(select(.InForce and .Scope == "node").Limit)')" '[70]'
ok "it ends" eventually limits_are '[60,90]'
ok "the next as well" eventually limits_are '[90]'

# what is taken over from one configuration to the next
printf '[node]\nlimit = 00:00..24:00 80%%\n' >"$conf"
reload_signal
ok "another limit takes the place of the first" eventually limits_are '[80]'
printf '[node]\nlimit = 00:00..24:00 75%%\nlimit = 8\n' >"$conf"
reload_signal
ok "a mistake is told" eventually grep -q "calendar.conf:3: limit: expected a span and a limit" "$tmp/signal.log"
ok "and all stays as it was" eventually grep -q "The configuration stays as it was: Bad message" "$tmp/signal.log"
rm "$conf"
reload_signal
ok "so it does without a file" eventually grep -q "The configuration stays as it was: No such file" "$tmp/signal.log"
ok "the limit still holds" limits_are '[80]'

# what dies
cookie=$(property 'Claims[0].Cookie')
for signal_of_death in TERM KILL; do
	stop_daemon $signal_of_death
	start_daemon
	ok "the daemon dies of $signal_of_death, and the claim is the same" eventually limits_are '[80]'
	is "... with its cookie" "$(property 'Claims[0].Cookie')" "$cookie"
done
stop_daemon
rm -rf "$tmp/state"
start_daemon
ok "a daemon that has forgotten it is told again" eventually limits_are '[80]'
ctl clear "$(property 'Claims[0].Cookie')"
ok "an operator ends it" limits_are '[]'
printf '[node]\nlimit = 00:00..24:00 75%%\n' >"$conf"
reload_signal
ok "until something else is wanted" eventually limits_are '[75]'
stop_bus
start_bus
start_daemon
ok "the bus dies, and the limit is back with it" eventually limits_are '[75]'
kill_signal KILL
ok "the calendar is killed, and leaves no limit behind" eventually limits_are '[]'
start_signal
ok "a new one limits again" eventually limits_are '[75]'
kill_signal TERM
is "it ends as told" "$signal_status" 0
ok "and so does the limit" eventually limits_are '[]'
ok "the daemon lives" daemon_lives
done_testing
