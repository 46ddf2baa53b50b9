#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Debian's and Fedora's packages: that lintian and rpmlint find nothing to warn of, that both name the same
# version and what packaging/deps names, and that the Debian packages, as make deb has built them in $B/deb,
# have all that make install installs. Prints only what is wrong, then one line a check. What cannot be looked at
# here is said and counted as skipped (TALLY, as in tests/run).
#
# shellcheck disable=SC2317 # the functions are called by name, through check()
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
skipped=0
spec=packaging/rpm/storpower.spec
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT

# shellcheck source=checks.sh
. tests/checks.sh

skip() { # NAME PROGRAM
  echo "skip   $1: $2 is missing, and packaging/deps --packages could not install it"
  skipped=$((skipped + 1))
}

# check, where all these programs are there
check_by() { # "PROGRAM..." NAME COMMAND...
  local program
  for program in $1; do
    command -v "$program" >/dev/null || { skip "$2" "$program"; return; }
  done
  check "${@:2}"
}

same_version() {
  local make deb rpm
  make=$(sed -n 's/^VERSION := //p' Makefile)
  deb=$(sed -n '1s/.*(\(.*\)).*/\1/p' packaging/debian/changelog)
  rpm=$(sed -n 's/^Version: *//p' "$spec")
  [[ $make == "$deb" && $make == "$rpm" ]] || { echo "Makefile: $make, Debian: $deb, RPM: $rpm"; false; }
}

# Of a table "build NAME NAME NAME", as packaging/deps has it: what is needed to build on Debian 12 or Fedora
needed() { # COLUMN
  awk -v column="$1" '
    $1 == "build" {
      for (i = 3; i <= 4; i++)
        if ($i == "=")
          $i = $(i - 1)
      print $column
    }' packaging/deps | sort -u
}

# What is build-essential is not named, and debhelper and systemd.pc are the package's own needs.
debian_needs() {
  sed -n '/^Build-Depends:/,/^$/ s/^ \([a-z0-9.-]*\).*/\1/p' packaging/debian/control |
    grep -vxE 'debhelper-compat|systemd-dev' | sort -u >"$temp/deb"
  needed 2 | grep -vxE 'gcc|libc6-dev|make' | diff "$temp/deb" -
}

fedora_needs() {
  sed -n 's/^BuildRequires: *//p' "$spec" | grep -vx systemd-rpm-macros | sort -u >"$temp/rpm"
  needed 4 | diff "$temp/rpm" -
}

# Each warning counts. What is merely informative is not asked for: it has one on every package without an
# init script.
lintian_finds_nothing() {
  [[ -e $B/deb/made ]] || { echo "$B/deb has no package: make deb"; return 1; }
  local findings
  findings=$(lintian --allow-root --fail-on=none --pedantic "$B"/deb/*.changes) || return
  [[ -z $findings ]] || { echo "$findings"; return 1; }
}

rpmlint_finds_nothing() {
  rpmlint --strict --rpmlintrc="${spec%.spec}.rpmlintrc" "$spec" >"$temp/rpmlint" 2>&1 &&
    grep -q ' 0 errors, 0 warnings' "$temp/rpmlint" || { cat "$temp/rpmlint"; return 1; }
}

# What Debian keeps elsewhere or packed is told by its name alone.
names() { # FOLDER
  (cd "$1" && find . ! -type d -printf '%f\n' | sed 's/\.gz$//' | grep -vxE 'changelog|copyright|README.md' | sort)
}

package_is_whole() {
  local tree package
  tree=$(echo "$B"/deb/storpower-*/)
  for package in "$B"/deb/storpower{,-signal-openadr}_*.deb; do
    dpkg-deb --extract "$package" "$temp/package" || return
  done
  env -u B -u MAKEFLAGS make -s -C "$tree" install WERROR= DESTDIR="$temp/staged" || return
  diff <(names "$temp/staged") <(names "$temp/package")
}

# The daemon, storpowerctl and the other signals do without libraries for HTTP and MQTT.
only_one_needs_the_network() {
  local found
  found=$(dpkg-deb -f "$B"/deb/storpower_*.deb Depends | grep -oE 'lib(curl|mosquitto)[^ ,]*')
  [[ ! $found ]] || { echo "storpower depends on $found"; return 1; }
  dpkg-deb -f "$B"/deb/storpower-signal-openadr_*.deb Depends | grep libcurl | grep -q libmosquitto
}

check "packages have one version" same_version
check "Debian's build dependencies" debian_needs
check "Fedora's build dependencies" fedora_needs
check_by rpmlint "rpmlint" rpmlint_finds_nothing
check_by "dpkg-buildpackage dh lintian" "lintian" lintian_finds_nothing
check_by "dpkg-buildpackage dh" "the Debian packages have what make install installs" package_is_whole
check_by "dpkg-buildpackage dh" "only the package of the OpenADR signal needs libcurl and libmosquitto" only_one_needs_the_network
[[ $skipped -eq 0 ]] || echo "$skipped skipped"
[[ $skipped -eq 0 || -z ${TALLY:-} ]] || echo "0 0 $skipped" >>"$TALLY"
exit "$failed"
