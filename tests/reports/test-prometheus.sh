#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What storpowerctl metrics writes, as Prometheus reads it: Debian's node_exporter has the file, and its
# Prometheus scrapes that. The alert rules fire when they should, and the dashboard's queries have data.
. "$(dirname "$0")/../bus/lib.sh"

rules=$root/packaging/prometheus-storpower.rules.yml
dashboard=$root/packaging/grafana-storpower.json
exporter=$(command -v prometheus-node-exporter || command -v node_exporter)
for tool in "$exporter" prometheus promtool; do
	command -v "${tool:-node_exporter}" >/dev/null ||
		{ echo "Bail out! ${tool:-node_exporter} is missing: run packaging/deps --reports"; exit 1; }
done
pids=()

# shellcheck disable=SC2317 # at the end
stop_pids() {
	local pid
	for pid in "${pids[@]}"; do
		kill "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	(($1)) && tail -n 5 "$tmp"/prometheus.log "$tmp"/exporter.log 2>/dev/null | sed 's/^/#   /'
}
at_end+=(stop_pids)

ask() { # VERB ARGUMENT...: of the Prometheus
	local verb=$1
	shift
	"$root/tests/reports/ask-prometheus.py" "$verb" "$port" "$@"
}

value_is() { # EXPRESSION VALUE
	[[ $(ask value "$1") == "$2" ]]
}

# As the unit does it; the timer is this loop.
command=$(sed -n 's|^ExecStart=/usr/bin/||p' "$root/packaging/storpower-metrics.service")
export STORPOWER_TEXTFILES=$tmp/textfiles
write_metrics() {
	eval "'$build/'$command"
}

# What a simulated node does not know, in a file of its own: eBPF alone counts waits.
make_up() {
	local name type labels value
	while read -r name type labels value; do
		grep -q "^${name}[{ ]" "$tmp/textfiles/storpower.prom" ||
			printf '# HELP %s Made up.\n# TYPE %s %s\n%s%s %s\n' "$name" "$name" "$type" "$name" "$labels" "$value"
	done <<-END >"$tmp/made-up"
		storpower_device_throttle_wait_seconds gauge {device="sda",model="m",group="",pool=""} 0.002
	END
	mv "$tmp/made-up" "$tmp/textfiles/made-up.prom"
}

start_bus
mkdir "$tmp/textfiles" "$tmp/prometheus"
sed 's/^sensors = .*/sensors = all/; s/^\[devices disk\]/&\ncount = 2\npool = md0/' "$node" >"$tmp/pool.node"
what=(--simulate="$tmp/pool.node" --no-bpf)
start_daemon
ctl set 60% >/dev/null
call SetTariff 0.18 381 average 3600 >/dev/null
status "the unit's command writes the file" 0 write_metrics
ok "promtool finds nothing wrong with it" promtool check metrics <"$tmp/textfiles/storpower.prom"
is "nor has it anything to say" "$(promtool check metrics <"$tmp/textfiles/storpower.prom" 2>&1)" ""
ok "promtool finds nothing wrong with the rules" promtool check rules "$rules"
sed "s|RULES|$rules|" "$root/tests/reports/prometheus-storpower.test.yml" >"$tmp/rules.test.yml"
ok "each alert fires in time, and not before" promtool test rules "$tmp/rules.test.yml"
is "each is tested" "$(sed -n 's/^ *alertname: //p' "$tmp/rules.test.yml" | sort -u)" \
	"$(sed -n 's/^ *- alert: //p' "$rules" | sort -u)"
ctl metrics --format=openmetrics >"$tmp/openmetrics"
ok "the OpenMetrics of Prometheus's Python client are these" /usr/bin/python3 -c '
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
names = {m.name: m.type for m in parse(sys.stdin.read())}
assert names["storpower_spinups"] == "counter" and names["storpower_build"] == "info", names' <"$tmp/openmetrics"

read -r port exporter_port served_port < <("$root/tests/reports/ask-prometheus.py" free 3)
cat >"$tmp/prometheus.yml" <<END
global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }
rule_files: [ "$rules" ]
scrape_configs:
  - job_name: node
    static_configs: [ { targets: [ "127.0.0.1:$exporter_port" ] } ]
  - job_name: openmetrics
    metric_relabel_configs: [ { source_labels: [ __name__ ], regex: (.*), target_label: __name__, replacement: served_\$1 } ]
    static_configs: [ { targets: [ "127.0.0.1:$served_port" ] } ]
