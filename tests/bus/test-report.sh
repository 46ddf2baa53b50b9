#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# storpowerctl report: what a ledger of a made-up day says (tests/reports/fill-ledger.c), by every grouping and
# in every form, and what is said where there is none. What people see at 80 columns is beside what
# tests/bus/golden/ has of it; as test-golden.sh says, REGENERATE=yes writes it anew.
. "$(dirname "$0")/lib.sh"
export LC_ALL=C.UTF-8 TERM=dumb TZ=UTC
golden=$root/tests/bus/golden
fill=$build/tests/reports/fill-ledger
ledger=$tmp/ledger

[[ -x $fill ]] || { echo "Bail out! $fill is missing: run make unit-tests"; exit 1; }
command -v script >/dev/null || { echo "Bail out! script is missing: run packaging/deps"; exit 1; }

# yesterday as it is now: a day may end while this runs
day=$(date -d 'yesterday 00:00' +%F)
next=$(date -d "$day 00:00 tomorrow" +%F)
"$fill" "$ledger" "$(date -d "$day 00:00" +%s)" 1440 || { echo "Bail out! no ledger could be filled"; exit 1; }

report() {
	ctl report --ledger="$ledger" --since="$day" --until="$next" "$@"
}

# answers FILTER OPTION...: jq says true of the JSON
answers() {
	local filter=$1
	shift
	report "$@" --json=short >"$tmp/json" && jq -e "$near $filter" "$tmp/json"
}
near='def near(a): (. - a) | fabs < 1e-9 * (a | fabs) + 1e-9;'

# complains STATUS WORDS COMMAND...: it fails so, and the words are on standard error
complains() {
	local wanted=$1 words=$2
	shift 2
	"$@" >"$tmp/complains.out" 2>"$tmp/complains.err"
	[[ $? == "$wanted" ]] && grep -qF -e "$words" "$tmp/complains.err" && [[ ! -s $tmp/complains.out ]]
}

# ---- what people see ----

seen() { # COLUMNS OPTION...
	local columns=$1
	shift
	script -qec "stty cols $columns rows 50; '$build/storpowerctl' --no-pager report --ledger='$ledger' $*" \
		/dev/null </dev/null | tr -d '\004\b' | sed -e 's/^\^D//' -e 's/\r$//' -e 's/\x1b\[[0-9;]*m//g' \
		-e "s/$day/2026-11-23/g" -e "s/$next/2026-11-24/g"
}

is_golden() { # NAME COLUMNS OPTION...
	seen "${@:2}" >"$tmp/$1"
	[[ ! ${REGENERATE:-} ]] || cp "$tmp/$1" "$golden/$1"
	diff -u "$golden/$1" "$tmp/$1"
}

fits() { # NAME COLUMNS
	(($(wc -L <"$tmp/$1") <= $2))
}

times="--since=$day --until=$next"
for by in device pool cgroup hour; do
	ok "the report by $by is as it should be seen" is_golden "report-$by-80" 80 "$times --by=$by"
	ok "and fits 80 columns" fits "report-$by-80" 80
done
ok "by device at 60 columns" is_golden report-device-60 60 "$times"
ok "it fits" fits report-device-60 60
ok "with price, intensity and capacity" is_golden report-terms-80 80 \
	"$times --by=day --price=0.18 --intensity=207 --size=100TB --protection=8+3 --fill=80%"
ok "it fits as well" fits report-terms-80 80
for claim in 7 9; do
	ok "the record of claim $claim" is_golden "report-claim-$claim-80" 80 "--claim=$claim"
	ok "in 80 columns" fits "report-claim-$claim-80" 80
done
is "in a plain locale there is nothing but ASCII" "$(LC_ALL=C report | LC_ALL=C grep -c '[^ -~]')" 0
ok "nothing that is no number is printed" bash -c "! grep -riw -e nan -e inf '$tmp'/report-*"

# ---- every grouping adds up to the node ----

adds_up() { # GROUPING
	answers '.By == "'"$1"'" and (.Total.Energy as $t | .Rows | length > 0 and ([.[].Energy] | add | near($t)))' --by="$1"
}
for by in device pool group cgroup node day hour; do
	ok "the rows by $by add up to the node's energy" adds_up $by
done
ok "and to its idle energy, money and carbon" answers '.Total as $t | .Rows |
	all(("IdleEnergy", "AboveIdleEnergy") as $k | [.[][$k]] | add | near($t[$k]); .) and
	([.[].Cost] | add | (. / $t.Cost - 1) | fabs < 1e-6) and ([.[].KgCO2e] | add | (. / $t.KgCO2e - 1) | fabs < 1e-6)'
ok "means add up as well" answers '.Total.MeanPower as $w | [.Rows[].MeanPower] | add | near($w)'
ok "nine devices were there" answers '.Rows | length == 9' --by=device
ok "of three groups" answers '[.Rows[].Name] | sort == ["(no group)", "cold", "hot"]' --by=group
ok "of 24 hours" answers '.Rows | length == 24 and ([.[].CountedSeconds] | all(. == 3600))' --by=hour
ok "the hours of another time zone are 24, too" eval \
	'TZ=IST-5:30 answers ".Rows | length == 25 and ([.[].CountedSeconds] | add == 86400)" --by=hour \
	--since="@$(date -d "$day" +%s)" --until="@$(date -d "$next" +%s)"'
