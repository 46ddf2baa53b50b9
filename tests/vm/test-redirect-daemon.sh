#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# long: all
# limit: 1200
# disk: 512M
# resets: 1
#
# storpowerd puts a SATA disk under bcache and a SAS disk under dm-writecache to sleep: writes through
# the caches reach neither, by their own counts, the kernel's and storpowerd's, until the budget is given
# back. Then every byte does; also after kill -9, and after the plug of the guest was pulled meanwhile.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/devices-redirect.sh"

seconds=${1:-20} mib=8 # of fio
blocks=2048      # of 4 KiB, that may be acknowledged one by one
fio_at=64 acked_at=100 burst_at=120 burst_mib=40 # MiB
names=(sata sas)
declare -A disk kind=([sata]=ata [sas]=sas) part=([sata]=vdb1 [sas]=vdb2) seed=([sata]=1 [sas]=2) \
	upper=([sata]=/dev/bcache0 [sas]=/dev/wc/data) origin_at=([sata]=$((8 << 10)) [sas]=$((1 << 20)))

cleanup() { # FAILED
	[[ $1 -eq 0 ]] || { show; dmesg | tail -n 20; } 2>&1 | sed 's/^/# /'
	# the disks are in use to the end, and go with the guest
	[[ -z $daemon_pid ]] || stop_daemon KILL
}
at_end=(cleanup "${at_end[@]}")

show() {
	local n
	for n in "${names[@]}"; do
		hddsim_say "$n" state | xargs
		ctl show "${disk[$n]}"
	done
	ctl status
	ctl list --wakeups
	tail -n 40 "$tmp/daemon.log"
}

bail() {
	echo "Bail out! $*"
	exit 1
}

# The disks keep what they have in the share, their caches on the disk of the guest: both outlive it.
start_disks() {
	local n
	addpart /dev/vdb 1 2048 $((240 << 11)) && addpart /dev/vdb 2 $((256 << 11)) $((240 << 11)) || return
	for n in "${names[@]}"; do
		hddsim_start "$n" "${kind[$n]}" --backing="/share/$n.disk" --size-mb=256 --mb-s=50 --seek-ms=2 \
			--spin-up-ms=2000 --watts=10.8:9.3:9 --condition=standby_z:1.5:300:2000 || return
		disk[$n]=$hddsim_disk
	done
	# shellcheck disable=SC2034 # used through eval
	sas_sg=$hddsim_sg
}

start_storpower() {
	quick_disks 2 9 # so that the budget bears it
	printf '%s\n' "[storpower]" "policy = quick" "cycles_a_day = 100" >"$tmp/etc/storpower.conf"
	start_daemon --state-directory=/share/state
}

# What moves as long as anything is under way: IOs, what is held in the caches, what storpowerd decides
moves() {
	ios
	hddsim_get sata condition
	hddsim_get sas condition
	cat "$bcache_folder/dirty_data"
	writecache_table
	dmsetup status wc-data
	wc -l <"$tmp/daemon.log"
}

# As `within`, but by what the guest gets done: a busy machine only makes it slow. In vain is what does not
# come about although nothing has moved for a minute.
once() { # COMMAND...
	local now last='' end=0
	until "$@" >/dev/null 2>&1; do
		now=$(moves 2>/dev/null)
		[[ $now == "$last" ]] || end=$((SECONDS + 60))
		last=$now
		((SECONDS < end)) && sleep 0.2 && continue
		"$@" && return
		show
		return 1
	done
}

# Of the knobs of redirection, as their owners have them
settings() {
	bcache_settings
	writecache_table
}

as_found() {
	settings | diff "$tmp/found" -
}

asleep() {
	[[ "$(hddsim_get sata condition) $(hddsim_get sas condition)" == "standby_z standby_z" ]]
}

# Once the first block of all is written, bcache has marked its disk as dirty.
to_sleep() {
	local n
	for n in "${names[@]}"; do
		pattern 1 3 | dd of="${upper[$n]}" oflag=direct bs=1M seek=1 iflag=fullblock conv=fsync status=none
	done
	ctl set 11W >/dev/null 2>&1 # degraded, until they sleep
	once asleep
}

