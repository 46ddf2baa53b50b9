#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# storpowerctl efficiency: what profiles and devices give for a joule, and cost in a year.
. "$(dirname "$0")/lib.sh"

export LC_ALL=C.UTF-8
profiles=$root/policies/profiles

efficiency() {
	ctl efficiency --profiles="$profiles" "$@"
}

# answers FILTER ARGUMENT...: the command succeeds, and jq says true of its JSON
answers() {
	local filter=$1
	shift
	efficiency "$@" --json=short >"$tmp/json" && jq -e "$near $filter" "$tmp/json"
}

# complains WORDS ARGUMENT...: it is wrong usage, and the words say why
complains() {
	local words=$1
	shift
	efficiency "$@" >"$tmp/complains.out" 2>&1
	[[ $? == 2 ]] && grep -qF -e "$words" "$tmp/complains.out"
}

# The column of figures falls: the best is first.
falls() { # COLUMN TABLE
	awk -v column="$1" -v table="$2" '
		/^PROFILE/ { n++; next }
		n != table || !/^[a-z0-9]+-[a-z0-9-]+  / { next }
		{ if (rows++ && $column > before) bad = 1; before = $column }
		END { exit bad || rows < 5 }' "$tmp/out"
}

near='def near(a): (. / a - 1) | fabs < 1e-9;'

# A drive with the figures that the studies print: 140 MB/s at 17.3 W, 8.9 W idle
mkdir "$tmp/profiles"
cat >"$tmp/profiles/printed.profile" <<-END
	[profile]
	match = NOTHING*
	kind = hdd
	rated = 20 W
	idle = 8.9 W
	error = 5%
	[points]
	$(for io in read\ random read\ sequential write\ random write\ sequential; do
		for depth in 1 64; do
			echo "point = qd=$depth chunk=256K $io 17.3W 140MB/s"
		done
	done)
END
status "efficiency of all profiles" 0 efficiency
is "has two tables" "$(grep -c "^PROFILE " "$tmp/out")" 2
is "with a line for each profile" "$(grep -c "^samsung-pm9a3 " "$tmp/out") $(grep -Ec "^(samsung|intel|dell|seagate)-" "$tmp/out")" \
	"2 $((2 * $(ls "$profiles" | wc -l)))"
ok "fits 80 columns" test "$(wc -L <"$tmp/out")" -le 80
ok "the best of large IO is first" falls 2 1
ok "and the best of small IO" falls 2 2
ok "no table of a year where nothing is asked of it" bash -c "! grep -q '^A YEAR' '$tmp/out'"
ok "reads and writes in turn are the sum of throughputs over that of watts" answers 'length > 5 and all(.[].Large; . as $l | $l.BothPerJoule |
	near(($l.Read.Throughput + $l.Write.Throughput) / ($l.Read.Power + $l.Write.Power)))'
ok "so are those of small IO" jq -e "$near"'all(.[].Small; . as $l | $l.BothIOPerJoule |
	near(($l.Read.IOPS + $l.Write.IOPS) / ($l.Read.Power + $l.Write.Power)))' "$tmp/json"
ok "each is its throughput over its watts" jq -e "$near"'[.[] | .Large, .Small | .Read, .Write, .Mixed] | length >= 60 and
	all(.[]; . as $m | ($m.PerJoule | near($m.Throughput / $m.Power)) and ($m.IOPerJoule | near($m.IOPS / $m.Power)))' "$tmp/json"
ok "the JSON has the best first" jq -e '[.[].Large.BothPerJoule] | . == (sort | reverse)' "$tmp/json"

ok "a workload has the figures of model predict" eval '
	ctl model predict samsung-pm9a3 --profiles="$profiles" --workload="read=0% chunk=256K depth=64" --json >"$tmp/predicted" &&
	answers ".[0].Workload | (.PerJoule | near($(jq ".Devices[0] | .Throughput / .Power" "$tmp/predicted"))) and
		(.IOPerJoule | near($(jq ".Devices[0] | .IOPS / .Power" "$tmp/predicted"))) and .KgPerPB == null" \
		samsung-pm9a3 --workload="read=0% chunk=256K depth=64"'
status "it is one table" 0 efficiency --workload=read=100%,random=0%
is "with its own order" "$(grep -c "^PROFILE " "$tmp/out")" 1
ok "the best is first" falls 2 1
ok "and names the workload" grep -q "^Workload  all reads, no random, 16.0 KiB, 32 outstanding$" "$tmp/out"

status "with price, intensity and size" 0 efficiency --workload=read=100% --price=0.18 --intensity=207 --size=4TB \
	--protection=8+3 --fill=80%
