#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# limit: 600
# The ledger of a running daemon: it adds up, is fed over the bus, outlives kill -9, and waits for room on
# a disk that is full. The disk is a small tmpfs in mounts of the test's own. Root alone.
# KILLS=1000 kills the daemon that often.
if [[ $(id -u) == 0 && -z ${OWN_MOUNTS:-} ]]; then
	OWN_MOUNTS=1 exec unshare -m -- "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"

kills=${KILLS:-8}
state=$tmp/state ledger=$tmp/state/ledger

clean_up() {
	[[ -z $daemon_pid ]] || stop_daemon
	umount "$state" 2>/dev/null
}

[[ $(id -u) == 0 ]] || skip_all "mounting a small disk needs root"
command -v sqlite3 >/dev/null || skip_all "sqlite3 is missing: run packaging/deps"
mkdir -p "$state"
mount -t tmpfs -o size=24m tmpfs "$state" 2>"$tmp/mount" || skip_all "no tmpfs to be had: $(<"$tmp/mount")"
at_end=(clean_up "${at_end[@]}")

sql() {
	sqlite3 -cmd ".timeout 5000" "$ledger" "$1"
}

# sum KIND COLUMN: of the node (0), devices (1), cgroups (2), claims (3), ever
sum() {
	sql "SELECT coalesce(sum($2), 0) FROM (SELECT kind, $2 FROM open UNION ALL SELECT kind, $2 FROM day)
	     WHERE kind = $1"
}

sums_are_alike() { # COLUMN: read at one moment, in one transaction
	sql "SELECT count(DISTINCT s) = 1 FROM (SELECT sum($1) AS s FROM
	     (SELECT kind, $1 FROM open UNION ALL SELECT kind, $1 FROM day) WHERE kind < 3 GROUP BY kind)" | grep -qx 1
}

is_above() { # A B
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b) }'
}

written_since() { # MICROSECONDS
	is_above "$(property LedgerWrittenUSec)" "$1"
}

counted() { # joules that the daemon tells since it started
	ctl status --json=short | jq '.EnergyMeasured + .EnergyModelled'
}

await_write() {
	eventually written_since "$(property LedgerWrittenUSec)"
}

start_bus
mkdir -p "$tmp/etc/storpower.conf.d"
printf '[ledger]\nprice = 0.25\ncarbon_file = %s\n' "$tmp/carbon" >"$tmp/etc/storpower.conf.d/ledger.conf"
start_daemon
ok "what is counted is written" eventually written_since 0
ok "to the file that a property names" test "$(property LedgerPath)" = "\"$ledger\""
ok "which is for root alone" test "$(stat -c %a "$ledger")" = 600
ok "and has its currency" test "$(sql "SELECT text FROM note WHERE key = 'currency'")" = EUR
ok "a limit" ctl set 60% --yes
claim_is_counted() { is_above "$(sum 3 limited_us)" 0; }
ok "and what it allowed is in it" eventually claim_is_counted
await_write
for column in energy_uj idle_uj read_bytes written_bytes reads writes cost_nano; do
	ok "devices and cgroups sum up to the node: $column" sums_are_alike "$column"
done

ok "a kWh costs what is configured" property_is Price 0.25
ok "and no carbon while nobody tells it" property_is CarbonIntensity null
echo "2000-01-01T00:00:00Z 381" >"$tmp/carbon"
echo "$(date +%s) 127" >>"$tmp/carbon"
ok "a file of carbon intensities is read when it appears" eventually property_is CarbonIntensity 127
printf '%s nonsense\n' "$(date +%s)" >"$tmp/carbon"
ok "one that makes no sense is complained of with its line" \
	eventually grep -q "carbon: line 1 makes no sense" "$tmp/daemon.log"
ok "and what was known holds" property_is CarbonIntensity 127
ok "a service tells what a kWh costs" call SetTariff 0.5 610 marginal 3600
ok "which comes first" property_is Price 0.5
ok "and says what kind of figure it is" property_is CarbonMarginal true
ok "NaN leaves a figure as configured" bash -c "$(declare -f call); call SetTariff 0.1 nan average 60"
ok "so it does" property_is CarbonIntensity 127
ok "a negative price is refused" refused InvalidOption SetTariff -1.0 nan average 60
ok "an unknown kind is refused" refused InvalidOption SetTariff 1.0 nan green 60
ok "a time without end is refused" refused InvalidOption SetTariff 1.0 nan average inf
ok "an application tells its requests" call CountRequests 1234
requests_are() { [[ $(sum 0 requests) == "$1" ]]; }
ok "which are in the ledger once" eventually requests_are 1234
if id nobody >/dev/null 2>&1; then
	chmod 711 "$tmp" && chmod 777 "$tmp/bus"
	as_nobody() {
		setpriv --reuid=nobody --regid=nogroup --clear-groups gdbus call --session --dest org.storpower1 \
			--object-path /org/storpower1 --method "org.storpower1.Manager.$1" "${@:2}" 2>&1
	}
	ok "nobody else tells it what a kWh costs" \
		grep -q "Error.NotAuthorized" <(as_nobody SetTariff 0.5 610 marginal 3600)
	ok "nor requests" grep -q "Error.NotAuthorized" <(as_nobody CountRequests 1)
