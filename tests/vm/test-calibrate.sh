#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# long: all
# limit: 1800
#
# storpowerctl calibrate, end to end: a simulated drive that no profile knows, behind the kernel's NVMe
# host, fio, and storpowerd with a hwmon chip that says what the simulator draws. The chip is an ltc4215
# on the i2c stub: a BMC's DCMI reading has whole watts alone, which is a third of what this drive idles
# at. What the profile estimates is judged by what the simulator's rules give (nvmesim-io.c), which the
# calibration never sees. Beside it stand a full grid and a quarter drawn by lot. To measure these would
# take an hour of the guest's: each of their settings gets what the rules give, off by as much as one of
# the points that were measured is off, which is drawn by lot for each of its figures. Time goes by
# instructions, so that a busy host does not show.
. "$(dirname "$0")/lib.sh"

quarter=${1:-30}
depths=(1 4 16 64) chunks=(4 16 64)

cat >"$tmp/truth.drive" <<-END
	[drive]
	model = HIDDEN TRUTH
	idle_w = 3
	units = 32
	read_iops = 400
	write_iops = 200
	read_io_j = 0.004
	write_io_j = 0.009
	read_page_j = 0.0017
	write_page_j = 0.0035
	[state 0]
	max_w = 12
	read_mb_s = 12
	write_mb_s = 8
	read_latency_us = 20000
	write_latency_us = 10000
	[state 1]
	max_w = 7
END

# Says on the chip, four times a second, what the simulator has drawn in the last one, to the nearest of
# its 255 steps. One process does it all, because instructions are time here.
cat >"$tmp/mirror.py" <<-'END'
	import array, fcntl, socket, struct, sys, time
	bus, control, step_w = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
	I2C_SLAVE_FORCE, I2C_SMBUS, WRITE, BYTE_DATA, SENSE = 0x0706, 0x0720, 0, 2, 0x04
	simulator = socket.socket(socket.AF_UNIX)
	simulator.connect(control)
	chip = open("/dev/i2c-%d" % bus, "r+b", buffering=0)
	fcntl.ioctl(chip, I2C_SLAVE_FORCE, 0x44)
	while True:
	    simulator.sendall(b"state\n")
	    said = b""
	    while not said.endswith(b"ok\n"):
	        said += simulator.recv(65536)
	    watts = float(said.split(b"watts=")[1].split()[0])
	    data = array.array("B", [min(round(watts / step_w), 255)] + [0] * 33)
	    fcntl.ioctl(chip, I2C_SMBUS, struct.pack("BBIP", WRITE, SENSE, BYTE_DATA, data.buffer_info()[0]))
	    time.sleep(0.25)
END

# What the drive gives and draws at each setting by the simulator's rules: "STATE DEPTH CHUNK READS
# PATTERN MB/S WATTS P99", in us. An IO waits for one of the drive's 32 units, for its bandwidth, and
# then takes the state's latency and what the host needs.
cat >"$tmp/truth.awk" <<-'END'
	function most(a, b) { return a > b ? a : b }
	function earliest(of, n,    i, first) {
		first = 0
		for (i = 1; i < n; i++)
			if (of[i] < of[first])
				first = i
		return first
	}
	# IOs a second; sets p99_s
	function rate(n, reads,    i, k, mine, unit, start, r, free, issued, unit_free, ios, waits, longest, seen) {
		if (reads == 0 || reads == 1) {
			r = reads == 0
			i = n < 32 ? n : 32
			p99_s = n * most(transfer[r], (transfer[r] + latency[r]) / i)
			return n / p99_s
		}
		ios = 3000
		split("", issued); split("", unit_free); split("", waits)
		for (i = 0; i < n; i++)
			issued[i] = 0
		for (i = 0; i < 32; i++)
			unit_free[i] = 0
		for (k = 0; k < ios; k++) {
			mine = earliest(issued, n)
			unit = n > 32 ? earliest(unit_free, 32) : mine
			r = rand() < 1 - reads
			start = most(most(issued[mine], free), unit_free[unit])
			free = start + transfer[r]
			unit_free[unit] = free + latency[r]
			i = int((unit_free[unit] - issued[mine]) * 1e4)
			longest = most(longest, i)
			if (k >= n)
				waits[i]++
			issued[mine] = unit_free[unit]
		}
		for (i = longest; i > 0 && seen < (ios - n) / 100; i--)
			seen += waits[i]
		p99_s = (i + 1.5) / 1e4
		return ios / free
	}
	BEGIN {
		srand(1)
		split("12 8", mb_s); split("400 200", iops); split("0.004 0.009", io_j)
		split("0.0017 0.0035", page_j); split("12 7", cap_w)
		latency[0] = 0.02 + host_s; latency[1] = 0.01 + host_s
		n_depths = split(depths, depth); n_chunks = split(chunks, chunk)
		n_streams = split("1 random,1 sequential,0 random,0 sequential,0.7 random", stream, ",")
		for (state = 0; state < 2; state++)
			for (d = 1; d <= n_depths; d++)
				for (c = 1; c <= n_chunks; c++)
					for (s = 1; s <= n_streams; s++) {
						split(stream[s], w, " ")
						for (r = 0; r < 2; r++) {
							j[r] = io_j[r + 1] + page_j[r + 1] * chunk[c] / 4
							transfer[r] = most(most(chunk[c] * 1024 / mb_s[r + 1] / 1e6,
								1 / iops[r + 1]), j[r] / (cap_w[state + 1] - 3))
						}
						x = rate(depth[d], w[1] + 0)
						printf "%d %d %d %s %s %.6g %.6g %.6g\n", state, depth[d], chunk[c], w[1],
							w[2], x * chunk[c] * 1024 / 1e6,
							3 + x * (w[1] * j[0] + (1 - w[1]) * j[1]), 1e6 * p99_s
					}
	}
