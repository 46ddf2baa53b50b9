#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What storpower.node(5) says is what the daemon reads: every key of a node file is in the page and the reverse.
. "$(dirname "$0")/lib.sh"

page=$root/man/storpower.node.5

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
done_testing
