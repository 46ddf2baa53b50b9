#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Proves the rules of who may include whom: every #include "ROOM/..." of daemon/ must be on the
# table, and the includes of headers must form no circle. Prints each breach; exit status 1 if any.
#
#   tests/check-layers.sh [TREE]
set -euo pipefail
cd "${1:-$(dirname "$0")/..}/daemon"

# room: the rooms it may include beside itself. "top" is daemon/*.[ch], the manager and the wiring.
declare -A may=(
  [base]=""
  [model]="base"
  [plan]="model base"
  [budget]="model base"
  [device]="model base"
  [knob]="device model base"
  [meter]="device model base"
  [ctl]="base"
  [bus]="top plan budget knob meter device model base"
  [top]="bus plan budget knob meter device model base"
)

# "FILE INCLUDED" for every quoted include that is a file of ours
includes() {
  grep -rnoE --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include[[:space:]]+"[^"]+"' . |
    sed -E 's|^\./([^:]+):[0-9]+:.*"([^"]+)"$|\1 \2|' |
    while read -r file included; do
      [[ ! -e $included ]] || echo "$file $included"
    done
}

room_of() {
  if [[ $1 == */* ]]; then room=${1%%/*}; else room=top; fi
}

breaches=0
breach() {
  echo "$1"
  breaches=$((breaches + 1))
}

edges=$(includes)
while read -r file included; do
  room_of "$file"; from=$room
  room_of "$included"; to=$room
  if [[ -z ${may[$from]+known} ]]; then
    breach "daemon/$file: room \"$from\" is not in the table of tests/check-layers.sh"
  elif [[ $from != "$to" && " ${may[$from]} " != *" $to "* ]]; then
    breach "daemon/$file includes $included: $from may not include $to"
  fi
done <<<"$edges"

# the pure rooms have no clock, no devices, and read files by base/ini.h alone
while IFS=: read -r file line text; do
  breach "daemon/$file:$line: ${text}: this room is pure"
done < <(grep -rnE '#[[:space:]]*include[[:space:]]+<(fcntl|poll|pthread|time|sys/(ioctl|socket|stat|time)|systemd/|libudev|libnvme|bpf/)' \
           model plan budget || true)

# tsort(1) names the members of each circle it meets
if ! circles=$(tsort 2>&1 >/dev/null < <(awk '$1 ~ /\.h$/ && $1 != $2' <<<"$edges")); then
  breach "headers include each other in a circle:"$'\n'"$circles"
fi
[[ $breaches -eq 0 ]]