held() {
	says_it "${disk[sata]}" Redirect held && says_it "${disk[sas]}" Redirect held
}

consumed() { # DISK: IOs and bytes, by eBPF
	busctl --address="$address" --json=short call org.storpower1 /org/storpower1 \
		org.storpower1.Manager ListConsumers | jq -c --arg d "$1" '[.data[0][] | map_values(.data)
			| select(.Device == $d) | [.Cgroup, .ReadIOs, .WriteIOs, .ReadBytes, .WriteBytes]] | sort'
}

# By the disk itself, by the kernel (sectors: to it a flush is a write of none), by storpowerd
ios() {
	local n
	for n in "${names[@]}"; do
		echo "$n: $(hddsim_get "$n" reads) $(hddsim_get "$n" writes) $(hddsim_get "$n" wakes)" \
			"$(awk '{ print $3, $7 }' "/sys/block/${disk[$n]}/stat")"
	done
}

# Random, with syncs: both caches at the same time
fio_writes() { # [OPTION...]
	fio --offset=${fio_at}m --size=${mib}m --rw=randwrite --bs=4k --direct=1 --fdatasync=64 \
		--verify=crc32c "$@" --name=sata --filename="${upper[sata]}" --name=sas --filename="${upper[sas]}"
}

keep_what_fio_wrote() {
	local n
	for n in "${names[@]}"; do
		dd if="${upper[$n]}" iflag=direct bs=1M skip=$fio_at count=$mib of="$tmp/$n.fio" status=none
	done
}

declare -A dirty
note_dirty() {
	local n
	for n in "${names[@]}"; do
		dirty[$n]=$(says "${disk[$n]}" CacheDirty)
	done
}

dirtier_by() { # BYTES, by what storpowerd says
	local n
	for n in "${names[@]}"; do
		[[ $(says "${disk[$n]}" CacheDirty) -ge $((dirty[$n] + $1)) ]] || return
	done
}

# What storpowerd leaves, which is little, and what is on its way
write_back_all() {
	local percent
	percent=$(<"$bcache_folder/writeback_percent")
	echo 0 >"$bcache_folder/writeback_percent"
	once grep -q '^0\.0k' "$bcache_folder/dirty_data"
	local status=$?
	echo "$percent" >"$bcache_folder/writeback_percent"
	dmsetup message wc-data 0 flush && return $status
}

on_disks() { # of what fio wrote
	local n
	for n in "${names[@]}"; do
		same_as "/dev/${disk[$n]}" $(((fio_at << 20) + origin_at[$n])) $mib <"$tmp/$n.fio" || return
	done
}

# Block after block, each another, all over the place; noted in the share when it is acknowledged
write_acked() { # NAME
	local i at
	for ((i = $(wc -l <"/share/$1.acked"); i < blocks; i++)); do
		at=$((i * 37 % blocks))
		dd if="$tmp/$1.pattern" of="${upper[$1]}" bs=4k skip=$at seek=$(((acked_at << 8) + at)) count=1 \
			oflag=direct,sync conv=notrunc status=none || return
		echo $at >>"/share/$1.acked"
		sync "/share/$1.acked"
	done
}

start_writers() {
	local n
	writers=() acked_before=("$(acked sata)" "$(acked sas)")
	for n in "${names[@]}"; do
		write_acked "$n" &
		writers+=($!)
	done
}

stop_writers() {
	kill "${writers[@]}"
	wait "${writers[@]}" 2>/dev/null
}

acked() {
	wc -l <"/share/$1.acked"
}

# Of each, since they were started
more_acked() { # BLOCKS
	[[ $(acked sata) -ge $((acked_before[0] + $1)) && $(acked sas) -ge $((acked_before[1] + $1)) ]]
}

acknowledge() { # BLOCKS
	once more_acked "$1" || bail "nothing is written"
}

