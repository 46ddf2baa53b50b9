#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A real VTN, openleadr-vtn: the limit in force is that of the interval at every second, whatever becomes of the VTN,
# and it has the reports.
# alone
. "$(dirname "$0")/../bus/lib.sh"
. "$(dirname "$0")/../bus/signal.sh"
. "$(dirname "$0")/vtn.sh"
own_network "$0"
. "$(dirname "$0")/../bus/broker.sh"
signal=openadr conf=$tmp/signals/openadr.conf

start_database
start_vtn
start_bus
start_daemon

# --- what the VTN's operator does
join_vtn
other=$(create programs '{"objectType": "PROGRAM", "programName": "others", "targets": []}')
ok "the VTN has programs" test -n "$program" -a "$other"
configure

# --- an event of three intervals
start_signal
zero=$((EPOCHSECONDS + 6))
first=$(create events "$(event evening $zero 4 1 3 2)")
ok "the VTN has taken an event of three intervals" test -n "$first"
is "the limit is that of each interval, at every second" "$(watch_limits -1 14)" \
	"$(table '-1 0 0' '0 4 20' '4 8 13' '8 12 16' '12 14 0')"
reports_of() { # EVENT
	bl GET "reports?eventID=$1&programID=$program" | jq -c 'sort_by(.resources[0].intervals[0].id)'
}
three_reports() {
	[[ $(reports_of "$first" | jq length) == 3 ]]
}
ok "the VTN has a report of each of them" eventually three_reports
ok "... with the energy and the mean power that were drawn" eval "reports_of $first | jq -e 'length == 3 and all(
	.clientName == \"node1\" and (.resources[0] | .resourceName == \"node1\" and
	(.intervals[0].payloads | map(.type) == [\"USAGE\", \"DEMAND\"] and .[1].values[0] > 0.001 and .[1].values[0] < 0.03)))'"

# --- the VTN is killed in the middle
zero=$((EPOCHSECONDS + 4))
second=$(create events "$(event night $zero 4 2 1)")
ok "another event begins" eventually limit_is 16
kill_vtn
is "the VTN is killed, and the limits end when their intervals do" "$(watch_limits 2 10)" \
	"$(table '2 4 16' '4 8 20' '8 10 0')"
ok "that it is silent is told" eventually grep -q "$vtn_url does not answer" "$tmp/signal.log"
start_vtn
ok "the VTN is back" eventually grep -q "answers again" "$tmp/signal.log"
two_reports() {
	[[ $(reports_of "$second" | jq length) == 2 ]]
}
ok "and gets the reports that have waited" eventually two_reports

# --- what changes while it is in force; this VTN does not delete an event that has a report
more='{"reportDescriptors": []}'
third=$(create events "$(event now "$EPOCHSECONDS" 600 1)")
ok "an event holds" eventually limit_is 20
bl PUT "events/$third" "$(event now "$EPOCHSECONDS" 600 3)" >/dev/null
ok "it is modified" eventually limit_is 13
fourth=$(create events "$(more='{"reportDescriptors": [], "priority": 0}' event less "$EPOCHSECONDS" 600 2)")
ok "one of a higher priority wins, though it is less strict" eventually limit_is 16
bl DELETE "events/$fourth" >/dev/null
ok "it is deleted, and the other one holds again" eventually limit_is 13
bl DELETE "events/$third" >/dev/null
ok "that is deleted, too, and its limit ends" eventually limit_is 0
fifth=$(create events "$(type=IMPORT_CAPACITY_LIMIT event site "$EPOCHSECONDS" 600 0.018)")
ok "an import limit is in kW" eventually limit_is 18
bl DELETE "events/$fifth" >/dev/null
for row in 'rack2 0' 'rack1 20'; do
	sixth=$(create events "$(more="{\"reportDescriptors\": [], \"targets\": [\"${row% *}\"]}" event aimed "$EPOCHSECONDS" 600 1)")
	ok "an event for ${row% *} is known for what it is" eventually limit_is "${row#* }"
	bl DELETE "events/$sixth" >/dev/null
	ok "and ends" eventually limit_is 0
done
first_program=$program program=$other
seventh=$(create events "$(event elsewhere "$EPOCHSECONDS" 600 3)")
program=$first_program
eighth=$(create events "$(event here "$EPOCHSECONDS" 600 1)")
ok "an event of another program limits nothing: it is less strict that holds" eventually limit_is 20
bl DELETE "events/$eighth" >/dev/null
bl DELETE "events/$seventh" >/dev/null

# --- the VTN tells of changes, and is polled once an hour; who hears of nothing has no limit
kill_vtn
broker_trusts_all
start_broker
ok "the broker is there" eventually publish nothing
start_vtn MQTT_URL="tcp://127.0.0.1:$broker_port" MQTT_USERNAME=vtn MQTT_PASSWORD=vtn MQTT_TOPIC_PREFIX=site/
kill_signal TERM
sed -i 's/^poll.*/poll = 1h/' "$conf"
start_signal
ok "it is told that changes are heard of" eventually grep -q "tells of changes by the MQTT broker" "$tmp/signal.log"
first_of_all=$(create events "$(more='{"reportDescriptors": []}' event all "$EPOCHSECONDS" 600 1)")
ok "an event for everybody holds as soon as it is told of" eventually limit_is 20
bl DELETE "events/$first_of_all" >/dev/null
ok "and ends as soon" eventually limit_is 0
create events "$(more='{"reportDescriptors": [], "targets": ["rack1"]}' event own "$EPOCHSECONDS" 600 2)" >/dev/null
ok "one for this node, too" eventually limit_is 16
ok "nothing else was complained of" eval '! grep "^<[34]>" "$tmp/signal.log" | grep -v "does not answer"'
ok "the daemon lives" daemon_lives
done_testing
