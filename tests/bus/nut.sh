# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154 # of lib.sh
# Sourced after lib.sh: a real upsd of NUT with its dummy driver, as the UPS dummy@127.0.0.1:$ups_port.

# Debian's upsd in sbin is a script that wants /etc/nut
upsd='' dummy=''
for folder in /lib/nut /usr/libexec/nut /usr/sbin; do
	[[ $upsd || ! -x $folder/upsd ]] || upsd=$folder/upsd
	[[ $dummy || ! -x $folder/dummy-ups ]] || dummy=$folder/dummy-ups
done
[[ $upsd && $dummy ]] || { echo "Bail out! upsd and dummy-ups are missing: run packaging/deps"; exit 1; }

nut=$tmp/nut
mkdir "$nut"
export NUT_CONFPATH=$nut NUT_STATEPATH=$nut NUT_PIDPATH=$nut NUT_ALTPIDPATH=$nut
ups_port=$(free_port)
printf '[dummy]\ndriver = dummy-ups\nport = dummy.dev\npollinterval = 1\n' >"$nut/ups.conf"
printf 'LISTEN 127.0.0.1 %s\nMAXAGE 10\n' "$ups_port" >"$nut/upsd.conf"
: >"$nut/upsd.users"
# dummy-ups reads the file again when its time has changed, in whole seconds.
ups_time=$EPOCHSECONDS
ups_says() { # STATUS
	printf 'ups.status: %s\nups.mfr: nobody\n' "$1" >"$nut/dummy.new"
	touch -d "@$((++ups_time))" "$nut/dummy.new"
	mv "$nut/dummy.new" "$nut/dummy.dev"
}
start_driver() {
	"$dummy" -a dummy -u root -F 2>>"$nut/log" >&2 &
	driver_pid=$!
}
start_upsd() {
	"$upsd" -u root -F 2>>"$nut/log" >&2 &
	upsd_pid=$!
}
upsd_answers() { # WORDS
	python3 - "$ups_port" <<-'END' | grep -q -- "$1"
		import socket, sys
		s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 1)
		s.sendall(b"GET VAR dummy ups.status\n")
		print(s.recv(200).decode())
	END
}
stop() { # PID
	kill "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}
driver_pid='' upsd_pid=''
end_nut() {
	[[ ! $driver_pid ]] || stop "$driver_pid"
	[[ ! $upsd_pid ]] || stop "$upsd_pid"
}
at_end=(end_nut "${at_end[@]}")
