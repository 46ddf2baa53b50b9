# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154 # of ../bus/lib.sh and the test
# Sourced after ../bus/lib.sh: openleadr-vtn with a PostgreSQL behind it, and what business logic asks of it. The VTN
# listens on all addresses, and so runs where there is only loopback: see own_network.

NOBODY=65534
database=$tmp/database vtn_pid='' database_pid='' program=''
vtn_program=$("$root/tests/signals/build-vtn") || { echo "Bail out! there is no VTN"; exit 1; }
key=c3RvcnBvd2VyIHRlc3RzIGhhdmUgbm8gc2VjcmV0cyBhdCBhbGwh
vtn_url=http://127.0.0.1:3000

# own_network SCRIPT: again, in a network namespace of its own
own_network() {
	[[ ${OWN_NETWORK:-} ]] && { ip link set lo up; return; }
	rm -rf "$tmp"
	trap - EXIT
	local options=(--net)
	((EUID == 0)) || options+=(--map-root-user)
	OWN_NETWORK=yes exec unshare "${options[@]}" "$1"
}

# PostgreSQL refuses to be root.
as_nobody=()
((EUID != 0)) || as_nobody=(setpriv "--reuid=$NOBODY" "--regid=$NOBODY" --clear-groups)

postgres_program() { # NAME
	local found
	for found in /usr/lib/postgresql/*/bin/"$1" /usr/bin/"$1"; do
		[[ ! -x $found ]] || { echo "$found"; return; }
	done
	return 1
}

start_database() {
	local initdb postgres
	initdb=$(postgres_program initdb) && postgres=$(postgres_program postgres) ||
		{ echo "Bail out! PostgreSQL is missing: run packaging/deps --signals"; exit 1; }
	mkdir "$database"
	((EUID != 0)) || { chmod 711 "$tmp"; chown $NOBODY:$NOBODY "$database"; }
	(cd "$database" && exec "${as_nobody[@]}" "$initdb" -D "$database/data" -U vtn -A trust --no-sync --locale=C) >"$tmp/database.log" 2>&1
	(cd "$database" && exec "${as_nobody[@]}" "$postgres" -D "$database/data" -k "$database" -c listen_addresses= -c fsync=off) \
		>>"$tmp/database.log" 2>&1 &
	database_pid=$!
	within 60 test -S "$database/.s.PGSQL.5432" || { cat "$tmp/database.log"; echo "Bail out! PostgreSQL does not start"; exit 1; }
	prepare_database || { cat "$tmp/database.log"; echo "Bail out! the database cannot be prepared"; exit 1; }
}

# The VTN's own, which want PostgreSQL 16, in words that 15 knows as well. It then says that it cannot make them
# again, and goes on.
prepare_database() {
	local file
	for file in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/openleadr-vtn-0.2.8/migrations/*.sql; do
		sed 's/unnest(_scopes) AS scope)/& AS t/' "$file" | psql -q -v ON_ERROR_STOP=1 -h "$database" -U vtn postgres || return
	done >>"$tmp/database.log" 2>&1
}

start_vtn() { # [NAME=VALUE...]: more for its environment
	(cd "$tmp" && DATABASE_URL="postgres:///postgres?host=$database&user=vtn" OAUTH_TYPE=INTERNAL \
		OAUTH_TOKEN_URL=$vtn_url/auth/token OAUTH_BASE64_SECRET=$key RUST_LOG=info NO_COLOR=1 exec env "$@" "$vtn_program") \
		>>"$tmp/vtn.log" 2>&1 &
	vtn_pid=$!
	if ! within 60 bl GET programs; then
		cat "$tmp/vtn.log"
		echo "Bail out! the VTN does not answer"
		exit 1
	fi
}

kill_vtn() {
	kill -KILL "$vtn_pid"
	wait "$vtn_pid" 2>/dev/null
	vtn_pid=
}

end_vtn() { # FAILED
	[[ ! $vtn_pid ]] || kill_vtn
	if [[ $database_pid ]]; then
		kill -INT "$database_pid"
		wait "$database_pid" 2>/dev/null
	fi
	((!$1)) || tail -n 5 "$tmp/vtn.log" "$tmp/database.log" | sed 's/^/#   /'
}
at_end=(end_vtn "${at_end[@]}")

# bl METHOD PATH [JSON]: prints the answer
bl() {
	"$root/tests/signals/business-logic.py" $vtn_url $key "$@"
}

iso() { # SECONDS since the epoch
	date -u -d "@$1" +%FT%TZ
}
create() { # WHAT JSON: prints its id
	bl POST "$1" "$2" | jq -r .id
}
event() { # NAME START SECONDS VALUE...: of type $type, "SIMPLE" without, and with $more
	jq -cn --arg program "$program" --arg name "$1" --arg start "$(iso "$2")" --arg d "PT$3S" \
		--arg type "${type:-SIMPLE}" --argjson more "${more:-{\}}" '
		{ objectType: "EVENT", programID: $program, eventName: $name, priority: null, targets: [],
		  reportDescriptors: [{ payloadType: "USAGE" }, { payloadType: "DEMAND" }],
		  intervalPeriod: { start: $start, duration: $d },
		  intervals: [$ARGS.positional | to_entries[] |
			{ id: .key, payloads: [{ type: $type, values: [.value] }] }] } + $more' --jsonargs "${@:4}"
}
# the limit in force in watts, 0 for none
limit_now() {
	property 'EffectiveLimit | if type == "number" and . < 1e6 then . else 0 end'
}
limit_is() { # WATTS
	[[ $(limit_now) == "$1" ]]
}
# Looks in the middle of each second, from the one second to the other: "SECOND LIMIT" for each, the seconds counted
# from $zero.
watch_limits() { # FROM TO
	local second
	for ((second = $1; second < $2; second++)); do
		sleep "$(jq -n "[0, $zero + $second + 0.5 - $EPOCHREALTIME] | max")"
		echo "$second $(limit_now)"
	done
}
# The same as it should be: for each "FROM TO LIMIT".
table() {
	local row from to limit second
	for row; do
		read -r from to limit <<<"$row"
		for ((second = from; second < to; second++)); do
			echo "$second $limit"
		done
	done
}

# The VTN gets a program, which is $program, and knows the VEN "node1".
join_vtn() {
	local user
	program=$(create programs '{"objectType": "PROGRAM", "programName": "shed", "targets": []}')
	user=$(create users '{"reference": "node1", "scope": ["read_targets", "read_ven_objects", "write_reports_ven"]}')
	bl POST "users/$user" '{"client_id": "node1", "client_secret": "a secret"}' >/dev/null
	create vens '{"objectType": "BL_VEN_REQUEST", "clientID": "node1", "venName": "node1", "targets": ["rack1"]}' >/dev/null
	printf 'a secret\n' >"$tmp/secret"
	chmod 600 "$tmp/secret"
}

configure() {
	cat >"$tmp/signals/openadr.conf" <<-END
		[vtn]
		url = $vtn_url
		client_id = node1
		secret_file = $tmp/secret
		ven = node1
		programs = shed
		poll = 1s
		lost_after = 2s
		[simple]
		level1 = 20W
		level2 = 16W
		level3 = 13W emergency
	END
}
