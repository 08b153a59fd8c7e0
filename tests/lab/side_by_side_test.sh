#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# libteam's teamd and this daemon, by the same team driver and asked by the same teamdctl: for each example of libteam
# what both print and return, at the start and when a port goes, comes, is removed and added. All but the listed
# differences must be the same.
#
# side_by_side_test.sh [EXAMPLE…]: without a name, all.
#
# lab: side_by_side_test.sh in -k 6.12 -c 2 -s -t, 170 s, long
set -euo pipefail
examples=/usr/share/doc/libteam-utils/examples
results=/run/side_by_side
teamd=$(command -v teamd.libteam || command -v teamd)

# The daemon's end of a run, in namespaces of its own.
if [ "${1:-}" = run ]; then
    program=$2 config=$3 result=$4 near=$5 far=$6
    for directory in /run/teamd /run/teamd-offload; do
        mkdir -p $directory
        mount -t tmpfs none $directory
    done
    say() { printf '%s\n' "$*" >>"$result"; }
    ask() {
        local status=0 text
        text=$(timeout 10 teamdctl team0 "$@" 2>&1) || status=$?
        say "teamdctl $*: $status"
        say "$text"
    }
    # Until it stays the same for a second; with probes after the time that teamd needs to miss them.
    settle() {
        if grep -q _ping "$config"; then sleep 4; fi
        local before='' now same=0
        for _ in $(seq 16); do
            now=$(teamdctl team0 state view 2>&1 || true)
            if [ "$now" = "$before" ]; then same=$((same + 1)); else same=0; fi
            [ $same -lt 3 ] || return 0
            before=$now
            sleep 0.4
        done
    }
    event() {
        say "---- $1"
        shift
        "$@"
        settle
        ask state view
        ask state item get runner.active_port
    }
    ulimit -c 0
    status=0
    "$program" -d -f "$config" ${OPTIONS:-} >/dev/null 2>&1 || status=$?
    say "start: $status"
    if [ $status = 0 ]; then
        ip link set team0 up
        ip addr add 192.168.23.2/24 dev team0
        ip addr add 192.168.24.2/24 dev team0
        # Which of two ports that come up together is active first: with teamd the one whose link is reported first,
        # here the better one.
        settle
        if grep -q activebackup "$config"; then teamdctl team0 state item set runner.active_port eth1; fi
        event "at the start" true
        ask config dump
        ask config dump noports
        ask config dump actual
        ask state item get setup.runner_name
        ask state item get no.such.item
        ask state item set setup.debug_level 1
        ask port present eth2
        ask port present eth9
        ask port config dump eth2
        event "cable of eth2 pulled" ip -n "$far" link set p2 down
        event "cable of eth2 plugged" ip -n "$far" link set p2 up
        event "eth2 removed" ask port remove eth2
        event "eth2 added" ask port add eth2
        event "eth3 configured" ask port config update eth3 '{"prio": 50}'
        event "eth3 added" ask port add eth3
        event "eth3 deleted" ip -n "$near" link del eth3
        ask port remove eth9
        ask port add eth9
        ask config dump actual
        status=0
        "$program" -d -f "$config" ${OPTIONS:-} >/dev/null 2>&1 || status=$?
        say "a second start: $status"
        status=0
        "$program" -e -f "$config" || status=$?
        say "-e: $status"
        status=0
        "$program" -k -f "$config" >/dev/null 2>&1 || status=$?
        say "-k: $status"
    fi
    status=0
    "$program" -e -f "$config" 2>/dev/null || status=$?
    say "-e without a daemon: $status"
    exit 0
fi

rm -rf $results
mkdir -p $results
# once NUMBER PROGRAM NAME CONFIG
once() {
    local near=h$1 far=f$1 port
    ip netns add "$near"
    ip netns add "$far"
    ip -n "$far" link add br0 address 00:10:18:aa:bb:cc type bridge
    for port in 0 1 2 3; do
        ip -n "$near" link add eth$port address 02:00:00:00:00:0$port type veth peer name p$port netns "$far"
        ip -n "$far" link set p$port master br0 up
    done
    ip -n "$far" addr add 192.168.23.1/24 dev br0
    ip -n "$far" addr add 192.168.24.1/24 dev br0
    ip -n "$far" link set br0 up
    if [ "$(basename "$4" .conf)" = lacp_1 ]; then
        # A partner instead of the switch.
        for port in 1 2 3; do ip -n "$far" link set p$port nomaster down; done
        ip netns exec "$far" sh -c "mkdir -p /run/partner; mount -t tmpfs none /run/teamd 2>/dev/null
            exec $teamd -d -t partner -c '{\"runner\": {\"name\": \"lacp\", \"fast_rate\": true},
                                           \"ports\": {\"p1\": {}, \"p2\": {}, \"p3\": {}}}'" >/dev/null 2>&1
        ip -n "$far" link set partner up
    fi
    ip netns exec "$near" bash "$0" run "$2" "$4" "$results/$3" "$near" "$far"
    ! ip netns pids "$near" | xargs -r kill
    ! ip netns pids "$far" | xargs -r kill
    ip netns del "$near"
    ip netns del "$far"
    echo "$3: $SECONDS s" >&2
}

[ -d $examples ] || { echo "no examples of libteam in $examples"; exit 1; }
# Without a TIPC bearer teamd refuses the ports, and this daemon waits for the bearer.
[ $# -gt 0 ] || set -- $(cd $examples && printf '%s\n' *.conf | sed 's/\.conf$//' | grep -v tipc)
number=0
for name in "$@"; do
    config=$examples/$name.conf
    for program in teamd ours; do
        number=$((number + 1))
        path=$teamd
        OPTIONS=
        if [ $program = ours ]; then path=$PWD/build/bin/teamd-offload OPTIONS="--datapath team"; fi
        OPTIONS=$OPTIONS once $number "$path" "$name.$program" "$config" >>/run/side_by_side.log 2>&1 &
        while [ "$(jobs -rp | wc -l)" -ge 4 ]; do sleep 0.2; done
    done
done
wait

# How often a target did not answer depends on the moment of each probe.
for result in $results/*; do
    sed -i '/name: .*_ping$/,/down count/s/down count: .*/down count: -/' "$result"
    # With nsna_ping the far end answers both ports at one of them, and teamd's other port waits in vain; here what the
    # active port asks, back from the switch, counts too.
    case $result in
        */activebackup_nsna_ping*) sed -i '/^  eth2/,/down count/{s/link: .*/link: -/;s/link summary: .*/link summary: -/}' "$result" ;;
    esac
done
status=0
for name in "$@"; do
    grep -qx "start: 0" "$results/$name.teamd" || { status=1; echo "$name: teamd does not start"; }
    if difference=$(diff -u "$results/$name.teamd" "$results/$name.ours"); then
        echo "$name: the same"
    else
        status=1
        echo "$name: differs"
        printf '%s\n' "$difference"
    fi
done
exit $status