ok "half of a day has its own sum" eval '
	answers ".Total.Energy" --until="$day 12:00" && first=$(jq .Total.Energy "$tmp/json") &&
	answers ".Total.Energy" --since="$day 12:00" && second=$(jq .Total.Energy "$tmp/json") &&
	answers ".Total.Energy | near($first + $second)"'
ok "a sum is that of the database" eval '
	answers ".Total.Energy | near($(sqlite3 "$ledger" "select sum(energy_uj) / 1e6 from
		(select * from day union all select * from open) where kind = 0"))"'

# ---- figures ----

ok "idle and above idle are all" answers '.Total | (.IdleEnergy + .AboveIdleEnergy) as $sum | .Energy | near($sum)'
ok "a request is an IO where nobody counts requests" answers '.RequestsAreIOs and
	(.Total | .Requests == .IOs and ((.Energy / .IOs / .RequestEnergy - 1) | fabs < 1e-6))'
ok "a price that is told counts for all of it" answers '.Total | .Cost as $c | .KilowattHours * 0.18 | near($c)' --price=0.18
ok "a year is E * 24 * 365 * price" answers '.Total | .CostPerYear as $c | .MeanPower / 1000 * 24 * 365 * 0.18 | near($c)' \
	--price=0.18
ok "so does an intensity" answers '.Total | .KgCO2e as $kg | .KilowattHours * 0.207 | near($kg)' --intensity=207
ok "else each kWh has that of its time" answers '.Total | .GramsPerKWh > 270 and .GramsPerKWh < 420 and .MarginalShare == 0'
ok "8+3 at 80 % of 110 TB are 64 usable" answers '.Total.UsableTB | near(64)' --size=110TB --protection=8+3 --fill=80%
ok "tonnes a usable PB and year" answers '.Total | .TonnesPerPBYear as $t |
	.MeanPower / 1000 * 8760 * 0.207 / 1000 / .UsableTB * 1000 | near($t)' --size=110TB --intensity=207
ok "without a size nothing is told of capacity" answers '.Total.UsableTB == null and .Total.KilowattPerPB == null'
ok "kg a PB and 10^9 IOs" answers '.Total | .KgPerPB as $pb | .KgPerGigaIO as $io |
	(.KgCO2e / (.BytesRead + .BytesWritten) * 1e15 | (. / $pb - 1) | fabs < 1e-6) and
	(.KgCO2e / .IOs * 1e9 | (. / $io - 1) | fabs < 1e-6)'
ok "what was saved is what would have been drawn more" answers '.Total | .SavedByBudget as $s | .UnlimitedEnergy - .Energy | near($s)'
ok "the claims that limited are named" answers '[.Claims[].Cookie] | sort == [7, 8, 9]'
ok "a claim's record has what was delivered" eval '
	ctl report --ledger="$ledger" --claim=7 --json=short >"$tmp/json" && jq -e "$near"".Cookie == 7 and
	(.DeliveredPower as \$d | .BaselinePower - .MeanPower | near(\$d)) and .LimitedSeconds == 7200 and
	.AboveSeconds == 27 and .LongestAboveSeconds == 23 and .CompliantSeconds == 7173 and
	.Reason == \"grid event of the utility\" and .Source == \"openadr-bridge\" and .Class == \"signal\"" "$tmp/json"'

# ---- CSV ----

# csv_is EXPRESSION: of rows, as python reads them
csv_is() {
	python3 -c "
import csv, sys
rows = list(csv.DictReader(open('$tmp/out', newline='')))
assert rows, 'no rows'
assert $1, rows[0]"
}
status "--csv" 0 report --by=device --csv
ok "has a line for each device, and no total" csv_is "len(rows) == 9 and all(r['model'] for r in rows)"
ok "whose figures are those of the JSON" eval '
	answers ".Rows[0].Energy" && csv_is "abs(float(rows[0][\"energy_j\"]) - $(jq ".Rows[0].Energy" "$tmp/json")) < 1e-3"'
ok "what is of the node alone is empty" csv_is "all(r['budget_w'] == '' for r in rows)"
status "--csv by hour" 0 report --by=hour --csv
ok "has its budget" csv_is "rows[10]['budget_w'] == '52' and rows[0]['budget_w'] == ''"
status "--csv of a claim" 0 ctl report --ledger="$ledger" --claim=7 --csv
ok "is one line" csv_is "len(rows) == 1 and rows[0]['claim'] == '7' and float(rows[0]['above_s']) == 27"

# ---- HTML ----

