#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# limit: 300
# qemu: -drive driver=null-co,size=64M,if=none,id=plain -device nvme,drive=plain,serial=PLAIN
#
# The NVMe device and its knobs on the kernel's own host driver: what goes over the wire is what was
# meant, and what a drive does wrong becomes what nvme-device.h says. The drives: nvmesim, and QEMU's
# own, which has one power state.

. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/devices.sh"

ask() { # QUESTION...: of the simulated drive
	"$B/tests/testbed/nvme-ask" "$nvmesim_ctrl" "$@" 2>>"$tmp/words"
}

# The last Set Features in the log: "CDW10 CDW11 CDW14 NSID STATUS"
last_set() { # NAME
	awk '$3 == "op=0x09" {
			delete f
			for (i = 3; i <= NF; i++) { split($i, p, "="); f[p[1]] = p[2] }
			last = f["cdw10"] " " f["cdw11"] " " f["cdw14"] " " f["nsid"] " " f["status"]
		}
		END { print last }' "$nvmesim_folder/$1.log"
}

sets() { # NAME FEATURE: how many were sent
	grep -c "op=0x09 .*cdw10=0x$2 " "$nvmesim_folder/$1.log"
}

witness() { # FEATURE: what nvme-cli reads
	local text
	text=$(nvme get-feature "/dev/$nvmesim_ctrl" --feature-id="$1" 2>/dev/null)
	[[ $text =~ value:\ *(0x)?0*([0-9a-f]+) ]] && echo "0x${BASH_REMATCH[2]}"
}

said() { # WORDS: the device logged them
	grep -q "$1" "$tmp/words"
}

milliseconds() { # COMMAND...
	local start=${EPOCHREALTIME/./}
	"$@" >"$tmp/answer"
	echo $(((${EPOCHREALTIME/./} - start) / 1000))
}

near() { # GOT WANTED PERCENT
	echo "got $1, wanted $2 within $3 %"
	awk -v g="$1" -v w="$2" -v p="$3" 'BEGIN { exit !(g >= w * (1 - p / 100) && g <= w * (1 + p / 100)) }'
}

answers_again() {
	[[ $(ask get 2) == 0x* ]]
}

parked() {
	[[ $(nvmesim_get evo ps) -ge 3 ]]
}

