#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# limit: 1200
# long: all
#
# A limit as it is by default, which tolerates three seconds: two NVMe drives (nvmesim) and a stripe of
# md's over two null_blk disks, loaded by fio, paced by io.cost, metered by eBPF. Who fits is not held
# back; what binds is spent, and the stripe serves what is planned for it with many IOs out and with few;
# everybody at once is brought down. Time goes by instructions.
tolerates=yes
. "$(dirname "$0")/lib.sh"

cgroups=/sys/fs/cgroup idle_w=8 loads=()

show() {
	ctl status
	ctl list
	ctl explain
	tail -n 15 "$tmp/daemon.log"
}
at_end=(show_and_stop "${at_end[@]}")

write_drives() {
	slow_drive
	paced_drives stripe 1
	# plans are made by its points, and eBPF counts by its energies: they are to say the same here
	sed -i 's/ 40MB/ 10.14MB/; s/ 600MB/ 736MB/; /chunk=4K/ { p; s/4K/64K/; s/10.14MB/141.2MB/ }' \
		"$tmp/etc/profiles/stripe.profile"
	cat >"$tmp/etc/profiles/sim.profile" <<-END
		[profile]
		match = STORPOWER SIM*
		kind = nvme
		rated = 12 W
		idle = 3 W
		error = 0.1%
		[points]
		point = ps=0 qd=1 chunk=64K read random: 12W 20MB/s
		point = ps=0 qd=64 chunk=64K read random: 12W 20MB/s
		[energy]
		error = 0.1%
		read_random_io = 0.7mJ
		read_random_page = 1.8mJ
		write_random_io = 0.7mJ
		write_random_page = 1.8mJ
	END
}

configure() {
	printf '%s\n' '[storpower]' 'discover = no' '[device one]' 'profile = stripe' \
		'[device two]' 'profile = stripe' "[device nqn:$(nvmesim_nqn a)]" \
		"[device nqn:$(nvmesim_nqn b)]" >"$tmp/etc/storpower.conf"
}

load() { # DISK [FIO-OPTION...]
	(
		echo $BASHPID >$cgroups/work/cgroup.procs
		exec fio --name=load --filename="/dev/$1" --direct=1 --ioengine=libaio --iodepth=16 --bs=64k \
			--rw=randread --norandommap --time_based --runtime=3600 --output=/dev/null "${@:2}"
	) &
	loads+=($!)
}

# Of each drive 14 MB/s, and of the stripe 26, as somebody reads who thinks in between: what a moment takes
# from him is not made up for.
load_thinking() {
	load "$drive_a" --thinktime=22ms --thinktime_blocks=16
	load "$drive_b" --thinktime=22ms --thinktime_blocks=16
	load md0 --thinktime=38ms --thinktime_blocks=16
}

# As much, and fio makes up for what it was held back by.
load_all() {
	load "$drive_a" --rate=13671k
	load "$drive_b" --rate=13671k
	load md0 --rate=25391k
}