# Every block that was acknowledged is there.
compare_acked() { # NAME DEVICE OFFSET
	local at lost=0
	dd if="$2" iflag=direct,skip_bytes bs=1M skip="$3" count=8 of="$tmp/read" status=none || return
	while read -r at; do
		cmp -s -n 4096 -i $((at << 12)) "$tmp/$1.pattern" "$tmp/read" || lost=$((lost + 1))
	done <"/share/$1.acked"
	echo "$1: $lost of $(acked "$1") are lost"
	[[ $lost -eq 0 && $(acked "$1") -gt 0 ]]
}

acked_above() {
	compare_acked sata "${upper[sata]}" $((acked_at << 20)) && compare_acked sas "${upper[sas]}" $((acked_at << 20))
}

acked_on_disks() {
	local n
	for n in "${names[@]}"; do
		compare_acked "$n" "/dev/${disk[$n]}" $(((acked_at << 20) + origin_at[$n])) || return
	done
}

restore() {
	"$storpowerd" "${what[@]}" --restore --no-bpf --state-directory=/share/state \
		--runtime-directory="$tmp/run" --config-directory="$tmp/etc" --data-directory="$root/policies"
}

woken_to_be_drained() {
	ctl list --wakeups --json=short |
		jq -e --arg d "$1" 'any(.[]; .Device == $d and .Why == "its cache is drained")'
}

fio_while_asleep() {
	local before consumers
	ok "under a budget both are put to sleep" to_sleep
	ok "what is written is held back above both" held
	before=$(ios) consumers=$(consumed "${disk[sata]}"; consumed "${disk[sas]}")
	note_dirty
	ok "fio writes for $seconds s, and syncs" fio_writes --rate=$((mib * 1024 / seconds))k --do_verify=0
	is "neither disk was sent anything" "$(ios)" "$before"
	is "as eBPF has it" "$(consumed "${disk[sata]}"; consumed "${disk[sas]}")" "$consumers"
	ok "both are in standby" asleep
	ok "as hdparm sees" eval 'hdparm -C "/dev/${disk[sata]}" | grep -q "drive state is:  standby\$"'
	ok "and sg_requests" eval 'sg_requests "/dev/$sas_sg" 2>&1 | grep -qi "additional sense: standby"'
	ok "storpowerd knows that" eval 'held && [[ $(says "${disk[sata]}" Asleep) == true ]]'
	ok "and that the caches have got all of it" once dirtier_by $((mib << 20))
	ctl show "${disk[sata]}" | sed -n 's/^ *Redirect /# sata: /p'
	ctl show "${disk[sas]}" | sed -n 's/^ *Redirect /# sas: /p'
	is "without having woken anything" "$(ctl list --wakeups --json=short)" "$wakeups"
	ok "what was written is read back" fio_writes --verify_only
	keep_what_fio_wrote
	is "still without the disks" "$(ios)" "$before"
	ok "the budget is held" eval '[[ $(property Degraded) == false ]]'
}

drained_on_clear() {
	ctl clear >/dev/null
	ok "given back, bcache's disk is woken to be drained" once woken_to_be_drained "${disk[sata]}"
	ok "and dm-writecache's" once woken_to_be_drained "${disk[sas]}"
	ok "until all is as it was found" once as_found
	ok "every byte of fio's is on the disks" eval 'write_back_all && on_disks'
}

times_drained() { # DISK
	ctl list --wakeups --json=short |
		jq --arg d "$1" '[.[] | select(.Device == $d and .Why == "its cache is drained")] | length'
}

drained_more_often() { # TIMES, of each
	local n i=0
	for n in "${names[@]}"; do
		((i++))
		[[ $(times_drained "${disk[$n]}") -gt ${!i} ]] || return
	done
}

little_is_held() {
	local n
	for n in "${names[@]}"; do
		[[ $(says "${disk[$n]}" CacheDirty) -le $((4 << 20)) ]] || return
	done
}

