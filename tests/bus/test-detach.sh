#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A loop device whose file is detached keeps what was set on its queue and in io.cost: it is given back
# all the same, at once, at the end and by --restore. Root alone.
. "$(dirname "$0")/lib.sh"

loop=''

clean_up() {
	[[ -z $daemon_pid ]] || stop_daemon
	[[ -z $loop ]] || losetup -d "$loop" 2>/dev/null
}

attach() { # to the device that was made first
	losetup "$loop" "$1"
}

detach() {
	losetup -d "$loop" && eventually test ! -e "/sys/block/$name/loop/backing_file"
}

dump() { # what can be set, as FILE=VALUE; some files are there with a scheduler only
	grep -s . "$queue"/{scheduler,nr_requests,max_sectors_kb,wbt_lat_usec} "$queue"/iosched/*
	grep -s "^$(<"/sys/block/$name/dev") " /sys/fs/cgroup/{,unified/}io.cost.* | grep -v 'enable=0'
}

as_found() {
	diff "$tmp/found" <(dump)
}

changed() {
	! as_found
}

gone() {
	[[ $(ctl list --json=short | jq length) == 0 ]]
}

restore() {
	"$storpowerd" --restore --state-directory="$tmp/state" --runtime-directory="$tmp/run" \
		--config-directory="$tmp/etc" --data-directory="$root/policies" 2>"$tmp/restore"
}

limited() { # start a daemon that limits the device
	attach "$tmp/disk"
	[[ -n $daemon_pid ]] || start_daemon
	eventually ctl show "$name" && ctl set 55% >/dev/null
	eventually changed
}

[[ $(id -u) == 0 ]] || skip_all "loop devices need root"
command -v losetup >/dev/null || skip_all "losetup is missing: run packaging/deps"
truncate -s 64M "$tmp/disk" "$tmp/other"
loop=$(losetup --find --show "$tmp/disk" 2>"$tmp/losetup") || skip_all "no loop device to be had: $(<"$tmp/losetup")"
at_end=(clean_up "${at_end[@]}")
name=${loop#/dev/} queue=/sys/block/${loop#/dev/}/queue
mkdir -p "$tmp/etc"
printf '[storpower]\ndiscover = no\n[device %s]\nprofile = samsung-pm9a3\n' "$name" >"$tmp/etc/storpower.conf"
what=(--no-bpf)
dump >"$tmp/found"
detach
start_bus

ok "a budget changes the queue" limited
ok "the file is detached" detach
ok "what was set on the queue is given back at once" eventually as_found
ok "and the device is forgotten" eventually gone
ctl clear --all >/dev/null
ok "attached again it is limited again" limited
detach
stop_daemon
ok "the end gives it back, however soon it comes" as_found
ok "and nothing is left in the journal" test ! -s "$tmp/state/journal"

ok "limited" limited
stop_daemon KILL
ok "killed, and the file detached: the queue stays limited" detach
ok "still" changed
ok "--restore succeeds" restore
ok "and gives back what still exists" as_found
ok "and nothing is left in the journal" test ! -s "$tmp/state/journal"

rm -f "$tmp/state/claims"
ok "limited" limited
stop_daemon KILL
detach
attach "$tmp/other"
ok "with another file attached the device is throttled" changed
start_daemon
ctl clear --all >/dev/null
ok "until the daemon starts again" eventually as_found
stop_daemon
detach
ok "no folder is made for a simulated node where there is none" test ! -e "$tmp/run"
done_testing
