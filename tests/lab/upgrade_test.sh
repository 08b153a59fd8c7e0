#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# In a guest with systemd, under traffic: the package of the former version is upgraded to this one, downgraded and upgraded
# again. Each takes over the team, what its operator set, its journal and its configuration from the other. ./quickstart
# upgrade makes both packages. One argument: the datapath, team, bpf or bond, or attach: a bond that is there.
#
# lab: upgrade_test.sh bpf in -k 6.12 -c 2 -s -t, 120 s, long
# lab: upgrade_test.sh team in -k 6.12 -c 2 -s -t, 120 s, long
# lab: upgrade_test.sh bond in -k 6.12 -c 2 -s -t, 120 s, long
# lab: upgrade_test.sh attach in -k 6.12 -c 2 -s -t, 120 s, long
set -euo pipefail
datapath=$1
. "${BASH_SOURCE%/*}/unit.sh"
. "${BASH_SOURCE%/*}/far_switch.sh"
team=team0
[ "$datapath" != attach ] || team=bond0
unit=teamd-offload@$team.service
conf=/etc/teamd-offload/$team.conf
former=$(echo build/former/teamd-offload_*.deb)
this=$(echo build/packages/teamd-offload_*.deb)
[ -e "$former" ] && [ -e "$this" ] || fail "no packages in build/former and build/packages: ./quickstart upgrade makes them"

version() { dpkg-query --show --showformat='${Version}' teamd-offload; }
carry() { [ "$(teamoctl "$team" state dump 2>/dev/null | grep -c '"transmits": true')" = "$1" ]; }
is_drained() { [ "$(teamoctl "$team" state item get "ports.$1.drain.phase" 2>/dev/null)" = drained ]; }
# settings PORT: what the daemon changes. The kernel gives a device its qdisc when it first comes up.
settings() { ip -d link show "$1" | sed 's/ qdisc [a-z]*//'; ethtool -k "$1"; cat "/proc/sys/net/ipv6/conf/$1/disable_ipv6"; }
all_settings() {
    local port
    for port in a1 a2; do settings $port; done
    [ "$datapath" != attach ] || ip -d link show bond0 | grep -o 'xmit_hash_policy [^ ]*'
}
# install FILE: as apt does it, which has no network here
install() { dpkg -i "$1"; }
# change WHAT FILE: installs FILE under traffic. The team's new daemon has what the former one had.
change() {
    local what=$1 before
    before=$(pid)
    none_lost "$what" install "$2"
    [ "$(pid)" != "$before" ] || fail "$what: no new daemon: $(cat /run/command.log)"
    [ "$(readlink "/proc/$(pid)/exe")" = /usr/bin/teamd-offload ] || fail "$what: the daemon is not of the package"
    await 30 carry 1 || fail "$what: the port that is left does not carry"
    is_drained a2 || fail "$what: a2 is not drained any more: $(teamoctl "$team" state dump)"
    [ "$(cat "/sys/class/net/$team/ifindex")" = "$index" ] || fail "$what: the device is another one"
}
# kill_and_change WHAT FILE: the daemon is killed, and the one of FILE starts and stops: all is put back.
kill_and_change() {
    systemctl start "$unit" || fail "$1: systemctl start"
    await 30 carry 2 || fail "$1: two ports do not carry before"
    systemctl kill --signal=KILL "$unit"
    systemctl stop "$unit" || true
    install "$2" >/run/apt.log 2>&1 || { cat /run/apt.log >&2; fail "$1: dpkg"; }
    systemctl reset-failed "$unit" 2>/dev/null || true
    systemctl start "$unit" || fail "$1: the next daemon does not start"
    await 30 carry 2 || fail "$1: two ports do not carry after"
    systemctl stop "$unit" || fail "$1: systemctl stop"
    [ "$(all_settings)" = "$settings" ] || fail "$1: not as before: $(diff <(echo "$settings") <(all_settings))"
    [ ! -e "/run/teamd-offload/$team.json" ] || fail "$1: the journal stays"
    step "$1: the next daemon finds the journal, and all is put back"
}

rm -f /usr/sbin/policy-rc.d /usr/bin/teamo* /usr/bin/teamd-offload* # a container's, and an earlier step's
mkdir -p /etc/teamd-offload
if [ "$datapath" = attach ]; then
    ip link add bond0 type bond mode balance-xor miimon 100 xmit_hash_policy layer2+3
    for port in a1 a2; do ip link set $port master bond0; ip link set $port up; done
    ip link set bond0 up
    ip addr replace 10.9.0.1/24 dev bond0
    await 20 reaches || fail "the far end does not answer"
    echo '{"device": "bond0", "attach": true}' >"$conf"
else
    echo "{\"device\": \"team0\", \"datapath\": \"$datapath\", \"runner\": {\"name\": \"loadbalance\", \"tx_hash\": [\"eth\", \"ipv4\", \"l4\"]}, \"ports\": {\"a1\": {}, \"a2\": {}}}" >"$conf"
fi
settings=$(all_settings)
install "$former" >/run/apt.log 2>&1 || { cat /run/apt.log >&2; fail "the former package cannot be installed"; }
systemctl start "$unit" || fail "systemctl start"
await 20 carry 2 || fail "two ports do not carry: $(teamoctl "$team" state dump)"
[ "$datapath" = attach ] || address
index=$(cat "/sys/class/net/$team/ifindex")
teamoctl "$team" port drain a2 || fail "a2 cannot be drained"
old=$(version)
change "upgrade from $old" "$this"
change "downgrade from $(version)" "$former"
[ "$(version)" = "$old" ] || fail "the former version is not installed: $(version)"
change "upgrade again" "$this"
teamoctl "$team" port undrain a2 || fail "a2 cannot be undrained"
await 20 carry 2 || fail "a2 does not come back"
systemctl stop "$unit" || fail "systemctl stop"
[ "$(all_settings)" = "$settings" ] || fail "stopped: not as before: $(diff <(echo "$settings") <(all_settings))"
kill_and_change "killed, then downgraded" "$former"
kill_and_change "killed, then upgraded" "$this"
apt-get purge -y teamd-offload >/run/apt.log 2>&1 || { cat /run/apt.log >&2; fail "the package cannot be removed"; }
rm -f "$conf"
[ "$datapath" != attach ] || ip link del bond0
