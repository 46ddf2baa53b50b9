#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# limit: 600
# What tab makes of a word in bash, zsh and fish: verbs and options as --help has them, and names from the
# running daemon.
. "$(dirname "$0")/lib.sh"

for tool in bash zsh fish; do
	command -v $tool >/dev/null || { echo "Bail out! $tool is missing: run packaging/deps"; exit 1; }
done
completions=$root/packaging/completions

# goes_on WORD...: what the last of them may become
goes_on() {
	"$build/storpowerctl" complete -- "$@" | cut -f 1
}
words() { # of standard input, sorted
	sort | xargs
}

start_bus
is "without a daemon no device is known" "$(goes_on show "")" ""
is "but verbs are, and none but those of --help" "$(goes_on "" | words)" "$(ctl help --json | jq -r '.[].Verb' | words)"
for verb in $(goes_on ""); do
	is "$verb goes on with the options that help $verb tells of" "$(goes_on "$verb" -- | sed 's/=$//' | words)" \
		"$(ctl help "$verb" | sed -n '/^  -/p' | grep -o -- '--[a-z-]*' | { cat; echo --output; } |
			grep -Fxf <(ctl help --json | jq -r --arg v "$verb" '.[] | select(.Verb == $v).Options[] | "--" + .') | sort -u | words)"
done
is "what takes a value ends in =" "$(goes_on set --fo)" "--for="
is "model goes on with its verbs" "$(goes_on model "" | words)" \
	"$(ctl --help | sed -n 's/^  model \([a-z]*\).*/\1/p' | words)"
is "each of the classes that set takes is known" "$(goes_on set --class= | words)" \
	"$(ctl help set | tr -d '\n' | sed 's/  */ /g; s/.*--class=CLASS set, hold: \([^-]*\) --.*/\1/; s/(default)//; s/,//g' | tr -s ' ' '\n' | words | sed 's/^/--class=/; s/ / --class=/g')"
is "and each mechanism, in a list" "$(goes_on plan --forbid=depth,p | words)" \
	"--forbid=depth,pacing --forbid=depth,power-limit --forbid=depth,power-state"
is "a value may be a word of its own" "$(goes_on plan --only depth,c)" "depth,condition
depth,chunk"
is "files are the shell's" "$(goes_on report --html=)$(goes_on model validate "")$(goes_on metrics -o "")" ":file:file:file"
is "and commands" "$(goes_on hold 80% -- "")$(goes_on hold 80% -- nice "")" ":command:command"
is "a number wants a unit" "$(goes_on set 80 | words)" "80% 80W 80kW"
is "profiles are known" "$(goes_on model show --profiles="$root/policies/profiles" samsung-pm9a)" samsung-pm9a3

start_daemon
ctl set 90% --reason="grid event" >/dev/null
is "devices are those of the daemon" "$(goes_on show "" | words)" "$(ctl list --json | jq -r '.[].Name' | words)"
is "and groups" "$(goes_on list --group= | words)" "$(ctl list --json | jq -r '.[].Group | "--group=" + .' | sort -u | words)"
is "and claims" "$(goes_on clear "")" 1
ok "with what they are" grep -qP '^1\t90 % \(.*\): grid event$' <("$build/storpowerctl" complete -- clear "")
is "and the policy" "$(goes_on policy bala)" balanced
is "a bus on the line is asked" "$(STORPOWER_BUS=unix:path=/nosuch goes_on --bus="$address" show nvm)" nvme0
is "no more than one device" "$(goes_on show nvme0 "")" ""

# As people type, with a terminal. zsh and fish have no files of their own here.
mkdir -p "$tmp/home" "$tmp/bash" && touch "$tmp/home/the-page.html"
export HOME=$tmp/home PATH=$build:$PATH TERM=xterm XDG_CONFIG_HOME=$tmp/home XDG_DATA_HOME=$tmp/home PAGER=cat
cd "$tmp/home" || exit 1
typed() { # LINE WANTED
	case $shell in
		bash) "$root/tests/bus/type-line.py" ". '$completions/bash/storpowerctl'" "$@" bash --norc --noprofile -i ;;
		zsh) "$root/tests/bus/type-line.py" "fpath=('$completions/zsh' \$fpath); autoload -U compinit; compinit -u -D" "$@" zsh -f -i ;;
		fish) "$root/tests/bus/type-line.py" "source '$completions/fish/storpowerctl.fish'" "$@" fish --private --no-config -i ;;
	esac
}
ctl set 95% --reason="second one" >/dev/null
declare -A claims=([bash]="1  2" [zsh]="second one" [fish]="second one")
for shell in bash zsh fish; do
	ok "$shell completes a verb" typed $'storpowerctl vers\t' "storpowerd "
	ok "$shell completes a device of the daemon" typed $'storpowerctl show nv\t' "SAMSUNG"
	ok "$shell completes an option and its value" typed $'storpowerctl list --gr\tfl\t --json=short' '"Group":"flash"'
	ok "$shell shows which claims there are" typed $'storpowerctl clear \t\t' "${claims[$shell]}"
	ok "$shell completes a file behind an option" typed $'storpowerctl report --html=the\t --csv' "the-page.html"
	ok "$shell completes the command of hold" typed $'storpowerctl hold 90% -- sha256su\t /dev/null' e3b0c442
done
ok "the daemon lives" daemon_lives
done_testing
