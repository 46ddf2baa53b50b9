#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Limits follow the intervals of OpenADR events, also while the VTN is away. The VTN is a stand-in, vtn.py: a
# real one is in make check-signals.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/signal.sh"
signal=openadr conf=$tmp/signals/openadr.conf page=storpower-signal-openadr.8
. "$(dirname "$0")/openadr.sh"

status "the shipped example is right" 0 example_is_right
printf '[vtn]\nurl = http://vtn.example.com\nclient_id = a\nven = a\nsecret_file = /x\n' >"$conf"
status "a secret is not told without encryption" 1 "$build/storpower-signal-openadr" --check-config --config="$conf"
ok "... and what to do is told" grep -q "use https, or say plain_http=yes" "$tmp/err"
ok "each option of the help is in the manual, and the reverse" options_agree
ok "each key and section is in the manual" keys_are_told

start_vtn
chmod 644 "$tmp/secret"
configure 1s
status "the configuration is right" 0 "$build/storpower-signal-openadr" --check-config --config="$conf"
start_bus
start_daemon
start_signal
ok "a secret that others can read is not used" eventually grep -q "others can read it: chmod 600 it" "$tmp/signal.log"
chmod 600 "$tmp/secret"

many=$(for i in {1..60}; do event "old$i" 2026-01-01T00:00:00Z 60 3; done | jq -cs .)
put events.json "$(jq -c --argjson e "$(event evening "$(at 3)" 4 1 2 3)" '. + [$e]' <<<"$many")"
ok "the first interval begins, and the node is limited" eventually limits_are '[80]'
is "by a claim of class signal" "$(property 'Claims[0].Class')" '"signal"'
is "which says why" "$(property 'Claims[0].Reason')" '"OpenADR event evening: SIMPLE level 1"'
ok "events of others were not asked for" eval '! grep -q "programID=p0" "$vtn/log"'
ok "the second page was" grep -q 'GET /events?skip=50&limit=50&programID=p1' "$vtn/log"
cookie=$(property 'Claims[0].Cookie')
stop_vtn
ok "the VTN is killed, and the second interval begins as announced" eventually limits_are '[60]'
is "the claim stays, and is changed" "$(property 'Claims[0].Cookie')" "$cookie"
ok "the third one is an emergency" eventually property_is 'Claims[0].Class' '"emergency"'
ok "the last one ends, and leaves no limit behind" eventually limits_are '[]'
ok "the silence is told" grep -q "does not answer: " "$tmp/signal.log"
is "once" "$(grep -c "does not answer: " "$tmp/signal.log")" 1

reload_signal
ok "the configuration is read anew meanwhile" eventually says 1 "has been read anew"
ok "and the VTN asked anew" eventually says 2 "does not answer: "
put token second
put events.json '[]'
start_vtn
ok "the VTN is back" eventually grep -q "answers again" "$tmp/signal.log"
ok "it has forgotten the token, and gives another" eventually eval '(($(grep -c "POST /auth/token" "$vtn/log") >= 2))'
put events.json "[$(type=IMPORT_CAPACITY_LIMIT event cap "$(at -1)" 600 0.04)]"
ok "an import limit is in kW" eventually limits_are '[40]'
reports() { # JQ
	jq -s "$1" "$vtn/reports"
}
ok "the reports that waited have come, all of them" eventually eval "reports '[.[] | select(.eventID == \"evening\") |
	.resources[0].intervals[0].id] | unique == [0, 1, 2]' | grep -qx true"
ok "the first is of the interval that ended first, with what was drawn" eval "reports '.[0]' | jq -e '
	.eventID == \"evening\" and .clientName == \"node1\" and .programID == \"p1\" and
	(.resources[0].intervals[0].payloads | map(.type) == [\"USAGE\", \"DEMAND\"] and
		all(.values[0] > 0))'"

is_later_than() { # EPOCHSECONDS
	((EPOCHSECONDS > $1))
}
start=$(at -1)
put statuses '/reports 401 /reports 429'
put events.json "[$(event told "$start" 600 1)]"
ok "an interval is under way" eventually limits_are '[80]'
ok "for a while" eventually is_later_than $((EPOCHSECONDS + 1))
: >"$vtn/log"
put events.json "[$(event told "$start" 1 1)]"
ok "it is over, and its report comes though two answers refused it" eventually \
	eval "reports '[.[] | select(.eventID == \"told\")] | length == 1' | grep -qx true"
ok "after 401 with another token, and after 429 at the next poll" eval 'tr "\n" " " <"$vtn/log" |
	grep -q "POST /reports POST /auth/token .*POST /reports .*GET /events.*POST /reports"'
ok "which is told" says 1 "a report is not taken now, and waits (HTTP status 429)"
put statuses '/auth/token 201'
put token to-be-kept
ok "a token that comes in an unusual answer is complained of" eventually says 1 "no token was given (HTTP status 201)"
ok "and not told" eval '! grep -q to-be-kept "$tmp/signal.log"'
put events.json '[{"id": "bad", "programID": "p1", "intervals": 5}]'
ok "an event is withdrawn, and its limit ends" eventually limits_are '[]'
ok "one that cannot be read is told" eventually grep -q 'event bad: intervals: expected an array: it is left out' "$tmp/signal.log"
put events.json "[$(event now "$(at -1)" 600 2)]"
ok "another one holds" eventually limits_are '[60]'
put events.json 'nonsense'
ok "nonsense is told" eventually grep -q "events cannot be read (HTTP status 200): nonsense" "$tmp/signal.log"
ok "and nothing ends by it" limits_are '[60]'
put events.json "[$(event now "$(at -1)" 600 1)]"
ok "an event in force is modified" eventually limits_are '[80]'
put deaf ''
put events.json "$many"
ok "a VTN that tells the same page again and again is not asked for ever" eventually \
	says 1 "it tells more than 10000 programs or events"
ok "and nothing ends by it" limits_are '[80]'
put events.json "[$(event now "$(at -1)" 600 1)]"
rm "$vtn/deaf"
reload_signal
ok "the configuration is read anew" eventually says 2 "has been read anew"
ok "and all stays" limits_are '[80]'
kill_signal KILL
ok "the signal is killed, and leaves no limit behind" eventually limits_are '[]'
ok "the daemon lives" daemon_lives
done_testing
