#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# storpowerctl carbon: what the study prints, through the command line, and what is refused. It needs no daemon.
. "$(dirname "$0")/lib.sh"

export LC_ALL=C.UTF-8
profiles=$root/policies/profiles

# Nibler and Ropars: averages of embodied carbon, Germany
base=(--ssd-energy=1mJ --hdd-energy=6mJ --size=1TB --intensity=381 --ssd-embodied=0.16 --hdd-embodied=0.02)

carbon() {
	ctl carbon "$@"
}

# answers FILTER OPTION...: the command succeeds, and jq says true of its JSON
answers() {
	local filter=$1
	shift
	carbon "$@" --json=short >"$tmp/json" && jq -e "$filter" "$tmp/json"
}

# complains WORDS OPTION...: it is wrong usage, and the words say why
complains() {
	local words=$1
	shift
	carbon "$@" >"$tmp/complains.out" 2>&1
	[[ $? == 2 ]] && grep -qF -e "$words" "$tmp/complains.out"
}

near='def near(a): (. / a - 1) | fabs < 1e-9;'
while read -r scaling disks; do
	ok "4000 requests a second want $disks disks of 722, at a scaling of $scaling" answers ".Disks == $disks" \
		"${base[@]}" --rate=4000 --hdd-rate=722 --scaling="$scaling"
done <<-END
	1 6
	0.9 7
	75% 8
END
ok "without a rate there is one disk" answers '.Disks == 1 and .Rate == null and .Seconds.Mean.Value == null' "${base[@]}"
ok "requests are those of equation 1" answers "$near"' .Requests.Mean |
	.Verdict == "after" and (.Value | near(140 / (5e-3 / 3.6e6 * 0.381)))' "${base[@]}"
ok "in Norway it takes longer" answers "$near"' .Requests.Mean.Value | near(140 / (5e-3 / 3.6e6 * 0.030))' \
	"${base[@]}" --intensity=30
ok "time is requests over their rate" answers "$near"' .Requests.Mean.Value as $r | .Seconds.Mean.Value | near($r / 2000)' \
	"${base[@]}" --rate=2000
ok "the embodied carbon is that of all disks" answers "$near"' .Requests.Mean.Value | near(40 / (5e-3 / 3.6e6 * 0.381))' \
	"${base[@]}" --rate=4000 --hdd-rate=722
ok "the threshold is the intensity at which the life is the break-even" answers \
	"$near"' .BreakEvenIntensity.Mean.Value | near(140 / (5e-3 / 3.6e6 * 1e-3 * 2000 * 3 * 365 * 86400))' \
	"${base[@]}" --rate=2000 --life=3y
ok "at that intensity it is" answers "$near"' .Seconds.Mean.Value | near(3 * 365 * 86400)' "${base[@]}" --rate=2000 \
	--intensity="$(jq .BreakEvenIntensity.Mean.Value "$tmp/json")"
ok "then both have caused as much" answers "$near"' .SSDCarbon.Mean as $s | .HDDCarbon.Mean | near($s)' "${base[@]}" \
	--rate=2000 --life=3y --intensity="$(jq .Intensity.Mean "$tmp/json")"
ok "without other words the embodied carbon is the study's" answers \
	'.SSD.Embodied == {"Low":0.033,"Mean":0.16,"High":0.34} and .HDD.Embodied == {"Low":0.005,"Mean":0.02,"High":0.06}' \
	--ssd-energy=1mJ --hdd-energy=6mJ --size=1TB --intensity=381
ok "with its bands, the SSD is ahead at once or late" answers \
	'.Requests | .Best.Verdict == "always" and .Worst.Verdict == "after" and .Worst.Value > 2 * .Mean.Value' \
	--ssd-energy=1mJ --hdd-energy=6mJ --size=1TB --intensity=381

ok "a range has its middle as the mean" answers '.Intensity == {"Low":300,"Mean":350,"High":400}' "${base[@]}" --intensity=300..400
ok "or the one that is said" answers '.Intensity == {"Low":300,"Mean":381,"High":400}' "${base[@]}" --intensity=300..381..400
ok "the mean is between the bounds" answers '.Requests | .Best.Value < .Mean.Value and .Mean.Value < .Worst.Value' \
	"${base[@]}" --intensity=300..400
ok "units are understood" answers "$near"' (.SSD.RequestEnergy.Low | near(9e-4)) and (.HDD.RequestEnergy.Mean | near(0.006)) and
	.Size == 2000 and .Rate == 4000 and (.Intensity.Mean | near(207)) and .LifeYears == 2' \
	--ssd-energy=0.9..1.2mJ --hdd-energy=6000uJ --size=2TB --intensity=0.207kg/kWh --rate=4k/s --life=730d

status "a break-even is a success" 0 carbon "${base[@]}" --rate=4000 --hdd-rate=722
ok "fits 80 columns" test "$(wc -L <"$tmp/out")" -le 80
is "tells who stands against whom" "$(head -n 1 "$tmp/out")" \
	"An SSD of 1.00 TB against 6 disks of that size, at 4000 requests a second"
