#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# udevd, networkd and NetworkManager, each with the file that we ship, leave a team's ports and its inner device alone,
# even if a file of the machine configures every device. Uses the bpf datapath, which has an inner device.
#
# lab: managers_test.sh in -k newest -p 3 -s, 60 s
set -euo pipefail
. "${BASH_SOURCE%/*}/unit.sh"
devices="eth0 eth1 tmo0"
# The settings that only the daemon may change, without counters and times.
as_they_are() {
    local device
    for device in $devices; do
        # the operational state may change later
        ip -d link show dev "$device" | sed 's/ state [A-Z]*//'
        ip -o addr show dev "$device" | sed 's/valid_lft.*//'
        ip route show dev "$device"
        ip -6 route show dev "$device"
        tc qdisc show dev "$device"
        cat "/proc/sys/net/ipv6/conf/$device/disable_ipv6"
    done
}
# unchanged BEFORE PROGRAM
unchanged() {
    local difference
    difference=$(diff <(echo "$1") <(as_they_are)) || fail "$2 changed something: $difference"
    carry 2 || fail "two ports do not carry after $2: $(teamoctl team0 state dump)"
}
# nm_says DEVICE STATE
nm_says() { [[ $(nmcli -g GENERAL.STATE device show "$1" 2>/dev/null) == *"($2)" ]]; }
has_address() { ip -o -4 addr show dev "$1" | grep -qF "$2/"; }

# Installs them into the guest's overlay.
tar -C "$TEAMO_LAB_MANAGERS" -cf - . | tar -C / --keep-directory-symlink --no-overwrite-dir -xf -
install_unit

start_udevd persistent
configure bpf eth0 eth1
systemctl start "$unit" || fail "systemctl start"
await 20 carry 2 || fail "two ports do not carry: $(teamoctl team0 state dump)"
udevadm settle -t 60 || fail "udevd does not settle after the start of the team"
carry 2 || fail "udevd has changed the team: $(teamoctl team0 state dump)"
property() { udevadm info --query=property --property="$2" --value "/sys/class/net/$1"; }
[ "$(property tmo0 NM_UNMANAGED)" = 1 ] || fail "udev's rule does not set NM_UNMANAGED on tmo0"
[ "$(property tmo0 SYSTEMD_READY)" = 0 ] || fail "udev's rule does not clear SYSTEMD_READY on tmo0"
kind=$(teamoctl team0 state item get datapath.device_kind)
for device in eth0 team0; do
    # NetworkManager's own rule sets it on veth devices (a team before kernel 6.7).
    [ "$device $kind" != "team0 veth" ] || continue
    [ -z "$(property $device NM_UNMANAGED)" ] || fail "udev's rule sets NM_UNMANAGED on $device"
done
# The inner device has a carrier as long as the team is up.
ip link set team0 up
await 20 grep -q 1 /sys/class/net/tmo0/carrier || fail "the inner device gets no carrier"
before=$(as_they_are)
step "udevd: the inner device is marked, two ports carry"

# A file that matches every device, and one with the team's address; eth2 shows that networkd uses the first.
printf '[Match]\nName=team0\n[Network]\nAddress=10.9.0.1/24\n' >/etc/systemd/network/10-team.network
printf '[Match]\nName=*\n[Link]\nMTUBytes=1400\n[Network]\nAddress=192.0.2.1/24\nLinkLocalAddressing=yes\n' \
    >/etc/systemd/network/90-all.network
ip -o monitor link dev team0 >/run/links &
monitor=$!
for way in start restart; do
    systemctl $way systemd-networkd.service || fail "networkd does not $way"
    await 30 networkd_says eth2 configured || await 30 networkd_says eth2 configuring || fail "eth2 is not configured: $(networkctl)"
    await 30 has_address eth2 192.0.2.1 || fail "networkd has not given eth2 its address"
    await 30 has_address team0 10.9.0.1 || fail "networkd has not given the team its address"
    for device in $devices; do
        await 30 networkd_says "$device" unmanaged || fail "networkd manages $device: $(networkctl)"
    done
    unchanged "$before" "networkd's $way"
done
kill $monitor
! link_went || fail "the team's link changed when networkd restarted"
printf '[Match]\nName=eth2\n[Link]\nUnmanaged=yes\n' >/etc/systemd/network/05-new.network
/usr/share/teamd-offload/announce-files || fail "announce-files while networkd runs"
await 30 networkd_says eth2 unmanaged || fail "networkd has not read a file that an installation announces: $(networkctl)"
rm /etc/systemd/network/05-new.network
networkctl --no-pager list
step "networkd: ports and inner device are unmanaged and unchanged, also after a restart"

# A team that starts while networkd runs.
systemctl stop "$unit"
systemctl start "$unit" || fail "systemctl start while networkd runs"
await 20 carry 2 || fail "two ports do not carry while networkd runs: $(teamoctl team0 state dump)"
await 30 has_address team0 10.9.0.1 || fail "networkd has not given the new team its address"
await 30 networkd_says tmo0 unmanaged || fail "networkd manages the new inner device: $(networkctl)"
systemctl stop systemd-networkd.socket systemd-networkd.service
step "networkd: leaves a team alone that starts later"

# The administrator lists the ports in a file, as the file that we ship explains.
mkdir -p /etc/NetworkManager/conf.d
printf '[keyfile]\nunmanaged-devices+=interface-name:eth0;interface-name:eth1\n' >/etc/NetworkManager/conf.d/ports.conf
busctl call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus ReloadConfig >/dev/null
await 20 grep -q 1 /sys/class/net/tmo0/carrier || fail "the new inner device gets no carrier"
before=$(as_they_are)
for way in start restart; do
    systemctl $way NetworkManager.service || fail "NetworkManager does not $way"
    managed() { [[ $(nmcli -g GENERAL.STATE device show eth2 2>/dev/null) =~ \((connect|disconnected|unavailable) ]]; }
    await 60 managed || fail "NetworkManager does not manage eth2: $(nmcli device)"
    # NetworkManager may ignore such a device anyway, so check that it has read our file.
    NetworkManager --print-config | grep -qxF 'match-device=interface-name:tmo*' || fail "NetworkManager has not read our file"
    for device in $devices; do
        await 30 nm_says "$device" unmanaged || fail "NetworkManager manages $device: $(nmcli device)"
    done
    unchanged "$before" "NetworkManager's $way"
    has_address team0 10.9.0.1 || fail "NetworkManager has taken the team's address"
done
printf '[keyfile]\nunmanaged-devices+=interface-name:eth2\n' >/etc/NetworkManager/conf.d/z-new.conf
/usr/share/teamd-offload/announce-files || fail "announce-files while NetworkManager runs"
await 30 nm_says eth2 unmanaged || fail "NetworkManager has not read a file that an installation announces: $(nmcli device)"
nmcli device
step "NetworkManager: ports and inner device are unmanaged and unchanged, also after a restart"
systemctl stop NetworkManager.service
systemctl stop "$unit" || fail "systemctl stop"