status "--html" 0 report --html="$tmp/page.html"
ok "says nothing" test ! -s "$tmp/out"
ok "the page is one of HTML" python3 -c "
from html.parser import HTMLParser
class P(HTMLParser):
	open, tags = [], set()
	def handle_starttag(self, tag, attrs):
		self.tags.add(tag)
		if tag not in ('meta', 'br', 'line', 'rect', 'path'): self.open.append(tag)
		for k, v in attrs: assert k not in ('src', 'href', 'onload', 'onerror'), (tag, k)
	def handle_startendtag(self, tag, attrs): self.tags.add(tag)
	def handle_endtag(self, tag): assert self.open.pop() == tag, tag
p = P(); p.feed(open('$tmp/page.html').read())
assert not p.open and {'svg', 'path', 'table', 'footer'} <= p.tags and 'script' not in p.tags"
ok "nothing in it is loaded" bash -c "! grep -qE 'url\(|@import|https?://' '$tmp/page.html'"
ok "what cannot be written is said" complains 1 "cannot be written: No such file" report --html="$tmp/none/page.html"
ok "and leaves nothing" test ! -e "$tmp/none"

# ---- what is wrong ----

ok "no ledger is said, and what to do" complains 1 "There is no ledger $tmp/none: storpowerd keeps one" \
	ctl report --ledger="$tmp/none"
echo nonsense >"$tmp/no-ledger"
ok "so is a file that is none" complains 1 "The ledger $tmp/no-ledger cannot be read: " ctl report --ledger="$tmp/no-ledger"
ok "a time of which nothing is known" complains 1 "begins on $day" \
	ctl report --ledger="$ledger" --since=2001-01-01 --until=2001-01-02
ok "an empty ledger" eval '"$fill" "$tmp/empty" 0 0 && complains 1 "holds nothing yet" ctl report --ledger="$tmp/empty"'
ok "no such claim" complains 4 "No claim 12345 was ever the limit in force" ctl report --ledger="$ledger" --claim=12345
ok "no claim at all" complains 4 "No claim 1 was ever" ctl report --ledger="$tmp/empty" --claim=1
ok "a claim that is no number" complains 2 "--claim=x: the number of a claim" ctl report --ledger="$ledger" --claim=x
for wrong in tomorrow 2026-02-30 25:00 2h -400d @x ""; do
	ok "the time \"$wrong\" is told what would be right" complains 2 "--since=$wrong: a time such as" report --since="$wrong"
done
ok "an end before the beginning" complains 2 "is not before" report --since="$next" --until="$day"
ok "a beginning that is to come" complains 2 "is not before" ctl report --ledger="$ledger" --since="@4102444800"
ok "a grouping that is none" complains 2 "device, pool, group, cgroup, node, day or hour" report --by=drive
ok "two forms at once" complains 2 "one of them" report --json --csv
ok "a page of a claim" complains 2 "is no --html" ctl report --ledger="$ledger" --claim=7 --html=x
ok "a price of a claim" complains 2 "no price" ctl report --ledger="$ledger" --claim=7 --price=0.18
ok "a band of intensities" complains 2 "one figure" report --intensity=300..400
ok "protection without a capacity" complains 2 "--size=" report --protection=8+3
as_nobody() {
	chmod 755 "$tmp" && setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"
}
ok "who may not read it is told who may" complains 4 "is for root alone: sudo storpowerctl report" \
	as_nobody "$build/storpowerctl" --no-pager report --ledger="$ledger"

# ---- with a daemon ----

start_bus
start_daemon
reads_that_of_the_daemon() {
	local path
	path=$(property LedgerPath | tr -d '"')
	[[ $path != null ]] || path=/var/lib/storpower/ledger
	ctl report >"$tmp/with.out" 2>"$tmp/with.err" || grep -qF "$path" "$tmp/with.err"
}
ok "without --ledger it is the daemon's that is read" reads_that_of_the_daemon
ok "the daemon lives" daemon_lives

# what an IO of a device has cost, for the decision of whether another pays
carbon_of() { # DEVICE OPTION...
	ctl carbon --ledger="$ledger" --ssd-energy="ledger:$1" --hdd-energy=15mJ --size=2TB --intensity=381 "${@:2}"
}
same_energy() { # what the rows of the report give for this device
	local told counted
	told=$(carbon_of "$1" --json=short | jq .SSD.RequestEnergy.Mean) || return 1
	counted=$(sqlite3 "$ledger" "SELECT sum(energy_uj) * 1e-6 / sum(reads + writes) FROM
		(SELECT thing, energy_uj, reads, writes FROM day UNION ALL
		 SELECT thing, energy_uj, reads, writes FROM open) JOIN thing ON thing = id WHERE name = '$1'")
	awk -v a="$told" -v b="$counted" 'BEGIN { exit !(b > 0 && (a / b - 1) ^ 2 < 1e-12) }'
}
busiest=$(report --by=device --json=short | jq -r '[.Rows[] | select(.IOs > 0)][0].Name')
ok "carbon takes what an IO of a device has cost from the ledger" same_energy "$busiest"
ok "and says which devices there are not" \
	complains 1 "knows no device nosuch" carbon_of nosuch
done_testing
