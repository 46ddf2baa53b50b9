# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by the tests of the bus: a private dbus-daemon and a storpowerd on a simulated node behind it.
# Both end with the script.

. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"
storpowerd=$build/storpowerd
node=${NODE:-$root/policies/nodes/tiny.node}
what=(--simulate="$node" --no-bpf)
address=unix:path=$tmp/bus
bus_pid= daemon_pid= polkit_pid=
export STORPOWER_BUS=$address DBUS_SESSION_BUS_ADDRESS=$address

for tool in dbus-daemon gdbus jq python3; do
	command -v $tool >/dev/null || { echo "Bail out! $tool is missing: run packaging/deps"; exit 1; }
done
for program in "$storpowerd" "$build/storpowerctl"; do
	[[ -x $program ]] || { echo "Bail out! $program is missing: run make"; exit 1; }
done

ctl() {
	"$build/storpowerctl" --no-pager "$@"
}

# In the background $! must be the program, not a shell around a function.
ctl_background() {
	"$build/storpowerctl" --no-pager "$@" &
}

start_bus() {
	cat >"$tmp/bus.conf" <<-END
		<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
		 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
		<busconfig>
		  <type>session</type>
		  <listen>$address</listen>
		  <auth>EXTERNAL</auth>
		  <policy context="default">
		    <allow send_destination="*" eavesdrop="true"/>
		    <allow eavesdrop="true"/>
		    <allow own="*"/>
		    <allow user="*"/>
		  </policy>
		  ${bus_limits:-}
		</busconfig>
	END
	dbus-daemon --config-file="$tmp/bus.conf" --nofork --nopidfile 2>"$tmp/bus.log" &
	bus_pid=$!
	eventually test -S "$tmp/bus"
}

# The daemon ends with it.
stop_bus() {
	kill "$bus_pid"
	wait "$bus_pid" "$daemon_pid" 2>/dev/null
	bus_pid= daemon_pid=
}

# Most tests take a limit for one on what the devices can draw; "tolerates=yes" leaves it at the default.
tolerate_nothing() {
	mkdir -p "$tmp/etc/storpower.conf.d"
	printf '%s = none\n' '[tolerance]
schedule' signal operator emergency >"$tmp/etc/storpower.conf.d/00-hard.conf"
}

start_daemon() { # [OPTION...]: on what "what" says
	mkdir -p "$tmp/etc"
	[[ ${tolerates:-} ]] || tolerate_nothing
	"$storpowerd" "${what[@]}" --bus="$address" \
		--state-directory="$tmp/state" --runtime-directory="$tmp/run" \
		--config-directory="$tmp/etc" --data-directory="$root/policies" "$@" \
		2>>"$tmp/daemon.log" &
	daemon_pid=$!
	# in a guest whose clock runs on while it waits for the host, ten seconds are soon over
	if ! within 60 ctl version; then
		echo "Bail out! storpowerd does not answer:"
		sed 's/^/# /' "$tmp/daemon.log"
		exit 1
	fi
}

stop_daemon() { # [SIGNAL]
	kill -"${1:-TERM}" "$daemon_pid"
	wait "$daemon_pid" 2>/dev/null
	daemon_status=$?
	daemon_pid=
}

daemon_lives() {
	kill -0 "$daemon_pid" && ctl version
}

# property NAME: of the manager, as JSON
property() {
	ctl status --json=short | jq -c ".$1"
}

has_name() { # BUS-NAME
	gdbus call --session --dest org.freedesktop.DBus --object-path /org/freedesktop/DBus \
		--method org.freedesktop.DBus.NameHasOwner "$1" | grep -q true
}

# authority.py in the place of polkit; see there for its words
start_polkit() { # WORD
	polkit_says "$1"
	"$root/tests/bus/authority.py" "$tmp/bus" "$tmp/polkit" &
	polkit_pid=$!
	eventually has_name org.freedesktop.PolicyKit1
}

polkit_says() { # WORD: the file is never seen half written
	mkdir -p "$tmp/polkit"
	echo "$1" >"$tmp/polkit/next"
	mv "$tmp/polkit/next" "$tmp/polkit/answer"
}

stop_polkit() {
	kill "$polkit_pid"
	wait "$polkit_pid" 2>/dev/null
	polkit_pid=
}

property_is() {
	[[ $(property "$1") == "$2" ]]
}

claim_count_is() {
	[[ $(property 'Claims|length') == "$1" ]]
}

# call METHOD ARGUMENT...: prints the answer or the error with its name
call() {
	local method=$1
	shift
	gdbus call --session --dest org.storpower1 --object-path /org/storpower1 \
		--method "org.storpower1.Manager.$method" -- "$@" 2>&1
}

# refused NAME METHOD ARGUMENT...: answers with org.storpower1.Error.NAME
refused() {
	local name=$1 answer
	shift
	answer=$(call "$@")
	echo "$answer"
	[[ $answer == *"org.storpower1.Error.$name: "* ]]
}

stop_all() { # FAILED
	if [[ -n $daemon_pid ]]; then
		kill "$daemon_pid" 2>/dev/null
		wait "$daemon_pid" 2>/dev/null
	fi
	[[ -z $polkit_pid ]] || stop_polkit
	[[ -n $bus_pid ]] && kill "$bus_pid" 2>/dev/null
	if (($1)) && [[ -s $tmp/daemon.log ]]; then
		echo "# the daemon's last words:"
		tail -n 20 "$tmp/daemon.log" | sed 's/^/#   /'
	fi
}
at_end+=(stop_all)
