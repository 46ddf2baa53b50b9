# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# For scripts of checks: each prints only what is wrong, then one line. The script ends with "exit $failed".

failed=0

check() { # NAME COMMAND...
  local output
  if output=$("${@:2}" 2>&1); then
    echo "ok     $1"
  else
    printf '%s\nFAILED %s\n' "$output" "$1"
    failed=1
  fi
}