ok "tells requests" grep -q "^Requests to break even  *7\.56e10  *7\.56e10  *7\.56e10$" "$tmp/out"
ok "tells the time" grep -q "^Time to break even  *219 days " "$tmp/out"
ok "tells the threshold" grep -q "^Grid to break even, g/kWh  *above 45\.7 " "$tmp/out"
ok "tells why" grep -q "^The SSD makes up for its making" "$tmp/out"
status "so is being ahead from the first request" 0 carbon "${base[@]}" --rate=40000 --hdd-rate=722
ok "which is said" grep -q "^Requests to break even  *at once " "$tmp/out"
ok "and why" grep -q "^The SSD is ahead from the first request" "$tmp/out"
status "so is being ahead at first only" 0 carbon "${base[@]}" --rate=40000 --hdd-rate=722 --hdd-energy=0.5mJ
ok "which is said" grep -q "^Requests to break even  *until " "$tmp/out"
ok "and why" grep -q "^The SSD is ahead at first only" "$tmp/out"
status "that there is none at best is a failure" 1 carbon "${base[@]}" --hdd-energy=1mJ
ok "which is said" grep -q "^Requests to break even  *never  *never  *never$" "$tmp/out"
ok "and why" grep -q "^The SSD never gets ahead" "$tmp/out"
status "in JSON, too" 1 carbon "${base[@]}" --hdd-energy=1mJ --json
ok "with the verdict" jq -e '.Requests.Best | .Verdict == "never" and .Value == null' "$tmp/out"
status "a break-even at best is none of the mean, and no failure" 0 carbon "${base[@]}" --hdd-energy=0.5..0.9..2mJ
ok "wide figures fit 80 columns" test "$(
	carbon --ssd-energy=1..900J --hdd-energy=1..3J --size=900TB --intensity=1..99999 --rate=123456789 --hdd-rate=722 \
		--life=100y >"$tmp/wide"
	wc -L <"$tmp/wide"
)" -le 80
ok "of which there is one" test -s "$tmp/wide"

# Of profiles
both=(--ssd=samsung-pm9a3 --hdd=seagate-exos-7e2000 --size=1TB --intensity=381 --profiles="$profiles")
ok "a profile tells rate and energy" answers '.Rate > 1000 and .SSD.Profile == "samsung-pm9a3" and .SSD.RequestEnergy.Mean > 0 and
	.Disks == (.Rate / .HDDRate | ceil) and .Disks > 100' "${both[@]}"
ok "which are watts for IOPS of that workload" eval '
	ctl model predict samsung-pm9a3 --profiles="$profiles" --workload="read=0% chunk=256K depth=64" --json >"$tmp/predicted" &&
	answers "$near"".SSD.RequestEnergy.Mean | near($(jq ".Devices[0] | .Power / .IOPS" "$tmp/predicted"))" "${both[@]}" \
		--workload="read=0% chunk=256K depth=64" &&
	jq -e "$near .Rate | near($(jq ".Devices[0].IOPS" "$tmp/predicted"))" "$tmp/json"'
ok "with the error of its watts" answers '.SSD.RequestEnergy | .Low < .Mean and .Mean < .High' "${both[@]}"
ok "what idles costs more a request" answers ".SSD.RequestEnergy.Mean > 5 * $(jq .SSD.RequestEnergy.Mean "$tmp/json")" \
	"${both[@]}" --rate=1000
ok "an energy that is told comes first" answers '.HDD.RequestEnergy.Mean == 0.25' "${both[@]}" --hdd-energy=0.25
status "an unknown profile is refused" 4 carbon "${both[@]}" --ssd=nosuch
ok "and named" grep -qF -- '--ssd: there is no profile "nosuch"' "$tmp/err"
ok "a disk is no SSD" complains "--ssd=seagate-exos-7e2000: this is the profile of a disk" "${both[@]}" --ssd=seagate-exos-7e2000
ok "nor an SSD a disk" complains "--hdd=samsung-pm9a3: this is the profile of an SSD" "${both[@]}" --hdd=samsung-pm9a3
ok "an SSD serves no more than it can" complains "samsung-pm9a3: " "${both[@]}" --rate=100000000
ok "nor do disks" complains "seagate-exos-7e2000: " "${both[@]}" --hdd-rate=100000

ok "--size is needed" complains "--size= is missing" --ssd-energy=1mJ --hdd-energy=6mJ --intensity=381
ok "--intensity is needed" complains "--intensity= is missing" --ssd-energy=1mJ --hdd-energy=6mJ --size=1TB
ok "an energy of the SSD is needed" complains "--ssd-energy= is missing" --hdd-energy=6mJ --size=1TB --intensity=381
ok "an energy of the disks is needed" complains "--hdd-energy= is missing" --ssd-energy=6mJ --size=1TB --intensity=381
ok "disks are counted for a rate" complains "--rate=REQUESTS" "${base[@]}" --hdd-rate=722
ok "scaling is of what a disk serves" complains "--scaling needs" "${base[@]}" --rate=4000 --scaling=0.9
ok "a life is of a rate" complains "--life needs" "${base[@]}" --life=3y
ok "a workload is for profiles" complains "--workload is for profiles" "${base[@]}" --workload=read=1%
ok "a million disks are enough" complains "more than a million disks" "${base[@]}" --rate=4000000 --hdd-rate=1
for wrong in --size=2 --size=0TB --size=2TiB --size=1..2TB --intensity=-1 --intensity=400..300 --intensity=1..2..3..4 \
	--intensity=1..2W --intensity= --ssd-energy=0 --ssd-energy=1W --hdd-energy=nan --ssd-embodied=a --hdd-embodied=1..x \
	--rate=0 --rate=1..2 --hdd-rate=x --scaling=1.1 --scaling=0 --life=5 --life=101y --life=0y; do
	ok "$wrong is told what would be right" complains "$wrong: " "${base[@]}" --rate=4000 --hdd-rate=722 "$wrong"
	ok "in words" grep -q "^storpowerctl: $wrong: .* would be right$" "$tmp/complains.out"
done
status "an argument is wrong usage" 2 carbon x
status "a price is none of carbon" 2 carbon "${base[@]}" --price=1
status "nor is --size of another verb" 2 ctl status --size=1TB
done_testing
