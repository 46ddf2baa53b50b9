#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# storpowerctl metrics: each line is what Prometheus reads, and each figure is the daemon's.
. "$(dirname "$0")/lib.sh"

metrics() {
	"$root/tests/testbed/metrics.py" "$@"
}

# What it prints, as $tmp/out, is well-formed.
is_well_formed() { # [openmetrics]
	ctl metrics --format="${1:-prometheus}" >"$tmp/out" && metrics check "$tmp/out" "$@"
}

# The figures move every second: asked between two seconds they differ.
are_the_same() {
	ctl metrics >"$tmp/same" && ctl status --json >"$tmp/status.json" && ctl list --json >"$tmp/list.json" &&
		metrics equal "$tmp/same" "$tmp/status.json" "$tmp/list.json"
}

value_is() { # SERIES VALUE
	ctl metrics >"$tmp/out" && [[ $(metrics value "$tmp/out" "$1") == "$2" ]]
}

has() { # NAME
	grep -q "^$1[{ ]" "$tmp/out"
}

without_answer=$'# TYPE storpower_up gauge\nstorpower_up 0\n# EOF'
status "without a bus: 3" 3 ctl metrics
is "which is said in the metrics" "$(grep -v HELP "$tmp/out")" "$without_answer"
# The bus would start this in the daemon's place, as systemd does where the unit is enabled.
mkdir "$tmp/services"
printf '[D-BUS Service]\nName=org.storpower1\nExec=/bin/sh -c "touch %s; false"\n' "$tmp/started" >"$tmp/services/org.storpower1.service"
# shellcheck disable=SC2034 # for start_bus
bus_limits="<servicedir>$tmp/services</servicedir>"
start_bus
status "without a daemon: 3" 3 ctl metrics
is "which is said in the metrics, too" "$(grep -v HELP "$tmp/out")" "$without_answer"
status "and in OpenMetrics" 3 ctl metrics --format=openmetrics
ok "which are well-formed" metrics check "$tmp/out" openmetrics
ok "it is said what to do" grep -q "systemctl start storpowerd" "$tmp/err"
status "without a daemon the file is written as well" 3 ctl metrics --output="$tmp/node.prom"
is "and says it" "$(grep -v HELP "$tmp/node.prom")" "$without_answer"

ok "none of this started a daemon that somebody had stopped" test ! -e "$tmp/started"
ctl status >/dev/null 2>&1
ok "as other questions do" test -e "$tmp/started"

# A model with what labels must escape, a pool, and disks
mkdir -p "$tmp/etc/profiles"
sed '/^match/d; s/^\[profile\]/&\nmatch = odd "q\\z" drive*/' "$root/policies/profiles/seagate-exos-7e2000.profile" \
	>"$tmp/etc/profiles/odd.profile"
sed 's/^\[devices disk\]/&\ncount = 3\npool = md0/; s/^profile = seagate.*/profile = odd/' "$node" >"$tmp/pool.node"
what=(--simulate="$tmp/pool.node" --no-bpf)
start_daemon

ok "every line is well-formed" is_well_formed
ok "and in OpenMetrics" is_well_formed openmetrics
ok "it is all there: power, states, units" test "$(metrics check "$tmp/out" openmetrics)" -ge 60
ctl metrics >"$tmp/out"
ok "without a limit there is no budget" bash -c "! grep -q storpower_budget_watts '$tmp/out'"
ok "and nothing is lost" value_is 'storpower_unit_loss_ratio{unit="nvme0",pool=""}' 0
model=$(ctl list --json=short | jq -r '[.[] | select(.Kind == "hdd")][0].Model')
is "a model has a quote and a backslash" "$(tr -cd '"\\' <<<"$model")" '"\"'
ok "which labels escape" grep -qF 'model="odd \"q\\z\" drive"' "$tmp/out"
ok "no value is unknown" bash -c "! grep -iqE ' [-+]?(nan|inf)' '$tmp/out'"
ok "the figures are those of --json" within 20 are_the_same

