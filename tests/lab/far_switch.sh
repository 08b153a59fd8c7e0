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
sysctl -qw net.core.rmem_max=67108864 net.core.wmem_max=67108864
ip netns exec far iperf3 -s >/dev/null &

# reaches [ADDRESS]
reaches() { timeout 1 bash -c "</dev/tcp/${1:-10.9.0.2}/5201" 2>/dev/null; }
# lost RATE COMMAND…: how many packets are lost, of RATE a second, while the command runs; of $seconds of traffic, with
# $iperf_options
lost() {
    local rate=$1 log=/run/traffic.json
    shift
    # shellcheck disable=SC2086 # several options
    iperf3 -c 10.9.0.2 -u -l 64 -w 32M -b $((rate * 64 * 8)) -t "${seconds:-8}" ${iperf_options:-} --json >$log &
    local traffic=$!
    sleep 2
    "$@" >/run/command.log 2>&1 || { cat /run/command.log >&2; fail "$*"; }
    if ! kill -0 $traffic 2>/dev/null; then
        grep '"error"' $log >&2 || true
        fail "$* lasted longer than the traffic"
    fi
    wait $traffic || fail "no traffic: $(cat $log)"
    # the totals come last
    grep -q lost_packets $log || fail "no traffic: $(cat $log)"
    grep "lost_packets" $log | tail -n 1 | tr -dc 0-9
}
