#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Instructions that the daemon executes for one link change, in user space: pass_cost.sh DAEMON… (root, valgrind).
# Pulls and plugs a cable of four a hundred times; what a start and a stop cost is measured without changes and
# subtracted. Compare two builds: pass_cost.sh /path/to/old/teamd-offload build/bin/teamd-offload
set -euo pipefail
changes=100

# In a namespace of its own: run DAEMON CABLE_CHANGES prints the instructions of a whole run.
run() {
    local daemon=$1 times=$2 work=/run/pass_cost
    mount -t tmpfs tmpfs /run
    mount -t sysfs sysfs /sys
    mkdir "$work"
    echo '{"device": "team0", "runner": {"name": "loadbalance", "tx_hash": ["ipv4", "l4"]},
           "ports": {"e1": {}, "e2": {}, "e3": {}, "e4": {}}}' >"$work/team0.conf"
    for port in 1 2 3 4; do
        ip link add "e$port" type veth peer name "p$port"
        ip link set "p$port" up
    done
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$daemon" -f "$work/team0.conf" --datapath bpf 2>"$work/log" &
    local pid=$!
    until [ -S /run/teamd/team0.sock ]; do sleep 0.1; done
    sleep 2
    for ((change = 0; change < changes; ++change)); do
        if [ "$times" -gt 0 ]; then ip link set p1 down; fi
        sleep 0.025
        if [ "$times" -gt 0 ]; then ip link set p1 up; fi
        sleep 0.025
    done
    sleep 1
    kill -TERM $pid
    wait $pid
    sed -n 's/.*Collected : //p' "$work/log"
}

if [ "${1:-}" = --run ]; then
    run "$2" "$3"
    exit
fi
for daemon in "$@"; do
    program=$(readlink -f "$daemon")
    with=$(unshare --net --mount "$0" --run "$program" $changes)
    without=$(unshare --net --mount "$0" --run "$program" 0)
    echo "$daemon: $(((with - without) / (2 * changes))) instructions for a link change"
done