ctl set 60% --class=signal >/dev/null
ok "a limit is told in watts" eventually value_is storpower_budget_watts "$(property EffectiveLimit)"
ok "and its claim" value_is 'storpower_claims{class="signal"}' 1
ok "what is set and lost is that of --json" within 20 are_the_same
ok "the pool is one unit" has 'storpower_unit_throughput_bytes_per_second{unit="md0",pool="md0"}'
is "and its disks none" "$(grep -c '^storpower_unit_throughput.*unit="sd[bcd]"' "$tmp/out")" 0
ok "the floor is told while a limit is in force" has storpower_unit_floor_bytes_per_second
ok "a limited unit has lost something" jq -en "$(metrics value "$tmp/out" 'storpower_unit_loss_ratio{unit="nvme0",pool=""}') > 0.05"
ok "each disk has one condition" test "$(grep -c '^storpower_power_condition.* 1$' "$tmp/out")" = 3
ctl clear >/dev/null
ctl set 99% --device=nvme0 --start-in=1h >/dev/null
ok "a claim that begins later does not count" value_is 'storpower_claims{class="operator"}' 0
ctl clear >/dev/null

ctl metrics >"$tmp/earlier"
ctl set 0.001W >/dev/null 2>&1
ok "Degraded is told" eventually value_is storpower_degraded 1
ok "with the watts that are missing" jq -en "$(metrics value "$tmp/out" storpower_shortfall_watts) > 0"
ok "no counter fell meanwhile" metrics rising "$tmp/earlier" "$tmp/out"
always_there() { # FILE: the families that are there whatever is limited, and since whenever
	grep -oE '^# TYPE \S+' "$1" | grep -vE 'floor_bytes|budget_watts|demand|ledger_written|p99_wait'
}
is "the families have their order" "$(always_there "$tmp/earlier")" "$(always_there "$tmp/out")"
rises() { # SERIES
	ctl metrics >"$tmp/out" && jq -en "$(metrics value "$tmp/out" "$1") > $(metrics value "$tmp/earlier" "$1")"
}
ok "joules are counted" eventually rises 'storpower_joules_total{source="model"}'
ok "and the seconds above the budget" eventually rises storpower_above_budget_seconds_total
call SetTariff 0.18 360 marginal 3600 >/dev/null
ok "a price is that of a joule" eventually value_is storpower_price_per_joule 5e-08
ok "the grid's carbon is told with its kind" value_is 'storpower_carbon_intensity_grams_per_joule{kind="marginal"}' 0.0001
ok "the ledger is written" value_is storpower_ledger_problem 0
ctl clear >/dev/null

umask 077
status "--output" 0 ctl metrics --output="$tmp/node.prom"
is "prints nothing" "$(cat "$tmp/out")" ""
ok "but writes what is well-formed" metrics check "$tmp/node.prom"
is "for everybody to read" "$(stat -c %a "$tmp/node.prom")" 644
is "and leaves no other file" "$(echo "$tmp"/node.prom*)" "$tmp/node.prom"
status "-o is short for it" 0 ctl metrics -o "$tmp/node.prom" --format=openmetrics
ok "in either form" metrics check "$tmp/node.prom" openmetrics
status "a folder that is not there: 1" 1 ctl metrics --output="$tmp/nowhere/node.prom"
ok "is named" grep -q "$tmp/nowhere/node.prom cannot be written: No such file or directory" "$tmp/err"
status "standard output that cannot be written: 1" 1 bash -c "'$build/storpowerctl' metrics >/dev/full"
for wrong in "--format=xml" "--json" "extra" "--lines=3"; do
	status "wrong usage is 2: $wrong" 2 ctl metrics $wrong
	ok "and says so" test -s "$tmp/err"
done

# A daemon that hangs is one that does not answer, and that is known before the next scrape.
kill -STOP "$daemon_pid"
start=$SECONDS
status "a daemon that does not answer: 3" 3 ctl metrics
kill -CONT "$daemon_pid"
is "is told as one that is not there" "$(grep -v HELP "$tmp/out")" "$without_answer"
ok "within ten seconds" test $((SECONDS - start)) -le 12

ok "the daemon lives" daemon_lives
done_testing
