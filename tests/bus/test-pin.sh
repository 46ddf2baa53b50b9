#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A power state that is pinned for a measurement, over the bus.
. "$(dirname "$0")/lib.sh"

node=$tmp/pin.node
cat >"$node" <<-END
	[node]
	name = pin
	policy = balanced
	seed = 1
	noise = 0%
	sensors = none

	[devices flash]
	count = 2
	group = flash
	profile = dell-ps1010
	demand = constant 300

	[devices disk]
	profile = seagate-exos-7e2000
	demand = idle

	[sensor psu]
	of = node
	noise = 0%

	[sensor shelf]
	of = group flash
	noise = 0%
END
# shellcheck disable=SC2034 # for lib.sh
what=(--simulate="$node" --no-bpf)
owner=

device() { # NAME FILTER: of its properties, as JSON
	ctl list --json=short | jq -c ".[] | select(.Name == \"$1\") | $2"
}
device_is() { # NAME FILTER VALUE
	[[ $(device "$1" "$2") == "$3" ]]
}
claim_is() { # FILTER VALUE
	property_is "Claims[0]$1" "$2"
}
# The claim lives as long as the process on the bus that made it.
pin() { # DEVICE STATE
	python3 "$root/tests/bus/flood.py" "$tmp/bus" "$UID" pin "$1" "$2" >"$tmp/pin.out" 2>&1 &
	owner=$!
	eventually grep -qx True "$tmp/pin.out"
}
unpin() {
	[[ $owner ]] || return 0
	kill $owner
	wait $owner 2>/dev/null
	owner=
}
said() { # TEXT COMMAND...
	local text=$1
	shift
	"$@" | grep -F -- "$text"
}

at_end+=(unpin)
sensed() { # DEVICE PROPERTY
	busctl --address="$address" --json=short get-property org.storpower1 \
		"/org/storpower1/device/$1" org.storpower1.Device "$2" | jq -c .data
}
# What the devices draw by their sensors is near what they draw by model: the node has no error.
is_near_the_model() { # DEVICE
	jq -en "$(sensed "$1" SensedPower) - $(sensed "$1" EstimatedPower) | fabs <= $(sensed "$1" SensedPowerError)"
}

start_bus
start_daemon
ok "a device is sensed with its group" eventually is_near_the_model nvme0
is "by the group's sensor" "$(sensed nvme0 SensedBy)" '"shelf"'
is "which is of its group" "$(sensed nvme0 SensedOf)" '"group"'
ok "one without a group, by the node's" is_near_the_model sda
is "which is of the node" "$(sensed sda SensedBy)$(sensed sda SensedOf)" '"psu""node"'
is "neither has a sensor of its own" "$(sensed nvme0 MeasuredPower)$(sensed sda MeasuredPower)" nullnull
ok "a pin is granted" pin nvme0 2
ok "the device has that state" eventually device_is nvme0 .PowerState 2
is "and nothing else is set" "$(device nvme0 .Setting)" '"power state 2"'
is "the other has not" "$(device nvme1 .PowerState)" -1
ok "no limit is in force" property_is EffectiveLimit null
ok "nor is anything enforced" property_is Enforcing false
is "the claim says what it pins" "$(property 'Claims[0].PowerState')" 2
ok "it is in force" claim_is .InForce true
ok "the list of claims says it" said "power state 2" ctl list --claims
ok "explain says why" said "a claim pins its power state" ctl explain nvme0
ok "a second one is refused, with the first one's cookie" \
	refused Refused SetBudget 100 % "{'device': <'nvme0'>, 'power-state': <1>}"
ok "a limit is granted" ctl set 90%
ok "it comes first" claim_is .InForce false
ok "the state is given up" eventually jq -en "$(device nvme0 .PowerState) != 2"
ok "the list of claims says that it waits" said "behind a limit" ctl list --claims
ok "explain says it too" said "which pins its power state, waits" ctl explain nvme0
is "it is logged once" "$(grep -c 'pins power state 2, which has no say while a limit is active' "$tmp/daemon.log")" 1
ok "the limit ends" ctl clear
ok "and the state is pinned again" eventually device_is nvme0 .PowerState 2
unpin
ok "the claim ends with its caller" eventually claim_count_is 0
ok "and the state is as found" eventually device_is nvme0 .Setting '"as found"'

ok "without a device it is refused" \
	refused InvalidOption SetBudget 100 % "{'power-state': <1>}"
ok "nor does it stand" refused InvalidOption SetBudget 100 % \
	"{'device': <'nvme0'>, 'power-state': <1>, 'standing': <true>}"
ok "nor does it limit" refused InvalidLimit SetBudget 90 % "{'device': <'nvme0'>, 'power-state': <1>}"
ok "a state below 0 is refused" \
	refused InvalidOption SetBudget 100 % "{'device': <'nvme0'>, 'power-state': <-1>}"
ok "a state that the device does not have" said \
	"power state 9 of nvme0 does not exist: it can be pinned to 0, 1, 2, 3" \
	call SetBudget 100 % "{'device': <'nvme0'>, 'power-state': <9>}"
ok "one that is not operational" said "power state 4 of nvme0 is not an operational one" \
	call SetBudget 100 % "{'device': <'nvme0'>, 'power-state': <4>}"
ok "a disk has none" said "power state 0 of sda cannot be pinned: it has no NVMe power management" \
	call SetBudget 100 % "{'device': <'sda'>, 'power-state': <0>}"
ok "an InvalidOption is what that is" \
	refused InvalidOption SetBudget 100 % "{'device': <'sda'>, 'power-state': <0>}"
ok "and no claim is left of them" claim_count_is 0
done_testing
