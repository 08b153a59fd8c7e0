#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# In a guest with systemd: a bond that is in use is replaced by a team under traffic, beside what the same costs by hand.
#
# Arguments: modes of bonding, all three by default; "none" for the rest of the test alone.
#
# lab: replace_test.sh in -k 6.12 -c 2 -s -t, 90 s, long
set -euo pipefail
. "${BASH_SOURCE%/*}/unit.sh"
. "${BASH_SOURCE%/*}/far_switch.sh"
ip -n far addr add fd09::2/64 dev br0 nodad
ip -n far addr add 10.99.0.1/32 dev lo
install_unit

# bond MODE: bond0 with all cables, addresses and a route over a gateway
bond() {
    ip link add bond0 type bond mode "$1" miimon 20 xmit_hash_policy layer3+4
    for port in a1 a2 a3; do
        ip link set $port down
        ip link set $port master bond0
    done
    ip link set bond0 up
    ip addr add 10.9.0.1/24 dev bond0
    ip addr add fd09::1/64 dev bond0 nodad
    await 10 reaches || fail "the far end does not answer over the bond"
    ip route add 10.99.0.0/24 via 10.9.0.2 dev bond0 metric 7
}
no_team() {
    systemctl disable --now "$unit" 2>/dev/null
    rm -f /etc/teamd-offload/team0.conf
}

# The switch aggregates its ports by LACP.
far_lacp() {
    ip -n far link add lag type bond mode 802.3ad miimon 20 lacp_rate fast xmit_hash_policy layer3+4
    for port in p1 p2 p3; do
        ip -n far link set $port nomaster
        ip -n far link set $port down
        ip -n far link set $port master lag
    done
    ip -n far link set lag master br0
    ip -n far link set lag up
}
all_in_one_aggregator() { [ "$(cat /sys/class/net/bond0/bonding/ad_num_ports)" = 3 ]; }

for mode in ${*:-balance-xor active-backup 802.3ad}; do
    [ "$mode" != none ] || continue
    [ "$mode" != 802.3ad ] || far_lacp
    for iperf_options in "" --reverse; do
        bond "$mode"
        [ "$mode" != 802.3ad ] || await 20 all_in_one_aggregator || fail "the bond does not aggregate"
        address=$(cat /sys/class/net/bond0/address)
        count=$(lost 10000 teamoctl replace bond0 team0)
        cat /run/command.log
        step "$mode${iperf_options:+, receiving}: replaced, $count packets lost at 10,000 a second"
        # A port whose link goes down loses what the other end has sent and not yet delivered; over veth that is little.
        # With LACP the other end goes on until it has noticed: two ports at most 200 ms each.
        most=20
        if [ "$mode$iperf_options" = 802.3ad--reverse ]; then most=4000; fi
        [ "$count" -le $most ] || fail "$count packets lost"
        carry 3 || { [ "$mode" = active-backup ] && carry 1; } || fail "the ports do not carry"
        [ "$(cat /sys/class/net/team0/address)" = "$address" ] || fail "the MAC address changed"
        ip route show 10.99.0.0/24 | grep -q "via 10.9.0.2 dev team0 metric 7" || fail "a route is missing: $(ip route)"
        ip -6 addr show dev team0 | grep -q fd09::1/64 || fail "the IPv6 address is missing"
        reaches 10.99.0.1 && reaches fd09::2 || fail "a route does not work"
        ip link show bond0 | grep -q team0 || fail "bond0 is no alternative name of team0"
        systemctl is-active --quiet "$unit" && systemctl is-enabled --quiet "$unit" || fail "the unit does not run"
        no_team
    done
done

ip -n far link del lag 2>/dev/null || true
for port in p1 p2 p3; do ip -n far link set $port master br0; ip -n far link set $port up; done
for port in p2 p3; do ip netns exec far bridge link set dev $port isolated on flood off bcast_flood off mcast_flood off; done
ip netns exec far bridge link set dev p1 isolated on

# Options that /sys does not show.
ip link add bond7 type bond mode active-backup arp_interval 100 arp_ip_target 10.9.0.2 arp_missed_max 5 ns_ip6_target fd09::2
ip link set a1 down
ip link set a1 master bond7
ip link set a1 type bond_slave prio 7
imported=$(teamoctl import bond bond7)
for part in '"missed_max": 5' '"target_host": "fd09::2"' '"prio": 7'; do
    [[ $imported == *"$part"* ]] || fail "import bond: no $part in $imported"
done
ip link del bond7

# By hand: the time without an answer.
bond balance-xor
teamoctl import bond bond0 | sed 's/"bond0"/"team0"/' >/run/team0.conf
start=$(date +%s%N)
ip link del bond0
install -D -m 644 /run/team0.conf /etc/teamd-offload/team0.conf
systemctl start "$unit"
ip link set team0 up
ip addr add 10.9.0.1/24 dev team0
await 10 reaches || fail "the far end does not answer over the team"
step "by hand: nothing reaches for $((($(date +%s%N) - start) / 1000000)) ms, or $((($(date +%s%N) - start) / 100000)) packets at 10,000 a second"
no_team

# What cannot be replaced stays as it is.
bond active-backup
ip link add link bond0 name bond0.7 type vlan id 7
! teamoctl replace bond0 team0 2>/run/refused || fail "a bond with a VLAN was replaced"
grep -q "bond0.7 (vlan) is on top of bond0" /run/refused || fail "$(cat /run/refused)"
ip link del bond0.7
# A configuration that the daemon refuses: its start fails after ports have left the bond.
for port in a1 a2 a3; do ip link set $port type bond_slave prio 7; done
mkdir -p /etc/systemd/system/"$unit".d
printf '[Service]\nExecStart=\nExecStart=/bin/false\nRestart=no\n' >/etc/systemd/system/"$unit".d/broken.conf
systemctl daemon-reload
! teamoctl replace bond0 team0 2>/run/refused || fail "replaced without a daemon"
[ "$(cat /sys/class/net/bond0/bonding/slaves | wc -w)" = 3 ] || fail "a port did not go back to the bond"
for port in a1 a2 a3; do
    [[ $(ip -d link show $port) == *" prio 7 "* ]] || fail "$port lost its prio: $(ip -d link show $port)"
done
! grep "did not go back" /run/refused || fail "a port is said to be no port of the bond"
[ ! -e /etc/teamd-offload/team0.conf ] || fail "a configuration remains"
await 5 reaches || fail "the far end does not answer over the bond any more"
step "a failed start puts the ports back: $(cat /run/refused)"
