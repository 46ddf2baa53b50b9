#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The operator's hooks, run by the program that the socket unit starts: what they are told, what a veto does, and
# what it cannot.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rest-node.sh"

hooks=$tmp/hooks.d listen_pid=
mkdir -p "$tmp/etc/storpower.conf.d" "$hooks"
write_rest_node saturate
# shellcheck disable=SC2034 # for lib.sh
what=(--simulate="$node" --no-bpf)
printf '[hooks]\nsocket = %s\ntimeout = 20s\n' "$tmp/hooks.socket" >"$tmp/etc/storpower.conf.d/10-hooks.conf"

# It vetoes what the file "veto" names, waits while there is a file "wait", and writes what it was told.
cat >"$hooks/50-test" <<-END
	#!/bin/bash
	{ echo "args=\$*"; env | grep ^STORPOWER_ | sort; echo; } >>"$tmp/told.\$1"
	while [[ -e $tmp/wait ]]; do sleep 0.1; done
	if [[ \$1 == before ]] && grep -qsx "\$3" "$tmp/veto"; then
		echo "\$3 is dear to us"
		exit 1
	fi
END
chmod 755 "$hooks/50-test"
printf '#!/bin/sh\necho run >>"%s"\n' "$tmp/unsafe-ran" >"$hooks/10-unsafe"
chmod 777 "$hooks/10-unsafe"

start_hooks() {
	"$root/tests/bus/listen.py" "$tmp/hooks.socket" "$build/storpower-hooks" --directory="$hooks" \
		2>>"$tmp/hooks.log" &
	listen_pid=$!
	eventually test -S "$tmp/hooks.socket"
}
stop_hooks() {
	[[ -z $listen_pid ]] || kill "$listen_pid"
	listen_pid=
	rm -f "$tmp/hooks.socket"
}
at_end=(stop_hooks "${at_end[@]}")

asleep() { # NAME
	[[ $(ctl show "$1" --json=short | jq -c '[.Asleep, .Changing]') == '[true,false]' ]]
}
awake() { # NAME
	[[ $(ctl show "$1" --json=short | jq -c .Asleep) == false ]]
}
told() { # WHEN LINE: and of $a
	awk -v RS= -v line="$2" -v device="STORPOWER_DEVICE=$a" \
		'index("\n" $0 "\n", "\n" line "\n") && index("\n" $0 "\n", "\n" device "\n") { found = 1 } END { exit !found }' "$tmp/told.$1"
}
times_told() { # WHEN
	cat "$tmp/told.$1" 2>/dev/null | grep -c '^args='
}
explained() { # NAME TEXT
	ctl explain "$1" | tr -s ' \n' ' ' | grep -qF "$2"
}
sets() { # LIMIT...: whether that can be reached or not
	ctl set "$@" --yes || [[ $? == 6 ]]
}
forget() {
	rm -f "$tmp"/told.* "$tmp/veto"
}

start_bus
start_hooks
start_daemon
mapfile -t disks < <(ctl list --json=short | jq -r '.[] | select(.Kind == "hdd") | .Name')
a=${disks[0]} b=${disks[1]}

# --- a veto
echo "$a" >"$tmp/veto"
ok "a limit is set" sets 12W
ok "the disk of which nothing is said is stopped" within 60 asleep "$b"
ok "the reason of the veto is shown for the other" eventually explained "$a" "hook 50-test vetoed: $a is dear to us"
ok "which stays up" awake "$a"
ok "show says it, too" grep -q "dear to us" <(ctl show "$a")
ok "and the log, where it can be found" grep -q "$a: not put to sleep: hook 50-test vetoed" "$tmp/daemon.log"
ok "the hook was told who asks" told before "STORPOWER_CLASS=operator"
for line in "args=before spin-down $a" STORPOWER_EVENT=before STORPOWER_STEP=spin-down STORPOWER_MAY_VETO=yes \
	STORPOWER_TIMEOUT_SECONDS=20.000; do
	ok "with $line" told before "$line"
done
ok "what it is to be set to is a sleep" grep -q '^STORPOWER_NEW_SETTING=.*standby' "$tmp/told.before"
ok "and less than before" awk -F= '/^STORPOWER_NEW_WATTS/ { new = $2 } /^STORPOWER_OLD_WATTS/ { exit !($2 > new) }' "$tmp/told.before"
ok "what the budget is" grep -qE '^STORPOWER_BUDGET_WATTS=[0-9.]+$' "$tmp/told.before"
ok "what it costs" grep -qE '^STORPOWER_LOSS=[0-9.]+$' "$tmp/told.before"
ok "after it, what came of it" eventually told after "STORPOWER_RESULT=vetoed: hook 50-test vetoed: $a is dear to us"
ok "and of the other disk" eventually grep -qx STORPOWER_RESULT=done "$tmp/told.after"
ok "a hook that others may write is not run" test ! -e "$tmp/unsafe-ran"
ok "and the log says why" grep -q "10-unsafe: it is not run: others than its owner may write to it" "$tmp/hooks.log"

# --- asked again for another claim
forget
ok "another limit is set" sets 11.8W
ok "and the disk is asked for again, and stopped" within 60 asleep "$a"
ok "which the hook is told" eventually told after STORPOWER_RESULT=done

# --- an emergency
ok "the limits are ended" ctl clear --all
ok "the disks are woken" ctl wake --all
ok "both" within 90 awake "$a"
ok "of them" within 90 awake "$b"
forget
printf '%s\n' "$a" "$b" >"$tmp/veto"
touch "$tmp/wait"
ok "an emergency is answered while a hook hangs" sets 11.5W --class=emergency
ok "and stops what the hook would keep up" within 90 asleep "$a"
ok "both disks" within 90 asleep "$b"
ok "the hook was told that it has no say" told before STORPOWER_MAY_VETO=no
ok "and is told nothing further while it thinks" test "$(times_told after)" = 0
rm "$tmp/wait"
ok "what came of it it is told then" eventually told after STORPOWER_RESULT=done
ok "that it would have refused is logged" eventually grep -q "$a: hook 50-test vetoed.*goes on all the same" "$tmp/daemon.log"

ok "the daemon lives" daemon_lives
done_testing
