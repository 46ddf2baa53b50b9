#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A guest with systemd: what the tests of the unit and of the system bus take for granted.
#
# kernels: 6.12
# systemd
. "$(dirname "$0")/lib.sh"

is "process 1 is systemd" "$(</proc/1/comm)" systemd
ok "the system bus answers" busctl --system call org.freedesktop.DBus / org.freedesktop.DBus GetId
ok "systemd answers on it" systemctl is-active basic.target
ok "units can be started" systemd-run --wait --quiet true
ok "udev answers" udevadm control --ping
ok "a disk can be made" nullb made 64 100000
ok "udev has told systemd of it" eventually systemctl is-active dev-made.device
for folder in /sys/kernel/debug /sys/kernel/config /sys/fs/bpf; do
	ok "$folder is mounted" mountpoint -q "$folder"
done
is "the node has a name" "$(hostname)" node
is "no unit has failed" "$(systemctl --failed --plain --no-legend)" ""
done_testing
