#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# systemd
# limit: 500
#
# storpowerd as it is installed: a unit of systemd, on the system bus, with the distribution's own
# rules. What `make install` puts there is laid over the guest's root.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/devices.sh"

ctl() {
	storpowerctl --no-pager "$@"
}

state_of_flat() {
	grep -s . /sys/block/flat/queue/{nr_requests,max_sectors_kb}
	grep -o '\[.*\]' /sys/block/flat/queue/scheduler # there may be one more: the unit loads bfq
	grep "^$(</sys/block/flat/dev) enable=1" /sys/fs/cgroup/io.cost.qos
}

active() {
	[[ $(systemctl is-active storpowerd) == active ]]
}

enforced() {
	ctl status --json=short | jq -e '.Enforcing and .CapPower <= .EffectiveLimit + 0.001' >/dev/null
}

paced() {
	grep -q "^$(</sys/block/flat/dev) enable=1" /sys/fs/cgroup/io.cost.qos
}

as_before() {
	state_of_flat >"$tmp/after"
	diff "$tmp/before" "$tmp/after"
}

pid() {
	systemctl show --property=MainPID --value storpowerd
}

new_pid() { # OLD
	local now
	now=$(pid)
	[[ $now != 0 && $now != "$1" ]] && ctl version
}

log_says() { # TEXT
	journalctl --unit=storpowerd --output=cat | grep -qF "$1"
}

nullb flat 256 50000 || { echo "Bail out! no null_blk"; exit 1; }
cp -a "$B/vm-root/." / || { echo "Bail out! make vm-tools installs nothing"; exit 1; }
mkdir -p /etc/storpower/storpower.conf.d
printf '[device flat]\nprofile = intel-p5510\n' >/etc/storpower/storpower.conf.d/50-local.conf
systemctl daemon-reload
busctl call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus ReloadConfig
state_of_flat >"$tmp/before"

ok "the unit starts and says when it is ready" systemctl start storpowerd
ok "it is active" active
ok "the unit switches the io controller on for all slices" grep -qw io /sys/fs/cgroup/cgroup.subtree_control
ok "root may ask on the system bus" ctl status
ok "nobody else may set a limit" bash -c '! setpriv --reuid=65534 --clear-groups storpowerctl --no-pager set 50%'
ok "a budget is accepted" ctl set 60% --tolerance=none
ok "and enforced" eventually enforced
ok "by pacing, on this kernel" paced
ok "eBPF is permitted" test "$(ctl status --json=short | jq -r .Meter)" = ebpf
ok "the journal of the system has it, with the device" \
	eventually bash -c 'journalctl --unit=storpowerd --output=json | jq -e "select(.DEVICE == \"flat\" and .KNOB != null)" >/dev/null'

textfile=/var/lib/prometheus/node-exporter/storpower.prom
mkdir -p "${textfile%/*}"
ok "the timer of metrics is started" systemctl start storpower-metrics.timer
ok "its service writes them, hardened as it is" eventually grep -qx 'storpower_up 1' $textfile
ok "the limit is among them" grep -q '^storpower_.*limit.* [1-9]' $textfile
systemctl stop storpower-metrics.timer
ok "the ledger counts what was drawn" \
	eventually bash -c 'storpowerctl --no-pager report --since=-1h --json=short | jq -e ".Total.Energy > 0" >/dev/null'

