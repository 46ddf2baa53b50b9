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

told() { # as ok, with what was seen beside the verdict
	local failed=$n_failed
	ok "$@"
	((n_failed > failed)) || sed 's/^/# /' "$tmp/ok.log"
}

# One property of a device, as JSON or plain text
says() { # DEVICE PROPERTY
	ctl show "$1" --json=short | jq -r ".$2"
}

says_it() { # DEVICE PROPERTY VALUE
	[[ $(says "$1" "$2") == "$3" ]] || { says "$1" "$2"; false; }
}

# What a test's `show` shows, where it failed; then ends the daemon. For at_end, before what is there.
show_and_stop() { # FAILED
	[[ $1 -eq 0 ]] || show 2>&1 | sed 's/^/# /'
	[[ -z $daemon_pid ]] || stop_daemon
}

# A profile for drives in which an IO costs 2 and 4 mJ and a page 20 and 40 uJ: rates that an emulated
# machine can do. Depth and chunk save nothing, so that only pacing can hold a budget; and the planner
# takes pacing over a range of 256, which holds all budgets for all workloads.
paced_drives() { # NAME IDLE_WATTS
	mkdir -p "$tmp/etc/profiles"
	cat >"$tmp/etc/profiles/$1.profile" <<-END
		[profile]
		match = none
		kind = nvme
		rated = 6 W
		idle = $2 W
		error = 0.001%
		[points]
		point = ps=0 qd=1 chunk=4K read random: 6W 40MB/s
		point = ps=0 qd=64 chunk=4K read random: 6W 40MB/s
		point = ps=0 qd=1 chunk=1024K read random: 6W 600MB/s
		point = ps=0 qd=64 chunk=1024K read random: 6W 600MB/s
		[energy]
		error = 0.001%
		read_random_io = 2mJ
		read_random_page = 20uJ
		read_sequential_io = 2mJ
		read_sequential_page = 20uJ
		write_random_io = 4mJ
		write_random_page = 40uJ
		write_sequential_io = 4mJ
		write_sequential_page = 40uJ
	END
}

# $tmp/sim.drive, for nvmesim: a rate that an emulated machine can do. 64 KiB cost 29.5 mJ, 9 W above idle at
# most; what is appended are more power states.
slow_drive() {
	cat >"$tmp/sim.drive" <<-END
		[drive]
		model = STORPOWER SIM
		idle_w = 3
		units = 64
		read_io_j = 0.0007
		read_page_j = 0.0018
		write_io_j = 0.0007
		write_page_j = 0.0018
		[state 0]
		max_w = 12
		read_mb_s = 20
		write_mb_s = 20
		latency_us = 200
		entry_us = 100
		exit_us = 100
	END
}

# A profile for disks of hddsim that take SECONDS and WATTS to spin up, and "quick", a policy that stops
# them again soon.
quick_disks() { # SECONDS WATTS
	mkdir -p "$tmp/etc/profiles" "$tmp/etc/policies"
	sed "s/^\(recovery\|wake_time\) = 15s/\1 = $1s/; s/^wake_watts = .*/wake_watts = $2 W/" \
		"$root/policies/profiles/seagate-constellation-es2.profile" >"$tmp/etc/profiles/quick.profile"
	sed 's/^sleep_min.*/sleep_min = 5s/' "$root/policies/emergency.policy" >"$tmp/etc/policies/quick.policy"
}
