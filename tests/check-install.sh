#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What make install puts in place, and that make uninstall gives the devices back before it takes that away,
# and nothing else. systemctl and storpowerd are scripts here that note how they were called.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT
wrong=0

fault() {
  echo "$*" >&2
  wrong=1
}

same() { # WHAT EXPECTED
  [[ $1 == "$2" ]] || fault "expected: $2"$'\n'"     got: $1"
}

make_in() { # ROOT TARGET [VARIABLE=VALUE...]
  local root=$1
  PATH="$temp/bin:$PATH" make --no-print-directory -s "$2" B="$B" PREFIX="$root/usr" SYSCONFDIR="$root/etc" \
    "${@:3}" >"$temp/out" 2>&1 || { cat "$temp/out" >&2; fault "make $2 has failed"; }
}

noting() { # FILE NAME EXIT_STATUS
  printf '#!/bin/sh\necho "%s $*" >>"%s/calls"\nexit %s\n' "$2" "$temp" "$3" >"$1"
  chmod 755 "$1"
}

files() { # ROOT
  (cd "$1" && find . -type f | sort)
}

# first for /usr, so that nothing is left in $B that was built for a folder of this test
shopt -s nullglob
units=(packaging/storpower*.service)
make --no-print-directory -s B="$B" all "${units[@]/#packaging/$B}" || exit 1
mkdir "$temp/bin" "$temp/booted"
noting "$temp/bin/systemctl" systemctl 0

# staged: nothing of this machine is stopped
make_in "" install DESTDIR="$temp/staged"
for file in usr/sbin/storpowerd usr/bin/storpowerctl usr/lib/systemd/system/storpowerd.service \
            usr/share/polkit-1/actions/org.storpower1.policy \
            usr/share/storpower/balanced.policy usr/share/storpower/profiles/intel-p5510.profile \
            usr/share/storpower/nodes/mixed.node usr/share/man/man8/storpowerd.8 \
            usr/lib/systemd/catalog/storpower.catalog \
            usr/sbin/storpower-signal-calendar usr/lib/systemd/system/storpower-signal-calendar.service \
            usr/sbin/storpower-signal-power usr/sbin/storpower-signal-series usr/sbin/storpower-signal-openadr \
            usr/share/doc/storpower/signals/calendar.conf usr/sbin/storpower-hooks \
            usr/lib/systemd/system/storpower-hooks.socket usr/lib/systemd/system/storpower-hooks@.service \
            usr/share/doc/storpower/hooks/not-while-backup.example; do
  [[ -f $temp/staged/$file ]] || fault "make install does not install /$file"
done
[[ ! -e $temp/staged/usr/lib/storpower ]] || fault "data lies in /usr/lib/storpower"
mkdir -p "$temp/staged/etc/storpower/storpower.conf.d"
echo '[storpower]' >"$temp/staged/etc/storpower/storpower.conf.d/50-local.conf"
make_in "" uninstall DESTDIR="$temp/staged" SYSTEMD_RUNS="$temp/booted"
same "$(files "$temp/staged")" ./etc/storpower/storpower.conf.d/50-local.conf
same "$(find "$temp/staged/usr" -iname '*storpower*')" ""
[[ ! -e $temp/calls ]] || fault "make uninstall DESTDIR=... calls $(<"$temp/calls")"

# live, with systemd
make_in "$temp/live" install
make_in "$temp/live" uninstall SYSTEMD_RUNS="$temp/booted"
signals=(packaging/storpower-signal-*.service)
same "$(<"$temp/calls")" "systemctl disable --now ${signals[*]#packaging/} storpowerd.service storpower-metrics.timer storpower-hooks.socket
systemctl daemon-reload"
same "$(files "$temp/live")" ""

# without: storpowerd puts back what is left, and a failure of it is told and stops nothing
for status in 0 1; do
  : >"$temp/calls"
  make_in "$temp/live" install
  noting "$temp/live/usr/sbin/storpowerd" storpowerd $status
  make_in "$temp/live" uninstall SYSTEMD_RUNS="$temp/none"
  same "$(<"$temp/calls")" "storpowerd --restore"
  same "$(files "$temp/live")" ""
  same "$(grep -c 'not everything was put back' "$temp/out")" "$status"
done

# nothing is there any more
: >"$temp/calls"
make_in "$temp/live" uninstall SYSTEMD_RUNS="$temp/none"
make_in "$temp/live" uninstall SYSTEMD_RUNS="$temp/booted"
same "$(<"$temp/calls")" "systemctl daemon-reload"
exit "$wrong"
