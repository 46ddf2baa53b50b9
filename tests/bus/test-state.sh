#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The state directory on a disk that fills up, with damaged files, and with what is no file. The disk is
# a small tmpfs in mounts of the test's own. Root alone.
if [[ $(id -u) == 0 && -z ${OWN_MOUNTS:-} ]]; then
	OWN_MOUNTS=1 exec unshare -m -- "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"

state=$tmp/state monitor_pid=''
files=(journal claims wear wake-tests)

clean_up() {
	[[ -z $monitor_pid ]] || kill "$monitor_pid"
	[[ -z $daemon_pid ]] || stop_daemon
	umount "$state/claims" 2>/dev/null
	umount "$state" 2>/dev/null
}

[[ $(id -u) == 0 ]] || skip_all "mounting a small disk needs root"
mkdir -p "$state" "$tmp/etc"
mount -t tmpfs -o size=256k tmpfs "$state" 2>"$tmp/mount" || skip_all "no tmpfs to be had: $(<"$tmp/mount")"
at_end=(clean_up "${at_end[@]}")

fill() { # to the last byte
	head -c 1M /dev/zero >"$state/fill" 2>/dev/null
	[[ $(df --output=avail "$state" | tail -n 1) -eq 0 ]]
}

logged() { # TIMES WHAT
	[[ $(grep -c "$2" "$tmp/daemon.log") -eq $1 ]]
}

announced() { # VALUE
	grep -q "'ClaimsUnsaved': <'$1'>" "$tmp/signals"
}

shown() { # in what status says
	ctl status | grep -q "Claims  not saved (No space left on device)"
}

run() { # OPTION...: storpowerd in the foreground, never for long
	timeout 20 "$storpowerd" "${what[@]}" --bus="$address" --state-directory="$state" \
		--runtime-directory="$tmp/run" --config-directory="$tmp/etc" \
		--data-directory="$root/policies" "$@" 2>"$tmp/said"
}

start_bus
start_daemon
gdbus monitor --session --dest org.storpower1 --object-path /org/storpower1 >"$tmp/signals" 2>&1 &
monitor_pid=$!
ok "signals are listened to" eventually grep -q "is owned by" "$tmp/signals"

ok "all is saved at first" property_is ClaimsUnsaved '""'
ok "the disk is full" fill
ok "a claim is still accepted: no setting can be recorded, and that is what the status tells" \
	test "$(ctl set 60% >/dev/null 2>&1; echo $?)" = 6
ok "why it is not saved is a property" property_is ClaimsUnsaved '"No space left on device"'
ok "which is announced" eventually announced "No space left on device"
ok "status shows it" shown
ok "it is logged" logged 1 "cannot be saved in $state/claims"
sleep 2
ok "and not at every try" logged 1 "cannot be saved in $state/claims"
ok "a second claim" test "$(ctl set 70% --class=signal >/dev/null 2>&1; echo $?)" = 6
ok "is shown as not saved either" shown
rm "$state/fill"
ok "once there is room it is saved by itself" eventually property_is ClaimsUnsaved '""'
ok "which is announced too" eventually announced ""
ok "and logged" logged 1 "saved in $state/claims again"
ok "status no longer shows it" bash -c "! grep -q 'not saved'" < <(ctl status)
ok "a claim is enforced once the journal can be written" \
	eventually property_is 'Degraded or .CapPower > .EffectiveLimit + 1e-6' false
stop_daemon KILL
start_daemon
ok "both claims survive kill -9" claim_count_is 2

stop_daemon
: >"$tmp/daemon.log"
printf '\0' | dd of="$state/claims" bs=1 seek=100 conv=notrunc status=none
cp "$state/claims" "$tmp/claims"
start_daemon
ok "what is damaged is said once, with the copy's path" logged 1 "kept as $state/claims.damaged;"
ok "the copy is as it was found" cmp "$tmp/claims" "$state/claims.damaged"
ok "what is whole is in force" claim_count_is 1
ctl clear --all >/dev/null
ok "and is put to disk without touching the copy" cmp "$tmp/claims" "$state/claims.damaged"
stop_daemon
rm -f "$state"/*

make_fifo() { mkfifo "$1"; }
make_directory() { mkdir "$1"; }
make_socket() { python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$1"; }
make_device() { mknod "$1" c 1 3; }

for type in fifo directory socket device; do
	for file in "${files[@]}"; do
		make_$type "$state/$file"
		make_$type "$state/$file.new"
	done
	ok "--restore does not wait for a $type" run --restore
	for file in "${files[@]}"; do
		ok "a $type as $file is said to be moved aside" \
			grep -q "$state/$file is a .* and no file: moved to $state/$file.damaged" "$tmp/said"
	done
	rm -rf "${state:?}"/*
	for file in "${files[@]}"; do
		make_$type "$state/$file"
	done
	start_daemon
	ok "the daemon starts with a $type in the place of each file" ctl set 80%
	ok "and saves its claims" test -f "$state/claims"
	ok "and keeps its journal" test -f "$state/journal"
	stop_daemon KILL
	start_daemon
	ok "so that they are there again" claim_count_is 1
	stop_daemon
	rm -rf "${state:?}"/*
done

mkdir "$state/claims"
mount -t tmpfs -o size=4k tmpfs "$state/claims"
status "what cannot be moved aside is an error" 1 run
ok "which names the path and what to do" \
	grep -q "$state/claims cannot be moved aside: move it away by hand" "$tmp/said"
done_testing
