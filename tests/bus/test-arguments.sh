#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Bad arguments give a named error that says what would be right, make no claim and do no harm.
. "$(dirname "$0")/lib.sh"

start_bus
start_daemon

none='@a{sv} {}'
for value in nan inf -- -1 101 1e99; do
	[[ $value == -- ]] && continue
	ok "SetBudget of $value % is refused" refused InvalidLimit SetBudget "$value" % "$none"
	ok "Plan of $value % is refused" refused InvalidLimit Plan "$value" % "$none"
done
for value in nan -0.5 1e9; do
	ok "SetBudget of $value W is refused" refused InvalidLimit SetBudget "$value" W "$none"
done
for unit in '""' kW percent; do
	ok "the unit $unit is refused" refused InvalidLimit SetBudget 50 "$unit" "$none"
done

# not_repeated TEXT: where a name is unknown
not_repeated() {
	local answer
	answer=$(call Explain "$1"; call SetPolicy "$1"; call SetBudget 50 "$1" "$none"
		call SetBudget 50 % "{'$1': <'x'>}")
	echo "$answer"
	[[ $answer == *Unknown* && $answer != *"$1"* ]]
}

bad() { # ERROR OPTIONS
	ok "SetBudget with $(printf %q "$2") is refused" refused "$1" SetBudget 50 % "$2"
}
bad InvalidOption "{'nosuch': <'x'>}"
bad InvalidOption "{'class': <'urgent'>}"
bad InvalidOption "{'class': <''>}"
bad InvalidOption "{'reason': <uint32 5>}"
bad InvalidOption "{'reason': <'two\\nlines'>}"
bad InvalidOption "{'reason': <'$(printf 'x%.0s' {1..300})'>}"
for text in $'\u009b31m' $'\u202egpj' $'\u2066x' $'\u061cx' $'a\u2028b' $'\e[31m' $'a\tb'; do
	for option in reason source class device group; do
		bad InvalidOption "{'$option': <'$text'>}"
	done
	ok "SetMode of $(printf %q "$text") is refused" refused InvalidOption SetMode "$text"
	ok "SetPolicy of $(printf %q "$text") is refused" refused UnknownPolicy SetPolicy "$text"
	ok "no error repeats it" not_repeated "$text"
done
for seconds in "[1.0]" "@ad []" "(1.0,)" "{'a': 1.0}" "<1.0>" "'1'" "true" "@s ''"; do
	for option in for_seconds start_in_seconds; do
		bad InvalidOption "{'$option': <$seconds>}"
	done
done
for option in reason source class device group standing; do
	bad InvalidOption "{'$option': <['a']>}"
	bad InvalidOption "{'$option': <{'a': 1.0}>}"
done
bad InvalidOption "{'for_seconds': <-1.0>}"
bad InvalidOption "{'for_seconds': <0.0>}"
bad InvalidOption "{'for_seconds': <1e99>}"
bad InvalidOption "{'tolerance_seconds': <-0.5>}"
bad InvalidOption "{'tolerance_seconds': <60.5>}"
bad InvalidOption "{'tolerance_seconds': <'3s'>}"
bad InvalidOption "{'for_seconds': <'2h'>}"
bad InvalidOption "{'for_seconds': <uint64 18446744073709551615>}"
bad InvalidOption "{'standing': <'yes'>}"
bad InvalidOption "{'device': <'a'>, 'group': <'b'>}"
bad UnknownDevice "{'device': <'nosuch'>}"
bad UnknownDevice "{'device': <''>}"
bad UnknownGroup "{'group': <'nosuch'>}"
bad UnknownGroup "{'group': <''>}"

bad InvalidOption "{'for_seconds': <int32 -5>}"
bad InvalidOption "{'device': <'nvme0'>, 'power-state': <0.5>}"
bad InvalidOption "{'device': <'nvme0'>, 'power-state': <int64 -1>}"
bad InvalidOption "{'device': <'nvme0'>, 'power-state': <true>}"
for number in "byte 0x05" "int16 5" "uint16 5" "5" "uint32 5" "int64 5" "uint64 5" "5.0"; do
	for option in for_seconds start_in_seconds tolerance_seconds; do
		ok "$option may be a number of any type: $number" \
			grep -q "uint64" <(call SetBudget 100 % "{'$option': <$number>}")
	done
	ok "and so may those of Plan: $number" \
		grep -q "CapPower" <(call Plan 100 % "{'tolerance_seconds': <$number>}")
done
ok "these claims end with their callers" eventually claim_count_is 0

ok "a claim to be changed is made" grep -q "uint64" <(call SetBudget 90 % "{'standing': <true>}")
cookie=$(property 'Claims[0].Cookie')
for value in "nan %" "101 %" "1e9 W" "50 kW"; do
	ok "Update to $value is refused" refused InvalidLimit Update "$cookie" $value "$none"
done
for options in "{'device': <'nvme0'>}" "{'standing': <false>}" "{'start_in_seconds': <5>}" "{'source': <'x'>}" \
	"{'for_seconds': <0>}" "{'class': <'urgent'>}"; do
	ok "Update with $options is refused" refused InvalidOption Update "$cookie" 50 % "$options"
