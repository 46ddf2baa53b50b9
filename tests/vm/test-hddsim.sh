#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# long: all
# limit: 600
#
# The simulated hard disk keeps its word, by hdparm, sg3-utils, sdparm, smartctl and fio alone: what the
# other tests measure storpower against must itself be right.
#
# Which disk shows what:
#   hddsim, TCM user  the conditions of ATA (EPC, APM, standby timers) and SCSI (START STOP UNIT, REQUEST
#                     SENSE, page 1Ah), each with its time and watts; wakes by IO, spin-ups, faults. The
#                     ATA side is hddsim's own translation, after libata's, not libata itself.
#   QEMU ide-hd       libata itself, link power, NCQ. It accepts standby but says active or idle all the
#                     same (CHECK POWER MODE FFh), but for sleep; spins never down.
#   QEMU scsi-hd,     plain start and stop, IO errors while stopped. A power condition is refused.
#   scsi_debug

. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/devices.sh"

options=(--mb-s=20 --condition=standby_z:1.5:300:2000 --condition=standby_y:3.7:200:900
	--condition=idle_c:3.7:200:900 --condition=idle_b:5.4:100:400 --condition=sleep:1.5:300:2000
	--condition=stopped:1.5:300:2000)

state_is() { # NAME KEY VALUE
	[[ $(hddsim_get "$1" "$2") == "$3" ]]
}

near() { # GOT WANTED PERCENT
	echo "got $1, wanted $2 within $3 %"
	awk -v g="$1" -v w="$2" -v p="$3" 'BEGIN { exit !(g >= w * (1 - p / 100) && g <= w * (1 + p / 100)) }'
}

between() { # LOW HIGH GOT
	echo "got $3, wanted $1 to $2"
	awk -v l="$1" -v h="$2" -v g="$3" 'BEGIN { exit !(g >= l && g <= h) }'
}

# ATA: CHECK POWER MODE by two decoders

hdparm_says() { # DISK WORDS
	hdparm -C "/dev/$1" | grep -q "drive state is:  $2\$"
}

smartctl_says() { # SG MODE
	smartctl -i -n never -d sat "/dev/$1" | tee /dev/stderr | grep -q "^Power mode.*: *$2\$"
}

mode_code() { # SG: the code itself
	sg_raw -r 0 "/dev/$1" 85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00 2>&1 |
		sed -n 's/.*count=0x\([0-9a-f]*\).*/\1/p'
}

epc() { # SG CONDITION SUBCOMMAND
	sg_sat_set_features --feature=0x4a --count="$2" --lba="$3" "/dev/$1"
}

go_to() { # SG CONDITION CODE MODE: and both say so
	epc "$1" "$2" 1 && [[ $(mode_code "$1") == "$3" ]] && smartctl_says "$1" "$4"
}

apm_is() { # DISK WORDS
	hdparm -B "/dev/$1" | grep -q "APM_level.*= $2\$"
}

identify_word() { # DISK WORD
	hdparm --Istdout "/dev/$1" | tail -n +3 | xargs -n 1 | sed -n "$(($2 + 1))p"
}

# By the disk's own time, from the last line that has the one to the last that has the other
seconds_from() { # NAME WORDS WORDS
	awk -v from="$2" -v to="$3" '$0 ~ from { a = $1 } $0 ~ to { b = $1 } END { print b - a }' \
		"$hddsim_folder/$1.log"
}

# SCSI

requests() { # SG WORDS
	sg_requests "/dev/$1" 2>&1 | tee /dev/stderr | grep -qi "additional sense: $2"
}

start_unit() { # SG CONDITION MODIFIER WORDS: and REQUEST SENSE says so
	sg_start --pc="$2" --mod="$3" "/dev/$1" && eventually requests "$1" "$4"
}

# IO

random_block=1000
read_block() { # DISK: not the page cache's nor the last one
	random_block=$((random_block + 777))
	dd if="/dev/$1" of=/dev/null bs=4k count=1 skip=$((random_block % 60000)) iflag=direct status=none
}

