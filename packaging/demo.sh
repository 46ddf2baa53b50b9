#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A minute's show (sudo make demo): the daemon follows a budget on a simulated node and then, as root,
# on two loop devices made for it. Touches no other device and no system bus; ends with a line of
# what was measured. Exit status 1 when something did not hold.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}

temp=$(mktemp -d /var/tmp/storpower-demo.XXXXXX) || exit 1
bus=unix:path=$temp/bus
pids=() loops=()
figures='' wrong=0

# The latest first: fio before the daemon, the daemon before the bus. The daemon puts back what it
# changed when it is asked to end.
stop() { # PID SIGNAL
  kill "-$2" "$1" 2>/dev/null
  wait "$1" 2>/dev/null
}

# shellcheck disable=SC2317 # by trap
clean_up() {
  local i
  for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
    stop "${pids[i]}" TERM
  done
  for i in "${loops[@]}"; do
    losetup -d "$i"
  done
  rm -rf "$temp"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

title() {
  printf '\n\033[1m%s\033[0m\n' "$*"
}

die() {
  echo "demo: $*" >&2
  exit 1
}

fault() {
  echo "demo: $*" >&2
  wrong=1
}

ctl() {
  "$B/storpowerctl" --bus="$bus" --no-pager "$@"
}

show() { # as typed, with its output
  local word
  printf '\n$ storpowerctl'
  for word in "$@"; do
    [[ $word == *[[:space:]]* ]] && word="'$word'"
    printf ' %s' "$word"
  done
  echo
  ctl "$@" | sed 's/^/  /' | cut -c 1-150
}

# One number of the daemon's state
state() { # PROPERTY
  ctl --json=short status | grep -o "\"$1\":[-0-9.e+]*" | head -n 1 | cut -d : -f 2
}

calculate() { # FORMAT EXPRESSION
  awk "BEGIN { printf(\"$1\", ($2)) }"
}

# Mean of a number over so many seconds, two looks each
mean() { # PROPERTY SECONDS
  local i
  for ((i = 0; i < $2 * 2; i++)); do
    state "$1"
    sleep 0.5
  done | awk '{ sum += $1; n++ } END { print n ? sum / n : 0 }'
}

# Microseconds from the call to the last fast knob, as soon as that has moved
enforced() {
  local i
  for ((i = 0; i < 100; i++)); do
    [[ $(calculate %d "$(state LastEnforceUSec) > 0 && $(state CapPower) <= $(state EffectiveLimit) * 1.0001") -eq 0 ]] ||
      break
    sleep 0.05
  done
  state LastEnforceUSec
}

# Until the draw has been within the budget for two seconds
settle() { # SECONDS
  local good=0 i
  for ((i = 0; i < $1 * 2 && good < 4; i++)); do
    sleep 0.5
    if [[ $(calculate %d "$(state EstimatedPower) <= $(state EffectiveLimit)") -eq 1 ]]; then
      good=$((good + 1))
    else
      good=0
    fi
  done
  [[ $good -ge 4 ]] || fault "the budget was not met within $1 s"
}

# Until what is served has been what the plan expects for five seconds: where a device serves less than
# its profile says, that is learned first
agree() { # SECONDS
  local good=0 i
  for ((i = 0; i < $1 * 2 && good < 10; i++)); do
    sleep 0.5
    if [[ $(calculate %d "$(state Throughput) >= 0.8 * $(state ExpectedThroughput)") -eq 1 ]]; then
      good=$((good + 1))
    else
      good=0
    fi
  done
}

# What is served over what the plan expects, in percent, over so many seconds
of_plan() { # SECONDS
  local i
  for ((i = 0; i < $1 * 2; i++)); do
    echo "$(state Throughput) $(state ExpectedThroughput)"
    sleep 0.5
  done | awk '{ served += $1; planned += $2 } END { printf("%.0f", planned ? 100 * served / planned : 0) }'
}

start_bus() {
  local i
  cat >"$temp/bus.conf" <<EOF
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <listen>$bus</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
EOF
  dbus-daemon --config-file="$temp/bus.conf" --nofork --nopidfile 2>"$temp/bus.log" &
  pids+=($!)
  for ((i = 0; i < 50; i++)); do
    [[ ! -S $temp/bus ]] || return 0
    sleep 0.1
  done
  cat "$temp/bus.log" >&2
  die "dbus-daemon does not start"
}

# Sets daemon to its pid
start_daemon() { # FOLDER OPTION...
  local i
  mkdir -p "$temp/$1/etc"
  "$B/storpowerd" --bus="$bus" --data-directory=policies --config-directory="$temp/$1/etc" \
    --state-directory="$temp/$1/state" --runtime-directory="$temp/$1/run" "${@:2}" \
    2>"$temp/$1/log" &
  daemon=$!
  pids+=("$daemon")
  for ((i = 0; i < 100; i++)); do
    kill -0 "$daemon" 2>/dev/null || break
    ! ctl version >/dev/null 2>&1 || return 0
    sleep 0.1
  done
  cat "$temp/$1/log" >&2
  die "storpowerd does not start"
}

stop_last() {
  stop "${pids[-1]}" "$1"
  unset 'pids[-1]'
}

# Adds to the last line what was measured
measured() { # WHAT WATTS_BEFORE WATTS_AFTER BUDGET KEPT_PERCENT MICROSECONDS
  figures+="${figures:+; }$1: $(calculate %.1f "$2") W before, $(calculate %.1f "$3") W after"
  figures+=", budget $(calculate %.1f "$4") W, $(calculate %.0f "$5") % of throughput kept"
  figures+=", $(calculate %.1f "$6 / 1000") ms from call to last fast knob"
  [[ $(calculate %d "$3 <= $4 * 1.005") -eq 1 ]] || fault "$1: the draw is above the budget"
}

simulated_node() {
  local watts_before watts budget mb_before mb took
  title "1. A simulated node of 8 NVMe drives, 16 hard disks and 4 SATA SSDs"
  start_daemon simulated --simulate=policies/nodes/mixed.node
  sleep 2
  show status
  watts_before=$(mean EstimatedPower 2)
  mb_before=$(mean Throughput 2)

  title "Limit it to 80 %"
  show set 80% --yes --reason "demo"
  took=$(enforced)
  show status
  settle 30
  echo
  echo "Settled:"
  show status
  watts=$(mean EstimatedPower 2)
  mb=$(mean Throughput 2)
  budget=$(state EffectiveLimit)
  show list
  show explain nvme0

  title "What would 60 % do?"
  show plan 60%

  title "Lift the limit"
  show clear
  sleep 2
  show status
  stop_last TERM
  measured "simulated node" "$watts_before" "$watts" "$budget" "100 * $mb / $mb_before" "$took"
}

make_loop() { # FILE
  local device
  fallocate -l 256M "$1" || die "no room for $1"
  device=$(losetup --find --show --direct-io=on "$1" 2>/dev/null ||
           losetup --find --show "$1") || die "no loop device for $1"
  loops+=("$device")
  [[ $(losetup --noheadings --output BACK-FILE "$device") == "$1" ]] ||
    die "$device is not the device just made"
}

knobs() { # DEVICE: what the daemon may touch on it
  local queue=/sys/block/${1#/dev/}/queue
  echo "scheduler=$(grep -o '\[[^]]*\]' "$queue/scheduler") nr_requests=$(<"$queue/nr_requests")" \
       "max_sectors_kb=$(<"$queue/max_sectors_kb")" \
       "strict_guarantees=$(cat "$queue/iosched/strict_guarantees" 2>/dev/null || echo -)"
}

all_knobs() {
  local device
  for device in "${loops[@]}"; do
    echo "  ${device#/dev/}: $(knobs "$device")"
  done
}

now_ms() {
  echo $((${EPOCHREALTIME/./} / 1000))
}

# fio's own account of a span of time, one of its jobs
fio_mb_s() { # JOB FROM_MS TO_MS
  awk -F ', *' -v from="$2" -v to="$3" '
    $1 >= from && $1 < to { sum += $2; n++ }
    END { print n ? sum / n * 1024 / 1e6 : 0 }' "$temp/fio_bw.$1.log"
}

# What fio felt; sets before and during, all jobs together
fio_account() { # FROM TO, in ms, of before, during and after
  local job b d a all_after=0
  before=0 during=0
  printf '  %-8s %12s %12s %12s\n' '' before 'limited' after
  for ((job = 1; job <= ${#loops[@]}; job++)); do
    b=$(fio_mb_s $job "$1" "$2") d=$(fio_mb_s $job "$3" "$4") a=$(fio_mb_s $job "$5" "$6")
    printf '  %-8s %7.0f MB/s %7.0f MB/s %7.0f MB/s\n' "${loops[job - 1]#/dev/}" "$b" "$d" "$a"
    before=$(calculate %f "$before + $b") during=$(calculate %f "$during + $d")
    all_after=$(calculate %f "$all_after + $a")
  done
  printf '  %-8s %7.0f MB/s %7.0f MB/s %7.0f MB/s\n' together "$before" "$during" "$all_after"
}

start_fio() {
  local device jobs=()
  for device in "${loops[@]}"; do
    jobs+=("--name=${device#/dev/}" "--filename=$device")
  done
  fio --output="$temp/fio.out" --direct=1 --ioengine=libaio --rw=randwrite --bs=256k --iodepth=64 \
    --time_based --runtime=120 --group_reporting --write_bw_log="$temp/fio" --per_job_logs=1 \
    --log_avg_msec=500 --log_unix_epoch=1 "${jobs[@]}" 2>"$temp/fio.err" &
  pids+=($!)
}

loop_devices() {
  local device watts_before watts budget took part t0 t1 t2 t3 t4 t5 found held back before during
  title "2. Two real block devices: loop devices under fio, random writes of 256 KiB, 64 at a time"
  make_loop "$temp/storpower-demo-1.img"
  make_loop "$temp/storpower-demo-2.img"
  mkdir -p "$temp/loop/etc"
  {
    printf '[storpower]\ndiscover = no\n\n'
    for device in "${loops[@]}"; do
      printf '[device %s]\nprofile = samsung-pm9a3\n\n' "${device#/dev/}"
    done
  } >"$temp/loop/etc/storpower.conf"
  sed 's/^/  /' "$temp/loop/etc/storpower.conf"
  found=$(all_knobs)

  start_fio
  start_daemon loop
  sleep 2
  t0=$(now_ms)
  show status
  watts_before=$(mean EstimatedPower 3)
  t1=$(now_ms)

  title "Limit them to nine tenths of what they draw: somebody has to give"
  show set "$(calculate %.1f "$watts_before * 0.9")W" --yes --reason "demo on real devices"
  took=$(enforced)
  settle 15
  agree 60
  t2=$(now_ms)
  show status
  show list
  show verify
  held=$(all_knobs)
  watts=$(mean EstimatedPower 4)
  budget=$(state EffectiveLimit)
  part=$(of_plan 4)
  t3=$(now_ms)

  title "Lift the limit"
  show clear
  sleep 2
  t4=$(now_ms)
  sleep 3
  t5=$(now_ms)
  show status
  stop_last TERM
  stop_last INT
  back=$(all_knobs)

  title "What the kernel was told"
  printf 'found:\n%s\nlimited:\n%s\nput back:\n%s\n' "$found" "$held" "$back"
  title "What fio felt"
  fio_account "$t0" "$t1" "$t2" "$t3" "$t4" "$t5"
  [[ $held != "$found" ]] || fault "no knob was moved"
  [[ $part -ge 80 ]] || fault "no more than $part % of what was planned is served"
  [[ $back == "$found" ]] || fault "not everything was put back"
  [[ $(calculate %d "$during < $before") -eq 1 ]] || fault "fio did not feel the limit"
  measured "loop devices" "$watts_before" "$watts" "$budget" "100 * $during / $before" "$took"
  figures+=", $part % of what was planned"
}

start_bus
simulated_node
if [[ $EUID -ne 0 ]]; then
  title "2. Real block devices need root: sudo make demo"
elif [[ ! -e /dev/loop-control ]]; then
  title "2. Real block devices: left out, this machine has no loop devices (/dev/loop-control)"
else
  loop_devices
fi
echo
echo "measured: $figures"
exit "$wrong"
