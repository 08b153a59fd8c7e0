#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# In a guest with systemd as first process: the unit of all teams runs those of /etc/teamd-offload with the rights of the
# unit, follows the folder, and gives the teams back when it stops. A restart and kill -9 lose no packet, and the sockets
# of the ports outlive them. A team moves to its own unit and back.
#
# lab: all_unit_test.sh in -k newest -s, 40 s, long
set -euo pipefail
. "${BASH_SOURCE%/*}/unit.sh"
unit=teamd-offload.service
kept() { systemctl show --property=NFileDescriptorStore --value "$unit"; }
status_says() { [[ $(systemctl show --property=StatusText --value "$unit") == *"$1"* ]]; }
carries() { [ "$(teamoctl "$1" state item get "ports.$2.datapath.transmits" 2>/dev/null)" = true ]; }
config() { printf '{"runner": {"name": "loadbalance"}, "ports": {"%s": {}}}\n' "$2" >"/etc/teamd-offload/$1.conf"; }

install_unit
mkdir -p /etc/teamd-offload
ip netns add far
for number in 0 1 2; do
    ip link add "a$number" type veth peer name "b$number" netns far
    ip -n far addr add "10.9.$number.2/24" dev "b$number"
    ip -n far link set "b$number" up
done
config team0 a0
config team1 a1
systemctl start "$unit" || fail "systemctl start"
status_says "2 of 2 teams run" || fail "the status line does not show two teams"
for number in 0 1; do
    await 20 carries "team$number" "a$number" || fail "team$number does not carry"
    ip addr add "10.9.$number.1/24" dev "team$number"
    ip link set "team$number" up
    ping -q -c 1 -W 5 "10.9.$number.2" >/dev/null || fail "the far end of team$number does not answer"
done
step "started: two teams by one unit, $(systemctl show --property=MemoryCurrent --value "$unit") bytes"

config team2 a2
echo 'not JSON' >/etc/teamd-offload/team1.conf
systemctl reload "$unit" || fail "systemctl reload"
await 20 carries team2 a2 || fail "team2 did not come with its file"
carries team1 a1 || fail "a bad file changed team1"
rm /etc/teamd-offload/team1.conf
systemctl reload "$unit" || fail "systemctl reload"
gone() { ! ip link show "$1" >/dev/null 2>&1; }
await 20 gone team1 || fail "team1 did not go with its file"
step "reloaded: teams come and go with their files"

# As the maintainer scripts do after an upgrade.
upgraded() {
    local before
    before=$(systemctl show --property=MainPID --value "$unit")
    /usr/share/teamd-offload/restart-teams "$unit" >/run/said 2>&1
    [ "$(systemctl show --property=MainPID --value "$unit")" != "$before" ]
}
rm -f /usr/sbin/policy-rc.d # A container forbids packages to start and stop services; this guest is a machine.
[ "$(teamoctl team2 state item get datapath.name)" = bpf ] && other=bond || other=bpf
printf '{"datapath": "%s", "runner": {"name": "loadbalance"}, "ports": {"a2": {}}}\n' $other >/etc/teamd-offload/team2.conf
! upgraded || fail "an upgrade takes team2 although it cannot change into its file"
grep -q "$unit goes on with the former program.*/datapath" /run/said || fail "the upgrade does not say why: $(cat /run/said)"
printf '{"debug_level": -1, "runner": {"name": "loadbalance"}, "ports": {"a2": {}}}\n' >/etc/teamd-offload/team2.conf
echo 'not JSON' >/etc/teamd-offload/team1.conf
upgraded || fail "a value that is ignored, and a file of no team, prevent an upgrade: $(cat /run/said)"
grep -q "$unit: .*team2.conf.*debug_level" /run/said || fail "the upgrade does not say what it ignores: $(cat /run/said)"
rm /etc/teamd-offload/team1.conf
systemctl reload "$unit" || fail "systemctl reload"
await 20 status_says "2 of 2 teams run" || fail "two teams do not run after an upgrade"
step "upgraded: $(cat /run/said)"

[ "$(kept)" = 2 ] || fail "systemd keeps $(kept) sockets, not one for LLDP of each of two ports"
ping -q -i 0.01 10.9.0.2 >/run/ping &
pinger=$!
systemctl restart "$unit" || fail "systemctl restart"
await 20 carries team0 a0 || fail "team0 does not carry after a restart"
pid=$(systemctl show --property=MainPID --value "$unit")
kill -KILL "$pid"
another() { now=$(systemctl show --property=MainPID --value "$unit"); [ "$now" != 0 ] && [ "$now" != "$pid" ] && status_says "2 of 2 teams run"; }
await 60 another || fail "no new daemon after kill -9"
kill -INT $pinger
wait $pinger
grep ' 0% packet loss' /run/ping || fail "packets were lost: $(cat /run/ping)"
[ -z "$(journalctl --no-pager --quiet --priority err -u "$unit" | grep -v 'team1' || true)" ] || fail "errors in the journal: $(journalctl --no-pager --priority err -u "$unit")"
[ "$(kept)" = 2 ] || fail "systemd keeps $(kept) sockets after a restart and kill -9"
step "restarted and killed: no packet lost"

index=$(cat /sys/class/net/team0/ifindex)
ping -q -i 0.01 10.9.0.2 >/run/ping &
pinger=$!
systemctl start teamd-offload@team0 || fail "systemctl start teamd-offload@team0"
status_says "1 of 2 teams run" || await 20 status_says "1 of 2 teams run" || fail "team0 stays with $unit"
systemctl stop teamd-offload@team0 || fail "systemctl stop teamd-offload@team0"
await 20 status_says "2 of 2 teams run" || fail "team0 does not come back to $unit"
kill -INT $pinger
wait $pinger
grep ' 0% packet loss' /run/ping || fail "packets were lost by a move: $(cat /run/ping)"
[ "$(cat /sys/class/net/team0/ifindex)" = "$index" ] || fail "team0 was made again"
step "moved to its own unit and back: no packet lost"

systemctl stop "$unit" || fail "systemctl stop"
gone team0 || fail "team0 stays"
gone team2 || fail "team2 stays"
step "stopped: the teams are gone"