timed() { # COMMAND...: sets ms; its exit status
	local start=${EPOCHREALTIME/./} result
	"$@"
	result=$?
	ms=$(((${EPOCHREALTIME/./} - start) / 1000))
	return $result
}

# wakes NAME DISK MS: a read takes that long, and is counted. The machine may be late by seconds; that
# the disk is not, its joules show below.
wakes() {
	local before ms
	before=$(hddsim_get "$1" wakes)
	timed read_block "$2" || return
	between "$3" $(($3 + 4000)) $ms && state_is "$1" wakes $((before + 1)) && state_is "$1" condition active
}

fio_figure() { # DISK FIELD FIO-OPTION...: of fio's terse output, reads
	fio --name=x --filename="/dev/$1" --direct=1 --ioengine=libaio --minimal --time_based --runtime=4 \
		--ramp_time=1 "${@:3}" | cut -d ';' -f "$2"
}

# energy NAME WATTS: of three seconds at rest
energy() {
	local before after
	before=$(snapshot "$1")
	sleep 3
	after=$(snapshot "$1")
	near "$(awk -v a="$before" -v b="$after" 'BEGIN { split(a, x); split(b, y);
		print (y[1] - x[1]) / (y[2] - x[2]) * 1000 }')" "$2" 0.1
}

snapshot() { # NAME: joules, ms since the start, ms asleep
	hddsim_say "$1" state | sed -n 's/^\(joules\|up_ms\|asleep_ms\)=//p' | xargs
}

# A wake's joules: asleep, two seconds of spin-up, one random read, and turning for the rest
energy_of_wake() { # NAME DISK
	local before after
	before=$(snapshot "$1")
	read_block "$2"
	after=$(snapshot "$1")
	near "$(awk -v a="$before" -v b="$after" 'BEGIN { split(a, x); split(b, y); print y[1] - x[1] }')" \
		"$(awk -v a="$before" -v b="$after" 'BEGIN { split(a, x); split(b, y)
			asleep = (y[3] - x[3]) / 1000; awake = (y[2] - x[2]) / 1000 - asleep
			print 1.5 * asleep + 23.6 * 2 + 7.0 * (awake - 2) + (10.8 - 7.0) * 0.0129 }')" 0.02
}