before=$(pid)
systemctl kill --kill-who=main --signal=KILL storpowerd
ok "killed, it is started anew" within 60 new_pid "$before"
ok "and goes on enforcing what stands" eventually enforced
ok "what was put back between is in the log" eventually log_says "settings were put back"
ok "reload is answered" systemctl reload storpowerd
mkdir -p /etc/storpower/storpower.conf.d
printf '[storpower]\nguard = 2 bananas\n' >/etc/storpower/storpower.conf.d/99-wrong.conf
refused() { ! systemctl reload storpowerd; }
ok "a wrong file is refused" refused
ok "with file and line in the log" eventually log_says "99-wrong.conf:2: "
ok "and what stands is enforced" enforced
rm /etc/storpower/storpower.conf.d/99-wrong.conf
ok "put right, it is taken" systemctl reload storpowerd
journalctl --update-catalog
claim_id=$(sed -n 's/^#define MESSAGE_CLAIM_BEGAN *"\(.*\)"/\1/p' "$root/daemon/base/message-ids.h")
told() { journalctl -u storpowerd MESSAGE_ID="$claim_id" -o json | jq -es 'any(.[]; .STORPOWER_LIMIT == "60 %" and .STORPOWER_CLAIM)'; }
ok "that a claim began can be found in the journal, with its limit" eventually told
explained() { journalctl -x -u storpowerd MESSAGE_ID="$claim_id" | grep -q 'What it means for the workload:'; }
ok "and the journal explains it" explained
ok "the watchdog is fed" test "$(systemctl show --property=WatchdogUSec --value storpowerd)" = 30s
ok "stopping gives everything back" systemctl stop storpowerd
ok "nothing differs from before" as_before
ok "the claim is there after the next start" bash -c 'systemctl start storpowerd; storpowerctl --no-pager list --claims | grep -q "60 %"'
ok "clear ends it" ctl clear
ok "nothing differs from before, again" eventually as_before
systemctl stop storpowerd
ok "without the daemon the service of metrics says so, and does not fail" systemctl start storpower-metrics.service
ok "in the file" grep -qx 'storpower_up 0' $textfile
# a simulated disk that may be stopped, under the daemon's own unit
mkdir -p /etc/storpower/policies /etc/storpower/hooks.d
printf '[policy]\ndescription = Sleeps at once\ndeepest = standby_z\nsleep_idle = 1s\nsleep_min = 1s\ndwell = 1s\n' \
	>/etc/storpower/policies/sleepy.policy
printf '[node]\nname = rest\npolicy = sleepy\nnoise = 0%%\nsensors = none\n[devices disk]\nprofile = seagate-exos-7e2000\ndemand = idle\n' \
	>/etc/storpower/rest.node
printf '[storpower]\nsimulate = /etc/storpower/rest.node\n' >/etc/storpower/storpower.conf.d/60-rest.conf
# /usr is read-only to the daemon
printf '#!/bin/sh\necho "$*" >>/usr/hook-ran\necho "it is dear to us"\nexit 1\n' >/etc/storpower/hooks.d/50-dear
chmod 755 /etc/storpower/hooks.d/50-dear
ok "the socket of hooks is started" systemctl start storpower-hooks.socket
is "it is root's alone" "$(stat -c '%U %a' /run/storpower-hooks)" "root 600"
ok "the daemon starts, confined as ever" systemctl start storpowerd
ctl set 1W --yes >"$tmp/out" 2>&1 # it cannot be reached without
disk=$(ctl list --json=short | jq -r '.[0].Name')
hook_ran() { grep -qx "before spin-down $disk" /usr/hook-ran; }
ok "before it stops a disk a hook is run, which may do what the daemon may not" within 90 hook_ran
vetoed() { ctl show "$disk" --json=short | jq -e '.AwakeReason == "hook 50-dear vetoed: it is dear to us"' >/dev/null; }
ok "and its veto arrives" eventually vetoed
ok "the message can be found by its id" test -n "$(journalctl --unit=storpowerd --output=cat \
	MESSAGE_ID="$(sed -n 's/^#define MESSAGE_HOOK_VETOED *"\(.*\)"/\1/p' "$root/daemon/base/message-ids.h")")"
ctl clear --all
systemctl stop storpowerd storpower-hooks.socket
ok "without its unit the socket is gone" test ! -e /run/storpower-hooks
is "no unit has failed" "$(systemctl --failed --plain --no-legend)" ""
done_testing
