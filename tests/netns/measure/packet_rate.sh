#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Small packets that a team of two ports passes in a second, with one daemon and with another in turn:
# packet_rate.sh DAEMON DAEMON (root, iperf3). 12 rounds, medians, and their ratio. To compare with and without the
# carrier in the program, build the other daemon with tests/breaks/link_not_seen.patch.
set -euo pipefail
rounds=12 seconds=2

# In namespaces of its own: run DAEMON prints the packets a second.
run() {
    local daemon=$1 far
    mount -t tmpfs tmpfs /run
    mount -t sysfs sysfs /sys
    unshare --net sleep 600 &
    far=$!
    until [ "$(readlink /proc/$far/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
    echo '{"device": "team0", "runner": {"name": "loadbalance", "tx_hash": ["ipv4", "l4"]},
           "ports": {"e1": {}, "e2": {}}}' >/run/team0.conf
    nsenter -t $far -n ip link add br0 type bridge
    for port in 1 2; do
        ip link add "e$port" type veth peer name "p$port"
        ip link set "p$port" netns $far
        nsenter -t $far -n ip link set "p$port" up master br0
        nsenter -t $far -n bridge link set dev "p$port" isolated on
    done
    nsenter -t $far -n bridge link set dev p2 flood off bcast_flood off mcast_flood off
    nsenter -t $far -n ip addr add 10.9.0.2/24 dev br0
    nsenter -t $far -n ip link set br0 up
    "$daemon" -f /run/team0.conf --datapath bpf 2>/run/log &
    local pid=$!
    until [ -S /run/teamd/team0.sock ]; do sleep 0.1; done
    ip addr add 10.9.0.1/24 dev team0
    ip link set team0 up
    nsenter -t $far -n iperf3 -s >/dev/null &
    local server=$!
    until timeout 1 bash -c '</dev/tcp/10.9.0.2/5201' 2>/dev/null; do sleep 0.1; done
    sleep 0.5
    iperf3 -c 10.9.0.2 -u -l 18 -b 0 -t $((seconds + 1)) >/dev/null &
    local client=$!
    sleep 0.7
    local before after
    before=$(cat /sys/class/net/team0/statistics/tx_packets)
    sleep $seconds
    after=$(cat /sys/class/net/team0/statistics/tx_packets)
    echo $(((after - before) / seconds))
    wait $client || true
    kill $server $pid $far
    wait $pid || true
}

if [ "${1:-}" = --run ]; then
    run "$2" 2>/dev/null
    exit
fi
median() { sort -n | awk '{ value[NR] = $1 } END { print (value[int((NR + 1) / 2)] + value[int(NR / 2) + 1]) / 2 }'; }
one=$(readlink -f "$1") other=$(readlink -f "$2")
ones="" others=""
for ((round = 0; round < rounds; ++round)); do
    ones+="$(unshare --net --mount "$0" --run "$one")"$'\n'
    others+="$(unshare --net --mount "$0" --run "$other")"$'\n'
done
first=$(printf '%s' "$ones" | median)
second=$(printf '%s' "$others" | median)
echo "$1: $first packets a second"
echo "$2: $second packets a second"
awk -v a="$first" -v b="$second" 'BEGIN { printf "ratio %.3f\n", a / b }'
