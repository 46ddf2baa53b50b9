#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# limit: 600
# qemu: -drive if=none,id=l,format=raw,file.driver=null-co,file.read-zeroes=on,file.size=64M -drive if=none,id=v,format=raw,file.driver=null-co,file.read-zeroes=on,file.size=64M -drive if=none,id=u,format=raw,file.driver=null-co,file.read-zeroes=on,file.size=64M -drive if=none,id=t,format=raw,file.driver=null-co,file.read-zeroes=on,file.size=64M -drive if=none,id=m1,format=raw,file.driver=null-co,file.read-zeroes=on,file.size=64M -drive if=none,id=m2,format=raw,file.driver=null-co,file.read-zeroes=on,file.size=64M -device lsi53c895a,id=lsi -device scsi-hd,drive=l,bus=lsi.0 -device virtio-scsi-pci,id=virtio -device scsi-hd,drive=v,bus=virtio.0 -device qemu-xhci,id=usb -device usb-storage,drive=u,bus=usb.0 -device nvme-subsys,id=twin,nqn=twin -device nvme,id=twin0,subsys=twin,serial=TWIN -device nvme,id=twin1,subsys=twin,serial=TWIN -device nvme-ns,drive=t,bus=twin0,nsid=1,shared=on -device nvme-subsys,id=many,nqn=many -device nvme,id=many0,subsys=many,serial=MANY -device nvme-ns,drive=m1,bus=many0,nsid=1,shared=off -device nvme-ns,drive=m2,bus=many0,nsid=2,shared=off,detached=on
#
# QEMU's stock devices: SCSI disks behind an LSI 53C895A, virtio and USB, an NVMe drive whose namespaces
# come and go, and one with two controllers and a shared namespace. None of them sleeps or has power
# states. Each takes a budget and gives it back, and one that is pulled out under a budget is no trouble.

. "$(dirname "$0")/lib.sh"

cgroups=/sys/fs/cgroup

show() {
	ctl status
	ctl list
	tail -n 30 "$tmp/daemon.log"
}
at_end=(show_and_stop "${at_end[@]}")

disk_of() { # DRIVER: of its SCSI host
	local disk
	for disk in /sys/block/sd*; do
		[[ $(cat "$disk"/device/../../scsi_host/host*/proc_name) != "$1" ]] || echo "${disk##*/}"
	done
}

controller_of() { # SERIAL: the first
	grep -l "^$1 *$" /sys/class/nvme/nvme*/serial | sed -n '1s,/serial,,p'
}

