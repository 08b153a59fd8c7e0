# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# Three cables from the guest, a1 to a3, to a switch with the address 10.9.0.2 in the namespace far, which takes them
# for one link. Needs unit.sh.
ip netns add far
ip -n far link set lo up
ip -n far link add br0 type bridge
for port in 1 2 3; do
    ip link add "a$port" type veth peer name "p$port" netns far
    ip -n far link set "p$port" master br0
    ip -n far link set "p$port" up
    [ "$port" = 1 ] || ip netns exec far bridge link set dev "p$port" isolated on flood off bcast_flood off mcast_flood off
done
ip netns exec far bridge link set dev p1 isolated on
ip -n far addr add 10.9.0.2/24 dev br0
ip -n far link set br0 up
# The receiver waits while the daemon starts, at real-time priority.
sysctl -qw net.core.rmem_max=67108864 net.core.wmem_max=67108864 net.core.netdev_max_backlog=200000
ip netns exec far iperf3 -s --forceflush >>/run/iperf3.log 2>&1 &

# reaches [ADDRESS]
reaches() { timeout 1 bash -c "</dev/tcp/${1:-10.9.0.2}/5201" 2>/dev/null; }
# What a busy machine dropped: of receivers that did not run, and of full backlogs.
dropped_elsewhere() {
    { awk '$1 == "Udp:" { print $6 }' /proc/net/snmp; ip netns exec far awk '$1 == "Udp:" { print $6 }' /proc/net/snmp
        cut -d ' ' -f 2 /proc/net/softnet_stat | sed 's/^/0x/'; } | while read -r count; do [[ $count == Rcv* ]] || echo $((count)); done |
        awk '{ sum += $1 } END { print sum }'
}
# lost RATE COMMAND…: how many packets are lost, of RATE a second, from 2 s before the command to 1 s after it; with
# $iperf_options
lost() {
    local rate=$1 sent_by=/run/traffic.log seen_by=/run/iperf3.log count dropped
    shift
    dropped=$(dropped_elsewhere)
    if [ "${iperf_options:-}" = --reverse ]; then seen_by=$sent_by; fi
    truncate -s 0 /run/iperf3.log
    # shellcheck disable=SC2086 # several options
    iperf3 -c 10.9.0.2 -u -l 64 -w 32M -b $((rate * 64 * 8)) -t 86400 ${iperf_options:-} >$sent_by 2>&1 &
    local traffic=$!
    sleep 2
    "$@" >/run/command.log 2>&1 || { cat /run/command.log >&2; fail "$*"; }
    sleep 1
    kill $traffic 2>/dev/null || fail "the traffic ended: $(cat $sent_by)"
    wait $traffic || true # the end is no error of it
    # The total of the receiver comes last.
    await 10 grep -q receiver $seen_by || fail "no traffic: $(cat $sent_by $seen_by)"
    count=$(sed -n 's,.* \([0-9]*\)/[1-9][0-9]* (.*receiver.*,\1,p' $seen_by | tail -n 1)
    [ -n "$count" ] || fail "no traffic: $(cat $sent_by $seen_by)"
    dropped=$(($(dropped_elsewhere) - dropped))
    [ "$dropped" = 0 ] || echo "lost: $dropped of $count packets were dropped because the machine was busy" >&2
    echo $((count - dropped))
}
# address: gives the team one, and waits for the far end.
address() {
    ip link set team0 up
    ip addr replace 10.9.0.1/24 dev team0
    await 20 reaches || fail "the far end does not answer"
}
# none_lost WHAT COMMAND…: nothing is lost at 20,000 packets a second, and the team stays up.
none_lost() {
    local what=$1 count
    shift
    ip -o monitor link dev "${team:-team0}" >/run/links &
    local monitor=$!
    count=$(lost 20000 "$@")
    kill $monitor
    ! link_went || fail "$what: ${team:-team0} went down or was deleted"
    [ "$count" = 0 ] || fail "$what: $count packets lost at 20,000 a second"
    step "$what: no packet lost at 20,000 a second"
}
pid() { systemctl show --property=MainPID --value "$unit"; }
