#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What can be checked of the tree without building it: shell scripts, man pages, XML, the unit, the
# layout of the C code, the layers. Prints only what is wrong, then one line a check.
#
# shellcheck disable=SC2317 # the functions are called by name, through check()
set -uo pipefail
shopt -s nullglob globstar
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=checks.sh
. tests/checks.sh

mapfile -t scripts < <(grep -lE --exclude-dir=build --exclude-dir=.git -r -m 1 '^#!/bin/(ba)?sh' .)
mapfile -t man_pages < <(grep -L '^\.so' man/*.[1-8]) # a page of another's name alone is none
xml=(daemon/**/*.xml packaging/*.xml packaging/org.storpower1.{conf,policy})

man_lint() {
  local findings
  findings=$(mandoc -T lint -W warning "${man_pages[@]}") || true
  [[ -z $findings ]] || { echo "$findings"; return 1; }
}

# verify wants the programs where the unit looks for them; it is asked about the copies that make
# install would put in place, and the program need not be there yet
unit_verify() {
  local units=("${B:-build}"/storpower*.service packaging/*.timer packaging/*.socket) findings
  findings=$(SYSTEMD_UNIT_PATH="$PWD/${B:-build}:" systemd-analyze verify --man=no "${units[@]}" 2>&1 |
             grep -E 'storpower[a-z-]*\.(service|timer|socket)' | grep -v 'is not executable: No such file')
  [[ -z $findings ]] || { echo "$findings"; return 1; }
}

# At most 3.0 of 10: what is exempt, and why, is said in the unit.
unit_exposure() {
  local unit table
  for unit in "${B:-build}"/storpower*.service; do
    [[ $unit != *-hooks@.service ]] || continue # an administrator's programs: it says so
    table=$(systemd-analyze security --no-pager --offline=true --threshold=30 "$unit" 2>&1) ||
      { grep -v '✓' <<<"$table"; return 1; }
  done
}

no_strays() {
  ! grep -nIrwE --include='*.[ch]' --include='*.sh' --include='*.mk' --include=Makefile \
    --exclude=lint.sh --exclude-dir=build 'TODO|FIXME|XXX|HACK' .
}

check "shellcheck" shellcheck -x -P SCRIPTDIR -S warning "${scripts[@]}"
check "man pages" man_lint
check "xml" xmllint --noout --nonet "${xml[@]}"
check "layers" tests/check-layers.sh
check "control" tests/check-control.sh
check "catalogue of messages" tests/check-catalog.sh
check "nothing unfinished" no_strays
check "systemd units" unit_verify
check "systemd units may do little" unit_exposure
check "install and uninstall" tests/check-install.sh
# other versions of clang-format lay out differently: this one is Debian 12's
if clang-format --version | grep -q 'version 14\.'; then
  check "clang-format" clang-format --dry-run -Werror {daemon,bpf,tests}/**/*.[ch]
else
  echo "skip   clang-format: the layout is defined by version 14, this is $(clang-format --version)"
fi
exit "$failed"