# As fast as that, they would be full within a minute.
drained_when_filling() {
	local times=()
	ok "put to sleep again" to_sleep
	times=("$(times_drained "${disk[sata]}")" "$(times_drained "${disk[sas]}")")
	ok "a burst is written to the caches of both" fio_writes --offset=${burst_at}m --size=${burst_mib}m \
		--bs=256k --rate=8m --do_verify=0
	ok "before they are full the disks are woken to be drained" once drained_more_often "${times[@]}"
	ok "explain says why" eval 'ctl explain "${disk[sata]}" | tr -s " \n" " " | grep -q "the cache above has little room left"'
	ok "drained in one go, they sleep again" once asleep
	ok "with little left that is held" once little_is_held
	ok "and the caches hold on" held
	ok "the burst is read back" fio_writes --offset=${burst_at}m --size=${burst_mib}m --bs=256k --verify_only
	ctl clear >/dev/null
	ok "given back, all is as it was found" once as_found
}

killed_while_held() {
	local before
	ok "put to sleep once more" to_sleep
	ok "and held" held
	before=$(ios)
	start_writers
	acknowledge 30
	stop_daemon KILL
	acknowledge 50
	is "killed, it leaves both asleep, and what is written off them" "$(ios)" "$before"
	start_storpower
	ok "started again, it wakes bcache's disk to put back what was found" once woken_to_be_drained \
		"${disk[sata]}"
	ok "and dm-writecache's" once woken_to_be_drained "${disk[sas]}"
	stop_writers
	echo "# acknowledged: $(acked sata) and $(acked sas)"
	ok "every block acknowledged meanwhile is there" acked_above
	stop_daemon
	ok "ended, it leaves all as it was found" as_found
}

killed_and_restored() {
	start_storpower
	ok "started once more, its claim stands: both are put to sleep" to_sleep
	ok "and held" held
	start_writers
	acknowledge 30
	stop_daemon KILL
	stop_writers
	ok "killed, storpowerd --restore puts all back" restore
	ok "as it was found" as_found
	ok "every block acknowledged is on the disks" eval 'write_back_all && acked_on_disks'
}

first_boot() {
	start_disks || bail "no disks"
	bcache_make "${disk[sata]}" "${part[sata]}" || bail "no bcache"
	writecache_make "${disk[sas]}" "${part[sas]}" || bail "no dm-writecache"
	udevadm control --stop-exec-queue
	echo 20 >"$bcache_folder/writeback_percent"
	settings >"$tmp/found"
	touch /share/{sata,sas}.acked
	start_storpower
	ok "the SAS disk passes a wake test" ctl wake-test "${disk[sas]}"
	wakeups=$(ctl list --wakeups --json=short)
	fio_while_asleep
	drained_on_clear
	drained_when_filling
	killed_while_held
	killed_and_restored
	start_storpower
	ok "both are asleep and held when the plug is pulled" eval 'to_sleep && held'
	start_writers
	acknowledge 30
	# what counts so far is counted on after the reset
	echo "$n_tests $n_failed" >/share/tests
	acked sata >/share/acked-by-then
	vm_reset
	bail "the guest was not reset"
}

second_boot() {
	read -r n_tests n_failed </share/tests
	start_disks || bail "no disks after the reset"
	bcache_open "${disk[sata]}" "${part[sata]}" || bail "no bcache after the reset"
	writecache_open || bail "no dm-writecache after the reset"
	udevadm control --stop-exec-queue
	settings >"$tmp/found"
	start_storpower
	echo "# acknowledged: $(acked sata) and $(acked sas)"
	ok "the plug was pulled while blocks were acknowledged" test "$(acked sata)" -ge "$(</share/acked-by-then)"
	ok "after the reset every one is there" acked_above
	ok "its claim stands: put to sleep again" once asleep
	ok "and held" held
	ctl clear >/dev/null
	ok "given back, all is as it was found" once as_found
	ok "and all acknowledged blocks are on the disks" eval 'write_back_all && acked_on_disks'
	ok "and above them" acked_above
	stop_daemon
	ok "nothing is left in the journal" test ! -s /share/state/journal
}

for n in "${names[@]}"; do
	pattern 8 "${seed[$n]}" >"$tmp/$n.pattern"
done
start_bus
[[ $BOOT -gt 0 ]] || first_boot
second_boot
done_testing
