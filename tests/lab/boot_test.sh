#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The ways of docs/moving.md to bring a team up at boot, by systemd-networkd and by ifupdown: addresses, a route, a VLAN
# and DHCP.
#
# lab: boot_test.sh in -k 6.12 -c 2 -s -t, 60 s, long
set -euo pipefail
. "${BASH_SOURCE%/*}/unit.sh"
. "${BASH_SOURCE%/*}/far_switch.sh"
has_address() { ip -o -4 addr show dev "$1" 2>/dev/null | grep -q "$2"; }
tar -C "$TEAMO_LAB_MANAGERS" -cf - . | tar -C / --keep-directory-symlink --no-overwrite-dir -xf -
install_unit
start_udevd none # networkd waits for it

# The VLAN 7 of the switch has a DHCP server.
ip -n far link add link br0 name br0.7 type vlan id 7
ip -n far link set br0.7 up
mkdir -p /run/far
printf '[Match]\nName=br0.7\n[Network]\nAddress=10.7.0.1/24\nDHCPServer=yes\n' >/run/far/server.network
printf '[Match]\nName=*\n[Link]\nUnmanaged=yes\n' >/run/far/z-rest.network
ip netns exec far unshare --mount sh -c '
    mount -o remount,ro /sys # there is no udevd in this namespace
    mount --bind /run/far /etc/systemd/network
    mount -t tmpfs -o mode=755 none /run/dbus
    mount -t tmpfs -o mode=755 none /run/systemd/netif
    mkdir /run/systemd/netif/links /run/systemd/netif/leases /run/systemd/netif/lldp
    chown -R systemd-network: /run/systemd/netif
    exec /lib/systemd/systemd-networkd' >/run/far.log 2>&1 &

# ---- systemd-networkd
configure auto a1 a2 a3
printf '[Match]\nName=team0\n[Network]\nAddress=10.9.0.1/24\nGateway=10.9.0.2\nVLAN=team0.7\n' >/etc/systemd/network/20-team0.network
printf '[NetDev]\nName=team0.7\nKind=vlan\n[VLAN]\nId=7\n' >/etc/systemd/network/20-team0.7.netdev
printf '[Match]\nName=team0.7\n[Network]\nDHCP=ipv4\n' >/etc/systemd/network/20-team0.7.network
systemctl enable "$unit" 2>/dev/null
systemctl start systemd-networkd || fail "networkd does not start"
systemctl start "$unit" || fail "systemctl start"
await 30 has_address team0 "10.9.0.1/24" || fail "networkd: no address: $(networkctl --no-pager)"
await 30 reaches || fail "networkd: the far end does not answer"
await 60 has_address team0.7 "10.7.0." || fail "networkd: no DHCP address: $(networkctl --no-pager; cat /run/far.log)"
ip route show default | grep -q "via 10.9.0.2 dev team0" || fail "networkd: no default route"
carry 3 || fail "networkd: the ports do not carry"
for port in a1 a2 a3; do
    networkctl --no-legend --no-pager list $port | grep -q unmanaged || fail "networkd manages $port"
done
step "systemd-networkd: an address, a route, a VLAN with DHCP"
systemctl stop systemd-networkd "$unit"
rm /etc/systemd/network/20-team0*

# ---- ifupdown
mkdir -p /run/network /etc/network/if-pre-up.d /etc/network/if-post-down.d
cp packaging/ifupdown/teamd-offload /etc/network/if-pre-up.d/
cp packaging/ifupdown/teamd-offload /etc/network/if-post-down.d/
cat >/etc/network/interfaces <<'END'
auto team0
iface team0 inet static
    address 10.9.0.1/24
    gateway 10.9.0.2
    team-config /etc/teamd-offload/team0.conf

auto team0.7
iface team0.7 inet dhcp
END
ifup team0 || fail "ifup"
has_address team0 "10.9.0.1/24" || fail "ifupdown: no address"
await 30 reaches || fail "ifupdown: the far end does not answer"
systemctl is-active --quiet "$unit" || fail "ifupdown: the unit does not run"
ifup team0.7 || fail "ifup of the VLAN"
has_address team0.7 "10.7.0." || fail "ifupdown: no DHCP address"
ifdown team0.7 || fail "ifdown of the VLAN"
ifdown team0 || fail "ifdown"
! ip link show team0 >/dev/null 2>&1 || fail "ifupdown: team0 is still there"
# A file elsewhere: without systemd.
sed -i 's|/etc/teamd-offload/team0.conf|/run/other.conf|' /etc/network/interfaces
cp /etc/teamd-offload/team0.conf /run/other.conf
ifup team0 || fail "ifup with another file"
await 30 reaches || fail "ifupdown: the far end does not answer"
! systemctl is-active --quiet "$unit" || fail "ifupdown: the unit runs"
ifdown team0 || fail "ifdown with another file"
! ip link show team0 >/dev/null 2>&1 || fail "ifupdown: team0 is still there"
step "ifupdown: up with an address, a route, a VLAN with DHCP, down again"