cleanup() { # FAILED
	[[ $1 -eq 0 ]] || tail -n 12 "$hddsim_folder"/*.log "$hddsim_folder"/*.out | sed 's/^/# /'
	hddsim_stop_all
}
at_end+=(cleanup)

ok "an old ATA disk appears" hddsim_start old ata --no-epc --backing="$tmp/old" "${options[@]}"
[[ ${hddsim_disk:-} ]] || exit 1
old=$hddsim_disk old_sg=$hddsim_sg
ok "a second one, with EPC, beside it" hddsim_start new ata "${options[@]}"
new=$hddsim_disk new_sg=$hddsim_sg
ok "a third, with EPC and APM" hddsim_start both ata --apm "${options[@]}"
both=$hddsim_disk both_sg=$hddsim_sg
ok "and a SAS disk" hddsim_start sas sas --start-stops=7 --load-unloads=1234 "${options[@]}"
sas=$hddsim_disk sas_sg=$hddsim_sg
# each time a writer closes a disk udev would read it, and wake it
udevadm control --stop-exec-queue

# What they are

is "they have their own names" "$(lsblk -dno SERIAL,WWN | awk 'NF > 1' | sort -u | wc -l)" 4
is "udev knows the ATA disk by model and serial number" \
	"$(udevadm info -q property "/dev/$old" | sed -n 's/^ID_SERIAL=//p')" ST32000645NS_SIMold
is "udev knows the SAS disk by its world wide name" \
	"$(udevadm info -q property "/dev/$sas" | sed -n 's/^ID_SERIAL=3/naa./p')" \
	"$(<"/sys/block/$sas/device/wwid")"
is "they turn" "$(cat /sys/block/{$old,$sas}/queue/rotational | xargs)" "1 1"
ok "at 7200 rpm" eval "hdparm -I /dev/$old | grep -q 'Rotation Rate: 7200' &&
	sg_vpd --page=bdc /dev/$sas_sg | grep -q '7200 rpm'"
ok "IDENTIFY DEVICE has a right checksum" eval "hdparm -I /dev/$new | grep -q 'Checksum: correct'"
is "EPC is told in words 119 and 120" \
	"$(identify_word "$old" 119) $(identify_word "$new" 119) $(identify_word "$new" 120)" "4000 4080 4080"

# ATA without EPC

ok "a disk that turns is active or idle" hdparm_says "$old" active/idle
status "hdparm -y is accepted" 0 hdparm -y "/dev/$old"
ok "hdparm reads standby back" hdparm_says "$old" standby
ok "smartctl does" smartctl_says "$old_sg" STANDBY
ok "and asking has not woken it" state_is old condition standby_z
ok "a read after standby takes the spin-up's time" wakes old "$old" 2000
is "one stop, one spin-up" "$(hddsim_get old stops) $(hddsim_get old spin_ups)" "1 1"
status "IDLE IMMEDIATE is accepted" 0 sg_raw "/dev/$old_sg" 85 06 00 00 00 00 00 00 00 00 00 00 00 40 e1 00
is "and read back as idle" "$(mode_code "$old_sg")" 80
status "hdparm -Y puts it to sleep" 0 hdparm -Y "/dev/$old"
is "it sleeps" "$(hddsim_get old condition)" sleep
ok "the question resets it, into standby" hdparm_says "$old" standby
ok "a read wakes it" wakes old "$old" 2000
status "EPC is refused" 0 eval "! epc $old_sg 0x82 1"
ok "APM is 254" apm_is "$old" 254
ok "APM is set" eval "hdparm -B 127 /dev/$old && apm_is $old 127"
ok "and switched off" eval "hdparm -B 255 /dev/$old && apm_is $old off"
ok "the standby timer is set" hdparm -S 1 "/dev/$old"
ok "it brings it down" eventually hdparm_says "$old" standby
ok "after five seconds" between 4.99 5.5 "$(seconds_from old '40e300 ata:status=50' ' standby_z timer$')"
ok "the START STOP UNIT of a SATA disk is standby, from which IO wakes" eval "hdparm -S 0 /dev/$old &&
	sg_start --stop /dev/$old_sg && state_is old condition standby_z && wakes old $old 2000"
ok "with a power condition it is refused, as libata does" eval "! sg_start --pc=3 /dev/$old_sg"

# ATA with EPC

ok "EPC idle_a is entered and read back" go_to "$new_sg" 0x81 81 IDLE_A
ok "EPC idle_b" go_to "$new_sg" 0x82 82 IDLE_B
ok "EPC idle_c" go_to "$new_sg" 0x83 83 IDLE_C
ok "EPC standby_y" go_to "$new_sg" 1 1 STANDBY_Y
ok "a read after standby_y takes its time" wakes new "$new" 900
ok "EPC standby_z" go_to "$new_sg" 0 0 STANDBY
ok "a read after standby_z takes the spin-up's" wakes new "$new" 2000
is "only standby_z stopped the spindle" "$(hddsim_get new stops) $(hddsim_get new spin_ups)" "1 1"
ok "a condition that does not exist is refused" eval "! epc $new_sg 0x84 1"
ok "the timer of idle_b brings it there" eval "epc $new_sg 0x82 0x522 && read_block $new && sleep 1.2 &&
	[[ \$(mode_code $new_sg) == 82 ]] && state_is new by timer"
is "log 08h has it: supported, savable, changeable, on; 0.5 s" \
	"$(sg_sat_read_gplog --log=8 --count=2 "/dev/$new_sg" | awk '$1 == "20" { print $2, $8 }')" "e400 0005"
ok "restoring gives back the saved timer" eval "epc $new_sg 0xff 0 && read_block $new && sleep 1 &&
	state_is new condition active"
ok "EPC can be disabled" eval "epc $new_sg 0 5 && ! epc $new_sg 0x82 1"
is "word 120 says so" "$(identify_word "$new" 120)" 4000
ok "and enabled" eval "epc $new_sg 0 4 && epc $new_sg 0x82 1"
ok "of the one with both, APM is what is on" eval "apm_is $both 254 && ! epc $both_sg 0x82 1"
ok "enabling EPC switches APM off" eval "epc $both_sg 0 4 && epc $both_sg 0x82 1 && apm_is $both off"
ok "enabling APM switches EPC off" eval "hdparm -B 200 /dev/$both && ! epc $both_sg 0x82 1"

# SAS

ok "idle_a by command" start_unit "$sas_sg" 2 0 "idle condition activated by command"
ok "idle_b by command" start_unit "$sas_sg" 2 1 "idle_b condition activated by command"
ok "idle_c by command" start_unit "$sas_sg" 2 2 "idle_c condition activated by command"
ok "TEST UNIT READY is good in it" sg_turs "/dev/$sas_sg"
ok "a read after idle_c takes its time" wakes sas "$sas" 900
ok "standby_y by command" start_unit "$sas_sg" 3 1 "standby_y condition activated by command"
ok "standby_z by command" start_unit "$sas_sg" 3 0 "standby condition activated by command"
ok "TEST UNIT READY is good in it too" sg_turs "/dev/$sas_sg"
ok "a read after standby_z takes the spin-up's time" wakes sas "$sas" 2000
ok "an unknown modifier is refused" eval "! sg_start --pc=2 --mod=3 /dev/$sas_sg"
ok "mode page 1Ah sets a timer" sdparm --page=po --set=IDLE_B=1,IBCT=5 "/dev/$sas_sg"
ok "which brings it to idle_b" eval "read_block $sas && sleep 1 &&
	requests $sas_sg 'idle_b condition activated by timer'"
is "current, default and saved are told apart" "$(sdparm --page=po --get=IBCT "/dev/$sas_sg" |
	sed -n 's/^IBCT *//p' | tr -s ' ')" "5 [cha: y, def:1200, sav:1200]"
ok "and the timer is switched off" sdparm --page=po --set=IDLE_B=0 "/dev/$sas_sg"
is "VPD 8Ah tells the recovery times" "$(sg_vpd --page=pc "/dev/$sas_sg" |
	sed -n 's/.*recovery time (ms) //p' | xargs)" "2000 2000 900 10 400 900"