done
for seconds in 0 -1 nan 1e9; do
	ok "Renew for $seconds s is refused" refused InvalidOption Renew "$cookie" "$seconds"
done
ok "Update of an unknown claim is refused" refused UnknownClaim Update 424242 50 % "$none"
ok "Renew of one too" refused UnknownClaim Renew 424242 9
is "the claim is as it was" "$(property 'Claims | map([.Limit, .Class])')" '[[90,"operator"]]'
status "it is cleared" 0 ctl clear --all

ok "an unknown policy is refused" refused UnknownPolicy SetPolicy nosuch
ok "a path is no policy" refused UnknownPolicy SetPolicy ../../etc/passwd
ok "an empty policy is refused" refused UnknownPolicy SetPolicy '""'
ok "Plan refuses an unknown policy" refused UnknownPolicy Plan 50 % "{'policy': <'nosuch'>}"
ok "Plan refuses an unknown mechanism" refused InvalidOption Plan 50 % "{'only': <'magic'>}"
ok "Plan refuses an empty list" refused InvalidOption Plan 50 % "{'only': <''>}"
ok "Plan refuses the options of SetBudget" refused InvalidOption Plan 50 % "{'standing': <true>}"
ok "an unknown cookie is refused" refused UnknownClaim Release 424242
ok "the cookie 0 is refused" refused UnknownClaim Release 0
ok "Explain refuses an unknown device" refused UnknownDevice Explain nosuch
ok "and so does GetFrontier" refused UnknownDevice GetFrontier nosuch
ok "Wake refuses one too" refused UnknownDevice Wake nosuch
ok "and so does WakeTest" refused UnknownDevice WakeTest nosuch
ok "which is of one device, not of all" refused UnknownDevice WakeTest '""'
ok "the error says what would be right" grep -q "would be right" <(call SetBudget nan % "$none")
ok "the error names the devices there are" \
	grep -q "$(ctl list --json=short | jq -r '.[0].Name')" <(call Explain nosuch)
ok "wrong types are refused by signature" grep -q "InvalidArgs" <(
	dbus-send --session --print-reply --dest=org.storpower1 /org/storpower1 \
		org.storpower1.Manager.Release string:x 2>&1)
ok "none of this made a claim" claim_count_is 0
ok "the daemon lives" daemon_lives

if [[ $(id -u) == 0 ]] && id nobody >/dev/null 2>&1; then
	chmod 711 "$tmp" && chmod 777 "$tmp/bus"
	as_nobody() { # METHOD ARGUMENT...
		setpriv --reuid=nobody --regid=nogroup --clear-groups \
			gdbus call --session --dest org.storpower1 --object-path /org/storpower1 \
			--method "org.storpower1.Manager.$1" "${@:2}" 2>&1
	}
	ok "a claim of root is made" grep -q "uint64" <(call SetBudget 100 % "{'standing': <true>}")
	cookie=$(property 'Claims[0].Cookie')
	for method in "Update $cookie 50 % {}" "Renew $cookie 9" "SetBudget 50 % {}" "Release $cookie" "SetPolicy balanced" "SetMode advise" Reload Verify "Wake nvme0" \
		"WakeTest nvme0"; do
		ok "${method%% *} is for root alone" grep -q "Error.NotAuthorized" <(as_nobody $method)
	done
	ok "who may change a claim is said" grep -q "claim $cookie was made by uid 0, and only that user or root" \
		<(as_nobody Renew "$cookie" 9)
	is "the claim is as it was" "$(property 'Claims | map(.Limit)')" '[100]'
	status "it is cleared" 0 ctl clear --all
	ok "anyone may look" grep -q "objectpath" <(as_nobody ListDevices)
	ok "and see what the planner chooses from" grep -q "PlannedSetting" <(as_nobody GetFrontier nvme0)
	ok "and see who woke disks" grep -q "aa{sv}\|\[" <(as_nobody ListWakeups)
	plans_until_refused() { # [COMMAND]: sets answer
		local i
		for ((i = 0; i < 12; i++)); do
			answer=$("${1:-as_nobody}" Plan 90 % "$none")
			[[ $answer != *"Error.TooOften: "* ]] || return 0
		done
		return 1
	}
	never_refused() {
		! plans_until_refused "$1"
	}
	ok "whoever asks for plan after plan is told that it is too often" plans_until_refused
	ok "and when to come again" grep -qE "uid [0-9]+ .*: come again in [0-9.]+ s" <(echo "$answer")
	sleep "$(sed -n 's/.*come again in \([0-9.]*\) s.*/\1/p' <<<"$answer")"
	ok "then a plan is made" grep -q "Optimal" <(as_nobody Plan 90 % "$none")
	ok "another user does not wait for that" grep -q "Optimal" <(setpriv --reuid=1 --clear-groups \
		gdbus call --session --dest org.storpower1 --object-path /org/storpower1 \
		--method org.storpower1.Manager.Plan 90 % "$none" 2>&1)
	ok "root never does" never_refused call
else
	echo "# not run by root: who may do what is not tested here"
fi
done_testing
