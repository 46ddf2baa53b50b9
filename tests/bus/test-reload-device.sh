#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sections of real devices are read again: of a loop device that is limited meanwhile. Root alone.
. "$(dirname "$0")/lib.sh"

loop=''

clean_up() {
	[[ -z $daemon_pid ]] || stop_daemon
	[[ -z $loop ]] || losetup -d "$loop"
}

dump() {
	grep -s . "$queue"/{nr_requests,max_sectors_kb,scheduler} "$queue"/iosched/*
}

changed() {
	! diff "$tmp/found" <(dump)
}

as_found() {
	diff "$tmp/found" <(dump)
}

configure() { # LINE...: of the device's section
	printf '%s\n' '[storpower]' 'discover = no' "[device $name]" "$@" >"$tmp/etc/storpower.conf"
}

reloads() {
	call Reload | tee "$tmp/answer"
	grep -q '^()' "$tmp/answer"
}

gone() {
	[[ $(ctl list --json=short | jq -c .) == "[]" ]]
}

shown() { # FILTER
	ctl show "$name" --json=short | jq -r "$1"
}

[[ $(id -u) == 0 ]] || skip_all "loop devices need root"
command -v losetup >/dev/null || skip_all "losetup is missing: run packaging/deps"
truncate -s 64M "$tmp/disk"
loop=$(losetup --find --show "$tmp/disk" 2>"$tmp/losetup") || skip_all "no loop device to be had: $(<"$tmp/losetup")"
at_end=(clean_up "${at_end[@]}")
name=${loop#/dev/} queue=/sys/block/${loop#/dev/}/queue
mkdir -p "$tmp/etc"
configure 'profile = samsung-pm9a3'
what=(--no-bpf)
dump >"$tmp/found"
start_bus
start_daemon
status "a limit is in force" 0 ctl set 70%
ok "and changes the queue" eventually changed
dump >"$tmp/limited"

configure 'profile = samsung-pm9a3' 'group = rack'
ok "another group is taken" reloads
is "and known" "$(shown .Group)" rack
ok "the queue has stayed as it was limited" diff "$tmp/limited" <(dump)
configure 'profile = samsung-pm9a3' 'group = two words/'
ok "a section that is wrong is refused" eval '! reloads && grep -q "storpower.conf:5: group" "$tmp/answer"'
is "and changes nothing" "$(shown .Group)" rack
configure 'profile = intel-p5510' 'group = rack'
ok "another profile is taken" reloads
is "and known" "$(shown .Profile)" intel-p5510
ok "the queue is still limited" changed
configure 'manage = no'
ok "a device can be dismissed" reloads
ok "it is given back" eventually as_found
ok "and forgotten" eventually gone
is "the claim is not" "$(ctl status --json=short | jq '.Claims | length')" 1
configure 'profile = samsung-pm9a3'
ok "it can be taken in again" reloads
ok "and is limited again" eventually changed
stop_daemon
ok "the end gives it back" as_found
ok "and nothing is left in the journal" test ! -s "$tmp/state/journal"
done_testing