is "log page 0Eh tells rated and used cycles" "$(sg_logs --page=0xe "/dev/$sas_sg" |
	sed -n 's/.*cycles* .*= //p; s/.*count .*= //p; s/.*cycles = //p' | xargs | tr -s ' ')" \
	"50000 $((7 + $(hddsim_get sas stops))) 600000 $((1234 + $(hddsim_get sas load_unloads)))"
ok "START=0 stops it" eval "sg_start --stop /dev/$sas_sg && requests $sas_sg '.*initializing command required'"
ok "then it is not ready" eval "! sg_turs /dev/$sas_sg"
ok "and a read fails at once, as on HBAs without allow_restart" eval "! timed read_block $sas && [[ \$ms -lt 1000 ]] &&
	state_is sas condition stopped"
ok "START=1 starts it again" eval "timed sg_start --start /dev/$sas_sg; between 2000 6000 \$ms &&
	sg_turs /dev/$sas_sg && read_block $sas"

# Faults

ok "refuse: the ATA command is aborted, the disk stays" eval "hddsim_say old refuse standby_z &&
	! sg_raw /dev/$old_sg 85 06 00 00 00 00 00 00 00 00 00 00 00 40 e0 00 && hdparm_says $old active/idle"
ok "refuse: so is the SCSI command" eval "hddsim_say sas refuse all && ! sg_start --pc=3 /dev/$sas_sg &&
	state_is sas condition active"
