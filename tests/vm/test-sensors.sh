#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: all
# long: 7.2
# limit: 240
# beside: tests/testbed/bmc.py
# qemu: -chardev socket,id=bmc,path=SHARE/bmc.sock,reconnect=1 -device ipmi-bmc-extern,id=bmc0,chardev=bmc -device isa-ipmi-kcs,bmc=bmc0
#
# Power sensors of the kernel: a hwmon chip (ltc4215 on the i2c stub bus, Linux 6.1's as well) and a
# BMC's DCMI reading by the kernel's IPMI device (QEMU's, with tests/testbed/bmc.py behind it). The
# drives' own word is in test-nvme.sh. RAPL needs the processor's counters, which QEMU has not: it is
# in the unit tests alone.
. "$(dirname "$0")/lib.sh"

sensor() { # NAME: "WATTS WHY-ASIDE"
	ctl status --json=short | jq -r --arg name "$1" '.Sensors[] | select(.[0] == $name) | "\(.[4]) \(.[5])"'
}

sensor_says() { # NAME PATTERN
	local said
	said=$(sensor "$1")
	echo "$said"
	# shellcheck disable=SC2053 # a pattern
	[[ $said == $2 ]]
}

between() { # NAME LEAST MOST
	local watts
	watts=$(sensor "$1" | cut -d ' ' -f 1)
	echo "$watts"
	[[ $watts != null ]] && awk -v w="$watts" -v a="$2" -v b="$3" 'BEGIN { exit !(w >= a && w <= b) }'
}

# Registers of the chip: current, input voltage, output voltage
chip_set() { # SENSE
	i2cset -f -y "$bus" 0x44 0x04 "$1"
	i2cset -f -y "$bus" 0x44 0x05 0x80
	i2cset -f -y "$bus" 0x44 0x06 0x80
}

chip_watts() {
	local input
	input=$(grep -l ltc4215 /sys/class/hwmon/hwmon*/name)
	awk '{ printf "%.6f", $1 / 1e6 }' "${input%name}power1_input"
}

guarded() {
	ctl status --json=short | jq -e '.MeasuredPower > 30' >/dev/null
}

modprobe -a i2c-dev ipmi_si ipmi_devintf
modprobe i2c-stub chip_addr=0x44
bus=$(i2cdetect -l | awk '/stub/ { sub("i2c-", "", $1); print $1 }')
modprobe ltc4215
chip_set 0x40
echo ltc4215 0x44 >"/sys/bus/i2c/devices/i2c-$bus/new_device"
echo 55 >/share/watts
ok "the guest has a BMC" eventually test -c /dev/ipmi0
ok "it measures power" eventually ipmitool dcmi power reading
nullb flat 256 50000
mkdir -p "$tmp/etc"
cat >"$tmp/etc/storpower.conf" <<-END
	[storpower]
	discover = no
	[device flat]
	profile = intel-p5510
	group = shelf
	[sensor chip]
	type = hwmon
	chip = ltc4215
	input = power1
	of = group shelf
	[sensor bmc]
	type = dcmi
	of = node
	subtract = 40W
	[sensor lost]
	type = hwmon
	chip = nothing
	input = power1
	of = device flat
END
ok "the configuration is right" "$storpowerd" --check-config --config-directory="$tmp/etc" \
	--data-directory="$root/policies"
start_bus
start_daemon
watts=$(chip_watts)
echo "# the chip says $watts W"
ok "the chip's watts are the group's" eventually between chip "$watts" "$watts"
ok "the BMC's watts, less what is not storage, are the node's" eventually between bmc 15 15
ok "a sensor that is not there is set aside, and it is said why" eventually sensor_says lost "null it cannot be read: *"
ok "the node's measured power is the BMC's" eventually test "$(ctl status --json=short | jq .MeasuredPower)" = 15
chip_set 0x10
echo 50 >/share/watts
ok "both follow" eventually between bmc 10 10
ok "both follow: the chip" eventually between chip 0 "$(chip_watts)"
echo 20 >/share/watts
ok "less than what is not storage is negative and set aside" eventually sensor_says bmc "null *negative*"
echo inactive >/share/watts
ok "a BMC that is not measuring is set aside" eventually sensor_says bmc "null it cannot be read: *"
echo refuse >/share/watts
ok "so is one that knows no DCMI" eventually sensor_says bmc "null it cannot be read: *"
echo 60000 >/share/watts
ok "so is an impossible number" eventually sensor_says bmc "null *are possible*"
echo 75 >/share/watts
ok "it is believed again when it makes sense" eventually between bmc 35 35
ctl set 22W >/dev/null
ok "more measured than the budget is an overrun, and is answered" eventually guarded
ok "that is logged" eventually grep -q "exceed the budget" "$tmp/daemon.log"
stop_daemon
is "the daemon ends well" "$daemon_status" 0
done_testing
