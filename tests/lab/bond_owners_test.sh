#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Bonds that systemd-networkd, NetworkManager, dracut, ifupdown and netplan made, with a VLAN on top: the unit without a
# file attaches to each, in whatever order the two start, follows what the owner does, and leaves the bond as it was.
# Each round is as after a boot: there is no bond and no daemon.
#
# lab: bond_owners_test.sh in -k newest -p 3 -s, 400 s, long
# lab: bond_owners_test.sh in -k 6.1 -s, 400 s, long
set -euo pipefail
. "${BASH_SOURCE%/*}/unit.sh"
unit=teamd-offload@bond0.service
policy() { ip -d link show bond0 | grep -o 'xmit_hash_policy [^ ]*' | cut -d' ' -f2; }
is_steered() { [ "$(teamoctl bond0 state item get attached.steered 2>/dev/null)" = true ] && [ "$(teamoctl bond0 state item get attached.mode)" = "$1" ]; }
reaches() { ping -q -c 1 -W 1 "$1" >/dev/null; }
status_says() { [[ $(systemctl show --property=StatusText --value "$unit") == *"$1"* ]]; }
# show: what is wrong
show() { ip -d link show bond0 || true; ip addr || true; journalctl --no-pager -n 60 || true; }
# steered MODE: the bond carries, on the VLAN too, and the daemon steers it
steered() {
    await 60 is_steered "$1" || { show >&2; fail "$owner: the bond is not steered: $(teamoctl bond0 state)"; }
    await 60 reaches 10.9.0.2 || { show >&2; fail "$owner: the far end does not answer"; }
    await 60 reaches 10.7.0.2 || { show >&2; fail "$owner: the far end of the VLAN does not answer"; }
    await 30 status_says "of 2 ports carry" || fail "$owner: not two slaves"
}
# by_policy NAME: of the hash, when the daemon does not run
by_policy() { [ "$(policy)" = "$1" ] || fail "$owner: the policy is $(policy) and not $1"; }
# far_end MODE: two cables, a1 and a2, to a bond in 802.3ad or to a bridge, in the namespace far
far_end() {
    ip netns del far 2>/dev/null || true
    ip netns add far
    if [ "$1" = 802.3ad ]; then
        ip -n far link add lag type bond mode 802.3ad miimon 100 lacp_rate fast xmit_hash_policy layer3+4
    else
        ip -n far link add lag type bridge mcast_snooping 0
    fi
    for port in 1 2; do
        ip link del "a$port" 2>/dev/null || true # the namespace of its other end goes a moment later
        ip link add "a$port" type veth peer name "b$port" netns far
        ip -n far link set "b$port" master lag
        [ "$1" = 802.3ad ] || ip -n far link set "b$port" up
    done
    ip -n far link add link lag name lag.7 type vlan id 7
    ip -n far addr add 10.9.0.2/24 dev lag
    ip -n far addr add 10.7.0.2/24 dev lag.7
    ip -n far link set lag up
    ip -n far link set lag.7 up
}
# own NAME MODE POLICY: owner_up makes the bond from nothing, owner_again once more, owner_down removes it
own() {
    owner=$1
    local mode=$2 own=$3 round since
    since=$(date '+%Y-%m-%d %H:%M:%S')
    far_end "$mode"
    systemctl start "$unit" || fail "$owner: systemctl start without a bond"
    for round in 1 2 3; do
        case $round in
            1) owner_up ;; # the daemon is first
            2) owner_up && systemctl start "$unit" ;;
            3) systemctl start "$unit" & owner_up && wait $! ;;
        esac || { show >&2; fail "$owner: round $round"; }
        steered "$mode"
        owner_again || { show >&2; fail "$owner: the bond cannot be configured again"; }
        steered "$mode"
        systemctl restart "$unit" || fail "$owner: systemctl restart"
        steered "$mode"
        if [ $round = 1 ]; then
            owner_down && await 30 status_says "waits for bond" || fail "$owner: the daemon does not wait for the bond"
            owner_up
            steered "$mode"
        fi
        systemctl stop "$unit" || fail "$owner: systemctl stop"
        by_policy "$own"
        # Not within a second on every machine: one ping was lost once.
        await 10 reaches 10.9.0.2 || fail "$owner: the bond does not carry without the daemon"
        owner_down
    done
    [ -z "$(journalctl --no-pager --quiet --since "$since" --priority err -u "$unit" $watched)" ] ||
        { journalctl --no-pager --since "$since" --priority err -u "$unit" $watched >&2; fail "$owner: errors in the journal"; }
    step "$owner, $mode: attached and steered in each of three rounds, and left as it was"
}

