#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# storpowerctl doctor: what it finds in a tree made up for it, what it says to do about it, and that this helps.
. "$(dirname "$0")/lib.sh"

fake=$tmp/fake
export STORPOWER_ROOT=$fake

doctor() {
	ctl doctor --profiles="$root/policies/profiles" "$@"
}

# A host that has all that storpower can use, and no rival.
healthy() {
	rm -rf "$fake"
	put /sys/kernel/btf/vmlinux x
	put /sys/fs/cgroup/cgroup.controllers io
	put /sys/fs/cgroup/io.cost.qos ''
	put /sys/class/nvme/nvme0/model 'SAMSUNG MZQL23T8HCLS-00A07'
	put /sys/block/sda/device/model 'Unheard Of'
	put /sys/block/sda/queue/rotational 1
	mkdir -p "$fake/etc/udev/rules.d"
	enable storpowerd.service
}

put() { # FILE TEXT
	mkdir -p "$fake${1%/*}"
	printf '%s\n' "$2" >"$fake$1"
}

enable() { # UNIT
	mkdir -p "$fake/etc/systemd/system/multi-user.target.wants"
	ln -sf "/usr/lib/systemd/system/$1" "$fake/etc/systemd/system/multi-user.target.wants/$1"
}

start_unit() { # UNIT: the link that systemd keeps while it runs
	mkdir -p "$fake/run/systemd/units"
	ln -s 0123456789abcdef0123456789abcdef "$fake/run/systemd/units/invocation:$1"
}

rivals() {
	doctor --json=short | jq -r '.Findings[] | select(.Topic == "Rivals" and .Grade == "rival") | .Text'
}

fixes() {
	doctor --json=short | jq -r '.Findings[] | select(.Topic == "Rivals") | .Fix'
}

# What the command would do to this host it does to the tree.
follow_advice() {
	local fix
	fix=$(fixes)
	fix=${fix%% && systemctl *}
	case $fix in
		"systemctl disable --now "*)
			rm -f "$fake/etc/systemd/system/"*.wants/"${fix##* }" "$fake/run/systemd/units/invocation:${fix##* }" \
				"$fake"/etc/rc?.d/S??"$(basename "${fix##* }" .service)" ;;
		*) bash -c "${fix//\/etc\//$fake/etc/}" ;;
	esac
}

# rival NAME FIX: it alone is found, and what doctor says to do about it helps
rival() {
	ok "$1 is found" test "$(rivals | grep -c .)/$(rivals | grep -c "^$1 ")" = 1/1
	is "and what to do about it" "$(fixes)" "$2"
	status "which is 5" 5 doctor
	ok "within 80 columns" test "$(grep -v '  fix: ' "$tmp/out" | wc -L)" -le 80
	ok "done" follow_advice
	is "that helps" "$(rivals)" ""
	status "and all is well again" 0 doctor
	healthy
}

no_rival() { # WHY
	is "no rival: $1" "$(rivals)" ""
	healthy
}

start_bus
healthy
status "without a daemon: 3" 3 doctor
ok "which is said, with the remedy" grep -q "fix: systemctl enable --now storpowerd$" "$tmp/out"
ok "what the node offers is told all the same" grep -q "^  ok  *io.cost: " "$tmp/out"
ok "a drive that the profiles know" grep -q "^  nvme0 .*samsung-pm9a3 .*shipped .* %" "$tmp/out"
ok "and one that they do not, and how wrong that may be" grep -q "^  sda .*guessed  *25 %" "$tmp/out"
ok "what would help it" grep -q "fix: storpowerctl calibrate sda$" "$tmp/out"
rm "$fake/sys/kernel/btf/vmlinux"
status "without eBPF, too" 3 doctor
ok "what is missing is told" grep -q "^  missing  eBPF: .*CONFIG_DEBUG_INFO_BTF" <(tr -s '\n ' ' ' <"$tmp/out" | sed 's/missing/\n  missing /g')
STORPOWER_BUS=unix:path=$tmp/nosuch status "without a bus: 3" 3 doctor
healthy

