#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# long: all
# limit: 600
# qemu: -drive if=none,id=flash,format=raw,file.driver=null-co,file.read-zeroes=on,file.size=64M -device nvme,drive=flash,serial=QEMUNVME1
#
# Somebody else writes what storpowerd has set. The first of them is systemd's rule 90-iocost.rules
# (254 and later), which writes io.cost of drives in its hardware database at every event of a block
# device, and so whenever somebody has written to one and closes it. Where the guest's systemd is older,
# the test brings the rule and the program along. Time goes by instructions.

. "$(dirname "$0")/lib.sh"

cgroups=/sys/fs/cgroup
rivals_qos="enable=1 ctrl=user rpct=95.00 rlat=2500 wpct=95.00 wlat=5000 min=50.00 max=150.00"
rivals_model="ctrl=user model=linear rbps=900000000 rseqiops=80000 rrandiops=70000 wbps=800000000 wseqiops=60000 wrandiops=50000"

show() {
	ctl status
	ctl list
	cat $cgroups/io.cost.{qos,model}
	tail -n 15 "$tmp/daemon.log"
}
at_end=(show_and_stop "${at_end[@]}")

# What a drive of this model is given: the first solution of the database's entry.
add_to_hwdb() {
	mkdir -p /etc/udev/hwdb.d
	cat >/etc/udev/hwdb.d/60-rival.hwdb <<-END
		block:*:name:QEMU NVMe Ctrl*:fwrev:*:
		 IOCOST_SOLUTIONS=own
		 IOCOST_MODEL_OWN=${rivals_model#ctrl=user model=linear }
		 IOCOST_QOS_OWN=${rivals_qos#enable=1 ctrl=user }
	END
	systemd-hwdb update
}

add_rule() {
	! [[ -x /usr/lib/udev/iocost ]] || return 0
	mkdir -p /etc/udev/rules.d
	cat >/usr/lib/udev/iocost <<-END
		#!/bin/sh
		[ "\$1" = apply ] || exit 1
		number=\$(cat "/sys/class/block/\${2#/dev/}/dev")
		echo "\$number enable=1 ctrl=user \$IOCOST_QOS_OWN" >$cgroups/io.cost.qos
		echo "\$number ctrl=user model=linear \$IOCOST_MODEL_OWN" >$cgroups/io.cost.model
	END
	chmod +x /usr/lib/udev/iocost
	cat >/etc/udev/rules.d/90-iocost.rules <<-'END'
		SUBSYSTEM!="block", GOTO="iocost_end"
		ENV{DEVTYPE}=="partition", GOTO="iocost_end"
		ACTION=="remove", GOTO="iocost_end"
		ENV{ID_MODEL}!="", IMPORT{builtin}="hwdb 'block::name:$env{ID_MODEL}:fwrev:$env{ID_REVISION}:'"
		ENV{IOCOST_SOLUTIONS}!="", RUN+="iocost apply $env{DEVNAME}"
		LABEL="iocost_end"
	END
	udevadm control --reload
}

line() { # FILE
	grep "^$number " "$cgroups/$1" | cut -d ' ' -f 2-
}

rivals() {
	[[ $(line io.cost.qos) == "$rivals_qos" && $(line io.cost.model) == "$rivals_model" ]]
}

# By storpowerd: a fixed rate, no latency targets
paced() {
	[[ $(line io.cost.qos) == "enable=1 ctrl=user rpct=0.00 "*" min=100.00 max=100.00" &&
		$(line io.cost.model) == "$model" ]]
}

an_event() {
	udevadm trigger --action=change /sys/block/$disk && udevadm settle --timeout=30
}

told() { # KNOB: how often the log told that somebody else has set it
	grep -c "$device: somebody else has set $1 to" "$tmp/daemon.log"
}

told_so_often() { # KNOB TIMES
	[[ $(told "$1") -eq $2 ]]
}

knob_says() { # KNOB KEY
	ctl show $device --json=short | jq -r --arg k "$1" ".Knobs[] | select(.Name == \$k) | .$2"
}

known() {
	[[ $(knob_says io-cost Offered) == true ]]
}

begin() { # LINE... of the configuration
	[[ -z $daemon_pid ]] || stop_daemon
	: >"$tmp/daemon.log"
	printf '%s\n' "[storpower]" "$@" "[device nvme0]" "profile = paced" >"$tmp/etc/storpower.conf"
	start_daemon
	# the guest has a clock that runs on while a busy host is waited for; an unknown drive counts as rated
	within 60 known
}

# 1 W of its 5 W to draw, by pacing alone
limit() {
	ctl set 2W --replace >/dev/null
	is_set() { [[ $(line io.cost.qos) == "enable=1 ctrl=user rpct=0.00 "* ]]; }
	within 10 is_set && ctl verify && model=$(line io.cost.model)
}

modprobe nvme
device=nvme0 disk=nvme0n1
within 30 test -b /dev/$disk
udevadm settle --timeout=30
number=$(</sys/block/$disk/dev)
echo +io >$cgroups/cgroup.subtree_control
# as under systemd: what udev reads of the drive passes no pacing by
mkdir $cgroups/udev
for pid in $(pidof systemd-udevd); do
	echo "$pid" >$cgroups/udev/cgroup.procs
done
paced_drives paced 1
add_to_hwdb
add_rule
an_event
ok "the rule finds the drive in the database, and sets it" rivals

start_bus
echo "# --- on_conflict = yield"
begin
status "under a budget" 0 ctl set 2W
ok "it is set as the budget wants it" limit
ok "which is no event that the rule would hear of" eval 'sleep 5; udevadm settle --timeout=30; paced'
for time in 1 2; do
	an_event
	ok "the rule sets it, and that is told" within 10 told_so_often io-cost $time
	ok "it is set back" within 10 paced
done
ok "the log has the old value and the new one" \
	grep -qF "somebody else has set io-cost to \"$rivals_qos | $rivals_model\"; it was \"enable=1 ctrl=user rpct=0.00" "$tmp/daemon.log"
: </dev/$disk >/dev/$disk # closed after it was open for writing: udev looks at it again
udevadm settle --timeout=30
ok "for the third time by a program that writes to the drive" within 10 told_so_often io-cost 3
degraded() { ctl status --json=short | jq -e .Degraded; }
ok "then it is left to the rule" within 10 degraded
is "the node says that it is degraded" "$(ctl status 2>/dev/null | grep -c degraded)" 1
ok "and the drive by whom" eval '[[ $(says $device Problem) == "io-cost is not used: somebody else has set it 3 times"* ]]'
ok "and what to do about it" eval '[[ $(says $device Problem) == *on_conflict=insist* ]]'
ok "the budget is held by what else there is, or said not to be" eval \
	'ctl status --json=short | jq -e ".CapPower <= .EffectiveLimit + 0.001 or .Shortfall > 0"'
sleep 10
ok "it is left alone from then on" rivals
ctl clear >/dev/null
ok "when the limit is lifted nothing is left" within 10 test ! -s "$tmp/state/journal"
ok "and the drive is as the rule wants it" rivals
ok "and the drive has no problem" within 10 says_it $device Problem ""
ok "and the next budget has it again" limit
ctl clear >/dev/null
ok "until it is lifted: it is as the rule wants it" within 10 rivals

echo "# --- on_conflict = insist"
begin "on_conflict = insist"
ok "under a budget" limit
for time in 1 2 3 4 5; do
	an_event
	ok "the rule sets it $time times" within 10 told_so_often io-cost $time
	ok "and it is set back" within 10 paced
done
is "nothing is degraded" "$(property Degraded)" false

echo "# --- by hand"
echo "$number enable=0" >$cgroups/io.cost.qos
ok "io.cost is switched off, and that is told" within 10 told_so_often io-cost 6
ok "it is switched on again" within 10 paced
ctl clear >/dev/null
ok "when the limit is lifted nothing is left" within 10 test ! -s "$tmp/state/journal"
ok "and the drive is as the rule wants it" rivals

echo "# --- its queue by hand"
echo -io >$cgroups/cgroup.subtree_control
sed -i '/energy/,$d; s/qd=1 \(.*\) 6W 40MB/qd=1 \1 2W 10MB/; s/qd=1 \(.*\) 6W 600MB/qd=1 \1 3W 100MB/' "$tmp/etc/profiles/paced.profile"
begin
found=$(</sys/block/$disk/queue/nr_requests)
ctl set 4W >/dev/null
depth_set() { [[ $(</sys/block/$disk/queue/nr_requests) -lt $found ]] && ctl verify; }
ok "a budget is held by its depth" within 10 depth_set
set_to=$(</sys/block/$disk/queue/nr_requests)
echo "$found" >/sys/block/$disk/queue/nr_requests
ok "somebody sets the depth, and that is told" within 10 told_so_often nr-requests 1
is_again() { [[ $(</sys/block/$disk/queue/nr_requests) -eq $set_to ]]; }
ok "it is set back" within 10 is_again
ctl clear >/dev/null
ok "when the limit is lifted nothing is left" within 10 test ! -s "$tmp/state/journal"
is "and the queue is as it was" "$(</sys/block/$disk/queue/nr_requests)" "$found"
stop_daemon
is "the daemon ends well" "$daemon_status" 0
ok "the drive is as the rule wants it" rivals
done_testing
