#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What storpower(7) and storpower.node(5) say is what the programs do: every command of the tour runs, every
# column and reason is explained, and every key of a node file is in the page and the reverse.
NODE=$(dirname "$0")/../../policies/nodes/mixed.node
. "$(dirname "$0")/lib.sh"

tour=$root/man/storpower.7 page=$root/man/storpower.node.5

# --- storpower.node(5)
check_node() { # FILE
	"$storpowerd" --check-config --simulate="$1" --config-directory="$tmp/none" --data-directory="$root/policies" \
		--state-directory="$tmp/state" --runtime-directory="$tmp/run"
}
# listed HEADING: the keys that the parser knows below it, as its complaint of another one lists them
listed() {
	printf '[%s]\nno-such-key = 1\n' "$1" >"$tmp/listed.node"
	check_node "$tmp/listed.node" 2>&1 | sed -n 's/.*no key "no-such-key", only: //p' | tr -d ',' | tr ' ' '\n' | sort
}
# described SECTION: the keys that the page has below its heading
described() {
	awk -v section="$1" '
		/^\.S[sh]/ { inside = /\.Ss (The section|Sections) / && index($0, "[" section "]") }
		inside && /^\.It Ic/ { gsub(/Ns = Ns (Cm|Ar) [^,]*|,|\.It|Ic/, ""); for (i = 1; i <= NF; i++) print $i }' "$page" | sort
}
mapfile -t sections < <(printf '[no-such-section]\nx = 1\n' >"$tmp/x.node"; check_node "$tmp/x.node" 2>&1 |
	grep -o 'expected .*' | grep -o '\[[^]]*\]' | tr -d '[]')
is "the page has every section of a node file, and no other" \
	"$(sed -nE 's/^\.Ss (The section|Sections) \[(.*)\]$/\2/p' "$page" | sort | xargs)" "$(printf '%s\n' "${sections[@]}" | sort | xargs)"
ok "there are some" test "${#sections[@]}" -ge 6
for section in "${sections[@]}"; do
	is "[$section] has the keys of the page, and no other" "$(described "$section" | xargs)" "$(listed "${section/NAME/a}" | xargs)"
done
literal() { # PAGE: its displays, as they are read
	awk '/^\.Bd -literal/ { on = 1; next } /^\.Ed/ { on = 0; print "" } on' "$1" | sed 's/\\(dq/"/g; s/\\e$/\\/'
}
literal "$page" | sed '/^\$/,$d' >"$tmp/example.node"
status "the example of the page is a node" 0 check_node "$tmp/example.node"
ok "and all of one" grep -q "^kind = hang" "$tmp/example.node"
is "of sections of which none was left out" "$(grep -c '^\[' "$tmp/example.node")" 5

# --- storpower(7)
mkdir -p "$tmp/conf" && literal "$tour" | grep -E '^(\[|[a-z_]+ = )' >"$tmp/conf/storpower.conf"
status "the configuration for Ceph is one" 0 "$storpowerd" --check-config --config-directory="$tmp/conf" \
	--data-directory="$root/policies" --state-directory="$tmp/state" --runtime-directory="$tmp/run" --simulate=tiny

start_bus
start_daemon
commands() {
	{ sed -n 's/^\.Dl //p' "$tour" | sed 's/\\(dq/"/g'; literal "$tour"; } | sed -n 's/^[#$] \(storpowerctl.*\)/\1/p'
}
mapfile -t lines < <(commands)
ok "the tour has commands" test "${#lines[@]}" -ge 25
new_claim() { # prints its cookie
	ctl set 90% --yes --json=short 2>/dev/null | jq .Cookie
}
recorded=$(new_claim)
ok "a claim that was the limit is recorded" within 60 ctl report --claim="$recorded" --ledger="$tmp/state/ledger"
storpowerctl() {
	case "$*" in
		doctor) STORPOWER_ROOT=$tmp/none ctl "$@" --profiles="$root/policies/profiles" ;;
		report*) ctl "$@" --ledger="$tmp/state/ledger" ;;
		set*) ctl "$@" --yes ;;
		*) ctl "$@" ;;
	esac
}
# The page's claim 7 is one that there is, and its group osds one of the node.
works() {
	local s here=${line//osds/bulk}
	[[ $here != *"clear 7" ]] || here="${here%7}$(new_claim)"
	eval "${here/--claim=7/--claim=$recorded}"
	s=$?
	echo "exit status $s"
	[[ $s == 0 || ($s == [56] && $line == *doctor*) || ($s == 6 && $line == *emergency*) ]]
}
for line in "${lines[@]}"; do
	ok "the tour's command works: $line" works
done

# What is in capitals, two blanks apart.
columns() {
	ctl set 60% --yes >/dev/null
	for command in list "list -o wide" "list --claims" "list --wakeups" "top --once" "plan 50%" "plan 50% -o wide" explain "show sda" status; do
		ctl $command 2>/dev/null
	done | grep -E '^ *[A-Z][A-Z0-9/,]*( [A-Z0-9/,]+)*(  +[A-Z][A-Z0-9/,]*( [A-Z0-9/,]+)*)+ *$' |
		sed 's/^ *//; s/ *$//; s/  \+/\n/g' | sort -u
}
explained_columns() {
	awk '/^\.Sh/ { on = /COLUMNS/ } on && sub(/^\.It Li /, "")' "$tour" | sed '/AND WHY/! s/ , /\n/g' | sort -u
}
is "each column is explained, and no other" "$(explained_columns)" "$(columns)"
is "each reason is explained, and no other" "$(sed -n 's/^\.It Sy //p' "$tour" | sort)" \
	"$(sed -nE 's/.*\[PLAN_[A-Z_]*\] = "(.*)",/\1/p' "$root/daemon/plan/plan-reason.c" | sort)"
ok "the daemon lives" daemon_lives
done_testing