END

# What a profile says of its points that were measured, or that were estimated, beside the truth: the
# errors, in percent, of "watts", "throughput" or "p99", with their signs: "ERROR SETTING".
signed() { # PROFILE measured|estimated watts|throughput|p99
	awk -v which="$2" -v of="$3" '
		NR == FNR {
			key = $1 SUBSEP $2 SUBSEP $3 SUBSEP $4 SUBSEP $5
			mb_s[key] = $6; watts[key] = $7; p99[key] = $8
			next
		}
		/^point = / && (which == "estimated") == /estimated$/ {
			for (i = 3; i <= 5; i++) { sub(/^[a-z]*=/, "", $i); sub(/K$/, "", $i) }
			reads = $6 == "write" ? 0 : $6 == "read" ? 1 : 0.7
			sub(/:$/, "", $7)
			key = $3 SUBSEP $4 SUBSEP $5 SUBSEP reads SUBSEP $7
			for (i = 8; i <= NF; i++)
				if ($i ~ /^p99=/)
					us = substr($i, 5) + 0
			e["watts"] = ($8 + 0) / watts[key]
			e["throughput"] = ($9 + 0) / mb_s[key]
			e["p99"] = us / p99[key]
			print 100 * (e[of] - 1), key
		}' "$tmp/truth" "$1"
}

errors() { # PROFILE measured|estimated watts|throughput|p99: sorted, without the signs
	signed "$@" | sed 's/^-//' | sort -n
}

# The error that so many of a hundred settings do not exceed.
percentile() { # PROFILE WHICH OF PERCENT
	errors "$1" "$2" "$3" | awk -v p="$4" '{ e[NR] = $1 } END {
		i = int(NR * p / 100 + 0.999999)
		print NR ? e[i] : "none" }'
}

row() { # NAME PROFILE WHICH
	local of
	printf '# %-34s' "$1"
	for of in watts throughput p99; do
		printf ' %s %5.2f %% and %5.2f %%,' $of "$(percentile "$2" "$3" $of 50)" "$(percentile "$2" "$3" $of 95)"
	done
	echo
}

# Settings, as lines of the truth, as if they had been measured: off by the errors that the points of the
# calibration have.
emulate() { # SEED
	signed "$tmp/chosen.profile" measured watts >"$tmp/off.watts"
	signed "$tmp/chosen.profile" measured throughput >"$tmp/off.throughput"
	signed "$tmp/chosen.profile" measured p99 >"$tmp/off.p99"
	awk -v seed="$1" '
		function off(of) { return 1 + of[int(rand() * n)] / 100 }
		BEGIN { srand(seed) }
		FILENAME ~ /off.watts$/ { w[n++] = $1; next }
		FILENAME ~ /off.throughput$/ { x[FNR - 1] = $1; next }
		FILENAME ~ /off.p99$/ { p[FNR - 1] = $1; next }
		{ mb_s = $6 * off(x)
		  printf "{\"PowerState\":%d,\"Depth\":%d,\"Chunk\":%d,\"ReadShare\":%s,\"Random\":%s,\"Power\":%.6g," \
			"\"Throughput\":%.6g,\"IOPS\":%.6g,\"P50\":1,\"P99\":%.6g,\"PowerError\":0.02," \
			"\"ThroughputError\":0.01,\"Rounds\":1,\"Settled\":true}\n",
			$1, $2, $3, $4, $5 == "random" ? "true" : "false", $7 * off(w), mb_s,
			mb_s * 1e6 / 1024 / $3, $8 * off(p) }' "$tmp/off.watts" "$tmp/off.throughput" "$tmp/off.p99" -
}

