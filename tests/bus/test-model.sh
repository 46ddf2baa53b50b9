#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# storpowerctl model: with a daemon it shows what that sees, and without one what the profiles say.
. "$(dirname "$0")/lib.sh"

export LC_ALL=C.UTF-8
profiles=$root/policies/profiles

model() {
	ctl model "$@" --profiles="$profiles"
}

frontier() { # DEVICE|PROFILE [OPTION...] FILTER
	model frontier "${@:1:$#-1}" --json | jq -e "${!#}"
}

at_terminal() { # COLUMNS ARGUMENT...
	script -qec "stty cols $1 rows 50; '$build/storpowerctl' --no-pager model ${*:2} \
		--profiles='$profiles'" /dev/null </dev/null
}

# Without a daemon
for wrong in "" frob list\ x show "show a b" frontier "compare a" validate "drift x" "list --workload=read=1%" \
	"show x --depth=2" "predict --plot=x.svg" "predict samsung-pm9a3 --depth=0" \
	"predict samsung-pm9a3 --workload=read=7" "frontier samsung-pm9a3 --plot=x.pdf"; do
	status "wrong usage is 2: model $wrong" 2 model $wrong
	ok "and says so" test -s "$tmp/err"
done
status "list without a daemon" 0 model list
is "has every profile" "$(grep -c "" "$tmp/out")" $(($(ls "$profiles" | wc -l) + 1))
is "and nobody knows who uses them" "$(model list --json | jq -c '[.[].Devices] | unique')" '[null]'
ok "list -o wide names the files" grep -q "$profiles/samsung-pm9a3.profile$" <(model list -o wide)
status "a directory without profiles is a failure" 1 ctl model list --profiles="$tmp"
ok "which is named" grep -qF "There is no profile in $tmp: name the directory with --profiles=DIR" "$tmp/err"
status "show" 0 model show samsung-pm9a3
ok "has the points" grep -q "^write random  *64  *256K  *-  *13.3  *1843  *7030  *5 %" "$tmp/out"
ok "marks those that are estimated" grep -q "^write random  *64  *16K .* est\.$" "$tmp/out"
ok "fits 80 columns" test "$(wc -L <"$tmp/out")" -le 80
status "show of a file" 0 model show "$profiles/samsung-pm1725.profile"
ok "has the mixes" grep -q "^mixed random  *50 %" "$tmp/out"
ok "show --json has as many points as it says" jq -e '.PointCount == (.Points | length) and .MixCount == 2' \
	<(model show samsung-pm1725 --json)
status "an unknown name is refused" 4 model show nosuch
ok "and told that no daemon knows devices" grep -q "storpowerd runs, and it does not" "$tmp/err"
ok "the frontier of a profile rises" frontier samsung-pm9a3 \
	'[.Candidates[].CapPower] == ([.Candidates[].CapPower] | sort) and .Present.Depth == 32'
ok "and is that of the workload that is said" frontier samsung-pm9a3 "--workload=read=0%,chunk=256K,depth=64" \
	'.Present.WriteSize == 256 and .Candidates[-1].ExpectedPower == 13.3'
status "a frontier into a file" 0 model frontier samsung-pm9a3
ok "is no drawing" bash -c "! grep -q ┤ '$tmp/out'"
for columns in 60 80 120; do
	at_terminal $columns frontier samsung-pm9a3 | tr -d '\r' | sed 's/\x1b\[[0-9;]*m//g' >"$tmp/out"
	ok "a frontier on a terminal of $columns columns is drawn" grep -q "┤.*[⠁⠂⠄⡀⣀⠔⠤]" "$tmp/out"
	ok "and fits" test "$(wc -L <"$tmp/out")" -le $columns
done
LC_ALL=C at_terminal 80 frontier samsung-pm9a3 >"$tmp/out"
is "in a plain locale it is not, and all is ASCII" "$(LC_ALL=C sed 's/\x1b\[[0-9;]*m//g' "$tmp/out" | LC_ALL=C tr -d '\r' | LC_ALL=C grep -c '[^ -~]')" 0

status "predict of profiles" 0 model predict samsung-pm9a3x6 seagate-exos-7e2000
ok "tells the watts and how far off they may be" grep -q "^Together .* MB/s, .* IO/s, .*; .* W ±.* W$" "$tmp/out"
predicted=$(model predict samsung-pm9a3x6 --workload="read=0% chunk=256K depth=64" --json)
ok "six are six times one" jq -en "$predicted | .Total.Throughput == 6 * .Devices[0].Throughput"
ok "by Little's law the mean is depth over IOPS" jq -en \
	"$predicted | .Devices[0] | (.MeanResponse * .IOPS / 64e6 - 1) * 1000 | round == 0"
ok "the 99th percentile is above it" jq -en "$predicted | .Devices[0] | .P50 < .P99 and .MeanResponse < .P99"
ok "a limited depth serves less, sooner" jq -en "$(model predict samsung-pm9a3 --depth=1 --json) | .Devices[0].P99 as \$p |
	.Devices[0].IOPS as \$i | $(model predict samsung-pm9a3 --json) | .Devices[0] | .P99 > \$p and .IOPS > \$i"
