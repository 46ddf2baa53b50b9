#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# limit: 600
# qemu: -device ahci,id=ahci -drive if=none,id=disk,format=raw,file.driver=null-co,file.size=64M -device ide-hd,drive=disk,bus=ahci.0,serial=AHCI0001 -device virtio-scsi-pci,id=scsi -drive if=none,id=plain,format=raw,file.driver=null-co,file.size=64M -device scsi-hd,drive=plain,bus=scsi.0,serial=SCSI0001
#
# The power conditions of SATA and SAS disks, their depth and their link, on the kernel's own drivers,
# with hdparm, smartctl, sg_requests and the disk itself as witnesses. hddsim has true conditions;
# QEMU's AHCI disk is libata itself, and accepts standby and ignores it; QEMU's SCSI disk and
# scsi_debug have no power conditions.

. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/devices.sh"

options=(--mb-s=20 --condition=standby_z:1.5:300:2000 --condition=standby_y:3.7:200:900
	--condition=idle_c:3.7:200:900 --condition=idle_b:5.4:100:400 --condition=stopped:1.5:300:2000)

ask() { # [--wake-tested] DISK QUESTION...
	"$B/tests/testbed/disk-ask" "$@" 2>>"$tmp/words"
}

state_is() { # NAME CONDITION
	[[ $(hddsim_get "$1" condition) == "$2" ]] || { hddsim_say "$1" state; false; }
}

# Witnesses

hdparm_says() { # DISK WORDS
	hdparm -C "/dev/$1" | tee /dev/stderr | grep -q "drive state is:  $2\$"
}

mode_code() { # SG: of CHECK POWER MODE
	sg_raw -r 0 "/dev/$1" 85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00 2>&1 |
		sed -n 's/.*count=0x\([0-9a-f]*\).*/\1/p'
}

requests() { # SG WORDS
	sg_requests "/dev/$1" 2>&1 | tee /dev/stderr | grep -qi "additional sense: $2"
}

apm() { # DISK
	hdparm -B "/dev/$1" | sed -n 's/.*APM_level.*= //p'
}

epc_timers() { # SG
	sg_sat_read_gplog --log=8 --count=2 "/dev/$1"
}

scsi_timers() { # SG
	sdparm --quiet --page=po "/dev/$1"
}

# What went over the wire since mark NAME

mark() { # NAME
	wc -l <"$hddsim_folder/$1.log" >"$tmp/mark"
}

sent() { # NAME PATTERN: how many commands
	tail -n "+$(($(<"$tmp/mark") + 1))" "$hddsim_folder/$1.log" | awk '{ print $2 }' | grep -cE "^$2"
}

nothing_sent() { # NAME
	[[ $(sent "$1" '[0-9a-f]{12,32}$') -eq 0 ]] || { tail -n 5 "$hddsim_folder/$1.log"; false; }
}

random_block=1000
read_block() { # DISK: not the page cache's nor the last one
	random_block=$((random_block + 777))
	dd if="/dev/$1" of=/dev/null bs=4k count=1 skip=$((random_block % 60000)) iflag=direct status=none
}

# sets NAME DISK CONDITION [OPTION]: asked for, read back, and so
sets() {
	local answer
	ask ${4:+"$4"} "$2" set "$3" || return
	answer=$(ask "$2" get)
	[[ $answer == "$3" ]] && state_is "$1" "$3" || { echo "reads back $answer"; false; }
}

wakes() { # NAME DISK: by an IO
	local before
	before=$(hddsim_get "$1" wakes)
	read_block "$2" && [[ $(hddsim_get "$1" wakes) -eq $((before + 1)) ]] && state_is "$1" active
}

disk_of() { # VENDOR MODEL
	lsblk -dno NAME,VENDOR,MODEL | awk -v v="$1" -v m="$2" '$2 == v && $3 ~ m { print $1 }'
}

