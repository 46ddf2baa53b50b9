#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# While power fails what hangs on it is limited: a UPS behind a real upsd with its dummy driver, supplies and
# alarms in a folder that stands for /sys.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/signal.sh"
. "$(dirname "$0")/nut.sh"
signal=power conf=$tmp/signals/power.conf

status "the shipped example is right" 0 example_is_right
printf '[ups a@ups.example]\nlimit = 40%%\n' >"$conf"
status "a host that would have to be looked up is refused" 1 "$build/storpower-signal-power" --check-config --config="$conf"
ok "... with file and line and what would be right" grep -q "power.conf:1: \[ups a@ups.example\]: expected UPS\[@HOST" "$tmp/err"
ok "each option of the help is in the manual, and the reverse" options_agree
ok "each key and section is in the manual" keys_are_told

# --- a UPS, a supply, an alarm
mkdir "$tmp/sys"
put() { # FILE VALUE: below the folder that stands for /sys
	mkdir -p "$tmp/sys/${1%/*}"
	echo "$2" >"$tmp/sys/$1"
}
put class/power_supply/ADP1/online 1
put class/hwmon/hwmon0/name pmbus
put class/hwmon/hwmon0/in1_alarm 0

start_bus
start_daemon
device=$(ctl list --json=short | jq -r '.[0].Name')
cat >"$conf" <<-END
	[power]
	poll = 100ms
	back_for = 1s
	lost_after = 2s
	[ups dummy@127.0.0.1:$ups_port]
	limit = 50%
	[supply ADP1]
	limit = 60%
	rails = left
	[alarm psu2]
	chip = pmbus
	limit = 5W
	rails = left
	[rail left]
	devices = $device
END
claim() { # LIMIT FIELD
	property "Claims | map(select(.Limit == $1).$2)[0]"
}
ups_says OL
start_driver
start_upsd
ok "upsd is there" eventually upsd_answers '"OL"'
start_signal --sysfs="$tmp/sys"

ups_says "OB DISCHRG"
ok "a UPS goes on battery, and the node is limited" eventually limits_are '[50]'
is "by a claim of class emergency" "$(claim 50 Class)" '"emergency"'
is "which says why" "$(claim 50 Reason)" "\"UPS dummy@127.0.0.1:$ups_port is on battery (OB DISCHRG)\""
is "and ends with its source" "$(claim 50 Standing)" false
cookie=$(claim 50 Cookie)
ups_says "OB LB"
ok "its battery gets low" eventually eval '[[ $(claim 50 Reason) == *"(OB LB)"* ]]'
is "the claim stays" "$(claim 50 Cookie)" "$cookie"
reload_signal
ok "the configuration is read anew" eventually grep -q "has been read anew" "$tmp/signal.log"
is "the claim stays all the same" "$(claim 50 Cookie)" "$cookie"
ups_says OL
ok "power is back, and the limit ends" eventually limits_are '[]'

put class/power_supply/ADP1/online 0
ok "a supply fails, and what hangs on its rail is limited" eventually limits_are '[60]'
is "a device alone" "$(claim 60 Scope)" '"device"'
is "that one" "$(claim 60 Target)" "\"$device\""
put class/hwmon/hwmon0/in1_alarm 1
ok "a power supply raises an alarm, too" eventually limits_are '[5,60]'
is "and it is said which, and on which rail" "$(claim 5 Reason)" '"alarm psu2 is raised (in1_alarm), rail left"'
put class/hwmon/hwmon0/in1_alarm 0
put class/power_supply/ADP1/online 1
ok "both are well again" eventually limits_are '[]'
put class/power_supply/ADP1/online 0
ok "the supply fails once more" eventually limits_are '[60]'
rm -r "$tmp/sys/class/power_supply/ADP1"
ok "one that is unplugged is not waited for" eventually limits_are '[]'
ok "which is told" grep -q "supply ADP1 has failed, and nothing is known of it any more" "$tmp/signal.log"

# what dies
ups_says OB
ok "the UPS is on battery again" eventually limits_are '[50]'
cookie=$(claim 50 Cookie)
stop_daemon KILL
start_daemon
ok "the daemon is killed, and the claim is the same" eventually limits_are '[50]'
is "... with its cookie" "$(claim 50 Cookie)" "$cookie"
kill_signal KILL
ok "the signal is killed, and leaves no limit behind" eventually limits_are '[]'
start_signal --sysfs="$tmp/sys"
ok "a new one finds the UPS on battery" eventually limits_are '[50]'
stop "$driver_pid"
ok "the driver dies, and is not waited for" eventually limits_are '[]'
ok "which is told" grep -q "upsd says ERR D.*: nothing is known of it" "$tmp/signal.log"
start_driver
ok "it is back" eventually limits_are '[50]'
stop "$upsd_pid"
upsd_pid=
ok "upsd dies, and is not waited for" eventually limits_are '[]'
ok "which is told once" test "$(grep -c "upsd cannot be asked: Connection refused" "$tmp/signal.log")" = 1
start_upsd
ok "it is back as well" eventually limits_are '[50]'
kill_signal TERM
is "the signal ends as told" "$signal_status" 0
ok "and so does the limit" eventually limits_are '[]'
ok "the daemon lives" daemon_lives
done_testing
