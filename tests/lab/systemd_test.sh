#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# In a guest with systemd as first process: the unit starts a team over real cards, says how it stands, is started
# again when its daemon is killed, and puts the ports back. One argument: the datapath, team or bpf.
# lab: systemd_test.sh team in -k 6.12 -s, 30 s
# lab: systemd_test.sh bpf in -k 6.12 -s, 25 s
set -euo pipefail
datapath=$1
unit=teamd-offload@team0.service
step() { printf '%s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*" >&2; systemctl --no-pager status "$unit" >&2 || true; exit 1; }
# await SECONDS COMMAND…: polls until it succeeds; four times as long, since others may use the machine
await() {
    local end=$((SECONDS + 4 * $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.1
    done
}
# What of a port must be the same afterwards: not its carrier and its counters of changes, nor its index.
ports_as_they_are() {
    local port
    for port in eth0 eth1 eth2 eth3; do
        ip -d link show dev $port | sed 's/ state [A-Z]*//; s/,LOWER_UP//; s/NO-CARRIER,//'
        ethtool -k $port
        tc qdisc show dev $port
        cat /proc/sys/net/ipv6/conf/$port/disable_ipv6
    done
}
all_carry() { [ "$(teamoctl team0 state dump 2>/dev/null | grep -c '"transmits": true')" = 4 ]; }

cmake --install build --prefix /usr >/dev/null
mkdir -p /etc/teamd-offload
cat >/etc/teamd-offload/team0.conf <<END
{"device": "team0", "datapath": "$datapath", "runner": {"name": "loadbalance"},
 "workers": [{"unit": "fed.service", "policy": "follow"}],
 "ports": {"eth0": {}, "eth1": {}, "eth2": {}, "eth3": {}}}
END
systemctl daemon-reload
# A device that was up once keeps the queueing discipline it then got.
for port in eth0 eth1 eth2 eth3; do ip link set $port up; ip link set $port down; done
before=$(ports_as_they_are)

systemctl start "$unit" || fail "systemctl start"
systemctl is-active --quiet "$unit" || fail "not active after start"
await 20 all_carry || fail "four ports do not carry: $(teamoctl team0 state dump)"
says_so() { [[ $(systemctl show --property=StatusText --value "$unit") == *", 4 of 4 ports carry"* ]]; }
await 5 says_so || fail "the status line does not follow the ports"
status=$(systemctl --no-pager --lines=0 status "$unit")
printf '%s\n' "$status"
grep -q "Active: active (running)" <<<"$status" || fail "status is not active"
grep -q "Status: \"loadbalance over $datapath (.*4 of 4 ports carry" <<<"$status" || fail "no status line of the team"
step "started: active, its status line says how the team stands, four ports carry"

# A unit of one process, fed by all cables: systemd is asked to bind it.
cat >/etc/systemd/system/fed.service <<END
[Service]
ExecStart=$TEAMO_LAB_BUSYBOX nc -l -p 7000
StandardOutput=null
END
systemctl daemon-reload
systemctl restart fed.service || fail "systemctl restart fed.service"
ip link set team0 up; ip addr add 10.9.0.1/24 dev team0
build/bin/teamo-lab peer 'ip link add br0 type bridge; for tap in tap0 tap1 tap2 tap3; do ip link set $tap master br0; done; ip addr add 10.9.0.2/24 dev br0; ip link set br0 up'
reaches() { [[ $(build/bin/teamo-lab peer "timeout 1 bash -c '</dev/tcp/10.9.0.1/22' 2>&1") == *refused* ]]; }
await 20 reaches || fail "the far end does not reach the team"
build/bin/teamo-lab peer "bash -c 'while head -c 20000 /dev/zero && sleep 0.1; do :; done > /dev/tcp/10.9.0.1/7000' </dev/null >/dev/null 2>&1 &"
allowed() { systemctl show --property=AllowedCPUs --value fed.service; }
is_bound() { [[ $(allowed) =~ ^[0-9]+$ ]]; }
await 30 is_bound || fail "fed.service is not bound: $(teamoctl team0 workers)"
teamoctl team0 workers
step "fed.service: AllowedCPUs=$(allowed)"

ip -o monitor link >/run/links &
monitor=$!
pid=$(systemctl show --property=MainPID --value "$unit")
kill -KILL "$pid"
another() { now=$(systemctl show --property=MainPID --value "$unit"); [ "$now" != 0 ] && [ "$now" != "$pid" ] && all_carry; }
await 20 another || fail "no daemon after kill -9"
systemctl is-active --quiet "$unit" || fail "not active after kill -9"
kill $monitor
! grep -E "state DOWN|Deleted" /run/links || fail "kill -9 was seen on the links"
step "killed: started again, no link was seen down or deleted"

systemctl stop "$unit" || fail "systemctl stop"
! ip link show team0 >/dev/null 2>&1 || fail "team0 is still there"
[ -z "$(allowed)" ] || fail "fed.service still has AllowedCPUs=$(allowed)"
after=$(ports_as_they_are)
difference=$(diff <(echo "$before") <(echo "$after")) || fail "the ports are not as they were: $difference"
step "stopped: team0 is gone, the ports are as they were"
step "$(systemd-analyze security --no-pager "$unit" 2>/dev/null | tail -n 1)"
