# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced after lib.sh: a node of two idle disks and a flash drive, and a policy that has the disks sleep at once.

write_rest_node() { # DEMAND-OF-THE-FLASH-DRIVE: sets $node
	mkdir -p "$tmp/etc/policies"
	cat >"$tmp/etc/policies/sleepy.policy" <<-END
		[policy]
		description = Sleeps as soon as it may
		deepest = standby_z
		sleep_idle = 1s
		sleep_min = 1s
		dwell = 1s
	END
	node=$tmp/rest.node
	cat >"$node" <<-END
		[node]
		name = rest
		policy = sleepy
		seed = 1
		noise = 0%
		sensors = none

		[devices disk]
		count = 2
		profile = seagate-exos-7e2000
		demand = idle

		[devices flash]
		profile = samsung-pm9a3
		queues = 4
		demand = $1
	END
}
