#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Proves of the sources what the linker cannot see: every #include "ROOM/..." of daemon/ is of a room that
# the Makefile lets it see (SEES_ROOM), the pure rooms do no IO, the includes of headers form no circle, and
# no program is linked in a way that would hide a breach from the linker. Prints each breach; exit status 1
# if any.
#
#   tests/check-layers.sh [TREE]
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

breaches=0
breach() {
  echo "$1"
  breaches=$((breaches + 1))
}

# room: the rooms it may see, itself included; the files of daemon/ itself see all of them
declare -A sees
while read -r room rooms; do
  sees[$room]=" $rooms "
done < <(MAKEFLAGS='' make --no-print-directory -s floors)

# "FILE INCLUDED", without "daemon/", for every quoted include that is a file of ours
edges=$(cd daemon && grep -rnoE --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include[[:space:]]+"[^"]+"' . |
  sed -E 's|^\./([^:]+):[0-9]+:.*"([^"]+)"$|\1 \2|' |
  while read -r file included; do
    [[ ! -e $included ]] || echo "$file $included"
  done)

while read -r file included; do
  from=${file%%/*} to=${included%%/*}
  if [[ $file != */* ]]; then
    continue
  elif [[ -z ${sees[$from]+known} ]]; then
    breach "daemon/$file: \"$from\" is not a room: FLOORS of the Makefile has no such name"
  elif [[ ${sees[$from]} != *" $to "* ]]; then
    breach "daemon/$file includes $included: $from may not see $to"
  fi
done <<<"$edges"

# the pure rooms have no clock, no devices, and read files by base/ini.h alone
while IFS=: read -r file line text; do
  breach "$file:$line: ${text}: this room is pure"
done < <(grep -rnE '#[[:space:]]*include[[:space:]]+<(fcntl|poll|pthread|time|sys/(ioctl|socket|stat|time)|systemd/|libudev|libmount|libnvme|bpf/)' \
           daemon/{petri,model,plan,budget} || true)

# a group of libraries lets a lower room call a higher one
while IFS=: read -r file line text; do
  breach "$file:$line: a group of libraries hides from the linker who calls whom"
done < <(grep -rnE --include=Makefile --include='*.mk' --exclude-dir=build -e '--start-group|-\(' . || true)

# tsort(1) names the members of each circle it meets
if ! circles=$(tsort 2>&1 >/dev/null < <(awk '$1 ~ /\.h$/ && $1 != $2' <<<"$edges")); then
  breach "headers include each other in a circle:"$'\n'"$circles"
fi
[[ $breaches -eq 0 ]]
