# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced in the guest: NVMe drives by nvmesim (tests/testbed/nvmesim), connected by the kernel's own
# host driver over loopback.

nvmesim_folder=/run/nvmesim
nvmesim_port=4420

nvmesim_nqn() { # NAME
	echo "nqn.2026-01.org.storpower:$1"
}

# The controller ("nvme0") of a simulator; fails while there is none.
nvmesim_controller() { # NAME
	local f
	for f in /sys/class/nvme/nvme*/subsysnqn; do
		[[ -r $f && $(<"$f") == "$(nvmesim_nqn "$1")" ]] || continue
		f=${f%/*}
		echo "${f##*/}"
		return
	done
	return 1
}

nvmesim_live() { # NAME
	local controller
	controller=$(nvmesim_controller "$1") &&
		[[ $(<"/sys/class/nvme/$controller/state") == live && -b /dev/${controller}n1 ]]
}

# Starts a simulator, connects it, and sets nvmesim_ctrl (nvme0) and nvmesim_disk (nvme0n1). Options
# are nvmesim's, with --drive=pm9a3 --scale=0.005 unless given. NVMESIM_CONNECT: more for `nvme
# connect`; NVMESIM_RUN: a command that runs it. Its log is $nvmesim_folder/NAME.log.
nvmesim_start() { # NAME [OPTION...]
	local name=$1 path=$nvmesim_folder/$1 defaults=()
	shift
	mkdir -p $nvmesim_folder
	modprobe nvme-tcp || return
	[[ " $*" == *" --drive="* ]] || defaults+=(--drive=pm9a3)
	[[ " $*" == *" --scale="* || " $*" == *" --drive=/"* ]] || defaults+=(--scale=0.005)
	# shellcheck disable=SC2086 # words
	${NVMESIM_RUN:-} "$B/tests/testbed/nvmesim" --nqn="$(nvmesim_nqn "$name")" --serial="SIM-$name" \
		--port=$nvmesim_port --log="$path.log" --control="$path.control" \
		"${defaults[@]}" "$@" >"$path.out" 2>&1 &
	echo $! >"$path.pid"
	within 20 test -S "$path.control" || { cat "$path.out" >&2; return 1; }
	nvmesim_connect "$name" $nvmesim_port || return
	nvmesim_port=$((nvmesim_port + 1))
}

nvmesim_connect() { # NAME PORT
	# shellcheck disable=SC2086 # words
	nvme connect -t tcp -a 127.0.0.1 -s "$2" -n "$(nvmesim_nqn "$1")" -i 2 -c 1 \
		-q nqn.2026-01.org.storpower:host --hostid=11111111-2222-3333-4444-555555555555 \
		${NVMESIM_CONNECT:-} >&2 || return
	within 20 nvmesim_live "$1" || return
	# shellcheck disable=SC2034 # for the caller
	nvmesim_ctrl=$(nvmesim_controller "$1") && nvmesim_disk=${nvmesim_ctrl}n1
}

# Says something on the control socket: nvmesim_say NAME refuse 02h 0x10e
nvmesim_say() { # NAME COMMAND...
	local name=$1
	shift
	"$B/tests/testbed/nvmesim" --send "$nvmesim_folder/$name.control" "$*"
}

# One figure of the simulator's state: nvmesim_get NAME ps
nvmesim_get() { # NAME KEY
	nvmesim_say "$1" state | sed -n "s/^$2=//p"
}

# Disconnects and ends the simulator; its exit status.
nvmesim_stop() { # NAME
	local pid
	pid=$(<"$nvmesim_folder/$1.pid")
	nvme disconnect -n "$(nvmesim_nqn "$1")" >/dev/null
	nvmesim_say "$1" quit
	wait "$pid"
}
