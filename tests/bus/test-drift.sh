#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# limit: 300
#
# What the sensors say of the profiles' energies: asked for over the bus, and printed.
. "$(dirname "$0")/lib.sh"

node=$tmp/drift.node
cat >"$node" <<-END
	[node]
	name = drift
	policy = balanced
	seed = 1
	model_error = 0%
	family_error = 30%
	sensors = none

	[devices flash]
	count = 4
	profile = samsung-pm9a3
	queues = 4
	read = 100%
	random = 100%
	read_size = 4K
	depth = 64
	demand = 0:200 15s:2000 30s:1000
	repeat = 45s

	[sensor psu]
	of = node
	noise = 0.2%
END
# shellcheck disable=SC2034 # for lib.sh
what=(--simulate="$node" --no-bpf)

drift() { # FILTER
	ctl model drift --json=short | jq -e "$1"
}

figure() { # NAME FILTER
	drift ".[0].Figures[] | select(.Name == \"$1\") | $2"
}

said() { # TEXT COMMAND...: the command's output has the text
	local text=$1
	shift
	"$@" | grep -F -- "$text"
}

fits_in_80_columns() {
	! ctl model drift | grep -E '.{81}'
}

start_bus
start_daemon
ok "the sensor's profile is listed" eventually drift '.[0] | .Profile == "samsung-pm9a3" and .Sensor == "psu" and .Devices == 4'
ok "with what the profile says" figure random-read-page '.ProfileValue > 1e-7 and .ProfileValue < 1e-4'
ok "at first nothing is determined" drift '.[0] | .WhyNot != "" and all(.Figures[]; .Determined | not)'
ok "which is said" said "nothing is determined: there are too few observations" ctl model drift
ok "in a while what all IO costs is determined" within 150 figure all-io '.Determined'
ok "and is above the profile's, as the drives truly are" figure all-io '.FittedValue - .Error > 1.05'
ok "what the devices draw without IO is determined" figure idle '.Determined and (.FittedValue / .ProfileValue - 1 | fabs) < 0.05'
ok "what an IO costs without its pages is not, for IO of one size" figure random-read-io '(.Determined | not) and .FittedValue == null'
ok "it is printed" said "% more" ctl model drift
ok "with what is not determined" said "not determined" ctl model drift
ok "in 80 columns" fits_in_80_columns
ctl model drift | sed 's/^/# /'
stop_daemon
sed -i '/sensor psu/,$d' "$node"
start_daemon
ok "without a sensor nothing is known, and that is said" said "nothing is known of drift" ctl model drift
done_testing
