# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154 # of ../bus/lib.sh and the test
# Sourced after ../bus/lib.sh: openleadr-vtn with a PostgreSQL behind it, and what business logic asks of it. The VTN
# listens on all addresses, and so runs where there is only loopback: see own_network.

NOBODY=65534
database=$tmp/database vtn_pid='' database_pid=''
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
((EUID != 0)) || as_nobody=(setpriv --reuid=$NOBODY --regid=$NOBODY --clear-groups)

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
}

start_vtn() {
	(cd "$tmp" && DATABASE_URL="postgres:///postgres?host=$database&user=vtn" OAUTH_TYPE=INTERNAL \
		OAUTH_TOKEN_URL=$vtn_url/auth/token OAUTH_BASE64_SECRET=$key RUST_LOG=info NO_COLOR=1 exec "$vtn_program") \
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