fi

fill() {
	head -c 64M /dev/zero >"$state/fill" 2>/dev/null
	[[ $(df --output=avail "$state" | tail -n 1) -eq 0 ]]
}
cannot_be_written() { [[ $(property LedgerProblem) != '""' ]]; }
logged() { # TIMES WHAT
	[[ $(grep -c "$2" "$tmp/daemon.log") -eq $1 ]]
}
before=$(sum 0 span_us) began=$EPOCHSECONDS
ok "the disk is full" fill
ok "that is told" eventually cannot_be_written
ok "and logged once" logged 1 "The ledger .* cannot be written"
ok "the daemon lives" daemon_lives
sleep 3
ok "and counts on" is_above "$(counted)" 0
ok "still it is logged once" logged 1 "The ledger .* cannot be written"
rm "$state/fill"
ok "once there is room it is written by itself" eventually property_is LedgerProblem '""'
ok "which is logged" logged 1 "The ledger .* is written again"
await_write
ended=$EPOCHSECONDS
# looks are a second apart, and the machine may be busy
ok "not a second of that time is missing" \
	is_above $((($(sum 0 span_us) - before) / 1000000 + 3)) $((ended - began))
ok "the file is whole" test "$(sql 'PRAGMA integrity_check')" = ok

# What the daemon told of before it was killed is there but for what it had not written yet.
missing=0 broken=0 watts=$(ctl status --json=short | jq .OperatingPower)
for ((i = 0; i < kills; i++)); do
	earlier=$(sum 0 energy_uj) at_start=$(counted)
	sleep "0.$((RANDOM % 10))$((RANDOM % 10))"
	told=$(counted)
	since=$(property LedgerWrittenUSec)
	stop_daemon KILL
	late=$(awk -v now="${EPOCHREALTIME/./}" -v since="$since" 'BEGIN { print (now - since) / 1e6 }')
	is_above "$(awk -v a="$earlier" -v b="$(sum 0 energy_uj)" 'BEGIN { print (b - a) / 1e6 + 1e-6 }')" \
		"$(awk -v a="$at_start" -v b="$told" -v w="$watts" -v s="$late" 'BEGIN { print b - a - w * (s + 1) }')" ||
		missing=$((missing + 1))
	[[ $(sql 'PRAGMA quick_check') == ok ]] || broken=$((broken + 1))
	start_daemon
	eventually written_since 0 >/dev/null || missing=$((missing + 1))
done
ok "killed $kills times: nothing is missing but what was not written yet" test "$missing" = 0
ok "and the file is whole each time" test "$broken" = 0
for column in energy_uj idle_uj written_bytes cost_nano; do
	ok "devices and cgroups still sum up to the node: $column" sums_are_alike "$column"
done

stop_daemon
printf '\0\0\0\0\0\0\0\0' | dd of="$ledger" bs=1 seek=20 conv=notrunc status=none
rm -f "$ledger-wal" "$ledger-shm"
head -c 64 /dev/urandom | dd of="$ledger" bs=1 seek=0 conv=notrunc status=none
start_daemon
ok "a damaged ledger is set aside, and a new one begun" eventually written_since 0
ok "that is said" grep -q "ledger" <(grep -i "damaged\|set aside\|going on with a new one" "$tmp/daemon.log")
ok "what was in it is kept" bash -c "ls '$state'/ledger.damaged*"

stop_daemon
printf '[ledger]\nkeep = no\n' >"$tmp/etc/storpower.conf.d/ledger.conf"
rm -f "$ledger"*
start_daemon
ok "with keep = no nothing is counted" test "$(property LedgerPath)" = '""'
ctl set 80% --yes >/dev/null
ok "a limit holds all the same" eventually property_is Enforcing true
ok "and no file is made" test ! -e "$ledger"
done_testing
