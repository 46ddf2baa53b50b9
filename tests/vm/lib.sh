# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by the tests that run in a guest of tests/vm/boot: those of tests/bus, with a storpowerd that
# manages the guest's own devices, and functions that make devices.

. "$(dirname "${BASH_SOURCE[0]}")/../bus/lib.sh"
[[ -x /vm/run ]] || { echo "Bail out! This runs in a guest: tests/vm/boot $0"; exit 1; }
what=()
. "$(dirname "${BASH_SOURCE[0]}")/devices.sh"

# Pulls the plug of this guest, for scripts with a line "# resets: N".
vm_reset() {
	echo reset >/share/reset
	echo b >/proc/sysrq-trigger
	sleep 60
}

# One property of a device, as JSON or plain text
says() { # DEVICE PROPERTY
	ctl show "$1" --json=short | jq -r ".$2"
}

says_it() { # DEVICE PROPERTY VALUE
	[[ $(says "$1" "$2") == "$3" ]] || { says "$1" "$2"; false; }
}

# A profile for disks of hddsim that take SECONDS and WATTS to spin up, and "quick", a policy that stops
# them again soon.
quick_disks() { # SECONDS WATTS
	mkdir -p "$tmp/etc/profiles" "$tmp/etc/policies"
	sed "s/^\(recovery\|wake_time\) = 15s/\1 = $1s/; s/^wake_watts = .*/wake_watts = $2 W/" \
		"$root/policies/profiles/seagate-constellation-es2.profile" >"$tmp/etc/profiles/quick.profile"
	sed 's/^sleep_min.*/sleep_min = 5s/' "$root/policies/emergency.policy" >"$tmp/etc/policies/quick.policy"
}