status "predict of a node file" 0 model predict "$root/policies/nodes/mixed.node" --json
is "has all its devices" "$(jq .Total.Count "$tmp/out")" 28
cached=samsung-pm9a3:90%+seagate-exos-7e2000x4:10%
status "predict of a cache and the disks behind it" 0 model predict "$cached"
ok "fits 80 columns" test "$(wc -L <"$tmp/out")" -le 80
ok "each disk gets its part of a tenth" grep -q "^4 seagate-exos-7e2000  2.5 % " "$tmp/out"
ok "tells median and 99th percentile of all" grep -q "at the 99th\|in the median" "$tmp/out"
predicted=$(model predict "$cached" --workload="depth=8" --json)
ok "so many IOs are outstanding as were asked for" jq -en \
	"$predicted | [.Devices[] | .Count * .Depth] | (add - 8) | fabs < 1e-6"
ok "the 99th percentile is the disks'" jq -en \
	"$predicted | .Total.P50 < .Devices[1].MeanResponse and .Total.P99 > .Devices[1].MeanResponse"
status "shares that are not all are wrong usage" 2 model predict samsung-pm9a3:90%+seagate-exos-7e2000:5%
ok "and says so" grep -q "the shares are 100 % together" "$tmp/err"
status "so is one without a share beside one that has it" 2 model predict samsung-pm9a3:90%+seagate-exos-7e2000
status "and a limit of each device's depth" 2 model predict "$cached" --depth=2
status "and another device beside it" 2 model predict "$cached" samsung-pm9a3
status "an unknown profile in it is refused" 4 model predict samsung-pm9a3:90%+nosuch:10%
status "an unknown profile is refused" 4 model predict nosuchx3
status "a node file that is not there" 1 model predict /nonexistent.node
status "predict of the devices needs a daemon" 3 model predict

status "compare" 0 model compare samsung-pm9a3 dell-ps1010
ok "names both" grep -q "^A is samsung-pm9a3, B is dell-ps1010$" "$tmp/out"
ok "has the points that both hold alone" jq -en "$(model compare samsung-pm9a3 dell-ps1010 --json) |
	(.Points | length) == 20 and all(.Points[]; (.Power.B / .Power.A - .Power.Ratio | fabs) < 1e-6)"
is "one with itself is the same" "$(model compare samsung-pm1725 samsung-pm1725 --json |
	jq -c '[.Points[] | .Power.Ratio, .Throughput.Ratio] | unique')" "[1]"

