#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# When systemd starts the unit again, and when it does not: as teamd-offload(8) says.
# One argument: the datapath, team or bpf.
#
# lab: unit_restart_test.sh bpf in -k 6.12 -s, 30 s
set -euo pipefail
datapath=$1
. "${BASH_SOURCE%/*}/unit.sh"
restarts() { systemctl show --property=NRestarts --value "$unit"; }
pid() { systemctl show --property=MainPID --value "$unit"; }
# another OLD: another process runs the team, and both ports carry
another() { local now; now=$(pid) && [ "$now" != 0 ] && [ "$now" != "$1" ] && carry 2; }

install_unit
configure "$datapath" eth0 eth1
systemctl start "$unit" || fail "systemctl start"
await 20 carry 2 || fail "two ports do not carry: $(teamoctl team0 state dump)"
[ "$(restarts)" = 0 ] || fail "it was started $(restarts) times more"

# Who hangs is ended by the watchdog, after ten seconds, and started again; the team goes on.
ip -o monitor link >/run/links &
monitor=$!
old=$(pid)
index=$(cat /sys/class/net/team0/ifindex)
kill -STOP "$old"
await 90 another "$old" || fail "nobody has ended the daemon that hangs"
[ "$(restarts)" = 1 ] || fail "started again $(restarts) times, not once"
[ "$(cat /sys/class/net/team0/ifindex)" = "$index" ] || fail "the device is another one"
kill $monitor
! grep -E "state DOWN|Deleted" /run/links || fail "the restart was seen on the links"
step "hangs: ended by the watchdog and started again, no link was seen down or deleted"

# Somebody takes the device away: status 2, a failure.
old=$(pid)
ip link del team0
await 30 another "$old" || fail "the team was not made anew after its device was removed"
[ "$(restarts)" = 2 ] || fail "started again $(restarts) times, not twice"
[ "$(cat /sys/class/net/team0/ifindex)" != "$index" ] || fail "the device is still the old one"
step "device removed: started again, with a new one"

# A refusal is final.
systemctl stop "$unit" || fail "systemctl stop"
configure "$datapath" eth0 lo
! systemctl start "$unit" 2>/dev/null || fail "lo was taken as a port"
for _ in {1..30}; do
    state=$(systemctl show --property=ActiveState,SubState,ExecMainStatus,NRestarts --value "$unit" | sort | tr '\n' ' ')
    [ "$state" = "0 1 failed failed " ] || fail "after a refusal the unit is: $state"
    sleep 0.1
done
step "refused: failed with status 1, and not started again"

# What may pass is tried again until it has passed.
configure "$datapath" eth0 eth1
mkdir -p "/run/systemd/system/$unit.d"
printf '[Service]\nLimitNOFILE=16\n' >"/run/systemd/system/$unit.d/few.conf"
systemctl daemon-reload
systemctl start --no-block "$unit"
tried() { [ "$(restarts)" -ge 3 ] && [ "$(systemctl show --property=ExecMainStatus --value "$unit")" = 75 ]; }
await 30 tried || fail "a start that lacks descriptors is: $(systemctl show --property=ExecMainStatus,NRestarts "$unit")"
rm "/run/systemd/system/$unit.d/few.conf"
systemctl daemon-reload
await 30 carry 2 || fail "the team did not come though its start could succeed"
step "no descriptors: failed with status 75, and started again until there were some"