tar -C "$TEAMO_LAB_MANAGERS" -cf - . | tar -C / --keep-directory-symlink --no-overwrite-dir -xf -
install_unit
# NetworkManager's own rule leaves veth devices alone, which are the cables here.
mkdir -p /etc/udev/rules.d
printf 'ENV{ID_NET_DRIVER}=="veth", ENV{NM_UNMANAGED}="0"\n' >/etc/udev/rules.d/90-cables.rules
start_udevd none
busctl call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus ReloadConfig >/dev/null

# ---- systemd-networkd
watched="-u systemd-networkd"
mkdir -p /run/owner
printf '[NetDev]\nName=bond0\nKind=bond\n[Bond]\nMode=802.3ad\nMIIMonitorSec=100ms\nLACPTransmitRate=fast\nTransmitHashPolicy=layer2+3\n' >/run/owner/20-bond0.netdev
printf '[NetDev]\nName=bond0.7\nKind=vlan\n[VLAN]\nId=7\n' >/run/owner/20-bond0.7.netdev
printf '[Match]\nName=a1 a2\n[Network]\nBond=bond0\n' >/run/owner/20-ports.network
printf '[Match]\nName=bond0\n[Network]\nAddress=10.9.0.1/24\nVLAN=bond0.7\n' >/run/owner/30-bond0.network
printf '[Match]\nName=bond0.7\n[Network]\nAddress=10.7.0.1/24\n' >/run/owner/30-bond0.7.network
owner_up() { cp /run/owner/* /etc/systemd/network/; systemctl start systemd-networkd; }
owner_again() { networkctl reload && networkctl reconfigure bond0 a1 a2 && systemctl restart systemd-networkd && await 30 networkd_says bond0 configured; }
owner_down() { systemctl stop systemd-networkd.socket systemd-networkd; rm -f /etc/systemd/network/[23]0-*; ip link del bond0; }
own networkd 802.3ad layer2+3

# ---- NetworkManager
watched="-u NetworkManager"
owner_up() {
    systemctl start NetworkManager
    nmcli connection add type bond con-name bond0 ifname bond0 ip4 10.9.0.1/24 ipv6.method disabled \
        bond.options mode=802.3ad,miimon=100,lacp_rate=fast,xmit_hash_policy=layer2+3 >/dev/null
    for port in a1 a2; do
        nmcli connection add type ethernet con-name $port ifname $port master bond0 slave-type bond >/dev/null
    done
    nmcli connection add type vlan con-name bond0.7 ifname bond0.7 dev bond0 id 7 ip4 10.7.0.1/24 ipv6.method disabled >/dev/null
    for connection in bond0 a1 a2 bond0.7; do nmcli connection up $connection >/dev/null; done
}
# The daemon follows a slave that goes and comes, the bond's settings applied once more, and the connection activated again.
owner_again() {
    nmcli connection down a2 >/dev/null && await 30 status_says "1 of 1 ports carry" || return 1
    nmcli connection up a2 >/dev/null && nmcli device reapply bond0 >/dev/null &&
        nmcli connection up bond0 >/dev/null && nmcli connection up bond0.7 >/dev/null
}
# It removes the device after the command has ended, if it still runs.
owner_down() {
    nmcli connection delete bond0.7 a1 a2 bond0 >/dev/null
    systemctl stop NetworkManager
    ! ip link show bond0 >/dev/null 2>&1 || ip link del bond0
}
own NetworkManager 802.3ad layer2+3

# ---- dracut (nm-run.sh): NetworkManager in the initramfs configures what the kernel's command line says, and ends
watched="-u nm-initrd -u NetworkManager"
generator=/usr/libexec/nm-initrd-generator
[ -x $generator ] || generator=/usr/lib/NetworkManager/nm-initrd-generator # Debian 12
active() { [ "$(nmcli -g GENERAL.STATE connection show "$1" 2>/dev/null)" = activated ]; }
owner_up() {
    $generator -- bond=bond0:a1,a2:mode=802.3ad,miimon=100,lacp_rate=fast,xmit_hash_policy=layer2+3 vlan=bond0.7:bond0 \
        ip=10.9.0.1:::24::bond0:none ip=10.7.0.1:::24::bond0.7:none &&
        systemd-run --quiet --wait --unit nm-initrd NetworkManager --configure-and-quit=initrd --no-daemon
}
# The NetworkManager of the system takes the bond over, with the profiles of the first.
owner_again() { systemctl start NetworkManager && await 30 active bond0 && await 30 active bond0.7; }
owner_down() { systemctl stop NetworkManager; rm -rf /run/NetworkManager; ip link del bond0; }
own dracut 802.3ad layer2+3

# ---- ifupdown
watched= # ifup and ifdown write to standard error
mkdir -p /run/network
cat >/etc/network/interfaces <<'END'
auto bond0
iface bond0 inet static
    address 10.9.0.1/24
    bond-slaves a1 a2
    bond-mode active-backup
    bond-miimon 100
auto bond0.7
iface bond0.7 inet static
    address 10.7.0.1/24
END
owner_up() { ifup bond0 && ifup bond0.7; }
owner_again() { ifdown bond0.7 && ifdown bond0 && owner_up; }
owner_down() { ifdown bond0.7 && ifdown bond0; ! ip link show bond0 >/dev/null 2>&1 || ip link del bond0; }
own ifupdown active-backup layer2

# ---- netplan
watched="-u systemd-networkd"
# netplan finds its library by the loader's cache.
ldconfig
# The groups of udevd's rules: without them udevd asks PID 1, which waits for netplan's generator, which waits for udevd.
systemd-sysusers --inline "g input -" "g kvm -" "g render -" "g sgx -" "g netdev -"
# netplan takes a second for each device: the ports of the lab are not used here.
modprobe -r e1000e
# netplan_of PORTS
netplan_of() {
    cat >/etc/netplan/bond0.yaml <<END
network:
  renderer: networkd
  ethernets: {a1: {}, a2: {}}
  bonds:
    bond0:
      interfaces: [$1]
      addresses: [10.9.0.1/24]
      parameters: {mode: 802.3ad, mii-monitor-interval: 100, lacp-rate: fast, transmit-hash-policy: layer2+3}
  vlans:
    bond0.7: {id: 7, link: bond0, addresses: [10.7.0.1/24]}
END
    chmod 600 /etc/netplan/bond0.yaml
    netplan apply 2>/run/netplan.log || { cat /run/netplan.log >&2; return 1; }
}
owner_up() { netplan_of "a1, a2"; }
# Once, because netplan is slow here, a slave goes and comes. Other parameters reach only a bond that networkd makes.
owner_again() {
    [ $round != 1 ] || { netplan_of a1 && await 30 status_says "1 of 1 ports carry"; } || return 1
    netplan_of "a1, a2"
}
owner_down() {
    systemctl stop systemd-networkd.socket systemd-networkd
    rm /etc/netplan/bond0.yaml /run/systemd/network/10-netplan-*
    ip link del bond0
}
own netplan 802.3ad layer2+3
