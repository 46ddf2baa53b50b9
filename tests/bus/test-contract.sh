#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The committed XML is what the daemon offers.
. "$(dirname "$0")/lib.sh"

xml=$root/daemon/bus/org.storpower1.xml

matches() { # OBJECT INTERFACE
	gdbus introspect --session --dest org.storpower1 --object-path "$1" --xml |
		python3 "$root/tests/bus/contract.py" "$xml" "$2"
}

# The comparison must be able to fail.
catches() { # SED-EXPRESSION
	sed "$1" "$xml" >"$tmp/changed.xml"
	! cmp -s "$xml" "$tmp/changed.xml" &&
		! python3 "$root/tests/bus/contract.py" "$xml" org.storpower1.Manager <"$tmp/changed.xml"
}

start_bus
start_daemon
device=$(ctl list --json=short | jq -r '.[0].Name')
object=$(call ListDevices | grep -o "/org/storpower1/device/[A-Za-z0-9_]*" | head -n 1)

ok "the manager offers what the contract says" matches /org/storpower1 org.storpower1.Manager
ok "a device offers what the contract says" matches "$object" org.storpower1.Device
ok "a missing method would be noticed" catches '/<method name="Reload"/d'
ok "a changed type would be noticed" catches 's/name="cookie" direction="out"/name="cookie" direction="in"/'
ok "the devices are nodes below /org/storpower1/device" \
	grep -q "node name=\"${object##*/}\"" <(gdbus introspect --session --dest org.storpower1 \
		--object-path /org/storpower1/device --xml)
ok "a device that is not there has no object" \
	grep -q -i "no such\|unknown" <(gdbus call --session --dest org.storpower1 \
		--object-path /org/storpower1/device/nosuch \
		--method org.freedesktop.DBus.Properties.GetAll org.storpower1.Device 2>&1)
ok "ListDevices names the devices of the object manager" test -n "$device" -a -n "$object"
ok "all properties of all devices come in one call" \
	grep -q "'Knobs'" <(gdbus call --session --dest org.storpower1 --object-path /org/storpower1 \
		--method org.freedesktop.DBus.ObjectManager.GetManagedObjects)
ok "a second daemon on the same bus is told so and does not start" \
	bash -c "! '$storpowerd' --simulate='$node' --bus='$address' --no-bpf \
		--state-directory='$tmp/state2' --runtime-directory='$tmp/run2' \
		--config-directory='$tmp/etc' --data-directory='$root/policies' 2>'$tmp/second' &&
		grep -q 'another storpowerd is running' '$tmp/second'"
ok "and the first goes on" daemon_lives
done_testing