# A calibration of those settings, of which three are measured again as calibrate does.
as_measured() { # FILE SETTINGS SEED
	local n
	n=$(wc -l <"$2")
	{
		head -n 1 "$tmp/chosen.profile.calibration"
		emulate "$3" <"$2"
		sed -n "$((n / 2 + 1))p; 1p; ${n}p" "$2" | emulate "$3"1
	} >"$1"
}

calibrate() { # FILE [OPTION...]
	local file=$1
	shift
	ctl calibrate "/dev/$nvmesim_disk" "$file" --destructive=SIM-truth --depths="${depths[*]}" \
		--chunks="$(printf '%sK ' "${chunks[@]}")" --runs="$quarter" "$@"
}

repeats=3 # among them

measured() { # how many points an unfinished calibration has
	grep -c PowerState "$tmp/chosen.profile.calibration"
}

has_begun() {
	[[ $(measured) -ge 2 ]]
}

is_as_found() {
	[[ $(nvmesim_get truth ps) == 0 && $(property 'Claims|length') == 0 ]] && ! pgrep -x fio
}

chip() {
	local bus
	modprobe -a i2c-dev
	modprobe i2c-stub chip_addr=0x44
	bus=$(i2cdetect -l | awk '/stub/ { sub("i2c-", "", $1); print $1 }')
	modprobe ltc4215
	# volts at which 255 steps of current are about 13 W
	i2cset -f -y "$bus" 0x44 0x06 0x16
	i2cset -f -y "$bus" 0x44 0x04 250
	echo ltc4215 0x44 >"/sys/bus/i2c/devices/i2c-$bus/new_device"
	power=$(grep -l ltc4215 /sys/class/hwmon/hwmon*/name)
	step_w=$(awk '{ print $1 / 1e6 / 250 }' "${power%name}power1_input")
	chip_bus=$bus
}

end_mirror() {
	[[ -z ${mirror_pid:-} ]] || kill "$mirror_pid"
}

ok "the simulated drive is there" nvmesim_start truth --drive="$tmp/truth.drive"
is "it is the one that was made for this" "$(xargs <"/sys/block/$nvmesim_disk/device/model")" "HIDDEN TRUTH"
[[ $(xargs <"/sys/block/$nvmesim_disk/device/model") == "HIDDEN TRUTH" ]] || { done_testing; exit 1; }
chip
echo "# a step of the chip is $step_w W"
python3 "$tmp/mirror.py" "$chip_bus" "$nvmesim_folder/truth.control" "$step_w" &
mirror_pid=$!
at_end+=(end_mirror)

# Of 22.5 ms that a read of 4 KiB takes by the rules, what comes on top is the host's.
fio --name=host --filename="/dev/$nvmesim_disk" --direct=1 --ioengine=io_uring --rw=randread --bs=4k \
	--iodepth=1 --number_ios=300 --readonly --output-format=json >"$tmp/fio.json"
host_s=$(jq '1 / .jobs[0].read.iops - 0.0225' "$tmp/fio.json")
echo "# the host needs $host_s s for an IO"
awk -v host_s="$host_s" -v depths="${depths[*]}" -v chunks="${chunks[*]}" -f "$tmp/truth.awk" >"$tmp/truth"

mkdir -p "$tmp/etc"
cat >"$tmp/etc/storpower.conf" <<-END
	[storpower]
	discover = no
	[device $nvmesim_ctrl]
	[sensor chip]
	type = hwmon
	chip = ltc4215
	input = power1
	of = device $nvmesim_ctrl
END
# shellcheck disable=SC2034 # for lib.sh
what=()
start_bus
start_daemon
ok "the daemon reads the drive's watts from the chip" eventually says_it "$nvmesim_ctrl" SensedBy chip
is "no profile knows the drive" "$(says "$nvmesim_ctrl" Profile)" generic-nvme

status "another serial number is refused" 4 ctl calibrate "/dev/$nvmesim_disk" "$tmp/no.profile" --destructive=SIM-other
is "and nothing was written to the drive" "$(nvmesim_get truth writes)" 0
ctl_background calibrate "/dev/$nvmesim_disk" "$tmp/chosen.profile" --destructive=SIM-truth \
	--depths="${depths[*]}" --chunks="$(printf '%sK ' "${chunks[@]}")" --runs="$quarter" >"$tmp/first.out" 2>"$tmp/first.err"
