#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Debian's NetworkManager, unmodified, makes, changes and removes a team: it starts teamd, which is teamd-offload by the
# package teamd-offload-compat.
#
# lab: network_manager_test.sh in -k 6.12 -p 3 -s, 120 s, long
set -euo pipefail
. "${BASH_SOURCE%/*}/unit.sh"
packages=/run/packages
rm -f /usr/sbin/policy-rc.d # a container forbids packages to start and stop services
nm_log() { journalctl --no-pager --quiet -u NetworkManager.service; }
refused() { nm_log | tail -n 40 >&2; fail "$*"; }
# carried PORT…: whether exactly these ports carry
carried() {
    local now
    now=$(teamoctl team0 stats --json 2>/dev/null | grep -oE '"eth[0-9]"' | tr -d '"' | sort -u | paste -sd ' ')
    [ "$now" = "$*" ] && carry $#
}
active() { [ "$(nmcli -g GENERAL.STATE connection show "$1" 2>/dev/null)" = activated ]; }

tar -C "$TEAMO_LAB_MANAGERS" -cf - . | tar -C / --keep-directory-symlink --no-overwrite-dir -xf -
DEB_BUILD_OPTIONS=noautodbgsym packaging/make-packages build $packages
apt-get install -y $packages/teamd-offload_*.deb $packages/teamd-offload-compat_*.deb >/run/apt.log 2>&1 ||
    { cat /run/apt.log >&2; fail "the packages cannot be installed"; }
start_udevd persistent
busctl call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus ReloadConfig >/dev/null
systemctl start NetworkManager.service || fail "NetworkManager does not start"

nmcli connection add type team con-name team0 ifname team0 ip4 10.9.0.1/24 ipv6.method disabled \
    team.config '{"runner": {"name": "loadbalance", "tx_hash": ["ipv4", "l4"]}}' >/dev/null || refused "nmcli adds no team"
for port in eth0 eth1; do
    nmcli connection add type ethernet con-name "$port" ifname "$port" master team0 slave-type team >/dev/null || refused "nmcli adds no port"
done
nmcli connection up team0 >/dev/null || refused "nmcli does not start the team"
for port in eth0 eth1; do nmcli connection up "$port" >/dev/null || refused "nmcli does not attach $port"; done
await 30 carried eth0 eth1 || refused "the two ports do not carry: $(teamoctl team0 state)"
await 30 active team0 || refused "the connection is not active"
pid=$(teamdctl team0 state item get setup.pid)
[ "$(readlink "/proc/$pid/exe")" = /usr/bin/teamd-offload ] || fail "the team is run by $(readlink "/proc/$pid/exe")"
[ "$(teamdctl -D team0 state item get setup.dbus_enabled)" = true ] || fail "NetworkManager does not use D-Bus"
[ "$(teamdctl team0 state item get datapath.name)" = team ] || fail "the datapath is not the team driver"
ip -4 -o addr show dev team0 | grep -qF 10.9.0.1/24 || fail "the team has no address"
step "up: NetworkManager has started teamd-offload, two ports carry"

build/bin/teamo-lab cable pull 0
await 30 carry 1 || refused "the lost cable is not noticed"
build/bin/teamo-lab cable plug 0
await 30 carry 2 || refused "the cable that is back is not used"
step "a cable is pulled and plugged"

nmcli connection down eth1 >/dev/null || refused "nmcli does not detach eth1"
await 30 carried eth0 || refused "eth1 does not leave: $(teamoctl team0 state)"
nmcli connection add type ethernet con-name eth2 ifname eth2 master team0 slave-type team \
    team-port.config '{"prio": 5}' >/dev/null || refused "nmcli adds no port"
nmcli connection up eth2 >/dev/null || refused "nmcli does not attach eth2"
await 30 carried eth0 eth2 || refused "eth2 does not join: $(teamoctl team0 state)"
[ "$(teamdctl team0 port config dump eth2 | tr -d ' \n')" = '{"prio":5}' ] || fail "the port's configuration is not used: $(teamdctl team0 port config dump eth2)"
step "a port is removed, and another is added with a configuration"

kill -KILL "$pid"
again() { local now; now=$(teamdctl team0 state item get setup.pid 2>/dev/null) && [ "$now" != "$pid" ] && carry 2; }
await 30 again || refused "NetworkManager does not start a killed daemon again"
step "killed: NetworkManager has started it again"

nmcli connection modify team0 team.config '{"runner": {"name": "activebackup"}}' || refused "nmcli does not change the team"
nmcli connection up team0 >/dev/null || refused "nmcli does not start the changed team"
runner_is() { [ "$(teamdctl team0 state item get setup.runner_name 2>/dev/null)" = "$1" ]; }
await 30 runner_is activebackup || refused "the runner is $(teamdctl team0 state item get setup.runner_name)"
step "the runner is changed"

nmcli connection down team0 >/dev/null || refused "nmcli does not stop the team"
nmcli connection delete team0 eth0 eth1 eth2 >/dev/null || refused "nmcli does not delete the connections"
gone() { ! ip link show team0 >/dev/null 2>&1 && [ ! -e /run/teamd/team0.sock ]; }
await 30 gone || refused "the team is still there"
! nm_log | grep -E '<(error|warn)>.*team' || fail "NetworkManager reports errors"
step "down: the team is gone, no error is in the journal"
systemctl stop NetworkManager.service
