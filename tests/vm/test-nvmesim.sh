#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# long: all
# limit: 600
#
# The simulated NVMe drive keeps its word, by nvme-cli, fio and the kernel's host driver alone: what
# the other tests measure storpower against must itself be right.

. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/devices.sh"

cat >"$tmp/four.drive" <<-END
	[drive]
	model = FOUR STATES
	idle_w = 3
	units = 32
	read_page_j = 0.0128
	write_page_j = 0.0256
	[state 0]
	max_w = 12
	read_mb_s = 2.5
	write_mb_s = 1.25
	latency_us = 500
	[state 1]
	max_w = 9
	read_mb_s = 1.25
	write_mb_s = 0.625
	[state 2]
	max_w = 5
	entry_us = 100000
	exit_us = 200000
	read_mb_s = 0.5
	write_mb_s = 0.25
	[state 3]
	max_w = 0.5
	operational = no
	entry_us = 20000
	exit_us = 300000
END

set_feature() { # ID VALUE [OPTION...]
	nvme set-feature "/dev/$nvmesim_ctrl" --feature-id="$1" --value="$2" "${@:3}"
}

get_feature() { # ID
	local text
	text=$(nvme get-feature "/dev/$nvmesim_ctrl" --feature-id="$1" 2>/dev/null)
	[[ $text =~ value:\ *(0x)?([0-9a-f]+) ]] && echo $((16#${BASH_REMATCH[2]}))
}

# C7h belongs to OCP: the UUID index is in command dword 14
set_ocp() { # WATTS INDEX
	nvme admin-passthru "/dev/$nvmesim_ctrl" --opcode=9 --cdw10=0xc7 --cdw11="$1" --cdw14="$2"
}

number() { # OFFSET BYTES: of standard input
	od -An -j "$1" -N "$2" -t "u$2" --endian=little | tr -d ' '
}

identify() { # OFFSET BYTES
	nvme id-ctrl "/dev/$nvmesim_ctrl" --raw-binary | number "$1" "$2"
}

# What SMART says of the last second, in W: value in bits 15:0, of 10 mW in scale 2
reported_w() {
	local raw
	raw=$(nvme get-log "/dev/$nvmesim_ctrl" --log-id=2 --log-len=512 --raw-binary | number 240 4)
	[[ $((raw >> 16)) -eq 2 ]] && awk -v v=$((raw & 0xffff)) 'BEGIN { print v / 100 }'
}

moved() { # microseconds, and sectors read and written until then
	local stat
	read -ra stat <"/sys/block/$nvmesim_disk/stat"
	echo "${EPOCHREALTIME/./} $((stat[2] + stat[6]))"
}

at_work() { # SECTORS moved before
	[[ $(moved | cut -d' ' -f2) -gt $(($1 + 64)) ]]
}

# A load, which is at work when this returns: fio takes seconds to begin on a busy host.
begin() { # FIO-OPTION...
	local before
	before=$(moved)
	fio --name=load --filename="/dev/$nvmesim_disk" --direct=1 --ioengine=libaio --time_based \
		--runtime=60 "$@" >"$tmp/fio" 2>&1 &
	eventually at_work "${before#* }"
}

end() {
	kill $!
	wait $! 2>/dev/null
}

near() { # GOT WANTED PERCENT
	echo "got $1, wanted $2 within $3 %"
	awk -v g="$1" -v w="$2" -v p="$3" 'BEGIN { exit !(g >= w * (1 - p / 100) && g <= w * (1 + p / 100)) }'
}

# The load runs at so many MB/s, by the kernel's count in its midst: fio's own figure has its start
# and its end in it. A busy host starves the guest for seconds, so one of five looks is enough: a
# drive of another speed never gets there.
runs_at() { # MB/S PERCENT SECONDS FIO-OPTION...
	local before i right=1
	begin "${@:4}"
	for ((i = 0; i < 5 && right != 0; i++)); do
		before=$(moved)
		sleep "$3"
		near "$(echo "$before $(moved)" | awk '{ print ($4 - $2) * 512 / ($3 - $1) }')" "$1" "$2"
		right=$?
	done
	end
	return $right
}

reports() { # WATTS, within 5 %
	near "$(reported_w)" "$1" 5
}

at_most() { # GOT LIMIT
	awk -v g="$1" -v l="$2" 'BEGIN { exit !(g <= l) }'
}

same_data() { # COMMAND...: prints what was written
	"$@" | cmp - "$tmp/data"
}

log_has() { # NAME WORDS: one line of the log has them
	grep -q -- "$2" "$nvmesim_folder/$1.log"
}

log_lines() { # NAME WORDS
	grep -c -- "$2" "$nvmesim_folder/$1.log"
}

state_is() { # NAME KEY VALUE
	[[ $(nvmesim_get "$1" "$2") == "$3" ]]
}

cleanup() {
	local control
	for control in "$nvmesim_folder"/*.control; do
		[[ ! -S $control ]] || "$B/tests/testbed/nvmesim" --send "$control" quit
	done
	[[ $1 -eq 0 ]] || tail -n 5 "$nvmesim_folder"/*.log "$nvmesim_folder"/*.out | sed 's/^/# /'
}
at_end+=(cleanup)

# Identify

ok "a drive of four states connects" nvmesim_start four --drive="$tmp/four.drive" --limit --ocp \
	--measurement
[[ -n ${nvmesim_disk:-} ]] || exit 1
# each time a writer closes the disk udev would probe it, and its reads would take their share
udevadm settle --timeout=20
udevadm control --stop-exec-queue
is "its model is the file's" "$(sed 's/ *$//' "/sys/class/nvme/$nvmesim_ctrl/model")" "FOUR STATES"
is "identify shows the last state's number" "$(identify 263 1)" 3
is "identify shows each state's watts, in 10 mW" \
	"$(identify 2048 2) $(identify 2080 2) $(identify 2112 2)" "1200 900 500"
is "a state below 1 W is shown in 0.1 mW, as non-operational" \
	"$(identify 2144 2) $(identify 2147 1)" "5000 3"
is "identify shows entry and exit latency" "$(identify 2116 4) $(identify 2120 4)" "100000 200000"
is "identify offers power limit, power measurement and UUIDs" \
	$(($(identify 96 4) & (3 << 20 | 1 << 9))) $((3 << 20 | 1 << 9))
ok "hwmon shows the temperature" test "$(cat "/sys/class/nvme/$nvmesim_ctrl"/hwmon*/temp1_input)" -gt 0

# Feature 02h

is "the drive starts in state 0" "$(get_feature 2)" 0
ok "state 1 is accepted" set_feature 2 1
is "and sticks" "$(get_feature 2)" 1
ok "a workload hint is accepted" set_feature 2 0x42
is "and is kept" "$(get_feature 2)" $((0x42))
ok "the way out and in takes its time" \
	test "$(sed -n 's/.*op=0x09.*cdw11=0x42 .*took_us=//p' "$nvmesim_folder/four.log")" -ge 100000
ok "a state that does not exist is refused" test "$(set_feature 2 9 2>&1 | grep -c 0x4002)" -eq 1
is "and nothing has changed" "$(get_feature 2)" $((0x42))
ok "the log has the command and its status" \
	log_has four 'op=0x09 .* cdw10=0x2 cdw11=0x9 .* status=0x2 '
is "nobody used the save bit" "$(nvmesim_get four saved)" 0

# Throughput follows the state

for row in "0 2.5 1.25" "1 1.25 0.625" "2 0.5 0.25"; do
	read -r ps reads writes <<<"$row"
	set_feature 2 "$ps" >/dev/null
	ok "state $ps reads $reads MB/s" runs_at "$reads" 5 3 --rw=randread --bs=32k --iodepth=32
	ok "state $ps writes $writes MB/s" runs_at "$writes" 5 3 --rw=randwrite --bs=16k --iodepth=32
done

# Watts: 2.5 MB/s are 610 pages of 12.8 mJ a second, above 3 W

set_feature 2 0 >/dev/null
sleep 1.2
ok "at rest it reports the idle draw" eventually reports 3
begin --rw=randread --bs=16k --iodepth=32
ok "under load it reports the idle draw and the joules of its IOs" eventually reports 10.81
end
ok "a limit below what it can keep is refused" \
	test "$(set_feature 0x23 0x2012d 2>&1 | grep -c 0x413e)" -eq 1
ok "a limit of 7 W is accepted" set_feature 0x23 0x202bc
is "and sticks" "$(get_feature 0x23)" $((0x202bc))
ok "and allows 4 W of reads: 1.28 MB/s" runs_at 1.28 5 3 --rw=randread --bs=16k --iodepth=32
begin --rw=randrw --bs=16k --iodepth=16
sleep 1.5
ok "a mix of reads and writes stays within it" at_most "$(reported_w)" 7.35
end
set_feature 0x23 0 >/dev/null
ok "OCP's feature without its UUID is refused" test "$(set_ocp 6 0 2>&1 | grep -c 0x4002)" -eq 1
ok "OCP's feature of 6 W is accepted" set_ocp 6 1
is "and is the cap" "$(nvmesim_get four cap)" 6.0000
ok "and slows writes to 3 W: 0.48 MB/s" runs_at 0.48 5 3 --rw=write --bs=16k --iodepth=32
set_ocp 0 1 >/dev/null

nvme admin-passthru "/dev/$nvmesim_ctrl" --opcode=9 --cdw10=0x25 --cdw11=1 >/dev/null 2>&1
sleep 2.5
nvme get-log "/dev/$nvmesim_ctrl" --log-id=0x25 --log-len=512 --raw-binary >"$tmp/measurement"
ok "power measurement counts its seconds" test "$(number 8 4 <"$tmp/measurement")" -ge 2
ok "power measurement has the mean" near "$(number 40 2 <"$tmp/measurement")" 300 5
is "power measurement has the histogram" "$(number $((64 + 8 * 12)) 4 <"$tmp/measurement")" \
	"$(number 8 4 <"$tmp/measurement")"

# Non-operational

set_feature 2 1 >/dev/null
set_feature 2 3 >/dev/null
is "a non-operational state is entered" "$(get_feature 2)" 3
sleep 1.2
ok "and draws its own watts" eventually reports 0.5
start=$EPOCHREALTIME
dd if="/dev/$nvmesim_disk" of=/dev/null bs=4k count=1 iflag=direct status=none
took_ms=$(((${EPOCHREALTIME/./} - ${start/./}) / 1000))
is "a read brings back the last operational state" "$(get_feature 2)" 1
ok "and waits for the way out" test $took_ms -ge 300

# Data

dd if=/dev/urandom of="$tmp/data" bs=1M count=2 status=none
dd if="$tmp/data" of="/dev/$nvmesim_disk" bs=1M seek=3 oflag=direct status=none
ok "reads return what was written" \
	same_data dd if="/dev/$nvmesim_disk" bs=256k skip=12 count=8 iflag=direct status=none

# Reset

set_feature 2 2 >/dev/null
nvmesim_say four reset
ok "after a reset the host reconnects" eventually state_is four connects 2
ok "and is live" within 20 nvmesim_live four
is "the power state is lost" "$(get_feature 2)" 0
ok "the log has the reset" log_has four 'event=reset'
set_feature 2 2 >/dev/null
ok "the host can reset the controller" nvme reset "/dev/$nvmesim_ctrl"
within 20 nvmesim_live four
is "which loses the state as well" "$(get_feature 2)" 0
ok "the data is still there" \
	same_data dd if="/dev/$nvmesim_disk" bs=1M skip=3 count=2 iflag=direct status=none
ok "the save bit is counted" eval 'set_feature 2 1 --save && state_is four saved 1'
nvme reset "/dev/$nvmesim_ctrl"
within 20 nvmesim_live four
is "and saves" "$(get_feature 2)" 1
set_feature 2 0 --save >/dev/null

# Faults

nvmesim_say four refuse 02h 0x10e
ok "refuse: the status is the one asked for" \
	test "$(set_feature 2 1 2>&1 | grep -c 0x410e)" -eq 1
nvmesim_say four clear-faults
nvmesim_say four ignore 02h
ok "ignore: accepts" set_feature 2 1
is "ignore: and reads back the old state" "$(get_feature 2)" 0
nvmesim_say four clear-faults
nvmesim_say four lie 02h
ok "lie: accepts" set_feature 2 1
is "lie: and reads back the new state" "$(get_feature 2)" 1
ok "lie: and writes as fast as before" runs_at 1.25 5 3 --rw=write --bs=32k --iodepth=32
nvmesim_say four clear-faults
is "the truth is back when faults are cleared" "$(get_feature 2)" 0
nvmesim_say four slow 02h 1500ms
start=$EPOCHREALTIME
set_feature 2 1 >/dev/null
ok "slow: takes so long" test $(((${EPOCHREALTIME/./} - ${start/./}) / 1000)) -ge 1500
is "slow: and does it" "$(get_feature 2)" 1
nvmesim_say four clear-faults
nvmesim_say four hang
get_feature 2 >"$tmp/hung" &
sleep 1
ok "hang: a command gets no answer" test ! -s "$tmp/hung"
nvmesim_say four resume
wait $!
is "resume: it gets it then" "$(<"$tmp/hung")" 1
status "an unknown command is an error" 1 nvmesim_say four frobnicate
before=$(log_lines four 'op=0x09 .* cdw10=0x2 ')
set_feature 2 0 >/dev/null
is "each Set Features is one line of the log" "$(log_lines four 'op=0x09 .* cdw10=0x2 ')" $((before + 1))
status "the simulator ends well" 0 nvmesim_stop four

# A real drive's table, idle transitions, data sent on request

ok "a 970 EVO Plus connects" nvmesim_start evo --drive=970-evo-plus --scale=0.01 --apst \
	--in-capsule-kb=0
set_feature 2 2 >/dev/null
ok "APST takes it down by itself" eventually eval '[[ $(nvmesim_get evo ps) -ge 3 ]]'
ok "and it draws next to nothing" eventually eval 'at_most "$(reported_w)" 0.1'
dd if="$tmp/data" of="/dev/$nvmesim_disk" bs=1M oflag=direct status=none
ok "IO brings back the state that the host chose" \
	log_has evo 'event=state from=[34] to=2 why=io'
ok "data asked for by R2T arrives" \
	same_data dd if="/dev/$nvmesim_disk" bs=1M count=2 iflag=direct status=none
status "it ends well" 0 nvmesim_stop evo

# Latency, depth and chunk: at this scale an emulated host's own milliseconds are small beside the drive's

ok "a PM9A3 connects" nvmesim_start pm9a3 --drive=pm9a3 --scale=0.0005
ok "one 4 KiB read at a time gets its share of 53 MB/s" \
	runs_at 0.0264 10 5 --rw=randread --bs=4k --iodepth=1
ok "four at a time get four times that" runs_at 0.105 10 5 --rw=randread --bs=4k --iodepth=4
ok "one 256 KiB read at a time of 2 270 MB/s" \
	runs_at 1.135 10 5 --rw=randread --bs=256k --iodepth=1
ok "4 KiB writes of 737 MB/s" runs_at 0.369 5 3 --rw=randwrite --bs=4k --iodepth=64
set_feature 2 1 >/dev/null
begin --rw=write --bs=256k --iodepth=16
ok "PS1 draws 8 W" eventually reports 8
end
status "it ends well" 0 nvmesim_stop pm9a3
done_testing
