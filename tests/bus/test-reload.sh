#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Reload rereads everything or nothing, and no claim and no cap is lost meanwhile.
. "$(dirname "$0")/lib.sh"

data=$tmp/data conf=$tmp/etc/storpower.conf
watch_pid=''

end_watch() {
	[[ -z $watch_pid ]] || kill "$watch_pid" 2>/dev/null
}
at_end=(end_watch "${at_end[@]}")

reloads() {
	: >"$tmp/daemon.log"
	call Reload | tee "$tmp/answer"
	grep -q '^()' "$tmp/answer"
}

# Is the reload refused with these words, in the answer and in the log, and is nothing taken over?
refuses() { # WORDS
	local before
	before=$(in_force)
	! reloads || return 1
	grep -qF "$1" "$tmp/answer" && grep -qF "$1" "$tmp/daemon.log" &&
		grep -q "all goes on as before" "$tmp/daemon.log" && diff <(echo "$before") <(in_force)
}

logged() { # WHAT
	grep -q "$1" "$tmp/daemon.log"
}

state() { # FILTER: on all that the manager tells
	ctl status --json=short | jq -c "$1"
}

in_force() {
	state '{Policy, RatedPower, Sensors: [.Sensors[] | .[0:4]], Claims: [.Claims[].Cookie], EffectiveLimit}'
}

is_json() { # FILTER VALUE
	[[ $(state "$1") == "$2" ]]
}

sensors() { # VALUE
	is_json '[.Sensors[][0]]' "$1"
}

limited_and_held() {
	state '{CapPower, EffectiveLimit, Enforcing}'
	is_json '.Enforcing and .CapPower <= .EffectiveLimit' true
}

# Never more at once than the budget allows, whatever is read again.
watch_caps() {
	while sleep 0.02; do
		state '[.CapPower, .EffectiveLimit]'
	done >"$tmp/caps" 2>/dev/null &
	watch_pid=$!
}

never_above() {
	sort -u "$tmp/caps" | tail -n 3
	jq -es 'length > 10 and all(.[]; .[0] <= .[1] + 1e-6)' "$tmp/caps" >/dev/null
}

mkdir -p "$tmp/etc/profiles" "$tmp/etc/policies" "$data/profiles" "$data/nodes"
cp "$root"/policies/*.policy "$data"
cp "$root"/policies/profiles/*.profile "$data/profiles"
cp "$root/policies/balanced.policy" "$tmp/etc/policies/own.policy"
base() {
	printf '[storpower]\npolicy = own\n'
}
base >"$conf"
start_bus
start_daemon --data-directory="$data"
rated=$(property RatedPower)
status "a limit is in force" 0 ctl set 80%
ok "and held" eventually limited_and_held
watch_caps
claims=$(state '[.Claims[].Cookie]')
ok "with nothing changed a reload succeeds" reloads
ok "and says what was read" logged "Everything was read again"

{ base; printf '[sensor psu]\ntype = hwmon\nchip = nosuch\ninput = power1\nof = node\n'; } >"$conf"
built_in=$(state '[.Sensors[][0]]')
ok "a new sensor is taken" reloads
ok "and is there" sensors "$(jq -c '["psu"] + .' <<<"$built_in")"
{ base; printf '[sensor psu]\ntype = hwmon\nchip = nosuch\ninput = power2\nof = node\n[sensor rack]\ntype = dcmi\nof = group flash\n'; } >"$conf"
ok "a changed and another new one are, too" reloads
ok "and are there" is_json '[.Sensors[][0]] | contains(["psu","rack"])' true
base >"$conf"
ok "one that is not configured any more goes" reloads
ok "and is gone" sensors "$built_in"

sed -i 's/^forbid.*/forbid = pacing/' "$tmp/etc/policies/own.policy"
free_of_pacing() { [[ $(ctl list --json=short | jq -c 'all(.[]; .Pace // 0 | . == 0)') == true ]]; }
not_paced() { ! free_of_pacing; }
ok "what is in force is pacing" not_paced
ok "a changed policy file is read" reloads
ok "and planned by, as soon as the policy of before lets the caps be exchanged" within 90 free_of_pacing
{ base | sed s/own/latency/; } >"$conf"
ok "another policy of the configuration is taken" reloads
ok "and is in force" property_is Policy '"latency"'
base >"$conf"
reloads >"$tmp/out"

profile=$(ctl list --json=short | jq -r '.[0].Profile')
cp "$data/profiles/$profile.profile" "$tmp/etc/profiles"
raised=$(awk -F= '/^rated/ { gsub(/[ W]/, "", $2); print $2 + 3 }' "$tmp/etc/profiles/$profile.profile")
sed -i "s/^rated.*/rated = ${raised}W/" "$tmp/etc/profiles/$profile.profile"
ok "a changed profile is read" reloads
ok "and its device goes by it" [ "$(property RatedPower)" != "$rated" ]
ok "which is logged" logged "it goes by profile $profile as it is now, rated $raised"
ok "the limit is held by it" eventually limited_and_held
rm "$tmp/etc/profiles/$profile.profile"
ok "the shipped one comes back" reloads
is "with its figures" "$(property RatedPower)" "$rated"

{ base; printf 'guard = 2 bananas\n'; } >"$conf"
ok "a wrong value is refused with file and line" refuses "$conf:3: guard"
{ base; printf '[sensor psu]\ntype = hwmon\nof = node\n'; } >"$conf"
ok "so is a sensor of which something is missing" refuses "$conf:3: [sensor psu]: chip= "
{ base | sed s/own/nosuch/; } >"$conf"
ok "a policy that is not there" refuses "$conf:2: there is no policy \"nosuch\""
base >"$conf"
cp "$tmp/etc/policies/own.policy" "$tmp/own"
printf '[policy]\nspeed = 3\n' >"$tmp/etc/policies/own.policy"
ok "a policy with an unknown key" refuses "own.policy:2: unknown key"
cp "$tmp/own" "$tmp/etc/policies/own.policy"
printf '[profile]\nrated = soon\n' >"$tmp/etc/profiles/own.profile"
ok "a profile that cannot be used" refuses "own.profile:2: rated"
rm "$tmp/etc/profiles/own.profile"
{ base; printf '[sensor new]\ntype = dcmi\nof = node\n[device sda]\nprofile = nosuch\n'; } >"$conf"
ok "what is right beside what is wrong is not taken either" refuses "$conf:7: there is no profile \"nosuch\""

{ base; printf 'simulate = mixed\nbus = session\n'; } >"$conf"
ok "what counts at the start alone is no mistake" reloads
ok "and is named" logged "\[storpower\] bus has changed: it takes effect when storpowerd starts again"
ok "each key of it" logged "\[storpower\] simulate has changed"
{ base; printf 'mode = advise\n'; } >"$conf"
: >"$tmp/daemon.log"
end_watch
wait "$watch_pid" 2>/dev/null
watch_pid=''
ok "no cap was above the budget meanwhile" never_above
is "and the claim is the same" "$(state '[.Claims[].Cookie]')" "$claims"
kill -HUP "$daemon_pid"
ok "SIGHUP reads everything, too" eventually logged "Everything was read again"
ok "and takes the mode" property_is Mode '"advise"'
status "a mode that is chosen" 0 ctl mode enforce
ok "stays when the file says what it said" reloads
ok "after a reload" property_is Mode '"enforce"'
echo "nonsense" >>"$conf"
: >"$tmp/daemon.log"
kill -HUP "$daemon_pid"
ok "SIGHUP tells in the log what is wrong" eventually logged "all goes on as before"
ok "and the daemon lives" daemon_lives

done_testing
