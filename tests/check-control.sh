#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Proves what daemon/control/ promises of itself: its files call each other in one direction, each
# concern is written by one file, devices are asked by jobs alone, questions change nothing, and what
# decides is pure. Prints each breach; exit status 1 if any. Needs the objects of a build (B).
#
#   tests/check-control.sh [TREE]
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"
B=${B:-build}
control=daemon/control
breaches=0

breach() {
  echo "$1"
  breaches=$((breaches + 1))
}

# Lowest first: a file calls itself and those before it.
order="need queue policies waiters decide admit diary obedience knob-set wear-account pools workload pace-use waking cache-watch cache-hits
       rest correction served trust caps ledger-desk job-run job errands consent fleet claims-store settling limits-pin limits limits-end limits-file overrun gauges-renew gauges correct drift-fit drift overload holding reading tariff tally-device tally-cgroups tally bookkeeping tiers gather hooks enforce advice wake-test observe verify outcome settled
       tell turn end consumers waiting frontiers drift-report ledger-report report foretell command control"
# Of a Managed: member, type and the file that alone writes it.
concerns="knobs=KnobSet=knob-set obedience=Obedience=obedience workload=Workload=workload trust=Trust=trust served=Served=served
          served.in_pool=PaceUse=pace-use rest=Rest=rest rest.consents=Consents=consent
          place=PoolPlace=pools caps=Caps=caps waking=Waking=waking cache=CacheWatch=cache-watch cache.hits=CacheHits=cache-hits wear=Wear=wear-account
          planned=Planned=enforce advised=Advised=advice errands=Errands=errands"
# They link with the pure rooms and nothing else.
pure="decide admit"

symbols() { # TYPES OBJECT
  nm "$2" | awk -v types="$1" 'index(types, $(NF - 1)) { print $NF }'
}

check_order() {
  local name seen=" " symbol
  declare -A home
  for name in $order; do
    [[ -e $B/$control/$name.o ]] || { breach "$B/$control/$name.o is missing: build first"; return; }
    while read -r symbol; do home[$symbol]=$name; done < <(symbols TDBR "$B/$control/$name.o")
  done
  for name in "$control"/*.c; do
    name=${name##*/}
    [[ " ${order//$'\n'/ } " == *" ${name%.c} "* ]] ||
      breach "$control/$name is not in the order of tests/check-control.sh"
  done
  for name in $order; do
    seen+="$name "
    while read -r symbol; do
      [[ -z ${home[$symbol]:-} || $seen == *" ${home[$symbol]} "* ]] ||
        breach "$control/$name.c calls upwards: $symbol() of ${home[$symbol]}.c"
    done < <(symbols U "$B/$control/$name.o")
  done
}

# What must stand in the named files alone: PATTERN WHAT FILE...
only_in() {
  local file line
  while IFS=: read -r file line; do
    [[ " ${*:3} " == *" $(basename "$file" .c) "* ]] || breach "$file:$line: $2"
  done < <(grep -nE -e "$1" "$control"/*.c | sed -E 's/^([^:]+:[0-9]+):.*/\1/' || true)
}

check_places() {
  local member type owner assigned='[].a-zA-Z0-9_>[-]*( [-+|&*/]?= |\+\+|--)'
  while IFS='=' read -r member type owner; do
    only_in "(md|other)->$member$assigned|^[[:space:]]*$type \\*" \
      "the concern \"$member\" is written by $owner.c alone" "$owner"
  done < <(tr -s ' \n' '\n' <<<"$concerns")
  only_in '->ops->' "operations of devices are called by job-run.c alone" job-run
  only_in '(knob|k|knob_registry\[[a-z]\])->(probe|read|write|want|fulfils|cache)\(' \
    "callbacks of knobs are called by job-run.c alone" job-run
  only_in '(loop|l)->(submit|drain|wake_at|wake|clock)\b' "the loop is the shell's" \
    job control command turn end observe
  only_in '[^t] Control \*c[,)]' "questions take a const Control" \
    control command turn end enforce hooks advice observe verify wake-test outcome settled tell
}

check_sizes() {
  awk -v limit=40 '
    FNR == 1 { start = 0 }
    /^\{/ { start = FNR }
    /^\}/ && start { if (FNR - start > limit) print FILENAME ":" start ": a function of " FNR - start " lines"
                     start = 0 }' "$control"/*.c
  python3 - "$control" <<'PY'
import glob, re, sys
for path in sorted(glob.glob(sys.argv[1] + "/*.[ch]")):
    text = re.sub(r"/\*.*?\*/", "", open(path).read(), flags=re.S)
    for m in re.finditer(r"struct (\w+) \{\n(.*?)\n\}", text, flags=re.S):
        body = re.sub(r"\bunion \{.*?\};", "int one;", m.group(2), flags=re.S)
        n = sum(len(re.sub(r"\([^()]*\)", "", l).split(",")) for l in body.split(";") if l.strip())
        if n > 15:
            print(f"{path}: struct {m.group(1)} has {n} fields: 15 are the most")
    for m in re.finditer(r"^[a-zA-Z][^;{}()]*\b(\w+)\(((?:[^()]|\([^()]*\))*)\)\s*[;{]", text, flags=re.M):
        n = len(re.sub(r"\([^()]*\)", "", m.group(2)).split(","))
        if n > 5:
            print(f"{path}: {m.group(1)}() has {n} parameters: 5 are the most")
PY
}

check_pure() {
  local objects
  printf -v objects "$B/$control/%s.o " $pure
  # shellcheck disable=SC2086 # a list
  "${CC:-gcc}" -shared -Wl,--no-undefined -o /dev/null $objects -Wl,--whole-archive "$B/libplan.a" \
    "$B/libmodel.a" "$B/libpetri.a" "$B/libbase.a" -Wl,--no-whole-archive -linih -lsystemd -lm 2>&1 | grep -E 'undefined' || true
}

check_order
check_places
while read -r line; do breach "$line"; done < <(check_sizes; check_pure)
[[ $breaches -eq 0 ]]
