#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# storpowerctl calibrate, as far as it can be asked for without a drive: what it refuses, and records.
. "$(dirname "$0")/lib.sh"

profiles=$root/policies/profiles

for wrong in "" "--runs=7 sda" "--runs=x sda" "--goal=8 sda" "--goal=80% sda" "a b c" "--import=x" \
	"--import=x a b" "--all sda" "--depths=0 sda" "--depths=4,4 sda" "--chunks=4096x sda" "--chunks=64K,4K sda"; do
	status "wrong usage is 2: calibrate $wrong" 2 ctl calibrate $wrong
	ok "and says so" test -s "$tmp/err"
done
status "what is no block device is refused" 4 ctl calibrate no-such-drive
ok "and named" grep -qF '"no-such-drive" is no block device of this machine' "$tmp/err"

# Records
record=$tmp/record.hwdb
cat >"$record" <<-'END'
	block:*:name:MY DRIVE:fwrev:FW7:
	 STORPOWER_KIND=nvme
	 STORPOWER_RATED=25W
	 STORPOWER_IDLE=5W
	 STORPOWER_ERROR=2%
	 STORPOWER_STATE_0=25W
	 STORPOWER_STATE_1=0.5W exit=5000us operational=no
	 STORPOWER_POINT_1=ps=0 qd=64 chunk=4K read random: 12W 2000MB/s p99=200us
	 STORPOWER_POINT_2=ps=0 qd=1 chunk=4K read random: 6W 50MB/s estimated
END
status "a record is imported" 0 ctl calibrate --import="$record" "$tmp/my.profile"
status "and is a profile that can be used" 0 ctl model validate "$tmp/my.profile"
ok "with its points" grep -q "2 points (1 estimated)" "$tmp/out"
ok "for its model" grep -qx "match = MY DRIVE" "$tmp/my.profile"
sed -i 's/IDLE=5W/IDLE=50W/' "$record"
status "one that makes no sense is a failure" 1 ctl calibrate --import="$record" "$tmp/my.profile"
ok "and the profile that was there stays" grep -qx "idle = 5W" "$tmp/my.profile"
ok "with no other beside it" test ! -e "$tmp/my.profile.new"
status "one that makes no sense is a failure, told" 1 ctl calibrate --import="$record" "$tmp/my.profile"
ok "and says why" grep -q "idle (50 W) is above rated (25 W)" "$tmp/err"
status "a file without a record, too" 1 ctl calibrate --import="$profiles/samsung-pm9a3.profile" "$tmp/x"
ok "and leaves no profile behind" test ! -e "$tmp/x"
status "and one that is not there" 1 ctl calibrate --import="$tmp/none" "$tmp/x"

# A daemon of a simulated node has nothing that fio could run on; and without one nothing is known of watts.
drive=
for block in /sys/block/*; do
	drive=${block##*/}
	break
done
if [[ $drive ]]; then
	start_bus
	status "without a daemon it does not begin" 3 ctl calibrate "$drive"
	start_daemon
	status "a simulated node is refused" 4 ctl calibrate "$drive"
	ok "as one that is" grep -q "simulated: there is nothing to measure" "$tmp/err"
	ok "and nothing is left behind" test "$(ctl list --claims --json=short)" = "[]"
fi
done_testing
