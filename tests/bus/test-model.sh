#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Profiles are listed and checked as files: without a daemon, and without a bus.
. "$(dirname "$0")/lib.sh"

profiles=$root/policies/profiles

list() { # FILTER
	ctl model list --profiles="$profiles" --json=short | jq -e "$1"
}
fits_in_80_columns() {
	! ctl model list --profiles="$profiles" | grep -E '.{81}'
}
every_file_is_listed() {
	diff <(ctl model list --profiles="$profiles" --json=short | jq -r '.[].Profile' | sort) \
		<(basename -s .profile -a "$profiles"/*.profile | sort)
}

ok "every shipped profile is listed" every_file_is_listed
ok "with what it claims, and how much of that was measured" \
	list '.[] | select(.Profile == "samsung-pm9a3") | .Kind == "nvme" and .IdlePower == 5 and
		.OperatingPower <= .RatedPower and .Points > .Estimated and .Estimated > 0'
ok "in 80 columns" fits_in_80_columns
ok "or wider with the files" grep -q "$profiles/samsung-pm9a3.profile$" <(ctl model list -o wide --profiles="$profiles")
status "a directory without profiles is a failure" 1 ctl model list --profiles="$tmp"
ok "which names it" grep -qF "There is no profile in $tmp: name the directory with --profiles=DIR" "$tmp/err"

status "every shipped profile is usable" 0 ctl model validate "$profiles"/*.profile
ok "a line for each says so" test "$(grep -c ': usable, [0-9]* points, [0-9]* of them estimated$' "$tmp/out")" -eq \
	"$(ls "$profiles" | wc -l)"
sed 's/^idle = /idel = /' "$profiles/samsung-pm9a3.profile" >"$tmp/bad.profile"
line=$(grep -n '^idel' "$tmp/bad.profile" | cut -d : -f 1)
status "one that is not is a failure" 1 ctl model validate "$profiles/samsung-pm9a3.profile" "$tmp/bad.profile"
ok "the others are told of all the same" grep -q "samsung-pm9a3.profile: usable" "$tmp/out"
ok "it says where and what would be right" \
	grep -q "^$tmp/bad.profile:$line: unknown key \"idel\": \[profile\] has no key \"idel\", only: match" "$tmp/err"
status "a file that is not there is a failure" 1 ctl model validate "$tmp/absent.profile"
ok "which names it" grep -qF "$tmp/absent.profile" "$tmp/err"
for wrong in "model" "model frob" "model validate" "model list x" "model drift x" "list --profiles=$tmp"; do
	status "wrong usage is 2: $wrong" 2 ctl $wrong
done
status "what the sensors say is asked of the daemon" 3 ctl model drift
done_testing