END
ok "the configuration of the test is one" promtool check config "$tmp/prometheus.yml"
"$exporter" --collector.disable-defaults --collector.textfile --collector.textfile.directory="$tmp/textfiles" \
	--web.listen-address="127.0.0.1:$exporter_port" >"$tmp/exporter.log" 2>&1 &
pids+=($!)
"$root/tests/reports/ask-prometheus.py" serve "$served_port" "$build/storpowerctl" metrics --format=openmetrics 2>/dev/null &
pids+=($!)
prometheus --config.file="$tmp/prometheus.yml" --storage.tsdb.path="$tmp/prometheus" \
	--web.listen-address="127.0.0.1:$port" >"$tmp/prometheus.log" 2>&1 &
pids+=($!)
while :; do
	write_metrics 2>/dev/null
	make_up
	sleep 1
done &
writer=$!
pids+=("$writer")

ok "the node's figures arrive" within 60 value_is 'storpower_up{job="node"}' 1
ok "node_exporter reads the file" value_is node_textfile_scrape_error 0
ok "the budget is the daemon's" within 20 value_is storpower_budget_watts "$(property EffectiveLimit)"
is "a counter is one" "$(ask type storpower_spinups_total)" counter
is "a gauge is one" "$(ask type storpower_draw_watts)" gauge
ok "what OpenMetrics says is the same" within 20 value_is \
	'served_storpower_budget_watts == on() storpower_budget_watts' "$(property EffectiveLimit)"
ok "its counters, too" value_is 'count(served_storpower_spinups_total)' 2
is "all alerts are evaluated" "$(within 30 ask rules && ask rules)" "$(grep -c -- '- alert:' "$rules")"

# rates need a few scrapes
samples_of_20_s() {
	jq -en "$(ask value 'count_over_time(storpower_up{job="node"}[30s])') >= 20"
}
ok "Prometheus scrapes on" within 60 samples_of_20_s
ok "each query of the dashboard is one, and has data" ask dashboard "$dashboard"
families() { # FILE...
	sed -n 's/^# TYPE \(\S*\).*/\1/p' "$@"
}
echo "# made up, because no simulated device tells it:" \
	"$(families "$tmp/textfiles/made-up.prom" | paste -sd ' ')"
unknown() {
	grep -ohE 'storpower_[a-z0-9_]+' "$dashboard" "$rules" | sort -u | grep -vxFf <(families "$tmp"/textfiles/*.prom)
}
is "dashboard and rules know no other metrics" "$(unknown)" ""
# shellcheck disable=SC2016 # jq's own
ok "the dashboard can be imported: what it asks is asked of the data source that is chosen" jq -e '
	(.panels | length >= 15) and ([.panels[].id] | unique | length) == (.panels | length) and
	([.panels[].targets[] | select(.datasource.uid != "${datasource}")] | length) == 0 and
	([.templating.list[].name] == ["datasource", "instance"]) and .id == null' "$dashboard"
# shellcheck disable=SC2016 # jq's own
ok "no panel covers another" jq -e '
	[.panels[].gridPos | . as $p | range(.x; .x + .w) as $x | range(.y; .y + .h) as $y | [$x, $y]] |
	length == (unique | length) and (map(.[0]) | max) < 24' "$dashboard"

ctl set 0.001W >/dev/null 2>&1
ok "Degraded reaches its alert" within 30 eval '[[ $(ask alert StorpowerDegraded) == pending ]]'
stop_daemon
ok "so does a daemon that has gone" within 30 eval '[[ $(ask alert StorpowerDown) == pending ]]'
ok "whose last figures are not told any more" value_is 'count(storpower_draw_watts) or vector(0)' 0
kill "$writer"
ok "metrics that are not written any more grow old" within 30 \
	eval 'jq -en "$(ask value "time() - max(node_textfile_mtime_seconds{file=~\".*/storpower.prom\"})") > 5"'
done_testing
