#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# --check-config says no to what the daemon would refuse or do without, with file and line.
. "$(dirname "$0")/lib.sh"

etc=$tmp/etc
cp -r "$root/policies" "$tmp/data"
fresh() {
	rm -rf "$etc"
	mkdir -p "$etc/policies" "$etc/profiles"
}
check() { # [OPTION...]
	"$storpowerd" --check-config --config-directory="$etc" --data-directory="$tmp/data" \
		--state-directory="$tmp/state" --runtime-directory="$tmp/run" "$@"
}
says_no() { # PROMISE WORDS [OPTION...]
	status "$1 is refused" 1 check "${@:3}"
	ok "... with what is wrong and where" grep -qF -- "$2" "$tmp/err"
}

fresh
status "without any file all is well" 0 check
is "and nothing is said" "$(cat "$tmp/err")" ""
cp "$root/packaging/storpower.conf" "$etc"
status "the shipped example is right" 0 check
status "and so is each shipped node" 0 check --simulate=archive

fresh
printf '[storpower]\n\npolicy=nosuch\n' >"$etc/storpower.conf"
says_no "a policy that is not there" "storpower.conf:3: there is no policy \"nosuch\""
printf '[device sda]\nprofile=nosuch\n' >"$etc/storpower.conf"
says_no "a profile that is not there" "storpower.conf:2: there is no profile \"nosuch\""
printf '[storpower]\npolicy=own\n' >"$etc/storpower.conf"
head -c 2000 /dev/urandom | tr '\0' x >"$etc/policies/own.policy"
says_no "a policy of junk" "own.policy:"
printf '[policy]\nspeed = 3\n' >"$etc/policies/own.policy"
says_no "a policy with a key that would be ignored" "own.policy:2: unknown key"
printf '[policy]\nrest = active\n[policy]\nrest = idle_a\n' >"$etc/policies/own.policy"
says_no "a policy with two sections" "own.policy:3: a second [policy], the first is in line 1"
printf '[policy]\n' >"$etc/policies/own.policy"
status "the same put right" 0 check
printf '[policy]\nrest = soon\n' >"$etc/policies/another.policy"
says_no "a policy that could be chosen later" "another.policy:2: rest: expected"

fresh
printf '[profile]\nkind = nvme\n' >"$etc/profiles/own.profile"
says_no "a profile that cannot be used" "own.profile: no match= in [profile]"
printf '[storpower]\n[device sda]\nprofile=own\n' >"$etc/storpower.conf"
says_no "a device that would have it" "storpower.conf:3: there is no profile \"own\""

fresh
printf '[sensor a]\ntype=rapl\ninput=intel-rapl:0\nof=host\n[sensor b]\ntype=dcmi\nof=node\nless=c\n' \
	>"$etc/storpower.conf"
says_no "a sensor that is not there" "[sensor b]: there is no [sensor c]"
printf '[device a]\ngroup=gr\xfcn\n' >"$etc/storpower.conf"
says_no "a byte that is not UTF-8" "storpower.conf:2: column 9 has the byte 0xFC"
printf '[device a]\ngroup=x\n[device a]\nprofile=y\n' >"$etc/storpower.conf"
says_no "a device with two sections" "storpower.conf:3: a second [device a], the first is in line 1"

fresh
printf '[storpower]\nsimulate=%s\n' "$tmp/own.node" >"$etc/storpower.conf"
says_no "a node that is not there" "own.node"
sed 's/^policy.*/policy = nosuch/' "$tmp/data/nodes/tiny.node" >"$tmp/own.node"
says_no "a node whose policy is not there" 'there is no policy "nosuch"'
sed 's/^profile.*/profile = nosuch/' "$tmp/data/nodes/tiny.node" >"$tmp/own.node"
says_no "a node whose profile is not there" 'no profile "nosuch"'
cp "$tmp/data/nodes/tiny.node" "$tmp/own.node"
status "a node that is right" 0 check
fresh
rm "$tmp/data/emergency.policy"
says_no "a missing emergency policy" 'there is no policy "emergency"'
ok "nothing was left behind" test ! -e "$tmp/state" -a ! -e "$tmp/run"
done_testing
