#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# long: all
# systemd
# limit: 1800
# changes: 1G
# resets: 1
#
# The life of the Debian package on a Debian root with systemd: installed, it runs nothing; enabled, it gives
# the devices back on the way down of a reboot and holds the claim again after it; upgraded, it goes on holding
# it; removed, it gives the devices back and keeps what the operator wrote; purged, it leaves nothing behind.
# The package of a higher version is the same one with another number.

. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/devices.sh"
export DEBIAN_FRONTEND=noninteractive
kept=/var/tmp/kept # outlives the reboot

ctl() {
	storpowerctl --no-pager "$@"
}

show() {
	systemctl --no-pager --lines=20 status storpowerd
	ctl status
	cat "$tmp/dpkg.log"
}
cleanup() { # FAILED
	[[ $1 -eq 0 ]] || show 2>&1 | sed 's/^/# /'
}
at_end=(cleanup "${at_end[@]}")

# Every attribute of every device that can be written, and what else a knob turns. Clocks and the memory for
# write-back (bdi) go their own way, and keyboards (input) are numbered as they come.
settings() {
	find /sys/devices \( -path /sys/devices/system -o -name bdi -o -name input \) -prune -o \
		-type f -perm -u=rw -size 4096c -print0 | sort -z | xargs -0 grep -s .
	grep -s enable=1 /sys/fs/cgroup/io.cost.qos
	grep -rs . /sys/fs/cgroup --include=io.max
	echo "power state $(nvmesim_get flash ps)"
}

as_found() {
	settings | diff "$tmp/found" -
}

held() {
	ctl status --json=short | jq -e '.Enforcing and .CapPower <= .EffectiveLimit + 0.001' >/dev/null && ! as_found
}

# Without their cookies: "hold" makes its claim anew when it sees the daemon again.
claims() {
	ctl status --json=short | jq -c '[.Claims[] | [.Limit, .Unit, .Reason]] | sort'
}

claims_stand() {
	[[ $(claims) == "$standing" ]] || { claims; false; }
}

claims_are_two() {
	[[ $(ctl status --json=short | jq '.Claims | length') == 2 ]]
}

# Files of the package and of the daemon, and what systemd and dpkg keep of it
traces() {
	find /etc /usr /lib/systemd /var /run -xdev -iname '*storpower*' ! -path '/var/log/*' 2>/dev/null
}

package() { # DPKG-OPTION...: as the operator would
	dpkg "$@" >"$tmp/dpkg.log" 2>&1 || { cat "$tmp/dpkg.log"; return 1; }
}

state_of() { # of the package, as dpkg has it
	# shellcheck disable=SC2016 # dpkg's own
	dpkg-query -W -f '${db:Status-Status} ${Version}' storpower 2>/dev/null
}

higher_version() {
	dpkg-deb -R "$deb" "$tmp/higher" && sed -i "s/^Version: .*/&+1/" "$tmp/higher/DEBIAN/control" &&
		dpkg-deb -Znone -b "$tmp/higher" "$tmp/higher.deb" >/dev/null
}

pid() {
	systemctl show --property=MainPID --value storpowerd
}

started_anew() { # OLD
	[[ $(pid) != 0 && $(pid) != "$1" ]]
}

has_ended() {
	[[ $(systemctl is-active storpowerd) == inactive ]] && ! pidof storpowerd
}

# A drive does not go with the processes: neither systemd nor what it leaves the node to ends this one.
like_hardware() { # COMMAND...
	exec systemd-run --quiet --scope --property=DefaultDependencies=no \
		bash -c 'exec -a "@$0" "$0" "$@"' "$@"
}

start_devices() {
	nullb flat 256 50000 || { echo "Bail out! no null_blk"; exit 1; }
	NVMESIM_RUN=like_hardware nvmesim_start flash --drive=ps1010 --scale=0.001 ||
		{ echo "Bail out! no NVMe drive"; exit 1; }
	modprobe bfq # the unit loads it, and a scheduler more is offered from then on
	settings >"$tmp/found"
	ok "what can be set of the devices is read" grep -q flat/queue/nr_requests "$tmp/found"
}

reboot_node() {
	done_testing
	trap - EXIT
	touch /share/reset
	systemctl reboot
	sleep infinity
}