ok "there is a year idle" grep -q "^A YEAR IDLE  *WATTS  *COST  *KG CO2E  *KW/PB  *T CO2E/PB$" "$tmp/out"
ok "and one at full load" grep -q "^A YEAR AT FULL LOAD " "$tmp/out"
ok "carbon of bytes and IOs is told" grep -q "KG/PB .*KG/1E9 IO" "$tmp/out"
ok "fits 80 columns" test "$(wc -L <"$tmp/out")" -le 80
status "-o wide has every column" 0 efficiency --workload=read=100% --intensity=207 -o wide
ok "side by side" grep -q "MB/S  *IOPS  *KG/PB  *KG/1E9 IO" "$tmp/out"
ok "carbon is that of joules" answers '.[0].Workload as $w | ($w.KgPerPB | near(1e9 / $w.PerJoule / 3.6e6 * 0.207)) and
	($w.KgPerGigaIO | near(1e9 / $w.IOPerJoule / 3.6e6 * 0.207))' samsung-pm9a3 --workload=read=100% --intensity=207
ok "8+3 at 80 % are 8/11 of four fifths" answers '.[0].UsableTB | near(1.1 * 8 / 11 * 0.8)' samsung-pm9a3 --size=1100GB \
	--protection=8+3 --fill=0.8
ok "without them all is usable" answers '.[0].UsableTB == 4 and .[0].IdleYear.KilowattPerPB == 5 / 4 and
	.[0].IdleYear.TonnesPerPB == null' samsung-pm9a3 --size=4TB
ok "full load is the most in operation" eval '
	ctl model show samsung-pm9a3 --profiles="$profiles" --json >"$tmp/shown" &&
	answers ".[0].FullYear.Power == $(jq .OperatingPower "$tmp/shown") and .[0].IdleYear.Power == 5" samsung-pm9a3'
ok "or that of the workload" answers '.[0].FullYear.Power == .[0].Workload.Power' samsung-pm9a3 --workload=depth=1

# What the studies print
status "a profile of printed figures is usable" 0 ctl model validate "$tmp/profiles/printed.profile"
printed() { # FILTER OPTION...
	local filter=$1
	shift
	answers "$filter" "$tmp/profiles/printed.profile" "$@"
}
ok "140 MB/s at 17.3 W are 8.1 MB/J" printed '.[0].Large | all(.Read, .Write; .PerJoule * 10 | round == 81)'
ok "8.9 W at 0.18 a kWh cost 14 a year" printed '.[0].IdleYear.Cost | round == 14' --price=0.18
status "which is printed to the cent" 0 efficiency "$tmp/profiles/printed.profile" --price=0.18
ok "as such" grep -q "^printed  *8\.90  *14\.03$" "$tmp/out"
sed -i 's/^idle = .*/idle = 1.9 W/' "$tmp/profiles/printed.profile"
ok "1.9 kW/PB at 0.207 kg/kWh are 3.4 t a year" printed '.[0].IdleYear | (.TonnesPerPB * 10 | round == 34) and .KilowattPerPB == 1.9' \
	--intensity=0.207kg/kWh --size=1TB
sed -i 's/^idle = .*/idle = 4 W/' "$tmp/profiles/printed.profile"
ok "4.0 kW/PB are 7.3" printed '.[0].IdleYear.TonnesPerPB * 10 | round == 73' --intensity=207 --size=1TB

status "devices of one profile are one line" 0 efficiency samsung-pm9a3 samsung-pm9a3 --json
ok "one" jq -e 'length == 1' "$tmp/out"
status "an unknown name is refused" 4 efficiency nosuch
ok "and named" grep -q 'Unknown profile or device "nosuch"' "$tmp/err"
status "no profile at all is a failure" 1 ctl efficiency --profiles="$tmp"
ok "which is said" grep -qF "There is no profile in $tmp" "$tmp/err"
ok "a band of intensities is too much" complains "one figure, as 381, would be right" --intensity=300..400
ok "protection needs a capacity" complains "--size=" --protection=8+3
ok "so does how full it gets" complains "--size=" --fill=80%
for wrong in --protection=8 --protection=0+1 --protection=8+ --protection=+3 --protection=8+x --protection=-8+3 \
	--protection=8+3+1 --fill=0% --fill=101% --price=-1 --price=x --price=1..2 --intensity=x --size=4; do
	ok "$wrong is told what would be right" complains "$wrong: " --size=4TB "$wrong"
done
status "what is of carbon alone is wrong usage" 2 efficiency --life=5y
status "so is a workload that is none" 2 efficiency --workload=read

# With a daemon
start_bus
start_daemon
status "efficiency of a device" 0 efficiency nvme0 --json
ok "is that of its profile" jq -e 'length == 1 and .[0].Profile == "samsung-pm9a3"' "$tmp/out"
ok "the daemon lives" daemon_lives
done_testing