sed 's/^idle.*/idle = 50 W/' "$profiles/samsung-pm9a3.profile" >"$tmp/bad.profile"
status "validate of good files" 0 model validate "$profiles"/*.profile
ok "counts" grep -q "samsung-pm9a3.profile: usable, 52 points (52 estimated)$" "$tmp/out"
sed '1,/^\.Bd/d; /^\.Ed/,$d' "$root/man/storpower.profile.5" >"$tmp/manual.profile"
ok "the manual page's example is usable" grep -q "manual.profile: usable, 2 points (1 estimated)$" \
	<(model validate "$tmp/manual.profile")
status "validate of a bad one" 1 model validate "$profiles/samsung-pm9a3.profile" "$tmp/bad.profile"
ok "says file, line and what" grep -q "^$tmp/bad.profile:[0-9]*: idle (50 W) is above rated (14 W)$" "$tmp/err"
sed 's/^idle = /idel = /' "$profiles/samsung-pm9a3.profile" >"$tmp/idel.profile"
line=$(grep -n '^idel' "$tmp/idel.profile" | cut -d : -f 1)
ok "and what would be right" grep -q "^$tmp/idel.profile:$line: unknown key \"idel\": \[profile\] has no key \"idel\", only: match" \
	<(model validate "$tmp/idel.profile" 2>&1)
ok "and that it is unusable" grep -q "^$tmp/bad.profile: unusable" "$tmp/out"
status "validate of what is not there" 1 model validate "$tmp/nosuch.profile"
ok "says so" grep -q "nosuch.profile: No such file" "$tmp/err"
status "a directory is for model alone" 2 ctl list --profiles="$tmp"
status "what the sensors say is asked of the daemon" 3 model drift

# A gnuplot that keeps its script
mkdir "$tmp/bin" "$tmp/none"
printf '#!/bin/sh\ncp "$1" "%s/script"\n' "$tmp" >"$tmp/bin/gnuplot"
chmod +x "$tmp/bin/gnuplot"
plot() { # PATH ARGUMENT...
	TMPDIR=$tmp PATH=$1 "$build/storpowerctl" model frontier --profiles="$profiles" "${@:2}"
}
status "--plot without gnuplot fails" 1 plot "$tmp/none" samsung-pm9a3 --plot="$tmp/a.svg"
ok "and says what to install" grep -q "install the package gnuplot-nox" "$tmp/err"
status "--plot with gnuplot" 0 plot "$tmp/bin:$PATH" samsung-pm9a3 --plot="$tmp/it's.svg"
ok "draws to that file" grep -qF "set output '$tmp/it''s.svg'" "$tmp/script"
ok "the frontier, its error and the points" grep -q 'plot $frontier' "$tmp/script"
is "and leaves no script behind" "$(ls "$tmp"/storpowerctl-* 2>/dev/null | wc -l)" 0
plot "$PATH" samsung-pm9a3 --plot="$tmp/a.svg"
ok "the real one draws it" grep -q "<svg" "$tmp/a.svg"
plot "$PATH" samsung-pm9a3 --plot="$tmp/a.png"
is "and a PNG, by the file's name" "$(head -c 8 "$tmp/a.png" | od -An -tx1 | tr -d ' ')" 89504e470d0a1a0a
# the header comes first: its width is in bytes 16 to 19
ok "that is as wide as a picture" test "$((0x$(tail -c +17 "$tmp/a.png" | head -c 4 | od -An -tx1 | tr -d ' ')))" -ge 400

# With a daemon
start_bus
start_daemon
is "list knows who uses a profile" "$(model list --json | jq -c '[.[] | select(.Devices | length > 0).Devices[0]] | sort')" \
	'["nvme0","sda","sdb"]'
ok "and says it" grep -q "^nvme0  *samsung-pm9a3$" <(model list)
status "show DEVICE" 0 model show /dev/nvme0
ok "is its profile" grep -qx samsung-pm9a3 "$tmp/out"
status "an unknown device is refused" 4 model show nosuch
ok "the daemon's frontier has what is in force and planned" frontier nvme0 \
	'.Present.Profile == "samsung-pm9a3" and .Present.Setting == "as found" and .Present.PlannedPower > 0'
ok "without a limit the plan holds nothing back" grep -qx "     Planned  as found: nothing is held back" <(model frontier nvme0)
seen() {
	frontier nvme0 '.Present | .MixSeen and (.ReadShare * 100 | round) == 40'
}
ok "its mix is that of the workload, as soon as that was seen" eventually seen
ok "a workload is for profiles alone" grep -q "the daemon knows what it does" \
	<(model frontier nvme0 --workload=read=1% 2>&1)
ok "the last candidate is the device as found" frontier nvme0 \
	'.Candidates[-1] | .Setting == "as found" and .CapPower == 14'
ctl set 60% >/dev/null
planned() {
	frontier nvme0 '.Present | .Setting != "as found" and .Setting == .PlannedSetting'
}
ok "a limit is seen in it" eventually planned
ok "and on the screen" grep -q "^     Planned  .* W, .* MB/s: " <(model frontier nvme0)
ok "a policy that forbids pacing is obeyed" eval '
	printf "[policy]\nforbid = pacing\n" >"$tmp/policy" &&
	mkdir -p "$tmp/etc/policies" && cp "$tmp/policy" "$tmp/etc/policies/calm.policy" &&
	ctl policy calm && frontier nvme0 "all(.Candidates[]; .Paced | not)"'
status "predict of the devices" 0 model predict
ok "has each" grep -q "^nvme0 " "$tmp/out"
ok "predict --json of each as it works" jq -e '.Devices[] | select(.Name == "nvme0") | .WriteSize > 100' \
	<(model predict --json)
predicted=$(model predict nvme0:90%+sdb:10% --json)
ok "devices of the node stand for their profiles in what shares a workload" jq -en "$predicted |
	[.Devices[] | .Name, .Profile, .Share] == [\"nvme0\", \"samsung-pm9a3\", 0.9, \"sdb\", \"seagate-exos-7e2000\", 0.1]"
shares_are_served() {
	local served
	predicted=$(model predict nvme0+sda --json) || return
	served=$(ctl list --json | jq '[.[] | select(.Name == "nvme0" or .Name == "sda")] | sort_by(.Name) |
		.[1].IOPS / (map(.IOPS) | add)')
	jq -en "$predicted | .Devices | ((map(.Share) | add) - 1 | fabs) < 1e-9 and (.[1].Share / $served - 1 | fabs) < 0.1"
}
status "a device that serves nothing has no share" 4 model predict nvme0+sdb
ok "and is named" grep -q "^storpowerctl: sdb serves nothing now" "$tmp/err"
ok "without shares each has the part that the daemon sees it serve" eventually shares_are_served
ok "and the 99th percentile of all is told" jq -en "$predicted | .Total.P99 > .Total.P50 and .Total.P50 > 0"
status "a profile beside them needs a share" 2 model predict nvme0+samsung-pm9a3
status "an unknown device beside them is refused" 4 model predict nvme0+nosuch
ok "none of this is a claim, but that one" claim_count_is 1
ok "the daemon lives" daemon_lives
done_testing
