#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The files that are installed, as polkitd and a bus like that of the system read them: everybody reaches the
# daemon, and polkit's actions and the administrator's rules decide. polkitd sees folders of the test where
# those of this machine are.
. "$(dirname "$0")/lib.sh"

NOBODY=65534
none='@a{sv} {}'
polkitd=/usr/lib/polkit-1/polkitd
polkit_conf=/usr/share/dbus-1/system.d/org.freedesktop.PolicyKit1.conf
((EUID == 0)) || skip_all "only root can run polkitd and call as another user"
[[ -x $polkitd && -e $polkit_conf ]] || { echo "Bail out! polkitd is missing: run packaging/deps"; exit 1; }
unshare --mount true 2>/dev/null || skip_all "mounts of its own are not permitted here"

start_polkitd() {
	mkdir -p "$tmp/actions" "$tmp/rules"
	cp "$root/packaging/org.storpower1.policy" "$tmp/actions/"
	cat >"$tmp/rules/50-storpower.rules" <<-'END'
		polkit.addRule(function (action, subject) {
			if (action.id == "org.storpower1.set-budget" && subject.user == "nobody")
				return polkit.Result.YES;
		});
	END
	chmod 755 "$tmp/actions" "$tmp/rules"
	chmod 644 "$tmp/actions/"* "$tmp/rules/"*
	# shellcheck disable=SC2016 # for the shell that mounts
	DBUS_SYSTEM_BUS_ADDRESS=$address unshare --mount --propagation private sh -c '
		mount --bind "$1/actions" /usr/share/polkit-1/actions &&
		mount --bind "$1/rules" /etc/polkit-1/rules.d && exec "$2" --no-debug' sh "$tmp" $polkitd \
		>"$tmp/polkitd.log" 2>&1 &
	polkit_pid=$!
	eventually has_name org.freedesktop.PolicyKit1
}
as() { # UID METHOD ARGUMENT...
	setpriv --reuid="$1" --regid=65534 --clear-groups gdbus call --session --dest org.storpower1 \
		--object-path /org/storpower1 --method "org.storpower1.Manager.$2" -- "${@:3}" 2>&1
}
show() {
	cat "$tmp/polkitd.log"
}

# what the system's bus denies before it reads the files of services
# shellcheck disable=SC2034 # for lib.sh
bus_limits="<policy context=\"default\">
	<deny own=\"*\"/><deny send_type=\"method_call\"/>
	<allow send_type=\"signal\"/><allow send_requested_reply=\"true\" send_type=\"method_return\"/>
	<allow send_requested_reply=\"true\" send_type=\"error\"/>
	<allow receive_type=\"method_call\"/><allow receive_type=\"method_return\"/>
	<allow receive_type=\"error\"/><allow receive_type=\"signal\"/>
	<allow send_destination=\"org.freedesktop.DBus\"/>
	</policy>
	<include>$polkit_conf</include><include>$root/packaging/org.storpower1.conf</include>"
start_bus
chmod 711 "$tmp" # for others to get to the bus
start_daemon
ok "the daemon is allowed its name" has_name org.storpower1
ok "nobody else is" eval '! setpriv --reuid=$NOBODY --clear-groups gdbus call --session --dest org.freedesktop.DBus \
	--object-path /org/freedesktop/DBus --method org.freedesktop.DBus.RequestName org.storpower1 2'
ok "polkitd starts" start_polkitd
ok "whom a rule allows to set a limit sets one" grep -q uint64 <(as $NOBODY SetBudget 90 % "{'standing': <true>}")
is "it is in force, and of that user" "$(property 'Claims | map([.Uid, .InForce])')" "[[$NOBODY,true]]"
ok "whom none allows it needs a password" grep -q InteractiveAuthorizationRequired <(as 1 SetBudget 90 % "$none")
ok "and so does whoever wants what the rule does not name" \
	grep -q InteractiveAuthorizationRequired <(as $NOBODY SetMode advise)
ok "everybody may ask for a plan" grep -q Optimal <(as 1 Plan 90 % "$none")
for method in "SetPolicy balanced" "Wake nvme0" "Release $(property 'Claims[0].Cookie')"; do
	ok "${method%% *} is known to polkit" grep -q InteractiveAuthorizationRequired <(as 1 $method)
done
ok "pinning a power state is known to polkit" grep -q "org.storpower1.calibrate" \
	<(as $NOBODY SetBudget 100 % "{'device': <'nvme0'>, 'power-state': <1>}")
ok "storpowerctl asks with the question of a password" grep -q "polkit wants a password for the action" \
	<(setpriv --reuid=1 --clear-groups "$build/storpowerctl" --no-pager set 50% 2>&1)
ok "the daemon lives" daemon_lives
stop_daemon TERM
is "the daemon ends well" "$daemon_status" 0
done_testing
