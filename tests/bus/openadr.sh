# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154 # of lib.sh and signal.sh
# Sourced after signal.sh: a stand-in for an OpenADR VTN, vtn.py, which says what put() tells it.

vtn=$tmp/vtn vtn_pid='' port=''
mkdir "$vtn"
export no_proxy=127.0.0.1
printf 'se cret&\n' >"$tmp/secret"
chmod 600 "$tmp/secret"

start_vtn() {
	rm -f "$vtn/port"
	"$root/tests/bus/vtn.py" "$vtn" ${port:+"$port"} 2>>"$tmp/vtn.log" &
	vtn_pid=$!
	eventually test -e "$vtn/port" && port=$(<"$vtn/port")
}
stop_vtn() {
	[[ $vtn_pid ]] || return 0
	kill "$vtn_pid" && wait "$vtn_pid" 2>/dev/null
	vtn_pid=
}
at_end=(stop_vtn "${at_end[@]}")
at() { # SECONDS: from now
	date -u -d "@$((EPOCHSECONDS + $1))" +%FT%TZ
}
put() { # FILE JSON
	printf '%s\n' "$2" >"$vtn/$1.new"
	mv "$vtn/$1.new" "$vtn/$1"
}
event() { # ID START SECONDS VALUE...: of type $type, "SIMPLE" without
	jq -cn --arg id "$1" --arg start "$2" --arg d "PT$3S" --arg type "${type:-SIMPLE}" '
		{ id: $id, objectType: "EVENT", programID: "p1", eventName: $id,
		  reportDescriptors: [{ payloadType: "USAGE" }, { payloadType: "DEMAND" }],
		  intervalPeriod: { start: $start, duration: $d },
		  intervals: [$ARGS.positional | to_entries[] |
			{ id: .key, payloads: [{ type: $type, values: [.value] }] }] }' --jsonargs "${@:4}"
}
says() { # TIMES WORDS: so often in the signal's log
	(($(grep -c -- "$2" "$tmp/signal.log") >= $1))
}
put token first
put programs.json '[{"id": "p0", "programName": "others"}, {"id": "p1", "programName": "shed"}]'
put events.json '[]'

configure() { # POLL
	cat >"$conf" <<-END
		[vtn]
		url = http://127.0.0.1:$port
		client_id = node1
		secret_file = $tmp/secret
		ven = node1
		programs = shed
		poll = $1
		lost_after = 1s
		[simple]
		level1 = 80%
		level2 = 60%
		level3 = 40% emergency
	END
}
