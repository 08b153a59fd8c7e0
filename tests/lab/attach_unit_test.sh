#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# In a guest with systemd as first process: the unit without a configuration file attaches to a bond of that name. It is
# ready before there is one, steers it with the rights of the unit, and leaves it as it was.
#
# lab: attach_unit_test.sh in -k 6.1 -s, 25 s, long
# lab: attach_unit_test.sh in -k newest -s, 25 s
set -euo pipefail
. "${BASH_SOURCE%/*}/unit.sh"
unit=teamd-offload@bond0.service
status_says() { [[ $(systemctl show --property=StatusText --value "$unit") == *"$1"* ]]; }
policy() { ip -d link show bond0 | grep -o 'xmit_hash_policy [^ ]*'; }
policy_is() { [ "$(policy)" = "xmit_hash_policy $1" ]; }
make_bond() {
    ip link add bond0 type bond mode balance-xor miimon 100 xmit_hash_policy layer2+3
    for port in eth0 eth1; do ip link set $port down; ip link set $port master bond0; done
    ip link set bond0 up
}
pid() { systemctl show --property=MainPID --value "$unit"; }
# As the maintainer scripts do after an upgrade.
upgraded() {
    local before
    before=$(pid)
    /usr/share/teamd-offload/restart-teams 'teamd-offload@*.service' >/run/said 2>&1
    ! grep -q "goes on with the former program" /run/said && [ "$(pid)" != "$before" ]
}

# A container forbids packages to start and stop services; this guest is a machine.
rm -f /usr/sbin/policy-rc.d
install_unit
systemctl start "$unit" || fail "systemctl start without a bond"
status_says "waits for bond bond0" || fail "the status line does not say that it waits"
systemctl is-active --quiet "$unit" || fail "not active while it waits"
upgraded || fail "an upgrade leaves the former program that waits: $(cat /run/said)"
step "no bond: ready at once, waits, and is upgraded"

make_bond
await 30 policy_is encap3+4 || fail "the bond is not steered: $(policy)"
await 30 status_says "2 of 2 ports carry" || fail "the status line does not show the slaves"
teamoctl bond0 state
teamoctl bond0 doctor || true
step "the bond appeared: steered, with the rights of the unit"

upgraded || fail "an upgrade leaves the former program of a unit without a file: $(cat /run/said)"
policy_is encap3+4 || fail "after an upgrade: $(policy)"
await 30 status_says "2 of 2 ports carry" || fail "no slaves after an upgrade"
mkdir -p /run/systemd/system/$unit.d
printf '[Service]\nExecStart=\nExecStart=/usr/bin/teamd-offload -t bond0 --attach --of-another-version\n' >/run/systemd/system/$unit.d/other.conf
systemctl daemon-reload
! upgraded && grep -q "goes on with the former program.*of-another-version" /run/said || fail "an upgrade ends a daemon whose unit cannot start: $(cat /run/said)"
rm -r /run/systemd/system/$unit.d
systemctl daemon-reload
step "upgraded: the bond stays steered; not with arguments that the program does not know"

killed=$(pid)
kill -KILL "$killed"
another() { now=$(pid); [ "$now" != 0 ] && [ "$now" != "$killed" ] && status_says "2 of 2 ports carry"; }
await 60 another || fail "no new daemon after kill -9"
policy_is encap3+4 || fail "after kill -9: $(policy)"
step "killed: the next daemon continues"

systemctl restart "$unit" || fail "systemctl restart"
policy_is encap3+4 || fail "after a restart: $(policy)"
await 30 status_says "2 of 2 ports carry" || fail "no slaves after a restart"
step "restarted: the bond stays steered"

ip link del bond0
await 30 status_says "waits for bond bond0" || fail "it does not wait again"
make_bond
await 30 policy_is encap3+4 || fail "the new bond is not steered"
step "deleted and made again: attached again"

systemctl stop "$unit" || fail "systemctl stop"
policy_is layer2+3 || fail "after the stop: $(policy)"
[ ! -e /run/teamd-offload/bond0.json ] || fail "the journal stays"
ip link show bond0 >/dev/null || fail "the bond is gone"
step "stopped: the bond is as it was"
