#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Polkit decides what others than root may do, and nobody waits for it but who has asked. authority.py stands
# for it; test-polkitd.sh asks the real one.
. "$(dirname "$0")/lib.sh"

((EUID == 0)) || skip_all "only root can call as another user"
NOBODY=65534 OTHER=1
none='@a{sv} {}'
forget_questions() {
	: >"$tmp/polkit/questions"
}
asked_are() { # LINE...: since they were forgotten
	diff <(printf '%s\n' "$@") "$tmp/polkit/questions"
}
asked_count_is() { # N
	[[ $(grep -c "^org" "$tmp/polkit/questions") == "$1" ]]
}
as() { # UID METHOD ARGUMENT...: in a shell of its own; says nothing interactive
	exec setpriv --reuid="$1" --regid=65534 --clear-groups gdbus call --session --dest org.storpower1 \
		--object-path /org/storpower1 --method "org.storpower1.Manager.$2" -- "${@:3}" 2>&1
}
ctl_as() { # UID ARGUMENT...
	exec setpriv --reuid="$1" --regid=65534 --clear-groups "$build/storpowerctl" --no-pager "${@:2}" 2>&1
}
makers_are() {
	[[ $(property 'Claims | map(.Uid)') == "$1" ]]
}
clear_all() {
	ctl clear --all >/dev/null
}

grep -oE '<action id="[^"]*' "$root/packaging/org.storpower1.policy" | cut -d '"' -f 2 | sort >"$tmp/actions"
ok "the actions that the daemon asks about are those that are installed" \
	diff "$tmp/actions" <(grep -ohE '"org\.storpower1\.[a-z-]+"' "$root/daemon/bus/bus-authority.c" | tr -d '"' | sort -u)
ok "and those of the manual" \
	diff "$tmp/actions" <(sed -n 's/^\.It \(org\.storpower1\.[a-z-]*\)$/\1/p' "$root/man/org.storpower1.5" | sort -u)

start_bus
start_daemon
chmod 711 "$tmp" # for others to get to the bus

echo "# --- without polkit"
ok "without polkit on the bus a limit is for root alone, which is said" \
	grep -q "Error.NotAuthorized: SetBudget is for root alone while polkit, .* is not on the bus" \
	<(as $NOBODY SetBudget 50 % "$none")
ok "everybody may look" grep -q "Optimal" <(as $NOBODY Plan 90 % "$none")
ok "no claim was made" claim_count_is 0

echo "# --- polkit that answers at once"
start_polkit yes
forget_questions
ok "whom polkit allows it sets a limit" grep -q "uint64" <(as $NOBODY SetBudget 90 % "{'standing': <true>}")
ok "polkit was asked once, and not to ask anybody for a password" asked_are "org.storpower1.set-budget 0"
ok "the claim is of that user" makers_are "[$NOBODY]"
ok "root sets one, too" grep -q "uint64" <(call SetBudget 95 % "{'standing': <true>}")
ok "about whom polkit is not asked" asked_count_is 1
mine=$(property 'Claims[0].Cookie') roots=$(property 'Claims[1].Cookie')
asks() { # ACTION METHOD ARGUMENT...
	forget_questions
	as $NOBODY "${@:2}" >/dev/null 2>&1 &
	wait $!
	asked_are "$1 0"
}
p=org.storpower1
ok "Update is set-budget" asks $p.set-budget Update "$mine" 85 % "$none"
ok "Renew is set-budget" asks $p.set-budget Renew "$mine" 99
ok "Verify is set-budget" asks $p.set-budget Verify
ok "Release of another's claim is release-other" asks $p.release-other Release "$roots"
ok "which ended it" claim_count_is 1
ok "SetPolicy is policy" asks $p.policy SetPolicy balanced
ok "SetMode is policy" asks $p.policy SetMode enforce
ok "Reload is policy" asks $p.policy Reload
ok "SetTariff is policy" asks $p.policy SetTariff 0.1 100 average 9
ok "CountRequests is policy" asks $p.policy CountRequests 1
ok "Wake is wake" asks $p.wake Wake ""
ok "WakeTest is wake" asks $p.wake WakeTest nvme0
ok "a pinned power state is calibrate" asks $p.calibrate SetBudget 100 % "{'device': <'nvme0'>, 'power-state': <1>}"
ok "Plan is inspect" asks $p.inspect Plan 90 % "$none"
ok "Refresh is inspect" asks $p.inspect Refresh
ok "ListConsumers is inspect" asks $p.inspect ListConsumers
ok "GetWaiting is inspect" asks $p.inspect GetWaiting
forget_questions
ok "wrong arguments are refused" grep -q InvalidLimit <(as $NOBODY SetBudget 500 % "$none")
ok "what is known already is answered" grep -q objectpath <(as $NOBODY ListDevices)
ok "without a question to polkit" asked_count_is 0
ok "a user ends his own claim" grep -q "()" <(as $NOBODY Release "$mine")
ok "without one, too" asked_count_is 0

echo "# --- polkit that says no"
polkit_says no
ok "whom polkit does not allow it is told the action" \
	grep -q "Error.NotAuthorized: SetBudget: polkit does not allow uid $NOBODY the action org.storpower1.set-budget" \
	<(as $NOBODY SetBudget 50 % "$none")
