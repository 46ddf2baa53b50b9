#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# storpowerctl top on a terminal: keys, and the terminal as it was, however it ends.
. "$(dirname "$0")/lib.sh"

open=$'\033[?1049h' close=$'\033[?1049l'
start_bus
start_daemon

# Standard input is a pipe that types; what the terminal showed is in $tmp/shown. It begins with a new
# terminal's modes, and ends with what they are then and the exit status.
begin() { # ARGUMENT...
	rm -f "$tmp/shown" "$tmp/modes-after"
	mkfifo "$tmp/keys"
	TERM=xterm script -qfec "stty cols 80 rows 24; stty -g >'$tmp/modes'; echo \$\$ >'$tmp/pid'; \
		'$build/storpowerctl' top $*; echo \"status \$?\"; stty -g >'$tmp/modes-after'" "$tmp/shown" \
		<"$tmp/keys" >/dev/null 2>&1 &
	script_pid=$!
	exec {keys}>"$tmp/keys"
	within 30 grep -q "by power" "$tmp/shown"
}

press() {
	printf '%b' "$1" >&"$keys"
}

program() { # the process of top
	pgrep -P "$(cat "$tmp/pid")" -x storpowerctl
}

has_ended() {
	! kill -0 "$script_pid" 2>/dev/null
}

end() {
	within 30 has_ended || kill "$script_pid"
	exec {keys}>&-
	wait "$script_pid"
	rm -f "$tmp/keys"
}

last_screen() { # what has been drawn since the screen was last cleared
	tr -d '\r' <"$tmp/shown" | awk -v RS=$'\033\\[H\033\\[J' 'END { print }'
}

shows() { # TEXT
	last_screen | grep -qF -- "$1"
}

given_back() {
	[[ $(cat "$tmp/modes") == "$(cat "$tmp/modes-after")" && $(<"$tmp/shown") == *"$open"*"$close"* ]]
}

ok "it fills the screen" begin
ok "which is another one than the shell's" grep -qF "$open" "$tmp/shown"
ok "it shows the devices" within 30 shows "nvme0 "
ok "a key sorts" eval 'press i; within 30 shows "by IOPS"'
ok "another turns the order round" eval 'press r; within 30 shows "by IOPS reversed"'
ok "text filters as it is typed" eval 'press /sda; within 30 shows "Filter: sda_"'
ok "and hides what has it not" eval '! shows "nvme0 "'
ok "and stays when it is done" eval 'press "\r"; within 30 shows "with sda"'
ok "until Escape" eval 'press "\033"; within 30 shows "nvme0 "'
ok "arrows are no keys of its" eval 'press "\033[A"; press n; within 30 shows "by name"'
press q
ok "q ends it" within 30 has_ended
end
ok "the terminal is as it was" given_back
ok "that is a success" grep -qa "status 0" "$tmp/shown"

for signal in TERM INT HUP QUIT; do
	ok "it fills the screen" begin
	kill -$signal "$(program)"
	ok "SIG$signal ends it" within 30 grep -qa "status [0-9]" "$tmp/shown"
	end
	ok "the terminal is as it was after SIG$signal" given_back
	is "whoever started it is told of SIG$signal" "$(tr -d '\r' <"$tmp/shown" | sed -n 's/.*status //p' | tail -n 1)" \
		$((128 + $(kill -l $signal)))
done

ok "it fills the screen" begin
stop_daemon
ok "when the daemon goes it ends" within 30 grep -qa "status 3" "$tmp/shown"
end
ok "the terminal is as it was" given_back
ok "and why is said on the screen that stays" grep -qa "storpowerd is not running" \
	<(awk -v RS=$'\033\\[[?]1049l' 'END { print }' "$tmp/shown")
start_daemon

status "without a terminal it prints one table" 0 ctl top
ok "and no escapes" bash -c "! grep -q $'\033' '$tmp/out'"
for variable in TERM=dumb TERM=; do
	ok "nor on a terminal with $variable" bash -c "! env $variable script -qec \"'$build/storpowerctl' top\" /dev/null </dev/null | grep -q $'\033'"
done
ok "with --once it prints one table" eval '[[ $(TERM=xterm script -qec "'"'$build/storpowerctl'"' top --once" /dev/null </dev/null | grep -c "DEVICE") == 1 ]]'
ok "the daemon lives" daemon_lives
done_testing