# What the knobs could change. An io.cost line stays once it was used, off and with the kernel's own
# numbers.
dump() {
	grep -s . /sys/block/{sd,nvme}*/queue/{nr_requests,max_sectors_kb,read_ahead_kb,scheduler} \
		/sys/block/sd*/device/queue_depth $cgroups/*/io.max
	grep -hv -e "enable=0 ctrl=auto" -e "[0-9] ctrl=auto" $cgroups/io.cost.{qos,model}
}

as_found() {
	dump >"$tmp/now"
	diff "$tmp/found" "$tmp/now"
}

names() { # of the devices whose ids begin so
	ctl list --json=short | jq -r --arg id "${1:-}" '[.[] | select(.Id | startswith($id)).Name] | sort | join(" ")'
}

holds() { # DEVICE WATTS
	ctl show "$1" --json=short |
		jq -e --argjson w "$2" '.CapPower <= $w + 0.001 and .Setting != "as found" and .Problem == ""'
}

node_holds() {
	ctl status --json=short | jq -e '.CapPower <= .EffectiveLimit + 0.001 and (.Degraded | not)'
}

# A limit of its own, there and back.
takes() { # DEVICE WATTS
	status "$3 takes a budget" 0 ctl set "$2W" --device="$1"
	ok "and holds it" eventually holds "$1" "$2"
	status "it is cleared" 0 ctl clear
	ok "and all is as it was" eventually as_found
	ok "with nothing left in the journal" eventually test ! -s "$tmp/state/journal"
}

# Since the last time: no warning, no error, and the daemon goes on.
calm() {
	! grep -E '^<[0-4]>' "$tmp/daemon.log" || return
	: >"$tmp/daemon.log"
	daemon_lives
}

is_there() { # DRIVER
	[[ $(disk_of "$1") ]]
}

is_gone() {
	! is_there "$1"
}

managed() { # DEVICE
	ctl show "$1"
}

unmanaged() {
	! managed "$1"
}

modprobe -a sym53c8xx virtio_scsi xhci_pci usb-storage sd-mod nvme
udevadm settle --timeout=30
for driver in sym53c8xx virtio_scsi usb-storage; do
	ok "there is a disk of $driver" within 30 is_there $driver
done
echo +io >$cgroups/cgroup.subtree_control
mkdir $cgroups/work
lsi=$(disk_of sym53c8xx) virtio=$(disk_of virtio_scsi) usb=$(disk_of usb-storage)
many=$(controller_of MANY)
dump >"$tmp/found"

start_bus
start_daemon
ok "the LSI disk is managed, and those on virtio and USB are not" test "$(names name:)" = "$lsi"
stop_daemon
mkdir -p "$tmp/etc"
printf '[device %s]\n' "$virtio" "$usb" >"$tmp/etc/storpower.conf"
start_daemon
is "unless they are named" "$(names name:)" "$(printf '%s\n' "$lsi" "$virtio" "$usb" | sort | xargs)"
takes "$lsi" 10 "the disk on LSI"
takes "$virtio" 10 "the disk on virtio"
takes "$usb" 10 "the disk on USB"
takes "$(names serial:MANY)" 20 "the NVMe drive"
: >"$tmp/daemon.log"

echo "# --- disks that are pulled out under a budget"
status "a budget for all" 0 ctl set 85%
ok "is held" eventually node_holds
echo 1 >"/sys/block/$virtio/device/delete"
ok "a SCSI disk is deleted" within 30 is_gone virtio_scsi
ok "and no longer managed" eventually unmanaged "$virtio"
ok "the rest holds the budget" eventually node_holds
reads() { # how many there were
	read -r ios _ <"/sys/block/$usb/stat"
	echo "$ios"
}
before=$(reads)
is_read() { (($(reads) > before + 20)); }
(
	echo $BASHPID >$cgroups/work/cgroup.procs
	exec fio --name=reader --filename="/dev/$usb" --allow_file_create=0 --direct=1 --rw=randread --bs=4k \
		--time_based --runtime=600 --size=32M
) >/dev/null 2>&1 &
reader=$!
ok "one of them is being read" within 30 is_read
port=$(readlink -f "/sys/block/$usb/device" | grep -o '.*/usb[0-9]*/[0-9.-]*/')
echo 0 >"$port/authorized"
ok "a disk on USB goes in the middle of IO" within 30 is_gone usb-storage
ok "and is no longer managed" eventually unmanaged "$usb"
reader_ended() { ! kill -0 $reader; }
ok "its reader is told" within 60 reader_ended
ok "the rest holds the budget" eventually node_holds
ok "nobody complains of that" calm

echo "# --- and plugged in again"
for host in /sys/class/scsi_host/host*; do
	[[ $(<"$host/proc_name") != virtio_scsi ]] || echo "- - -" >"$host/scan"
done
echo 1 >"$port/authorized"
ok "the SCSI disk is back" within 30 is_there virtio_scsi
ok "and that on USB" within 30 is_there usb-storage
both_managed() { # by whatever names they have now; that on virtio was named, and the other may be
	[[ " $(names name:) " == *" $(disk_of virtio_scsi) "* && " $(names name:) " == *" $(disk_of usb-storage) "* ]]
}
ok "both are managed" eventually both_managed
ok "they hold the budget with the others" eventually node_holds
echo 1 >"$port/remove"
ok "one is removed for good" within 30 is_gone usb-storage
ok "and the rest holds the budget" eventually node_holds
ok "nobody complains of that" calm
ctl clear >/dev/null
ok "nothing is left when it is lifted" eventually test ! -s "$tmp/state/journal"
dump >"$tmp/found"

echo "# --- namespaces that come and go"
namespace() { # attach|detach NUMBER
	nvme "$1-ns" "/dev/${many##*/}" --namespace-id="$2" --controllers="$(<"$many/cntlid")" >/dev/null &&
		nvme ns-rescan "/dev/${many##*/}" >/dev/null
	udevadm settle --timeout=30
}
has_namespaces() { # NUMBER
	[[ $(find "$many/" -maxdepth 1 -name 'nvme*n*' | wc -l) -eq $1 ]]
}
settings() { # NAMESPACE
	local path
	path=$(echo "$many"/nvme*n"$1")
	cat "$path"/queue/{nr_requests,max_sectors_kb}
	grep "^$(<"/sys/block/$(sed 's,.*/,,; s,c[0-9]*n,n,' <<<"$path")/dev") " $cgroups/work/io.max
}
found=$(settings 1)
is_limited() { # NAMESPACE
	[[ $(settings "$1") != "$found" ]]
}
is_not_limited() {
	! is_limited "$1"
}
status "a budget for the drive" 0 ctl set 20W --device="$(names serial:MANY)"
ok "is held by its one namespace" within 10 is_limited 1
namespace attach 2
ok "a second one is attached" has_namespaces 2
ok "IO can be shaped where there is one alone: the first is given back" within 10 is_not_limited 1
ok "the second was never touched" is_not_limited 2
ok "the drive says why it is not limited" eventually eval \
	'[[ $(ctl show serial:MANY | tr -s " \n" " ") == *"has 2 namespaces, and IO can be shaped only where there is one"* ]]'
namespace detach 1
ok "the first is detached" has_namespaces 1
ok "the second is limited in its place" within 10 is_limited 2
namespace detach 2
ok "the last one is detached under the budget" has_namespaces 0
ok "the drive stays" eventually managed serial:MANY
namespace attach 1
ok "the first is attached again" has_namespaces 1
ok "and limited" within 10 is_limited 1
ok "nobody complains of all that" calm
ctl clear >/dev/null
ok "it is given back" within 10 is_not_limited 1
ok "nothing is left in the journal" eventually test ! -s "$tmp/state/journal"
ok "all is as it was" eventually as_found

echo "# --- two controllers and one namespace"
is "there are two controllers" "$(grep -l '^TWIN *$' /sys/class/nvme/nvme*/serial | wc -l)" 2
is "they are one device" "$(names serial:TWIN | wc -w)" 1
is "whose watts count once" \
	"$(ctl list --json=short | jq '[.[] | select(.Id | startswith("serial:TWIN")).RatedPower] | add')" 25
ok "of cgroup v2 no word is said" eval '! ctl show serial:TWIN | tr -s " \n" " " | grep "cgroup v2"'
takes "$(names serial:TWIN)" 20 "the pair"
ok "nobody complains of it" calm
stop_daemon
is "the daemon ends well" "$daemon_status" 0
ok "and leaves all as it was" as_found
done_testing