pid=$!
ok "a calibration keeps each point when it is measured" within 200 has_begun
kill $pid
wait $pid
is "one that is ended says that it failed" $? 1
ok "and how it goes on" grep -q "Interrupted: --resume goes on with what was measured" "$tmp/first.err"
ok "it leaves no fio, no claim and the power state as found" eventually is_as_found
cp "$tmp/chosen.profile.calibration" "$tmp/kept"
status "without --resume it is not begun anew" 4 calibrate "$tmp/chosen.profile"

start=$SECONDS
status "a calibration that was ended goes on" 0 calibrate "$tmp/chosen.profile" --resume
echo "# it took $((SECONDS - start)) s of the guest's"
awk '/^cpu / { printf "# of all time, %.0f %% was idle\n", 100 * $5 / ($2 + $3 + $4 + $5 + $6 + $7 + $8) }' /proc/stat
ok "and measures nothing twice" cmp -n "$(stat -c %s "$tmp/kept")" "$tmp/kept" "$tmp/chosen.profile.calibration"
is "no more than a quarter of the settings is measured" "$(($(measured) * 4 <= $(wc -l <"$tmp/truth")))" 1
is "the profile tells of every setting" "$(grep -c '^point = ' "$tmp/chosen.profile")" "$(wc -l <"$tmp/truth")"
ok "the profile is one that the daemon can use" ctl model validate "$tmp/chosen.profile"
ok "the drive is as it was found" eventually is_as_found

echo "# Errors: of half of the settings they are less than the first figure, of 95 % less than the second"
as_measured "$tmp/full.profile.calibration" "$tmp/truth" 1
status "a full grid makes a profile" 0 calibrate "$tmp/full.profile" --resume --runs=$(($(wc -l <"$tmp/truth") + repeats))
is "in which every setting is measured" "$(grep -c '^point = .*estimated$' "$tmp/full.profile")" 0
row "a full grid, emulated" "$tmp/full.profile" measured
row "a chosen quarter, of the others" "$tmp/chosen.profile" estimated
for lot in 1 2 3; do
	awk -v seed="$lot" 'BEGIN { srand(seed) } { print rand(), $0 }' "$tmp/truth" | sort -n |
		head -n $((quarter - repeats)) | cut -d ' ' -f 2- >"$tmp/lot"
	is "a lot is as large as the choice" "$(wc -l <"$tmp/lot")" $((quarter - repeats))
	as_measured "$tmp/lot$lot.profile.calibration" "$tmp/lot" "$lot"
	status "a quarter that was drawn by lot makes a profile" 0 calibrate "$tmp/lot$lot.profile" --resume
	row "a quarter by lot, of the others" "$tmp/lot$lot.profile" estimated
done
is_within() { # FILE WHICH OF PERCENT MOST
	awk -v e="$(percentile "$@")" -v most="$5" 'BEGIN { exit !(e <= most) }'
}
for of in watts throughput; do
	ok "of half of the settings never measured, $of are off by 3 % at most" \
		is_within "$tmp/chosen.profile" estimated $of 50 3
	ok "of 95 of 100, by 8 % at most" is_within "$tmp/chosen.profile" estimated $of 95 8
done
# The slowest few of some hundred IOs, by which a p99 is measured, are themselves off by 7 % of the rules.
ok "p99 is off by 15 % at most, of half of them" is_within "$tmp/chosen.profile" estimated p99 50 15
ok "and by 25 % at most, of 95 of 100" is_within "$tmp/chosen.profile" estimated p99 95 25

status "what is finished is exported without a run" 0 calibrate "$tmp/chosen.profile" --resume --export="$tmp/truth.hwdb"
ok "as a record of the model and its firmware" grep -q '^block:\*:name:HIDDEN?TRUTH:fwrev:.*:$' "$tmp/truth.hwdb"
status "from which another machine makes a profile" 0 ctl calibrate --import="$tmp/truth.hwdb" "$tmp/imported.profile"
ok "that the daemon can use" ctl model validate "$tmp/imported.profile"
points_of() { # PROFILE: without what is printed to fewer digits
	sed -n 's/^point = \(ps=.*: [0-9.]*\)W \([0-9.]*\)MB.*\(p99=[0-9]*us\).*/\1 \2 \3/p' "$1" | sort |
		awk '{ $(NF - 2) = sprintf("%.3f", $(NF - 2)); print }'
}
is "with the same points" "$(points_of "$tmp/imported.profile" | md5sum)" "$(points_of "$tmp/chosen.profile" | md5sum)"
for of in watts throughput p99; do
	errors "$tmp/chosen.profile" estimated $of | tail -n 4 | tr '\034' ' ' | sed "s/^/# the worst of $of: /"
	errors "$tmp/chosen.profile" measured $of | tail -n 2 | tr '\034' ' ' | sed "s/^/# the worst measured $of: /"
done
stop_daemon
is "the daemon ends well" "$daemon_status" 0
done_testing
