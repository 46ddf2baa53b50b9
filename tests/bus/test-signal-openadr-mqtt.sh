#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A VTN that tells of changes over MQTT is asked at once, and polled as before where nothing is heard. The VTN is a
# stand-in, vtn.py, the broker a real one.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/signal.sh"
signal=openadr conf=$tmp/signals/openadr.conf
. "$(dirname "$0")/openadr.sh"
. "$(dirname "$0")/broker.sh"

topics() { # OF
	printf '{"topics": {"CREATE": "%s/create", "UPDATE": "%s/update", "DELETE": "%s/delete", "ALL": "%s/+"}}' "$1" "$1" "$1" "$1"
}
offers() { # URI USER
	put notifiers.json "$(jq -cn --arg uri "$1" --arg user "$2" '{ WEBSOCKET: false, MQTT: { URIS: ["ws://nobody", $uri],
		serialization: "JSON", authentication: { method: "OAUTH2_BEARER_TOKEN", username: $user } } }')"
}
mkdir -p "$vtn/notifiers/mqtt/topics/vens/v7"
put notifiers/mqtt/topics/events.json "$(topics all)"
put notifiers/mqtt/topics/vens/v7/events.json "$(topics own)"
put vens.json '[{"id": "v1", "venName": "other"}, {"id": "v7", "venName": "node1"}]'
offers "mqtt://127.0.0.1:$broker_port" '{clientID}'
start_vtn
configure 1h
broker_knows vtn vtn
broker_knows node1 first
start_broker
start_bus
start_daemon

start_signal
ok "it is told that changes are heard of" eventually says 1 "tells of changes by the MQTT broker 127.0.0.1: they are asked for at once"
put events.json "[$(event now "$(at -1)" 600 1)]"
publish all/create
ok "an event that everybody is told of holds at once" eventually limits_are '[80]'
put events.json "[$(event now "$(at -1)" 600 2)]"
publish own/update
ok "so does a change that this node alone is told of" eventually limits_are '[60]'
: >"$vtn/log"
for _ in {1..50}; do publish all/update; done
put events.json "[$(event now "$(at -1)" 600 3)]"
publish all/update
ok "of many changes none is missed" eventually limits_are '[40]'
ok "and the VTN is not asked once for each" eval '(($(grep -c "GET /events" "$vtn/log") < 25))'

stop_broker
ok "the broker dies, which is told" eventually says 1 "MQTT broker 127.0.0.1 is not heard"
ok "and the limit holds" limits_are '[40]'
put events.json '[]'
start_broker
ok "it comes back, and what changed meanwhile is seen" within 30 limits_are '[]'
ok "... and it is heard again" within 30 says 2 "tells of changes by"

# --- who is not let in, and what is not spoken to
put token second
stop_broker
start_broker
ok "a broker that refuses the token is told" within 30 says 1 "is not heard: Connection Refused: not authori[sz]ed"
broker_knows node1 second
ok "one that knows it is heard" within 30 says 3 "tells of changes by"
kill_signal TERM
is "it ends as asked, whatever its thread does" "$signal_status" 0
offers mqtt://192.0.2.1 '{clientID}'
start_signal
ok "a token is not told to a broker without encryption" eventually says 1 "would be told the token without encryption"
kill_signal TERM

# --- with encryption
stop_broker
ok "the broker has a certificate" broker_encrypts
start_broker
offers "mqtts://localhost:$broker_port" '{clientID}'
: >"$tmp/signal.log"
start_signal
ok "one whose certificate is of nobody known is not spoken to" eventually says 1 "MQTT broker localhost is not heard"
kill_signal TERM
sed -i "s|^secret_file.*|&\nca_file = $broker/ca.pem|" "$conf"
start_signal
ok "with the certificates that are to be trusted it is" eventually says 1 "tells of changes by the MQTT broker localhost"
kill_signal TERM
offers "mqtts://127.0.0.1:$broker_port" '{clientID}'
start_signal
ok "under another name it is not" eventually says 1 "MQTT broker 127.0.0.1 is not heard"
kill_signal TERM
sed -i 's/^poll.*/&\nnotify = no/' "$conf"
: >"$vtn/log"
start_signal
ok "who does not want to hear" eventually grep -q 'GET /events' "$vtn/log"
ok "does not ask" eval '! grep -q notifiers "$vtn/log"'
ok "the daemon lives" daemon_lives
done_testing
