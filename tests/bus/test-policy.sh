#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Which policy is in force, over restarts and changes of the configuration.
. "$(dirname "$0")/lib.sh"

configure() { # POLICY
	printf '[storpower]\npolicy = %s\n' "$1" >"$tmp/etc/storpower.conf"
}

policy_is() { # WHAT
	ctl policy
	[[ $(ctl policy) == "$1"* ]]
}

logged() { # WHAT
	grep -q "$1" "$tmp/daemon.log"
}

again() { # [SIGNAL]: restarts with a new log
	stop_daemon "$@"
	: >"$tmp/daemon.log"
	start_daemon
}

mkdir -p "$tmp/etc/policies"
cp "$root/policies/latency.policy" "$tmp/etc/policies/own.policy"
configure throughput
start_bus
start_daemon
ok "at first it is the configured one" policy_is "throughput (configured)"
again
ok "a restart without a choice keeps it so" policy_is "throughput (configured)"
ok "and writes no file" test ! -e "$tmp/state/policy"
status "another is chosen" 0 ctl policy own
ok "who chose it is logged" logged "Policy own, chosen by storpowerctl"
chosen=$(ctl policy)
again KILL
is "the choice survives kill -9 and restart, with who and when" "$(ctl policy)" "$chosen"
again
is "and an orderly restart" "$(ctl policy)" "$chosen"
is "the property says the same" "$(property 'PolicyOrigin | [.Configured, (.ChosenBy | startswith("storpowerctl (")), .Unsaved]')" \
	'["throughput",true,""]'
status "a policy that cannot be used is refused" 4 ctl policy nosuch
is "and changes nothing" "$(ctl policy)" "$chosen"

configure latency
again
ok "a changed configuration ends the choice" policy_is "latency (configured)"
ok "which is logged" logged "The configuration names policy latency, and named throughput when storpowerctl .* chose own: it is latency now"
configure throughput
again
ok "for good: it does not come back with the old line" policy_is "throughput (configured)"

status "chosen again" 0 ctl policy own
rm "$tmp/etc/policies/own.policy"
again
ok "a chosen policy that is gone gives way to the configured one" policy_is "throughput (configured)"
ok "which is logged" logged "Policy own, which storpowerctl .* chose, cannot be used: it is throughput, as configured: No such file"
status "the configured one can be chosen, too" 0 ctl policy throughput
ok "and is a choice" policy_is "throughput (chosen by "

echo "not a record" >>"$tmp/state/policy"
sed -i 's/policy="throughput"/policy="latency"/' "$tmp/state/policy"
again
ok "a damaged file is not believed" policy_is "throughput (configured)"
ok "and is kept" test -e "$tmp/state/policy.damaged"

done_testing