end_loads() {
	((${#loads[@]})) || return 0 # to wait for none would be to wait for the bus, too
	kill "${loads[@]}" 2>/dev/null
	wait "${loads[@]}" 2>/dev/null
	loads=()
}

# The last one.
end_stripe_load() {
	kill "${loads[-1]}"
	wait "${loads[-1]}" 2>/dev/null
	unset 'loads[-1]'
}

# Seconds of the guest, joules above idle by eBPF, MB/s is their difference: one line of a moment
moment() {
	echo "$(cut -d ' ' -f 1 /proc/uptime)" \
		"$(busctl --address="$address" --json=short call org.storpower1 /org/storpower1 \
			org.storpower1.Manager ListConsumers |
			jq '[.data[0][] | map_values(.data) | select(.Cgroup | endswith("work")) | .Joules] | add // 0')" \
		"$(sectors "$drive_a")" "$(sectors "$drive_b")" "$(sectors md0)"
}

sectors() { # DISK
	awk '{ print $3 + $7 }' "/sys/block/$1/stat"
}

# Of SECONDS: sets watts (with what the devices draw at rest), mb_s and md_mb_s
measure() { # SECONDS
	local from until
	from=$(moment)
	sleep "$1"
	until=$(moment)
	read -r watts mb_s md_mb_s <<<"$(printf '%s\n' "$from" "$until" | awk -v idle=$idle_w '
		NR == 1 { split($0, a) }
		NR == 2 { t = $1 - a[1]
			  print idle + ($2 - a[2]) / t, ($3 + $4 + $5 - a[3] - a[4] - a[5]) * 512e-6 / t,
				($5 - a[5]) * 512e-6 / t }')"
}

of() { # NUMBER PART: times
	awk -v a="$1" -v b="$2" 'BEGIN { print a * b }'
}

between() { # LEAST NUMBER MOST
	echo "$2, wanted $1 to $3"
	awk -v a="$1" -v b="$2" -v c="$3" 'BEGIN { exit !(a <= b && b <= c) }'
}

planned() { # JQ-FILTER over the devices
	ctl list --json=short | jq "[.[] | $1 | .ExpectedThroughput] | add"
}

# What is read in 3 seconds is what was read in the 3 before.
steady() {
	local before
	measure 3
	before=$mb_s
	measure 3
	between "$(of "$before" 0.99)" "$mb_s" "$(of "$before" 1.01)" >/dev/null
}

# All of it, and none of what fio makes up for: it begins late.
all_of_it() {
	measure 3
	between 53.2 "$mb_s" 54.8 >/dev/null
}

all_paced() {
	ctl list --json=short | jq -e 'all(.Pace > 0)'
}

held_back() {
	ctl list --json=short | jq -e 'any(.Pace > 0 and .Throughput < 0.97 * .FullThroughput)' >/dev/null
}

settled() {
	ctl status --json=short | jq -e ".Enforcing and .HeldFor > $1" >/dev/null
}

# How far above the limit for how long, by eBPF, over SECONDS: the integral of draw over limit less one
overload() { # LIMIT SECONDS
	local end
	end=$(awk -v s="$2" '{ print int(100 * ($1 + s)) }' /proc/uptime)
	while (($(awk '{ print int(100 * $1) }' /proc/uptime) < end)); do
		moment
		sleep 0.1
	done | tee "$tmp/moments" | awk -v limit="$1" -v idle=$idle_w '
		NR > 1 && $1 > t { w = idle + ($2 - j) / ($1 - t); if (w > most) most = w
				   z += ($1 - t) * (w > limit ? w / limit - 1 : 0) }
		{ t = $1; j = $2 }
		END { printf "%.2f %.1f\n", z, most }'
}

write_drives
nullb one 1024 20000 hw_queue_depth=128 max_sectors=2048 && nullb two 1024 20000 hw_queue_depth=128 max_sectors=2048 ||
	{ echo "Bail out! no null_blk"; exit 1; }
modprobe raid0 2>/dev/null
mdadm --build /dev/md0 --level=0 --chunk=64 --raid-devices=2 /dev/one /dev/two >/dev/null 2>&1 ||
	{ echo "Bail out! no stripe of md's"; exit 1; }
nvmesim_start a "--drive=$tmp/sim.drive" || { echo "Bail out! no NVMe drive"; exit 1; }
drive_a=$nvmesim_disk
nvmesim_start b "--drive=$tmp/sim.drive" || { echo "Bail out! no NVMe drive"; exit 1; }
drive_b=$nvmesim_disk
configure
echo +io >$cgroups/cgroup.subtree_control
mkdir -p $cgroups/work
udevadm settle --timeout=20
udevadm control --stop-exec-queue
at_end=(end_loads "${at_end[@]}")
start_bus
start_daemon
is "the stripe is one pool" "$(ctl list --json=short | jq -c '[.[] | select(.Pool == "md0") | .Name] | sort')" '["one","two"]'

load_thinking
ok "the loads settle" within 90 steady
measure 6
free_w=$watts free_mb_s=$mb_s
echo "# free: $free_w W, $free_mb_s MB/s"
ctl set "$(of "$free_w" 1.05)W" >"$tmp/set"
sleep 4
measure 8
echo "# 5 % above that: $watts W, $mb_s MB/s"
ok "under a limit 5 % above the draw nobody is held back" within 30 eval '! held_back'
ok "and it costs no more than a hundredth" between "$(of "$free_mb_s" 0.99)" "$mb_s" "$(of "$free_mb_s" 1.05)"

ctl clear >/dev/null
end_loads
load_all
ok "other loads get what they ask for" within 90 all_of_it
measure 6
free_w=$watts
limit_w=$(of "$free_w" 0.8)
echo "# free: $free_w W, $mb_s MB/s"
ctl set "${limit_w}W" --yes >"$tmp/set"
sleep 10
measure 10
echo "# 20 % below: $limit_w W: $watts W, $mb_s MB/s; the stripe $md_mb_s of $(planned 'select(.Pool == "md0")') MB/s planned"
ok "20 % below the draw, the limit is held and spent within 2 %, by eBPF" \
	between "$(of "$limit_w" 0.98)" "$watts" "$(of "$limit_w" 1.002)"
ok "the stripe serves what was planned for it, within 5 %" \
	between "$(of "$(planned 'select(.Pool == "md0")')" 0.95)" "$md_mb_s" 1000


# Two IOs are out at a time, now at this and now at that member.
end_stripe_load
load md0 --rate=25391k --iodepth=2
sleep 10
measure 10
echo "# with 2 IOs out: $watts W, $mb_s MB/s; the stripe $md_mb_s of $(planned 'select(.Pool == "md0")') MB/s planned"
ok "with few IOs out the limit is held and spent within 5 %, too" \
	between "$(of "$limit_w" 0.95)" "$watts" "$(of "$limit_w" 1.002)"
ok "and the stripe serves what was planned for it, within 5 %" \
	between "$(of "$(planned 'select(.Pool == "md0")')" 0.95)" "$md_mb_s" 1000

end_loads
ok "at rest nobody is held back" within 30 eval '! held_back'
sleep 5
overload "$limit_w" 14 >"$tmp/overload" &
watcher=$!
sleep 1
load "$drive_a"
load "$drive_b"
load md0
wait $watcher
z=$(<"$tmp/overload")
echo "# everybody at once: Z and most watts: $z"
ok "everybody at once spends no more than a third of what is tolerated" between 0 "${z% *}" 1
measure 6
echo "# then: $watts W"
ok "and then the limit is held" between 0 "$watts" "$(of "$limit_w" 1.002)"
ok "all of them are held, by the alarm or, where a second's look came before it, by its plan" all_paced
show | sed 's/^/# /'
end_loads
ctl clear >/dev/null
stop_daemon
is "the daemon ends well" "$daemon_status" 0
mdadm --stop /dev/md0 >/dev/null 2>&1
done_testing
