#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What every other test in a guest takes for granted.
#
# kernels: all
# long: 6.1 7.2
# clock: real
. "$(dirname "$0")/lib.sh"

unwritable() {
	! touch "$1/of-a-test" 2>/dev/null
}

# Five seconds of the kernel's clock beside those of the emulated one, which follows the host's. A busy
# host sees their edges late; what this is to find is a clock that is several times too fast.
clock_is_right() {
	local rtc=/sys/class/rtc/rtc0/since_epoch begun start elapsed
	begun=$(<$rtc)
	while [[ $(<$rtc) == "$begun" ]]; do sleep 0.01; done
	begun=$(<$rtc) start=${EPOCHREALTIME/./}
	while (($(<$rtc) < begun + 5)); do sleep 0.01; done
	elapsed=$((${EPOCHREALTIME/./} - start))
	echo "$elapsed us"
	((elapsed > 4000000 && elapsed < 6000000))
}

is "the kernel is the one that was asked for" "$(uname -r)" "$KERNEL"
ok "it has BTF" test -r /sys/kernel/btf/vmlinux
ok "it has the io controller" grep -qw io /sys/fs/cgroup/cgroup.controllers
is "and nobody enabled it yet" "$(grep -cw io /sys/fs/cgroup/cgroup.subtree_control)" 0
for folder in /sys/kernel/debug /sys/kernel/tracing /sys/kernel/config /sys/fs/bpf /run /tmp /share; do
	ok "$folder is mounted" mountpoint -q "$folder"
done
ok "the tree cannot be written to" unwritable /storpower
ok "the build folder cannot be written to" unwritable /build
is "the node has a name" "$(hostname)" node
ok "the loopback is up" grep -q 0x.*[13579bdf]$ /sys/class/net/lo/flags
ok "the clock goes as fast as the hardware's" clock_is_right
ok "udev answers" udevadm control --ping
ok "a disk can be made" nullb made 64 100000
ok "it works" fio --name=t --filename=/dev/made --rw=randread --size=4M --direct=1
ok "and unmade" nullb_remove made
for module in nvme-tcp target_core_user tcm_loop scsi_debug bcache dm-cache raid1; do
	ok "$module can be loaded" modprobe "$module"
done
ok "a sensor's bus can be made" modprobe i2c-stub chip_addr=0x40
ok "biolatency is there, by either name" command -v biolatency biolatency-libbpf
for tool in bpftool fio gdbus hdparm ipmitool lvm mdadm mergerfs nvme sdparm sg_start smartctl; do
	ok "$tool is there" command -v "$tool"
done
ok "storpowerd runs here" "$build/storpowerd" --version
ok "storpowerctl runs here" "$build/storpowerctl" --version
done_testing
