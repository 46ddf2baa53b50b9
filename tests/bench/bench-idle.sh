#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What the daemon costs while nothing happens: CPU time, wake-ups (voluntary context switches of all
# threads) and memory (Pss), without a claim and while one is enforced, beside other daemons that
# manage power, all started here and watched side by side, each on a bus of its own.
#
#   tests/bench/bench-idle.sh [--json=FILE]
#
# The others run in a mount namespace in which /sys and /proc/sys are read-only and their own files
# are empty, so that they tune nothing here; tuned has a profile without plugins. That is the least
# that each of them can cost. One that cannot start is shown with "-" and why.

export TMPDIR=/var/tmp
# shellcheck source=tests/bus/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../bus/lib.sh"
top=$tmp json=/dev/null
[[ ${1:-} != --json=* ]] || json=${1#--json=}

# Storpower looks once a second for ten seconds after someone asked it something.
SETTLE=15
WINDOW=30

names=() pids=() notes=() buses=()

# shellcheck disable=SC2317 # by trap
end_all() {
	local pid
	for pid in "${pids[@]}" "${buses[@]}"; do
		[[ $pid == - ]] || { kill "$pid" && wait "$pid"; } 2>/dev/null
	done
	tmp=$top bus_pid='' daemon_pid=''
	finish
}
trap end_all EXIT

# lib.sh's bus and daemon, in a folder of their own: sets tmp, address
new_bus() { # NAME
	tmp=$top/$1 address=unix:path=$top/$1/bus
	export STORPOWER_BUS=$address
	mkdir "$tmp"
	start_bus
	buses+=("$bus_pid")
}

add() { # NAME PID NOTE
	names+=("$1") pids+=("$2") notes+=("$3")
}

add_storpower() { # NAME NODE [LIMIT]
	what=(--simulate="$root/policies/nodes/$2.node" --no-bpf)
	new_bus "$1"
	start_daemon --log-level=warning
	[[ -z ${3:-} ]] || ctl set "$3" >"$tmp/set.log" || exit 1
	add "$1" "$daemon_pid" "$2.node, its simulation included${3:+; held at $3}"
}

# Installing a service starts it at once and at every boot where systemd runs: that is not ours to do.
install_missing() { # PACKAGE PROGRAM
	[[ ! -x $2 && $EUID -eq 0 && ! -d /run/systemd/system ]] || return 0
	command -v apt-get >/dev/null || return 0
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$1" \
		>"$top/apt.log" 2>&1 </dev/null
}

# In the namespace, before the program takes this shell's place.
# shellcheck disable=SC2016 # for that shell to expand
enclose='set -e
mount -o bind,ro /sys /sys
mount -o bind,ro /proc/sys /proc/sys
config=$(cat /etc/tuned/tuned-main.conf 2>/dev/null || true)
for folder in /run /etc/tuned /var/log/tuned /var/lib/power-profiles-daemon; do
	[ ! -d $folder ] || mount -t tmpfs tmpfs $folder
done
if [ -d /etc/tuned ]; then
	mkdir /etc/tuned/nothing
	echo "$config" >/etc/tuned/tuned-main.conf
	echo nothing >/etc/tuned/active_profile
	echo manual >/etc/tuned/profile_mode
	printf "[main]\nsummary=Tunes nothing\n" >/etc/tuned/nothing/tuned.conf
fi
exec "$@"'

add_other() { # NAME NOTE PROGRAM ARGUMENT...
	local name=$1 note=$2 pid why
	shift 2
	install_missing "$name" "$1"
	if [[ ! -x $1 ]]; then
		add "$name" - "not installed: apt-get install $name"
		return
	elif [[ $EUID -ne 0 ]]; then
		add "$name" - "needs root"
		return
	fi
	new_bus "$name"
	DBUS_SYSTEM_BUS_ADDRESS=$address unshare --mount sh -c "$enclose" sh "$@" \
		>"$tmp/log" 2>&1 </dev/null &
	pid=$!
	sleep 3
	if kill -0 "$pid" 2>/dev/null; then
		add "$name" "$pid" "$note"
	else
		why=$(tail -n 1 "$tmp/log")
		add "$name" - "does not start here: ${why:-no reason given}"
	fi
}

# PID thread CPU-ns voluntary-switches, of every thread there is now
look() {
	local pid task ns _ word switches
	for pid in "${pids[@]}"; do
		[[ $pid != - ]] || continue
		for task in /proc/"$pid"/task/*; do
			{ read -r ns _ <"$task/schedstat"; } 2>/dev/null || continue
			while read -r word switches; do
				[[ $word != voluntary_ctxt_switches: ]] ||
					echo "$pid ${task##*/} $ns $switches"
			done 2>/dev/null <"$task/status"
		done
	done
}

# Threads come and go, so each is followed from look to look; one that is new starts at nothing.
watch() {
	local end=$((SECONDS + WINDOW))
	look
	echo begun
	while ((SECONDS < end)); do
		sleep 1
		look
	done
}

# PID CPU-ms wake-ups, of the whole window
summarise() {
	awk '$1 == "begun" { begun = 1; next }
	     begun { cpu[$1] += $3 - ns[$1, $2]; wakes[$1] += $4 - switches[$1, $2] }
	     { ns[$1, $2] = $3; switches[$1, $2] = $4 }
	     END { for (pid in cpu) print pid, cpu[pid] / 1e6, wakes[pid] }'
}

pss_kib() { # PID
	awk '$1 == "Pss:" { print $2 }' "/proc/$1/smaps_rollup" 2>/dev/null
}

add_storpower storpowerd mixed
add_storpower storpowerd-enforcing mixed 80%
add_other power-profiles-daemon "no claim on it" /usr/libexec/power-profiles-daemon
add_other thermald "without --adaptive" /usr/sbin/thermald --no-daemon --dbus-enable
add_other tuned "profile without plugins" /usr/sbin/tuned
sleep "$SETTLE"
watch >"$top/looks"
summarise <"$top/looks" >"$top/sums"

printf '%-22s %10s %11s %10s\n' '' 'CPU ms/min' wake-ups/s 'Pss MiB'
for i in "${!pids[@]}"; do
	cpu=- wakes=- pss=-
	if [[ ${pids[i]} != - ]]; then
		if ! kill -0 "${pids[i]}" 2>/dev/null; then
			notes[i]="ended by itself while it was watched"
		else
			read -r cpu wakes < <(awk -v pid="${pids[i]}" -v s="$WINDOW" \
				'$1 == pid { print $2 * 60 / s, $3 / s }' "$top/sums")
			pss=$(pss_kib "${pids[i]}" | awk '{ print $1 / 1024 }')
		fi
	fi
	row() { [[ $2 == - ]] && printf "%$1s" - || printf "%$1.2f" "$2"; }
	printf '%-22s %s %s %s  %s\n' "${names[i]}" "$(row 10 "$cpu")" "$(row 11 "$wakes")" \
		"$(row 10 "$pss")" "${notes[i]}"
	number() { [[ $1 == - ]] && echo null || echo "$1"; }
	jq -nc --arg daemon "${names[i]}" --arg note "${notes[i]}" --argjson cpu "$(number "$cpu")" \
		--argjson wakes "$(number "$wakes")" --argjson pss "$(number "$pss")" \
		'{bench: "idle", daemon: $daemon, cpu_ms_per_min: $cpu, wakeups_per_s: $wakes,
		  pss_mib: $pss, note: $note}' >>"$json"
done
