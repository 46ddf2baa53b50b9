#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A limit holds while the figures of a file are above its threshold, and ends with what tells it.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/signal.sh"
signal=series conf=$tmp/signals/series.conf

status "the shipped example is right" 0 example_is_right
printf '[carbon]\nfile = /x\nlimit = 400 70%%\n' >"$conf"
status "a line that is wrong is refused" 1 "$build/storpower-signal-series" --check-config --config="$conf"
ok "... with file and line and what would be right" \
	grep -q 'series.conf:3: limit: expected "above 400 until 350 70%"' "$tmp/err"
ok "each option of the help is in the manual, and the reverse" options_agree
ok "each key and section is in the manual" keys_are_told

start_bus
start_daemon
grid_says() { # FIGURE [SECONDS FIGURE]: now, and so much later
	printf '%s %s\n' $((EPOCHSECONDS - 60)) "$1" >"$tmp/signals/carbon.new"
	[[ $# == 1 ]] || printf '%s %s\n' $((EPOCHSECONDS + $2)) "$3" >>"$tmp/signals/carbon.new"
	mv "$tmp/signals/carbon.new" "$tmp/signals/carbon.csv"
}
cat >"$conf" <<-END
	[carbon]
	file = $tmp/signals/carbon.csv
	kind = marginal
	limit = above 400 until 350 70%
	[price]
	file = $tmp/signals/price.csv
	unit = EUR/MWh
	limit = above 300 60%
END
grid_says 410
start_signal
ok "a figure is above its threshold, and the node is limited" eventually limits_are '[70]'
is "by a claim of class signal" "$(property 'Claims[0].Class')" '"signal"'
is "which says why, and that it is the marginal figure" "$(property 'Claims[0].Reason')" \
	'"marginal carbon intensity 410 g/kWh, above 400"'
ok "a file that is not there is told" grep -q "price.csv: cannot be read" "$tmp/signal.log"
cookie=$(property 'Claims[0].Cookie')
grid_says 390
ok "a figure between the two thresholds is seen at once" eventually property_is 'Claims[0].Reason' \
	'"marginal carbon intensity 390 g/kWh, not yet at 350"'
is "the claim stays" "$(property 'Claims[0].Cookie')" "$cookie"
echo "$EPOCHSECONDS 310" >"$tmp/signals/price.csv"
ok "a price comes, and limits more" eventually limits_are '[60,70]'
grid_says 340 4 500
ok "the figure is below the other threshold, and the limit ends" eventually limits_are '[60]'
ok "the next one comes when the file has said so" eventually limits_are '[60,70]'
reload_signal
ok "the configuration is read anew" eventually grep -q "has been read anew" "$tmp/signal.log"
ok "and all stays" limits_are '[60,70]'
stop_daemon KILL
start_daemon
ok "the daemon is killed, and keeps both" eventually limits_are '[60,70]'
echo "$((EPOCHSECONDS - 90000)) 310" >"$tmp/signals/price.csv"
ok "a price of yesterday limits nothing" eventually limits_are '[70]'

tariff() { # PRICE CARBON SECONDS: told to the daemon
	busctl --address="$address" call org.storpower1 /org/storpower1 org.storpower1.Manager SetTariff ddsd "$1" "$2" marginal "$3"
}
printf '[price]\nfrom = storpowerd\nunit = EUR/kWh\nlimit = above 0.3 until 0.25 60%%\n' >"$conf"
reload_signal
ok "another configuration ends what was limited" eventually limits_are '[]'
tariff 0.31 nan 600
ok "a price that the daemon was told of limits" eventually limits_are '[60]'
is "and is the reason" "$(property 'Claims[0].Reason')" '"price 0.31 EUR/kWh, above 0.3"'
tariff 0.26 nan 600
ok "between the thresholds it holds" eventually property_is 'Claims[0].Reason' '"price 0.26 EUR/kWh, not yet at 0.25"'
tariff 0.26 nan 0.1
ok "what holds no longer ends the limit" eventually limits_are '[]'
kill_signal KILL
ok "the signal is killed, and leaves no limit behind" eventually limits_are '[]'
ok "the daemon lives" daemon_lives
done_testing