ok "clear-faults ends it" eval "hddsim_say sas clear-faults && sg_start --pc=3 /dev/$sas_sg &&
	state_is sas condition standby_z && read_block $sas"
ok "ignore: the command succeeds and does nothing" eval "hddsim_say old clear-faults && hddsim_say old ignore &&
	hdparm -y /dev/$old && hdparm_says $old active/idle && hddsim_say old clear-faults"
ok "no-wake: the read fails after a second, the disk stays down" eval "hdparm -y /dev/$old &&
	hddsim_say old no-wake 1 && ! timed read_block $old && between 1000 5000 \$ms && hdparm_says $old standby"
ok "afterwards it wakes again" eval "hddsim_say old clear-faults && wakes old $old 2000"
ok "slow-wake: half a second more" eval "hddsim_say old slow-wake 600 && hdparm -y /dev/$old && wakes old $old 2600 &&
	hddsim_say old clear-faults"
ok "an unknown command is refused" eval "! hddsim_say old explode"

# Watts and joules

hdparm -y "/dev/$old" >/dev/null
ok "standby takes 1.5 W" energy old 1.5
ok "a wake takes the spin-up's joules" energy_of_wake old "$old"
ok "turning takes 7 W" energy old 7.0
sg_start --pc=2 --mod=1 "/dev/$sas_sg"
ok "idle_b takes 5.4 W" energy sas 5.4
ok "asleep_ms is the time spent below idle" eval "between 1 100000 \$(hddsim_get old asleep_ms)"

# Pace: an emulated machine may be too busy to ask in time, but is never given more

ok "sequential reads run at 20 MB/s" between 10 20.5 \
	"$(fio_figure "$new" 7 --rw=read --bs=128k --iodepth=8 | awk '{ print $1 * 1.024 / 1000 }')"
one=$(fio_figure "$new" 8 --rw=randread --bs=4k --iodepth=1)
many=$(fio_figure "$new" 8 --rw=randread --bs=4k --iodepth=32)
ok "random reads one at a time take a seek each" between 25 78.8 "$one"
ok "thirty-two outstanding take 45 % of it" between 100 176 "$many"

# Data

head -c 3000000 /dev/urandom >"$tmp/data"
hdparm -y "/dev/$old" >/dev/null
ok "what is written to a sleeping disk" dd if="$tmp/data" of="/dev/$old" bs=60000 seek=10 conv=fsync status=none
ok "is read back" cmp -n 3000000 -i 0:600000 "$tmp/data" "/dev/$old"
ok "and is in the backing file" cmp -n 3000000 -i 0:600000 "$tmp/data" "$tmp/old"
ok "the log has the command" eval "grep -q '^[0-9.]* 8506.*40e000 ata:status=50' $hddsim_folder/old.log"
ok "and the change" grep -q ' condition active -> standby_z command$' "$hddsim_folder/old.log"
ok "reads and writes are not logged" eval "! grep -qE '^[0-9.]+ (28|2a|88|8a)[0-9a-f]* good' $hddsim_folder/old.log"

# The end

udevadm control --start-exec-queue
status "quit takes the disk away" 0 hddsim_stop old
ok "which is gone" test ! -e "/sys/block/$old"
kill "$(<"$hddsim_folder/new.pid")"
status "SIGTERM does, too" 0 wait "$(<"$hddsim_folder/new.pid")"
status "also that of one that is stopped" 0 eval "sg_start --stop /dev/$sas_sg && hddsim_stop sas"
status "a second life under the same name is possible" 0 hddsim_start old ata
hddsim_stop_all
is "nothing is left in configfs" "$(cd /sys/kernel/config/target && echo core/user_* loopback/naa.*)" \
	"core/user_* loopback/naa.*"
done_testing
