#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Text that cannot be shown, wherever it comes from, neither reaches a terminal nor stops an answer.
. "$(dirname "$0")/lib.sh"

# As an earlier version saved them: a byte that is not UTF-8, a C1 control, a bidirectional one.
boot=$(cat /proc/sys/kernel/random/boot_id)
claim() { # COOKIE WORD
	printf 'claim cookie=%s class=operator scope=node limit=9%s%% source="%b" reason="%b" boot=%s created=1\n' \
		"$1" "$1" "$2" "$2" "$boot"
}
mkdir -p "$tmp/state" "$tmp/etc/profiles"
{
	printf 'storpower-claims 1\nnext-cookie 4\n'
	claim 1 'gr\xfcn'
	claim 2 'a\xc2\x9b31mb'
	claim 3 'a\xe2\x80\xaegpj'
} >"$tmp/state/claims"
printf '[storpower]\npolicy=latency\n[device a]\ngroup=gr\xfcn\n' >"$tmp/etc/storpower.conf"
profile=$(ls "$root"/policies/profiles/*.profile | head -n 1)
cp "$profile" "$tmp/etc/profiles/$(printf 'a\xfc.profile')"
cp "$profile" "$tmp/etc/profiles/$(printf 'b\xc2\x9b.profile')"

# Bytes that a terminal obeys, or that are not UTF-8
is_plain() { # FILE
	python3 -c '
import sys, unicodedata
text = open(sys.argv[1], "rb").read().decode("utf-8")
bad = [hex(ord(c)) for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")]
sys.exit(f"unfit: {bad}" if bad else 0)' "$1"
}

start_bus
start_daemon
ok "all three claims are kept" claim_count_is 3
is "with other words" "$(ctl status --json=short | jq -c '[.Claims[].Reason] | sort')" '["a??31mb","a???gpj","gr?n"]'
for question in list status explain; do
	status "$question answers" 0 ctl $question
	ok "$question is plain text" is_plain "$tmp/out"
done
is "the whole configuration but that line counts" "$(property Policy)" '"latency"'
ok "the line is named" grep -q 'storpower.conf:4: column 9 has the byte 0xFC' "$tmp/daemon.log"
is "profiles whose names are no text are named" "$(grep -c 'the name of the file has' "$tmp/daemon.log")" 2
ok "the log is plain text" is_plain "$tmp/daemon.log"

ok "the daemon lives" daemon_lives
done_testing
