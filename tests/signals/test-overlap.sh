#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# An OpenADR event of three intervals, a calendar entry and a UPS on battery overlap: at every second the lowest of
# what holds is in force. The VTN is openleadr-vtn, the UPS upsd's dummy.
# alone
. "$(dirname "$0")/../bus/lib.sh"
. "$(dirname "$0")/../bus/signal.sh"
. "$(dirname "$0")/vtn.sh"
own_network "$0"
. "$(dirname "$0")/../bus/nut.sh"
export TZ=UTC
others=()
start_other() { # NAME
	"$build/storpower-signal-$1" --bus="$address" --config="$tmp/signals/$1.conf" 2>>"$tmp/others.log" &
	others+=($!)
}
end_others() {
	local pid
	for pid in "${others[@]}"; do
		kill "$pid"
		wait "$pid" 2>/dev/null
	done
}
at_end=(end_others "${at_end[@]}")

start_database
start_vtn
join_vtn
configure
ups_says OL
start_driver
start_upsd
ok "upsd is there" eventually upsd_answers '"OL"'
start_bus
start_daemon

clock() { # SECONDS since zero
	date -u -d "@$((zero + $1))" +%T
}
zero=$((EPOCHSECONDS + 6))
printf '[node]\nlimit = %s..%s 18W\n' "$(clock 3)" "$(clock 12)" >"$tmp/signals/calendar.conf"
printf '[power]\npoll = 100ms\nback_for = 1s\n[ups dummy@127.0.0.1:%s]\nlimit = 14W\n' "$ups_port" >"$tmp/signals/power.conf"
create events "$(event evening $zero 6 1 2 3)" >/dev/null
signal=openadr conf=$tmp/signals/openadr.conf
start_signal
start_other calendar
start_other power

# Of the UPS, which goes on battery and comes back in its own time, each look says whether it holds.
look() {
	ctl status --json=short | jq -r '[(.EffectiveLimit | if type == "number" and . < 1e6 then . else 0 end),
		(.Claims | any(.Source == "power"))] | @tsv'
}
wanted_at() { # SECOND ON-BATTERY
	local openadr=99 calendar=99 ups=99 lowest
	(($1 < 0 || $1 >= 18)) || openadr=$(($1 < 6 ? 20 : $1 < 12 ? 16 : 13))
	(($1 < 3 || $1 >= 12)) || calendar=18
	[[ $2 == false ]] || ups=14
	lowest=$(printf '%s\n' "$openadr" "$calendar" "$ups" | sort -n | head -n 1)
	[[ $lowest == 99 ]] && echo 0 || echo "$lowest"
}
got='' wanted='' on_battery=0
for ((second = -1; second < 20; second++)); do
	case $second in
		7) ups_says "OB DISCHRG" ;;
		13) ups_says OL ;;
	esac
	sleep "$(jq -n "[0, $zero + $second + 0.5 - $EPOCHREALTIME] | max")"
	read -r limit battery < <(look)
	[[ $battery == false ]] || ((on_battery++))
	got+="$second $limit"$'\n' wanted+="$second $(wanted_at $second "$battery")"$'\n'
done
ok "the UPS was on battery for some of that time" test "$on_battery" -ge 3 -a "$on_battery" -le 12
is "the lowest of what holds is in force, at every second" "$got" "$wanted"
ok "the daemon lives" daemon_lives
done_testing
