# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced after lib.sh by the tests of storpower-signal-*: one of them, which ends with the script. The script
# says which in "signal".

mkdir -p "$tmp/signals"
signal_pid='' signal_status='' signal=''


start_signal() { # [OPTION...]
	"$build/storpower-signal-$signal" --bus="$address" --config="$conf" "$@" 2>>"$tmp/signal.log" &
	signal_pid=$!
}

reload_signal() {
	kill -HUP "$signal_pid"
}

kill_signal() { # SIGNAL
	kill -"$1" "$signal_pid"
	wait "$signal_pid" 2>/dev/null
	signal_status=$?
	signal_pid=
}

example_is_right() {
	sed 's/^#\([a-z[]\)/\1/' "$root/packaging/signals/$signal.conf" >"$tmp/signals/example.conf"
	"$build/storpower-signal-$signal" --check-config --config="$tmp/signals/example.conf"
}

options_agree() {
	diff <("$build/storpower-signal-$signal" --help | grep -oE -- '^  --[a-z-]+' | sort) \
		<(sed -nE 's/^\.It Fl -([a-z-]+).*/  --\1/p' "$root/man/${page:-storpower-signal.8}" | grep -v -- '--help' | sort)
}

# What the parser knows, as its complaints list it.
keys_are_told() {
	local manual=$root/man/${page:-storpower-signal.8} section word words
	printf '[no]\nx = 1\n' >"$tmp/signals/no.conf"
	mapfile -t words < <("$build/storpower-signal-$signal" --check-config --config="$tmp/signals/no.conf" 2>&1 |
		sed 's/.*expected//' | grep -o '\[[^]]*\]')
	[[ ${#words[@]} -ge 2 ]] || return
	for section in "${words[@]}"; do
		grep -qF "$section" "$manual" || { echo "$section is not in the manual"; return 1; }
		section=${section/NAME/x}
		printf '%s\nno-such-key = 1\n' "$section" >"$tmp/signals/no.conf"
		for word in $("$build/storpower-signal-$signal" --check-config --config="$tmp/signals/no.conf" 2>&1 |
			sed -n 's/.*no key "no-such-key", only: //p' | tr -d ,); do
			grep -qE "^\.(It|D1) Ic $word\b" "$manual" || { echo "$word= is not in the manual"; return 1; }
		done
	done
}

limits_are() { # JSON: of all claims, the lowest first
	[[ $(property 'Claims | map(.Limit) | sort') == "$1" ]]
}

end_signal() { # FAILED
	if [[ $signal_pid ]]; then
		kill "$signal_pid" 2>/dev/null
		wait "$signal_pid" 2>/dev/null
	fi
	if (($1)) && [[ -s $tmp/signal.log ]]; then
		echo "# the last words of storpower-signal-$signal:"
		tail -n 20 "$tmp/signal.log" | sed 's/^/#   /'
	fi
}
at_end=(end_signal "${at_end[@]}")