cleanup() {
	local control
	for control in "$nvmesim_folder"/*.control; do
		[[ ! -S $control ]] || "$B/tests/testbed/nvmesim" --send "$control" quit
	done
	[[ $1 -eq 0 ]] || tail -n 8 "$nvmesim_folder"/*.log "$tmp/words" | sed 's/^/# /'
}
at_end+=(cleanup)

# A drive of four operational states, with all limits

# a keep-alive that fails resets the controller before a command's time is up
export NVMESIM_CONNECT=--keep-alive-tmo=60
ok "a PS1010 connects" nvmesim_start full --drive=ps1010 --limit --ocp
[[ -n ${nvmesim_ctrl:-} ]] || exit 1
ask identify >"$tmp/identity"
ok "its model is read" grep -qx "model=Dell DC NVMe PS1010 RI U.2 3.84TB" "$tmp/identity"
is "its four operational states may be set" "$(sed -n 's/^states=//p' "$tmp/identity")" 0xf
is "its states have their watts and latencies" "$(grep '^state[0-9]' "$tmp/identity" | tr '\n' ';')" \
	"state0=25W operational 30000+30000us;state1=20W operational 30000+30000us;state2=17W \
operational 30000+30000us;state3=14W operational 30000+30000us;state4=5W non-operational \
30000+30000us;"
is "of its two limits the finer one is offered" "$(ask probe | tr '\n' ';')" \
	"nvme-power-state: offered;nvme-power-limit: offered;nvme-ocp-state: the drive has a finer \
limit, nvme-power-limit;limit: 14 to 25 W;"
is "asking sets nothing" "$(sets full '[0-9a-f]*')" "$(grep -c 'op=0x09 .*cdw10=0x\(7\|b\|c\|f\) ' \
	"$nvmesim_folder/full.log")"

ok "a power state is set" ask set 2 2
is "the command goes to the controller and does not save" "$(last_set full)" "0x2 0x2 0x0 0x0 0x0"
is "it is read back" "$(ask get 2)" 0x2
is "nvme-cli agrees" "$(witness 2)" 0x2
is "the knob writes the state and reads it back" "$(ask apply nvme-power-state 3)" 3
is "as command dword 11" "$(last_set full)" "0x2 0x3 0x0 0x0 0x0"
is "a workload hint is kept" "$(ask apply nvme-power-state '1 workload=2')" "1 workload=2"
is "in bits 7:5" "$(last_set full)" "0x2 0x41 0x0 0x0 0x0"
is "a state that the drive does not have is EINVAL" "$(ask set 2 9)" EINVAL
ok "the drive's words are logged" said "Set Features 02h to 0x9: Invalid Field"
ask set 2 0 >/dev/null

is "a power limit is set and read back" "$(ask apply nvme-power-limit 15.5W)" 15.50W
is "as 1550 units of 10 mW" "$(last_set full)" "0x23 0x2060e 0x0 0x0 0x0"
is "nvmesim is capped there" "$(nvmesim_get full cap)" 15.5000
is "a limit below what the drive can keep is ERANGE" "$(ask apply nvme-power-limit 1W)" ERANGE
ok "and named" said "Set Features 23h to 0x20064: Invalid Power Limit"
is "no limit again" "$(ask apply nvme-power-limit none)" none
is "OCP's watts are set and read back" "$(ask apply nvme-ocp-state 17W)" 17W
is "under the index of its UUID" "$(last_set full)" "0xc7 0x11 0x1 0x0 0x0"
is "no OCP limit again" "$(ask apply nvme-ocp-state none)" none
sleep 1.2
ok "its own watts are what it draws" near "$(ask power)" "$(nvmesim_get full watts)" 2
is "nobody used the save bit" "$(nvmesim_get full saved)" 0

# Faults

nvmesim_say full refuse 02h 0x10e
is "refuse: EPERM" "$(ask apply nvme-power-state 1)" EPERM
ok "refuse: in the drive's words" said "Set Features 02h to 0x1: Feature Not Changeable"
nvmesim_say full clear-faults
nvmesim_say full ignore 02h
is "ignore: found by reading back" "$(ask apply nvme-power-state 1)" EREMOTEIO
nvmesim_say full clear-faults
nvmesim_say full lie 02h
is "lie: reading back cannot tell" "$(ask apply nvme-power-state 3)" 3
is "lie: though nothing changed" "$(nvmesim_get full ps)" 0
nvmesim_say full clear-faults
nvmesim_say full slow 02h 1500ms
ok "slow: takes its time" test "$(milliseconds ask apply nvme-power-state 1)" -ge 1500
is "slow: and does it" "$(<"$tmp/answer")" 1
nvmesim_say full clear-faults
nvmesim_say full hang
took_ms=$(milliseconds ask set 2 2)
is "hang: no answer is waited for for ever" "$(<"$tmp/answer")" ETIMEDOUT
ok "hang: but for the time that the header says" test "$took_ms" -ge 9900 -a "$took_ms" -lt 22000
echo "# a hanging drive was given up after $took_ms ms"
is "while it is being reset it is EAGAIN" "$(ask get 2)" EAGAIN
nvmesim_say full resume
ok "it is there again when it answers again" within 20 answers_again
is "in its power-on state" "$(ask get 2)" 0x0

# Going away

name=$nvmesim_ctrl
nvme disconnect -n "$(nvmesim_nqn full)" >/dev/null
is "a controller that went away is ENODEV" "$(ask get 2)" ENODEV
nvmesim_connect full 4420
is "and has its name again: nobody held it open" "$nvmesim_ctrl" "$name"
ok "and answers" answers_again
status "the simulator ends well" 0 nvmesim_stop full

# A drive that advertises nothing

ok "a PM9A3 without limits connects" nvmesim_start plain --drive=pm9a3 --no-self-report
is "its offer says what is missing" "$(ask probe | tr '\n' ';')" \
	"nvme-power-state: offered;nvme-power-limit: the drive does not advertise feature 23h, power \
limit;nvme-ocp-state: the drive does not advertise feature C7h, DSSD power state (OCP);"
is "a limit is EOPNOTSUPP" "$(ask set 0x23 0x2060e) $(ask set 0xc7 17)" "EOPNOTSUPP EOPNOTSUPP"
is "and was not even sent" "$(sets plain 23) $(sets plain c7)" "0 0"
is "watts that it does not report are EOPNOTSUPP" "$(ask power)" EOPNOTSUPP
status "it ends well" 0 nvmesim_stop plain

# APST

ok "a 970 EVO Plus connects" nvmesim_start evo --drive=970-evo-plus --scale=0.01 --apst
is "a state is set" "$(ask apply nvme-power-state 2 | grep -c '^[234]$')" 1
ok "APST parks the drive" eventually parked
is "and the parking state read back is no failure" "$(ask apply nvme-power-state 2 | grep -c '^[234]$')" 1
status "it ends well, too" 0 nvmesim_stop evo

# QEMU's own

for f in /sys/class/nvme/nvme*/serial; do
	[[ $(tr -d ' ' <"$f") != PLAIN ]] || nvmesim_ctrl=$(basename "$(dirname "$f")")
done
is "QEMU's drive has one state" "$(ask identify | grep -c '^state[0-9]')" 1
is "which is why nothing is offered" "$(ask probe | head -n 1)" \
	"nvme-power-state: the drive has one power state only"
is "it refuses to set it" "$(ask set 2 0)" EPERM
is "it reports no watts" "$(ask power)" EOPNOTSUPP
done_testing
