#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Every MESSAGE_ID of the code has an entry in the catalogue and is used, every entry has an id in the
# code, none occurs twice, an entry has all its parts, and names no field that no message has.
set -uo pipefail
cd "${1:-$(dirname "$0")/..}" || exit 1
ids=daemon/base/message-ids.h catalog=packaging/storpower.catalog log=daemon/base/log.c
breaches=0

breach() {
  echo "$1"
  breaches=$((breaches + 1))
}

in_code=$(sed -n 's|^#define MESSAGE_[A-Z_]* *"\([0-9a-f]*\)"$|\1|p' "$ids")
in_catalog=$(sed -n 's/^-- \([0-9a-f]*\)$/\1/p' "$catalog")
n=$(grep -c '^#define MESSAGE_' "$ids")

[[ $n -ge 12 && $(wc -l <<<"$in_code") -eq $n ]] || breach "$ids: $n ids, and not all can be read"
while read -r id; do
  [[ ${#id} -eq 32 ]] || breach "$id is no id of 128 bits"
done <<<"$in_code"
for id in $(sort <<<"$in_code" | uniq -d); do breach "$ids: $id occurs twice"; done
for id in $(sort <<<"$in_catalog" | uniq -d); do breach "$catalog: $id occurs twice"; done
for id in $(comm -23 <(sort <<<"$in_code") <(sort <<<"$in_catalog")); do breach "$catalog has no entry for $id of $ids"; done
for id in $(comm -13 <(sort <<<"$in_code") <(sort <<<"$in_catalog")); do breach "$ids has no $id, which $catalog explains"; done
for name in $(sed -n 's/^#define \(MESSAGE_[A-Z_]*\) .*/\1/p' "$ids"); do
  grep -rqw --include='*.c' "$name" daemon || breach "no message has $name"
done
for part in 'Subject: ' 'Defined-By: storpower' 'Documentation: ' 'What it means for the workload: ' 'What to do: '; do
  [[ $(grep -c "^$part" "$catalog") -eq $n ]] || breach "$catalog: not every entry has one \"$part\""
done
for field in $(grep -o '@[A-Z_]*@' "$catalog" | tr -d @ | sort -u); do
  grep -q "\"$field\(=\|\"\)" "$log" || breach "$catalog: no message has $field"
done

# as journald reads it
if command -v journalctl >/dev/null; then
  root=$(mktemp -d)
  trap 'rm -rf "$root"' EXIT
  install -D -m 644 -t "$root/usr/lib/systemd/catalog" "$catalog"
  mkdir -p "$root/var/lib/systemd/catalog"
  if ! said=$(journalctl --root="$root" --update-catalog 2>&1); then
    breach "journalctl --update-catalog: $said"
  else
    listed=$(journalctl --root="$root" --list-catalog 2>&1 | cut -d ' ' -f 1)
    [[ $(sort <<<"$listed") == "$(sort <<<"$in_code")" ]] || breach "journalctl --list-catalog shows others: $listed"
  fi
else
  echo "skip   journalctl is not there: the catalogue was not read by it"
fi
[[ $breaches -eq 0 ]]
