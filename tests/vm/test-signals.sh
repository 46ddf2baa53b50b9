#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# systemd
# limit: 300
#
# The services storpower-signal-* as they are installed: hardened units of systemd on the system bus, under a
# clock that is set.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/devices.sh"

limits_are() { # JSON: of all claims, the lowest first
	[[ $(storpowerctl --no-pager status --json=short | jq -c '.Claims | map(.Limit) | sort') == "$1" ]]
}
restarts() { # UNIT
	systemctl show --property=NRestarts --value "$1"
}
restarted() { # UNIT
	[[ $(restarts "$1") -ge 1 ]]
}

# upsd of NUT is not in the guest; tests/bus/test-signal-power.sh has it
ups_says() { # STATUS
	echo "VAR rack ups.status \"$1\"" >"$tmp/ups"
}
ups_says OL
python3 - "$tmp/ups" <<-'END' &
	import socketserver, sys
	class Answer(socketserver.StreamRequestHandler):
	    def handle(self):
	        for _ in self.rfile:
	            self.wfile.write(open(sys.argv[1], "rb").read())
	socketserver.ThreadingTCPServer.allow_reuse_address = True
	socketserver.ThreadingTCPServer(("127.0.0.1", 3493), Answer).serve_forever()
END
upsd_pid=$!
end_upsd() {
	kill "$upsd_pid"
}
at_end+=(end_upsd)

nullb flat 256 50000 || { echo "Bail out! no null_blk"; exit 1; }
cp -a "$B/vm-root/." / || { echo "Bail out! make vm-tools installs nothing"; exit 1; }
mkdir -p /etc/storpower/storpower.conf.d /var/lib/grid
printf '[device flat]\nprofile = intel-p5510\n' >/etc/storpower/storpower.conf.d/50-local.conf
systemctl daemon-reload
busctl call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus ReloadConfig

ok "without a configuration a unit is passed over" systemctl start storpower-signal-calendar
is "and does not run" "$(systemctl is-active storpower-signal-calendar)" inactive

printf '[node]\nlimit = 03:00..04:00 80%%\n' >/etc/storpower/signals/calendar.conf
printf '[power]\nback_for = 1s\n[ups rack]\nlimit = 50%%\n' >/etc/storpower/signals/power.conf
printf '[carbon]\nfile = /var/lib/grid/carbon.csv\nlimit = above 400 70%%\n' >/etc/storpower/signals/series.conf
echo "$EPOCHSECONDS 300" >/var/lib/grid/carbon.csv
date -s "tomorrow 12:00"
ok "the daemon starts" systemctl start storpowerd
for signal in calendar power series; do
	ok "the signal $signal starts and says when it is ready" systemctl start storpower-signal-$signal
done
ok "nothing is limited" limits_are '[]'

date -s "tomorrow 03:30"
ok "the clock is set into a window, and that is seen at once" eventually limits_are '[80]'
date -s "today 02:00"
ok "it is set back, and the limit ends" eventually limits_are '[]'
date -s "today 03:59:57"
ok "it is set forward again" eventually limits_are '[80]'
ok "and the window ends by itself" eventually limits_are '[]'

ups_says OB
ok "a UPS of this machine is on battery" eventually limits_are '[50]'
ok "a unit is reloaded, and keeps its claim" systemctl reload storpower-signal-power
ok "as it was" limits_are '[50]'
ups_says OL
ok "power is back, and the limit ends" eventually limits_are '[]'
echo "$EPOCHSECONDS 450" >/var/lib/grid/carbon.csv
ok "carbon intensity rises, and the file is read" eventually limits_are '[70]'

mkdir -p /run/systemd/system/storpower-signal-series.service.d
printf '[Service]\nWatchdogSec=3\n' >/run/systemd/system/storpower-signal-series.service.d/short.conf
systemctl daemon-reload
systemctl restart storpower-signal-series
ok "a unit is restarted, and limits again" eventually limits_are '[70]'
systemctl kill --signal=STOP storpower-signal-series
ok "one that hangs is killed and started anew" within 30 restarted storpower-signal-series
ok "and limits again" eventually limits_are '[70]'
systemctl restart storpowerd
ok "the daemon is restarted, and keeps the claims" within 30 limits_are '[70]'
systemctl stop storpower-signal-calendar storpower-signal-power storpower-signal-series
ok "they are stopped, and leave no limit behind" eventually limits_are '[]'
is "no unit has failed" "$(systemctl --failed --plain --no-legend)" ""
systemctl stop storpowerd
done_testing