ok "polkit may even forbid to look" grep -q "Error.NotAuthorized.*org.storpower1.inspect" <(as $NOBODY Plan 90 % "$none")
polkit_says error
ok "a polkit that fails allows nothing" grep -q "Error.NotAuthorized: SetBudget: polkit does not say" \
	<(as $NOBODY SetBudget 50 % "$none")
polkit_says challenge
ok "where a password is wanted and nobody can be asked for it, that is the error" \
	grep -q "DBus.Error.InteractiveAuthorizationRequired: SetBudget: polkit wants a password" \
	<(as $NOBODY SetBudget 50 % "$none")
forget_questions
status "storpowerctl is refused then" 4 setpriv --reuid=$NOBODY --regid=65534 --clear-groups \
	"$build/storpowerctl" --no-pager set 50%
ok "it had let polkit ask for the password" grep -qx "org.storpower1.set-budget 1" "$tmp/polkit/questions"
ok "no claim was made" claim_count_is 0

echo "# --- whose claim"
polkit_says yes
standing="{'standing': <true>, 'source': <'a'>}"
ok "root makes a claim" grep -q uint64 <(call SetBudget 90 % "$standing")
ok "another user may not replace it" grep -q "Error.NotAuthorized: claim [0-9]* of the same source and class was made by uid 0" \
	<(as $NOBODY SetBudget 95 % "{'standing': <true>, 'source': <'a'>, 'replace': <true>}")
ok "but makes one beside it" grep -q uint64 <(as $NOBODY SetBudget 95 % "$standing")
ok "there are two" makers_are "[0,$NOBODY]"
roots=$(property 'Claims[0].Cookie') mine=$(property 'Claims[1].Cookie')
for method in "Update $mine 50 % {}" "Renew $mine 9"; do
	ok "a third user may not call ${method%% *} of it, whatever polkit says" \
		grep -q "Error.NotAuthorized: .*was made by uid $NOBODY, and only that user or root" <(as $OTHER $method)
done
ok "root's ends" grep -q "()" <(call Release "$roots")
ok "its user replaces it" grep -q uint64 <(as $NOBODY SetBudget 96 % "{'standing': <true>, 'source': <'a'>, 'replace': <true>}")
ok "so that it is one" makers_are "[$NOBODY]"
mine=$(property 'Claims[0].Cookie')
ok "root changes it" grep -q "()" <(call Update "$mine" 97 % "$none")
ok "and replaces it" grep -q uint64 <(call SetBudget 98 % "{'standing': <true>, 'source': <'a'>, 'replace': <true>}")
ok "so that one of root is left" makers_are "[0]"
clear_all

echo "# --- polkit that takes its time"
polkit_says later
forget_questions
(as $NOBODY SetBudget 90 % "{'standing': <true>}") >"$tmp/first" &
ok "polkit is asked" eventually asked_count_is 1
ok "root is answered meanwhile" grep -q uint64 <(call SetBudget 80 % "{'standing': <true>}")
ok "and so are the questions of others that need no polkit" grep -q objectpath <(as $NOBODY ListDevices)
ok "the claim is not made yet" makers_are "[0]"
polkit_says yes
ok "it is when polkit says yes" eventually makers_are "[0,$NOBODY]"
ok "and its caller is answered" eventually grep -q uint64 "$tmp/first"
clear_all

polkit_says later
forget_questions
(as $NOBODY SetBudget 90 % "{'standing': <true>}") >"$tmp/first" &
caller=$!
ok "polkit is asked again" eventually asked_count_is 1
kill $caller
wait $caller 2>/dev/null
ok "when the caller leaves the question is cancelled" eventually asked_are "org.storpower1.set-budget 0" cancelled
polkit_says yes
ok "the daemon lives" daemon_lives
ok "and made no claim" claim_count_is 0

polkit_says later
forget_questions
callers=()
for ((i = 0; i < 16; i++)); do
	(as $NOBODY SetBudget 90 % "{'standing': <true>}") >/dev/null &
	callers+=($!)
done
ok "a user may wait for polkit sixteen times at once" within 30 asked_count_is 16
ok "and not once more" grep -q "Error.TooOften: SetBudget: polkit has not answered" <(as $NOBODY SetBudget 90 % "$none")
(as $OTHER SetBudget 91 % "{'standing': <true>}") >"$tmp/other" &
callers+=($!)
ok "another user may" eventually asked_count_is 17
ok "root need not wait" grep -q uint64 <(call SetBudget 80 % "{'standing': <true>}")
stop_polkit
wait "${callers[@]}"
ok "a polkit that goes away has allowed nothing" makers_are "[0]"
ok "its askers are told" grep -q "Error.NotAuthorized: SetBudget" "$tmp/other"
clear_all

start_polkit later
forget_questions
(as $NOBODY SetBudget 90 % "{'standing': <true>}") >"$tmp/first" &
caller=$!
ok "polkit is asked for the last time" eventually asked_count_is 1
stop_daemon TERM
is "the daemon ends well while polkit is being asked" "$daemon_status" 0
wait $caller
done_testing
