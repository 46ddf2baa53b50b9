#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A drive all of whose operations take a minute, reading ones too, from the third second on: the daemon
# answers as if there were none, and the others are enforced. (How soon it answers: make bench.)
. "$(dirname "$0")/lib.sh"

node=$tmp/hang.node
cat >"$node" <<-END
	[node]
	name = hang
	policy = balanced
	seed = 1
	noise = 0%
	sensors = none

	[devices flash]
	count = 4
	profile = samsung-pm9a3
	queues = 4
	read = 40%
	random = 100%
	read_size = 16K
	write_size = 128K
	depth = 64
	demand = saturate

	[fault]
	device = nvme2
	at = 3s
	kind = hang
END
# shellcheck disable=SC2034 # for lib.sh
what=(--simulate="$node" --no-bpf)

device() { # NAME FILTER: of its properties, as JSON
	ctl show "$1" --json=short | jq -c "$2"
}
is_changing() {
	[[ $(device "$1" .Changing) == true ]]
}
is_capped() { # NAME...
	local name
	for name in "$@"; do
		[[ $(device "$name" '.CapPower < .RatedPower and (.Changing | not)') == true ]] ||
			return 1
	done
}
caps_fit() {
	[[ $(property 'CapPower <= .EffectiveLimit') == true ]]
}
hangs() { # it has been given something to do, and has not answered
	is_changing nvme2 && [[ $(property Degraded) == true ]]
}

start_bus
start_daemon
sleep 3.5 # until the fault
status "a claim is answered while a drive hangs" 0 ctl set 70% --reason=hang
ok "and is given a cookie" claim_count_is 1
ok "the drive that hangs is said to be changing, and the node degraded" eventually hangs
ok "the others are enforced" eventually is_capped nvme0 nvme1 nvme3
ok "and make room for it" eventually caps_fit
ok "it still hangs" hangs
status "an emergency is answered as well: degraded" 6 ctl set 60% --class=emergency
ok "a plan, too" ctl plan 50%
ok "what can be verified is, and what does not answer is named" \
	bash -c "grep -q 'nvme2.*does not answer' <<<'$(ctl verify 2>&1)'"
status "a claim is released" 0 ctl clear --all
ok "it still hangs, and the daemon lives" is_changing nvme2
stop_daemon KILL # or the end waits for the drive
done_testing