cleanup() { # FAILED
	[[ $1 -eq 0 ]] || tail -n 12 "$hddsim_folder"/*.log "$tmp/words" | sed 's/^/# /'
	hddsim_stop_all
}
at_end+=(cleanup)

ok "a SATA disk without EPC appears" hddsim_start old ata --no-epc "${options[@]}"
[[ ${hddsim_disk:-} ]] || exit 1
old=$hddsim_disk old_sg=$hddsim_sg
ok "one with EPC" hddsim_start new ata "${options[@]}"
new=$hddsim_disk new_sg=$hddsim_sg
ok "one with EPC, which APM keeps disabled" hddsim_start both ata --apm "${options[@]}"
both=$hddsim_disk both_sg=$hddsim_sg
ok "and a SAS disk" hddsim_start sas sas "${options[@]}"
sas=$hddsim_disk sas_sg=$hddsim_sg
# each time a writer closes a disk udev would read it, and wake it
udevadm control --stop-exec-queue

# What they offer

is "without EPC: idle and standby" "$(ask "$old" conditions)" "active idle_a standby_z"
is "with EPC: what its log says" "$(ask "$new" conditions)" \
	"active idle_a idle_b idle_c standby_y standby_z"
is "EPC that is not enabled is left so" "$(ask "$both" conditions)" "active idle_a standby_z"
is "SAS: what VPD page 8Ah says, but no standby before a wake test" "$(ask "$sas" conditions)" \
	"active idle_a idle_b idle_c"
is "and all after one" "$(ask --wake-tested "$sas" conditions)" \
	"active idle_a idle_b idle_c standby_y standby_z"

# ATA without EPC

old_apm=$(apm "$old")
mark old
ok "idle is set and read back" sets old "$old" idle_a
is "CHECK POWER MODE is 80h" "$(mode_code "$old_sg")" 80
ok "standby is set and read back" sets old "$old" standby_z
ok "hdparm agrees" hdparm_says "$old" standby
is "the cache was flushed before, once" "$(sent old '85072000.*ea00$')" 1
is "asking again and again does not wake it" "$(for _ in 1 2 3 4 5; do ask "$old" get; done | uniq)" standby_z
is "nor being found by a daemon that starts" "$(ask "$old" conditions; hddsim_get old condition)" \
	"active idle_a standby_z
standby_z"
ok "an IO does" wakes old "$old"
is "then it is active" "$(ask "$old" get)" active
ok "from standby it is woken by hand" eval 'ask "$old" set standby_z && sets old "$old" active'
ok "hdparm agrees that it turns" hdparm_says "$old" active/idle
is "APM is as it was" "$(apm "$old")" "$old_apm"

# ATA with EPC

timers=$(epc_timers "$new_sg")
mark new
for pair in idle_b:82 idle_c:83 standby_y:1 standby_z:0; do
	condition=${pair%:*}
	[[ $condition != standby_z ]] || read_block "$new" # the log is not read from a disk in standby
	ok "EPC: $condition is set and read back" sets new "$new" "$condition"
	is "EPC: CHECK POWER MODE is ${pair#*:}h" "$(mode_code "$new_sg")" "${pair#*:}"
done
is "EPC: only the two standbys are preceded by a flush" "$(sent new '85072000.*ea00$')" 2
is "EPC: by SET FEATURES 4Ah, subcommand go to, nothing else" \
	"$(sent new '8506....4a..........*ef00$') $(sent new '850620004a00..00010000000000ef00$')
$(sent new '.{28}ef')" "4 4
4"
ok "EPC: an IO wakes it" wakes new "$new"
ok "EPC: it is woken by hand" eval 'ask "$new" set idle_c && sets new "$new" active'
is "EPC: its timers are as they were" "$(epc_timers "$new_sg")" "$timers"
is "APM's disk has been set and has its level" \
	"$(ask "$both" set standby_z; mode_code "$both_sg"; ask "$both" set active; apm "$both")" "0
254"
is "and EPC disabled" "$(hddsim_get both epc)" off

# SAS

timers=$(scsi_timers "$sas_sg")
mark sas
ok "SAS: idle_a is set and read back" sets sas "$sas" idle_a
ok "SAS: sg_requests agrees" requests "$sas_sg" "idle condition activated by command"
ok "SAS: idle_b" sets sas "$sas" idle_b
ok "SAS: sg_requests agrees" requests "$sas_sg" "idle_b condition activated by command"
ok "SAS: idle_c" sets sas "$sas" idle_c
ok "SAS: sg_requests agrees" requests "$sas_sg" "idle_c condition activated by command"
ok "SAS: an IO wakes it" wakes sas "$sas"
is "SAS: no standby without a wake test" "$(ask "$sas" set standby_z)" ERANGE
ok "SAS: standby after one" sets sas "$sas" standby_z --wake-tested
ok "SAS: sg_requests agrees" requests "$sas_sg" "standby condition activated by command"
is "SAS: the cache was flushed before" "$(sent sas 35)" 1
ok "SAS: it is woken by hand" sets sas "$sas" active
is "SAS: never a START of 0" "$(sent sas '1b......[0-9a-f][02468ace]')" 0
is "SAS: its timers are as they were" "$(scsi_timers "$sas_sg")" "$timers"
sg_start --stop "/dev/$sas_sg"
is "SAS: one that somebody stopped is an error" "$(ask "$sas" get)" EIO
ok "SAS: with what to do" grep -q "sg_start --start /dev/$sas" "$tmp/words"
ok "SAS: woken by hand, it serves IO again" eval 'ask "$sas" set active && read_block "$sas"'

# The knob

ok "the knob holds idle_c and reads it back" eval \
	'[[ $(ask "$new" apply condition "idle_c held") == idle_c ]] && state_is new idle_c'
ok "and gives it back" eval '[[ $(ask "$new" apply condition active) == active ]] && state_is new active'
hddsim_say new refuse all
is "refused: an error" "$(ask "$new" apply condition "idle_b held")" EOPNOTSUPP
hddsim_say new clear-faults
hddsim_say new ignore
is "ignored: found by reading back" "$(ask "$new" apply condition "idle_b held" | tail -n 1)" EREMOTEIO
hddsim_say new clear-faults
hddsim_say sas refuse all
is "SAS refused: an error" "$(ask "$sas" apply condition "idle_b held")" EOPNOTSUPP
hddsim_say sas clear-faults

# Runtime power management: a disk that the kernel has suspended is sent nothing

suspend=/sys/block/$new/device
for name in "$suspend"/scsi_disk/*/manage{_runtime,}_start_stop; do
	[[ ! -w $name ]] || { echo 1 >"$name"; break; }
done
is_suspended() {
	[[ $(<"$suspend/power/runtime_status") == suspended ]]
}
echo 500 >"$suspend/power/autosuspend_delay_ms"
echo auto >"$suspend/power/control"
ok "the kernel suspends the disk" eventually is_suspended
ok "and has spun it down" state_is new standby_z
mark new
is "it is not asked anything" "$(ask "$new" conditions)" EAGAIN
ok "nor through the knobs" eval 'ask "$new" probe | grep -q "^condition: "'
ok "not a command was sent" nothing_sent new
ok "and it is suspended still" is_suspended
echo on >"$suspend/power/control"
ok "resumed, it is asked" eval 'ask "$new" get | grep -qx active'

# Depth

most_busy() { # DISK: commands at the device, under load
	local n most=0 i
	fio --name=x --filename="/dev/$1" --direct=1 --ioengine=libaio --rw=randread --bs=4k --iodepth=32 \
		--time_based --runtime=3 >/dev/null &
	for ((i = 0; i < 60; i++)); do
		n=$(<"/sys/block/$1/device/device_busy")
		[[ $n -le $most ]] || most=$n
		sleep 0.03
	done
	wait $!
	echo "$most"
}
is "depth 3 is set" "$(ask "$old" apply queue-depth 3)" 3
is "and is what the disk has at most" "$(most_busy "$old")" 3
is "depth 1 is set" "$(ask "$old" apply queue-depth 1)" 1
is "and kept" "$(most_busy "$old")" 1
is "depth 32 again" "$(ask "$old" apply queue-depth 32)" 32
ok "which is used" test "$(most_busy "$old")" -gt 3

# QEMU's AHCI disk: libata

ahci=$(disk_of ATA QEMU)
is "AHCI: idle and standby, by libata's pass-through" "$(ask "$ahci" conditions)" "active idle_a standby_z"
is "AHCI: it accepts standby and says that it is active" "$(ask "$ahci" set standby_z; ask "$ahci" get)" active
is "AHCI: which the knob finds" "$(ask "$ahci" apply condition "standby_z held" | tail -n 1)" EREMOTEIO
ok "AHCI: hdparm reads the same" hdparm_says "$ahci" active/idle
ok "AHCI: it is woken by a READ VERIFY" ask "$ahci" set active
found=$(<"/sys/block/$ahci/device/queue_depth")
ok "AHCI: NCQ has a depth" test "$found" -ge 31
is "AHCI: depth 1 switches NCQ off" "$(ask "$ahci" apply queue-depth 1)" 1
ok "AHCI: IO works without NCQ" read_block "$ahci"
is "AHCI: depth 5" "$(ask "$ahci" apply queue-depth 5)" 5
is "AHCI: and as found" "$(ask "$ahci" apply queue-depth "$found")" "$found"
host=$(readlink -f "/sys/block/$ahci/device")
host=/sys/class/scsi_host/$(grep -o 'host[0-9]*' <<<"$host" | tail -n 1)
policy=$(<"$host/link_power_management_policy")
echo "# the link policy of $host is $policy"
ok "AHCI: the port's links are counted where the knob looks" test -r \
	"$host/device/../ata_port/ata$(<"$host/unique_id")/nr_pmp_links"
offered=$(ask "$ahci" probe | sed -n 's/^link-power: //p')
is "AHCI: link power is not offered by a port that has none" "$offered" \
	"the SATA port does not manage link power"
is "AHCI: setting it is an error" "$(ask "$ahci" apply link-power med_power_with_dipm)" EOPNOTSUPP
is "AHCI: the policy is as found" "$(<"$host/link_power_management_policy")" "$policy"
ok "AHCI: IO works" read_block "$ahci"
udevadm control --start-exec-queue

# What has no power conditions, and no link

modprobe virtio_scsi
udevadm settle --timeout=20
scsi=$(disk_of QEMU QEMU)
is "QEMU's SCSI disk has no power conditions" "$(ask "$scsi" conditions)" EOPNOTSUPP
is "nor a SATA link" "$(ask "$scsi" probe | sed -n 's/^link-power: //p')" \
	"the device has no SATA link to manage"
modprobe scsi_debug dev_size_mb=8
udevadm settle --timeout=20
debug=$(basename "$(ls -d /sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*/block/*)")
is "scsi_debug has no power conditions" "$(ask "$debug" conditions)" EOPNOTSUPP
is "hddsim's SATA disk has no port of libata" "$(ask "$old" probe | sed -n 's/^link-power: //p')" \
	"the device has no SATA link to manage"

# mq-deadline: the depth of writes

modprobe mq-deadline 2>/dev/null
ok "a null_blk disk under mq-deadline" eval 'nullb nb 64 1000000 submit_queues=1 hw_queue_depth=64 &&
	echo mq-deadline >/sys/block/nb/queue/scheduler'
is "async_depth stands aside where nr_requests bounds reads, too" \
	"$(ask nb probe | sed -n 's/^async-depth: //p')" \
	"it would bound writes alone, and another knob bounds reads, too"
ok "where this kernel has it" ask nb read async-depth
is "it is set and read back" "$(ask nb apply async-depth 2)" 2
ok "in the kernel" eval '[[ $(cat /sys/block/nb/queue/{,iosched/}async_depth 2>/dev/null) == 2 ]]'
done_testing