start_daemon
status "all is well: 0" 0 doctor
ok "and that is said" grep -q "^All is well.$" "$tmp/out"
ok "within 80 columns" test "$(wc -L <"$tmp/out")" -le 80
ok "the mechanisms of each drive are told" grep -q "^  nvme0.* power-state,*" "$tmp/out"
is "JSON has each drive" "$(doctor --json | jq '.Drives | length')" "$(ctl list --json | jq length)"
is "with what it offers" "$(doctor --json | jq '[.Drives[] | .Mechanisms | length > 0] | all')" true
ok "and whence its profile is, and how wrong that may be" jq -e \
	'[.Drives[] | .From as $f | (["measured", "own", "shipped", "guessed"] | index($f)) != null and .Error > 0] | all' <(doctor --json)
is "and the verdict" "$(doctor --json | jq -r .Verdict)" note

mkdir "$tmp/profiles"
cp "$root"/policies/profiles/*.profile "$tmp/profiles"
sed -i '1i # PM9A3, measured by storpowerctl calibrate' "$tmp/profiles/samsung-pm9a3.profile"
stop_daemon
is "a profile that was measured is told from one that came with storpower" \
	"$(ctl doctor --profiles="$tmp/profiles" --json | jq -r '.Drives[] | select(.Name == "nvme0").From')" measured
start_daemon

rm "$fake/sys/fs/cgroup/io.cost.qos"
status "without io.cost: 6" 6 doctor
ok "which is said" grep -q "^  missing  io.cost: the kernel has none" "$tmp/out"
rm "$fake/sys/fs/cgroup/cgroup.controllers"
status "without cgroup v2: 6" 6 doctor
ok "and that, too" grep -q "^  missing  io.cost: it needs cgroup v2" "$tmp/out"
healthy
put /sys/class/hwmon/hwmon0/power1_input 100
ok "a sensor that nobody uses is told of" grep -q "storpower.conf(5)" <(doctor)
healthy

is "who has no hooks is told nothing of them" "$(doctor | grep -c 'hooks: ')" 0
put /etc/storpower/hooks.d/50-good '#!/bin/sh'
put /etc/storpower/hooks.d/60-later '#!/bin/sh'
put /etc/storpower/hooks.d/70-open '#!/bin/sh'
chmod 755 "$fake/etc/storpower/hooks.d" "$fake/etc/storpower/hooks.d/50-good"
chmod 777 "$fake/etc/storpower/hooks.d/70-open"
status "hooks without their socket: 6" 6 doctor
ok "which is said, with the remedy" grep -q "fix: systemctl enable --now storpower-hooks.socket$" "$tmp/out"
ok "the hooks are named" grep -q "^  ok  *hooks: 50-good$" "$tmp/out"
ok "and those that are not run" grep -q "^  note  *hooks: 60-later is not run: it is not executable$" "$tmp/out"
ok "and why" grep -q "^  missing  *hooks: 70-open is not run: others than its owner may write" "$tmp/out"
enable storpower-hooks.socket
chmod 755 "$fake/etc/storpower/hooks.d/70-open"
status "with it, and nobody else's: 0" 0 doctor
healthy

for pair in "hd-idle hd-idle" "TLP tlp" "laptop-mode-tools laptop-mode" "powertop powertop"; do
	read -r name unit <<<"$pair"
	enable "$unit.service"
	rival "$name" "systemctl disable --now $unit.service"
	start_unit "$unit.service"
	rival "$name" "systemctl disable --now $unit.service"
	enable "$unit.service"
	ln -s /dev/null "$fake/etc/systemd/system/$unit.service"
	no_rival "$unit.service is masked"
done
put /etc/rc2.d/S01hd-idle ''
rival hd-idle "systemctl disable --now hd-idle.service"

put /etc/tuned/active_profile ours
put /etc/tuned/ours/tuned.conf $'[main]\ninclude=balanced'
put /usr/lib/tuned/balanced/tuned.conf $'[scsi_host]\nalpm=medium_power'
no_rival "tuned does not run"
put /etc/tuned/active_profile ours
put /etc/tuned/ours/tuned.conf $'[main]\ninclude=balanced'
put /usr/lib/tuned/balanced/tuned.conf $'[scsi_host]\nalpm=medium_power'
enable tuned.service
rival tuned "systemctl disable --now tuned.service"
put /etc/tuned/active_profile throughput-performance
put /usr/lib/tuned/balanced/tuned.conf $'[scsi_host]\nalpm=medium_power'
put /usr/lib/tuned/profiles/throughput-performance/tuned.conf $'[disk]\nreadahead=>4096'
enable tuned.service
no_rival "tuned's present profile leaves disks alone but for their read-ahead"
put /etc/tuned/active_profile a
put /etc/tuned/a/tuned.conf 'include=b'
put /etc/tuned/b/tuned.conf 'include=a'
enable tuned.service
no_rival "tuned's profiles include each other"

put /etc/rc.local $'#!/bin/sh\n/usr/sbin/powertop --auto-tune'
rival "powertop --auto-tune" "sed -i '/powertop/s/^/#/' /etc/rc.local"
put /etc/rc.local '# powertop --auto-tune'
no_rival "a comment"

put /etc/hdparm.conf $'/dev/sda {\n\tspindown_time = 120\n}'
rival hdparm.conf "sed -Ei 's/^\\s*(spindown_time|apm)/#&/' /etc/hdparm.conf"
put /etc/hdparm.conf $'# spindown_time = 24\n#apm = 255'
no_rival "hdparm.conf as it is installed"
put /etc/cron.d/disks '@reboot root hdparm -S 120 /dev/sda'
rival hdparm "sed -i '/hdparm/s/^/#/' /etc/cron.d/disks"
put /etc/udev/rules.d/69-hdparm.rules 'ACTION=="add", KERNEL=="sd[a-z]", RUN+="/usr/bin/hdparm -B 127 -S 24 /dev/%k"'
rival hdparm "sed -i '/hdparm/s/^/#/' /etc/udev/rules.d/69-hdparm.rules"
put /etc/cron.d/disks '@daily root hdparm -I /dev/sda'
no_rival "hdparm that only asks"

put /etc/udisks2/WD-1234.conf $'[ATA]\nStandbyTimeout=240'
rival udisks "sed -Ei 's/^\\s*(StandbyTimeout|APMLevel)/#&/' /etc/udisks2/WD-1234.conf"

put /etc/smartd.conf 'DEVICESCAN -d removable -m root'
no_rival "smartd does not run"
put /etc/smartd.conf $'# /dev/sda -a\nDEVICESCAN -d removable -m root'
start_unit smartd.service
smartd_fix="sed -Ei '/-n /!s,^(DEVICESCAN|/dev/\\S+),& -n standby,' /etc/smartd.conf && systemctl reload smartd"
rival smartd "$smartd_fix"
put /etc/smartd.conf $'/dev/sda -a -n standby,q\n/dev/sdb -a'
enable smartd.service
rival smartd "$smartd_fix"
for line in 'DEVICESCAN -n standby,10,q -m root' $'DEFAULT -n idle\n/dev/sda -a'; do
	put /etc/smartd.conf "$line"
	enable smartd.service
	no_rival "smartd lets disks sleep by $line"
done

put /run/udev/data/b259:0 $'S:disk\nE:IOCOST_SOLUTIONS=isolation'
rival "systemd's iocost rule" "ln -s /dev/null /etc/udev/rules.d/90-iocost.rules"
put /run/udev/data/b259:0 'E:ID_MODEL=x'
put /usr/lib/udev/rules.d/90-iocost.rules 'RUN+="iocost apply"'
no_rival "systemd's rule does not know these drives"

put /etc/udev/rules.d/60-io.rules 'ACTION=="add", ATTR{queue/nr_requests}="64"'
rival "a rule of udev" "mv /etc/udev/rules.d/60-io.rules /etc/udev/rules.d/60-io.rules.off"
put /etc/udev/rules.d/60-io.rules 'ACTION=="add", ATTR{queue/scheduler}="none"'
no_rival "a rule that sets what storpower does not hold"

put /etc/hdparm.conf 'spindown_time = 1'
enable hd-idle.service
is "as many rivals as there are" "$(rivals | grep -c .)" 2
rm "$fake/sys/fs/cgroup/io.cost.qos"
status "a rival counts for more than what is missing" 5 doctor
is "wrong usage is 2" "$(doctor extra >/dev/null 2>&1; echo $?)" 2
ok "the daemon lives" daemon_lives
done_testing
