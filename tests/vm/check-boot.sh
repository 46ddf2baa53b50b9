#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# tests/vm/boot itself: whatever a guest does, a failure is reported as one. Runs on this side.
. "$(dirname "$0")/../tap.sh"

boot() { # NAME SCRIPT-TEXT [OPTION...]
	printf '#!/bin/bash\n%s\n' "$2" >"$tmp/check-$1"
	chmod +x "$tmp/check-$1"
	"$root/tests/vm/boot" "${@:3}" "$tmp/check-$1" "an argument" "it's another"
}

# with time enough to boot on a busy machine, and the others meanwhile
boot hang 'echo before; sleep 1000' --limit=90 --clock=real >"$tmp/hang" 2>&1 &
hang=$!

status "the script's exit status is handed on" 7 boot status \
	'echo "$2"; echo "$1" >&2; echo kept >/share/kept; exit 7'
is "its output, too, and its arguments are whole" "$(<"$tmp/out")" "it's another"
ok "what it says on stderr comes out there" grep -qx "an argument" "$tmp/err"
is "what it leaves in the share can be read" "$(<"$build/tests/vm/check-status-6.12.share/kept")" kept
status "a panic: 123" 123 boot panic 'echo before; echo c >/proc/sysrq-trigger; sleep 100'
is "what was said before it is there" "$(<"$tmp/out")" before
ok "the console's last words are shown" grep -q "Kernel panic" "$tmp/err"
status "a guest that does not come up: 125" 125 boot early 'exit 0' --append="rdinit=/none init=/none"
is "it was tried twice" "$(grep -c "trying once more" "$tmp/err")" 1
status "no such kernel: 125" 125 boot kernel 'exit 0' --kernel=2.4
status "no such script: 125" 125 "$root/tests/vm/boot" "$tmp/none"
ok "and says so" grep -q "there is no script" "$tmp/err"
status "a script that hangs: 124" 124 wait "$hang"
ok "what it had said is there, too" grep -qx before "$tmp/hang"
done_testing
