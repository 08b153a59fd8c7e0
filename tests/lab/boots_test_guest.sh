#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Checks the lab from inside the guest: ports, a cable, a peer. boots_test_guest.sh KERNEL NIC [STATUS]
# lab: boots_test_guest.sh newest igb in -k newest -n igb -p 2 -c 4, 10 s
set -eu
lab=build/bin/teamo-lab
fail() { echo "$*" >&2; exit 1; }
# becomes FLAG: waits until eth1 has it, at most 20 s
becomes() {
    tries=200
    until ip link show eth1 | grep -q "[<,]$1[,>]"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || fail "eth1 does not become $1: $(ip link show eth1)"
        sleep 0.1
    done
}

case $1:$(uname -r) in newest:[7-9].* | "$1:$1".*) ;; *) fail "kernel $(uname -r), not $1" ;; esac
[ "$(cd /sys/class/net && echo *)" = "eth0 eth1 lo" ] || fail "not two ports: $(ip -br link)"
for port in eth0 eth1; do
    [ "$(ethtool -i $port | sed -n 's/^driver: //p')" = "$2" ] || fail "$port is not $2"
    [ "$(cat /sys/class/net/$port/operstate)" = down ] || fail "$port is up"
done

ip link set eth1 up
becomes LOWER_UP
$lab cable pull 1
becomes NO-CARRIER
$lab cable plug 1
becomes LOWER_UP
! $lab cable pull 2 2>/dev/null || fail "a missing cable was pulled"

# Frames arrive in both directions.
$lab peer 'ip addr add 192.0.2.1/24 dev tap1'
ip addr add 192.0.2.2/24 dev eth1
bash -c 'echo hello >/dev/udp/192.0.2.1/9'
tries=200
until ip neigh show 192.0.2.1 | grep -q "lladdr $($lab peer cat /sys/class/net/tap1/address)"; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || fail "the peer of eth1 does not answer: $(ip neigh)"
    sleep 0.1
done

status=0
said=$($lab peer 'echo outside; pwd; exit 9') || status=$?
[ $status -eq 9 ] || fail "a peer's command ended with $status, not 9"
[ "$said" = "outside
$PWD" ] || fail "the output of a peer's command is: $said"
sleeper=$($lab peer 'sleep 1000 >/dev/null 2>&1 </dev/null & echo $!')
$lab peer "kill $sleeper" || fail "a peer's background process ended with its request"
# The reply to a killed client must not reach the next one, and a reply that is too long must not break the next.
timeout 1 $lab peer 'sleep 2; echo stale' && fail "a request was not killed"
for _ in 1 2; do
    said=$($lab peer echo fresh)
    [ "$said" = fresh ] || fail "after a killed request the output of a peer's command is: $said"
done
! $lab peer 'head -c 20000000 /dev/zero' >/dev/null 2>&1 || fail "20 MB of output were accepted"
[ "$($lab peer echo fresh)" = fresh ] || fail "no peer answers after too much output"

modprobe team
ip link add team0 type team
echo "to standard error" >&2
echo "all is well"
# The lab must show this kernel message, but not fail.
echo "<4>watchdog: BUG: soft lockup - of a test" >/dev/kmsg
exit "${3:-0}"