first_boot() {
	start_devices
	is "before, there is no trace of it" "$(traces)" ""
	mkdir "$kept"
	cp "$tmp/found" "$kept/"
	echo "# --- install"
	ok "dpkg installs it, with all that it depends on" package -i "$deb"
	is "it is installed" "$(state_of)" "installed $version"
	is "and neither enabled" "$(systemctl is-enabled storpowerd)" disabled
	is "nor started" "$(systemctl is-active storpowerd)" inactive
	ok "its shipped configuration is right" storpowerd --check-config
	mkdir -p /etc/storpower/storpower.conf.d
	printf '[device flat]\nprofile = intel-p5510\n[device %s]\n' "$nvmesim_ctrl" \
		>/etc/storpower/storpower.conf.d/50-local.conf
	ok "the operator enables and starts it" systemctl enable --now storpowerd
	ok "it answers on the system bus" eventually ctl status
	ok "a limit is set" ctl set 80% --tolerance=none --reason "grid event"
	ok "and held" within 30 held
	claims >"$kept/claims"
	reboot_node
}

second_boot() {
	echo "# --- reboot"
	start_devices
	ok "after the reboot every device is as it was found at first" diff "$kept/found" "$tmp/found"
	ok "on the way down the daemon has given them back" test ! -s /var/lib/storpower/journal
	ok "and kept the claim" test -s /var/lib/storpower/claims
	is "nothing has started it yet" "$(systemctl is-active storpowerd)" inactive
	systemctl start --no-block multi-user.target # the script runs before it
	ok "it comes up with the node" within 60 systemctl is-active storpowerd
	is "it has the claim as it was" "$(claims)" "$(<"$kept/claims")"
	ok "and holds it" within 30 held
	storpowerctl hold 90% -- sleep infinity &
	holder=$!
	ok "and another for as long as its owner is there" eventually claims_are_two
	standing=$(claims)
	ok "the timer of metrics is enabled, too" eval \
		'mkdir -p /var/lib/prometheus/node-exporter; systemctl enable --now storpower-metrics.timer'
	ok "and writes" within 30 test -s /var/lib/prometheus/node-exporter/storpower.prom

	echo "# --- upgrade"
	before=$(pid)
	ok "the same package with a higher version" higher_version
	ok "is installed over it" package -i "$tmp/higher.deb"
	is "as an upgrade" "$(state_of)" "installed $version+1"
	ok "the daemon was started anew" started_anew "$before"
	ok "with both claims as they were" within 30 claims_stand
	ok "which are held" within 30 held
	ok "it is enabled still" systemctl is-enabled storpowerd
	ok "what the operator wrote is there" grep -q intel-p5510 /etc/storpower/storpower.conf.d/50-local.conf
	before=$(pid)
	ok "it is installed once more" package -i "$tmp/higher.deb"
	ok "and started anew" started_anew "$before"
	ok "and holds the claims" within 30 eval 'claims_stand && held'
	kill $holder
	ok "that of an owner who goes ends" eventually eval '! claims_are_two'
	standing=$(claims)
	systemctl disable --now storpowerd 2>/dev/null
	ok "one that the operator has stopped and disabled" has_ended
	ok "is not started" eval 'package --force-downgrade -i "$deb" && has_ended'
	systemctl enable --now storpowerd 2>/dev/null
	ok "started, it holds the claim" within 30 held

	echo "# --- remove"
	ok "dpkg removes it" package -r storpower
	ok "the daemon has ended" has_ended
	ok "every device is as it was found" as_found
	ok "no program is left" test ! -e /usr/sbin/storpowerd -a ! -e /usr/bin/storpowerctl
	ok "what the operator wrote is kept" test -s /etc/storpower/storpower.conf.d/50-local.conf
	ok "and so is the state" test -s /var/lib/storpower/claims
	ok "with nothing in the journal" test ! -s /var/lib/storpower/journal
	ok "the metrics' file is gone" test ! -e /var/lib/prometheus/node-exporter/storpower.prom
	is "no unit has failed" "$(systemctl --failed --plain --no-legend)" ""
	ok "installed again, it is enabled as before, and started" eval \
		'package -i "$deb" && systemctl is-enabled storpowerd && within 30 ctl status'
	ok "and holds the claim" within 30 eval 'claims_stand && held'

	echo "# --- removed after a kill, without its --restore"
	systemctl kill --kill-who=main --signal=KILL storpowerd
	ok "removed right after it was killed" package -r storpower
	ok "every device is as it was found" as_found

	echo "# --- purge"
	ok "dpkg purges it" package -P storpower
	is "dpkg knows nothing of it" "$(state_of)" ""
	is "no trace is left" "$(traces)" ""
	ok "every device is as it was found" as_found
	is "no unit has failed" "$(systemctl --failed --plain --no-legend)" ""
	done_testing
}

deb=$tmp/storpower.deb
cp "$B/${packages:-deb}"/storpower_*.deb "$deb" || { echo "Bail out! there is no package: make deb"; exit 1; }
version=$(dpkg-deb -f "$deb" Version)
if [[ $BOOT -eq 0 ]]; then first_boot; else second_boot; fi
