#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# limit: 600
#
# What people see, on terminals of 60, 80 and 120 columns: status, list, plan and explain of nodes whose
# figures stay the same (golden*.node) without a limit, with one that is hard, tolerant,
# advised or below the floor, and with limits of groups and devices; and the shipped models; beside what
# tests/bus/golden/ has of them. What is not the same on every run, such as times and who runs this, is made
# so first.
#
# After a change that is meant, write them anew and look at them:
#
#   REGENERATE=yes B=build tests/bus/test-golden.sh; git diff tests/bus/golden
NODE=$(dirname "$0")/golden.node
. "$(dirname "$0")/lib.sh"
export LC_ALL=C.UTF-8 TERM=dumb SUDO_USER=operator
# Where it is ten in the morning: an end after midnight is told with its date, and the line wraps elsewhere
TZ=TEN$((10#$(date -u +%H) - 10))
export TZ
golden=$root/tests/bus/golden

command -v script >/dev/null || { echo "Bail out! script is missing: run packaging/deps"; exit 1; }

# In which order the devices answer, and when demand was seen, is another one each time.
only_the_first_decisions() {
	awk '/^TIME/ { decisions = 1 }
	     decisions && /^HH:MM/ && !/\(node\)/ { exit }
	     { print }'
}

same_each_time() {
	sed -e 's/\r$//' -e 's/\x1b\[[0-9;]*m//g' -e "s|by .*/\(golden[a-z-]*\.node\)|by \1|" \
		-e 's/[0-9]\{4\}-[0-9-]* \([0-9:]*\)/\1/' -e 's/[0-9][0-9]:[0-9][0-9]\(:[0-9][0-9]\)\?/HH:MM/g' \
		-e 's/for [0-9.]*m\?u\?s:/for TIME:/' -e 's/took [0-9.]*[mu]*s/took TIME/' -e 's/± [0-9.]* W/± SOME W/' \
		-e 's/worst is nvme[0-9]/worst is nvmeN/' -e 's/worst is sd[a-z]/worst is sdN/' -e 's/to nvme[0-9] most/to nvmeN most/' -e 's/at most [0-9.]* W since/at most WATTS since/' \
		-e 's/\(sleep in\) [0-9a-z]*/\1 TIME/' -e 's/settings changed: [0-9]*/settings changed: MANY/' \
		-e 's/\(Next best, without [a-z-]*\): [0-9]* MB/\1: SOME MB/' |
		sed -z -e 's/at most\(\n *\| \)[0-9.]* W\(\n *\| \)since/at most\1WATTS\2since/g' \
			-e 's/in [0-9a-z.]*: [0-9]* J saved,[^:;]* less\n/in TIME: ENERGY saved, for THROUGHPUT less\n/' \
			-e 's/took\(\n *\| \)[0-9.]*[mu]*s\n/took TIME\n/g' |
		only_the_first_decisions
}

seen() { # COLUMNS VERB...: as a terminal of that width has it
	local columns=$1
	shift
	script -qec "stty cols $columns rows 50; '$build/storpowerctl' --no-pager $*" /dev/null </dev/null |
		tr -d '\004\b\r' | sed 's/^\^D//' | tee "$tmp/raw" | same_each_time
}

# The same text in the same places; a number may be two off in its last digit, or 3 %: what is
# measured in real time lies on this or that side of where it is rounded.
alike() { # GOLDEN SEEN
	diff -u "$1" "$2" && return
	awk 'function shape(s) { gsub(/[0-9]/, "9", s); return s }
	     NR == FNR { golden[FNR] = $0; lines = FNR; next }
	     shape($0) != shape(golden[FNR]) { exit bad = 1 }
	     { n = split(golden[FNR], was, /[^0-9.]+/); split($0, is, /[^0-9.]+/)
	       for (i = 1; i <= n; i++) {
		       gsub(/\./, "", was[i]); gsub(/\./, "", is[i])
		       if ((was[i] - is[i]) ^ 2 > 4 && (was[i] - is[i]) ^ 2 > (was[i] / 33) ^ 2) exit bad = 1
	       } }
	     END { exit bad || FNR != lines }' "$1" "$2"
}

# As soon as the figures have settled
is_golden() { # NAME COLUMNS VERB...
	seen "${@:2}" >"$tmp/$1"
	if [[ ${REGENERATE:-} ]]; then
		cp "$tmp/$1" "$golden/$1"
	fi
	alike "$golden/$1" "$tmp/$1"
}

# What was seen last, before anything of it was made the same
fits() { # COLUMNS
	(($(sed 's/\x1b\[[0-9;]*m//g' "$tmp/raw" | wc -L) <= $1))
}

is_settled() {
	ctl status --json=short | jq -e '.HeldFor > 25' >/dev/null &&
		ctl list --json=short | jq -e 'all(.Changing | not)' >/dev/null
}

capture() { # WHEN
	local columns verb name
	for columns in 60 80 120; do
		for verb in status list "plan 72%" explain; do
			name=$1-${verb%% *}-$columns
			ok "$verb, $1, at $columns columns" within 3 is_golden "$name" $columns "$verb"
			ok "no line is wider" fits $columns
		done
	done
}

models() {
	local columns verb name
	cd "$root" || return # a profile's path is shown
	for columns in 60 80 120; do
		for verb in "list" "show seagate-exos-7e2000" "frontier samsung-pm9a3" \
			"predict samsung-pm9a3x6 seagate-exos-7e2000" "compare samsung-pm9a3 samsung-pm1733"; do
			name=model-${verb%% *}-$columns
			ok "model $verb at $columns columns" is_golden "$name" $columns \
				"model $verb --profiles=policies/profiles"
			ok "no line is wider" fits $columns
		done
	done
}

# What changes goes on for a while: so many looks in a row have seen the same
is_steady() {
	local seen same=0 last=
	while ((same < 8)); do
		seen=$(ctl list --json=short | jq -ec 'select(all(.Changing | not)) |
			map([.Setting, (.Throughput | round), .Advised])') &&
			[[ $(property 'Throughput > 0') == true ]] || return
		[[ $seen == "$last" ]] && ((++same)) || same=0
		last=$seen
		sleep 1
	done
}

is_settled_and_steady() {
	is_settled && is_steady
}

advises() {
	is_steady && [[ $(property 'Advice.Devices') != 0 ]]
}

is_degraded() {
	is_steady && property_is Degraded true
}

# A daemon of its own, whose decisions are those of this scene
begin() { # [NODE]
	[[ $daemon_pid ]] && stop_daemon
	rm -rf "${tmp:?}/state" "${tmp:?}/etc"
	what=(--simulate="${1:-$node}" --no-bpf)
	start_daemon
}

start_bus
models

begin
ctl set 72% --for=2h --reason="grid event" >/dev/null
ok "the limit is held" within 60 is_settled
capture limited
is "in a plain locale there is nothing but ASCII" \
	"$(LC_ALL=C ctl list | LC_ALL=C grep -c '[^ -~]')" 0
ok "and alike devices share a line" grep -q '^nvme0\.\.\.nvme3 (4) ' <(LC_ALL=C ctl list)

# What a tolerant limit costs depends on what was asked for before it: this one is above that
tolerates=yes
begin
ok "nothing is limited" within 120 is_steady
capture unlimited
ctl set 85% --for=2h --reason="grid event" >/dev/null
ok "a limit that tolerates an overrun is held" within 120 is_settled
capture tolerant
tolerates=

begin
ctl mode advise
ctl set 72% --for=2h --reason="grid event" >/dev/null
ok "a limit is advised" within 60 advises
capture advised

begin "$(dirname "$0")/golden-flash.node"
ok "all is asked for" within 120 is_steady
ctl set 15W --for=2h --reason="generator" >/dev/null 2>&1
ok "a limit cannot be reached" within 60 is_degraded
capture degraded

begin "$(dirname "$0")/golden-pools.node"
ok "it is known who asks for what" within 120 is_steady
ctl set 90% >/dev/null
ctl set 60% --group=shelf --reason="hot aisle" >/dev/null
ctl set 6W --device=nvme4 >/dev/null
ok "limits of a group and a device are held" within 120 is_settled_and_steady
capture grouped
done_testing
