#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# In a guest with systemd: the Debian package is installed, restarted, reloaded, upgraded and removed under traffic, and
# takes the place of a running teamd of libteam. One argument: the datapath, team, bond or bpf.
#
# lab: packages_test.sh team in -k 6.12 -c 2 -s -t, 420 s, long
# lab: packages_test.sh bpf in -k 6.12 -c 2 -s -t, 230 s, long
# lab: packages_test.sh bond in -k 6.12 -c 2 -s -t, 230 s, long
set -euo pipefail
datapath=$1
. "${BASH_SOURCE%/*}/unit.sh"
. "${BASH_SOURCE%/*}/far_switch.sh"
packages=/run/packages
conf=/etc/teamd-offload/team0.conf

# A container forbids packages to start and stop services; this guest is a machine.
rm -f /usr/sbin/policy-rc.d

ports() { printf '"%s": {}, ' "$@" | sed 's/, $//'; }
# config HASH MORE PORT…
config() {
    local hash=$1 more=$2
    shift 2
    printf '{"device": "team0", %s "runner": {"name": "loadbalance", "tx_hash": [%s]}, "ports": {%s}}\n' "$more" "$hash" "$(ports "$@")"
}
rm -rf $packages # of a run before, which may have failed
rm -f /usr/bin/teamo* # of an earlier step of this boot (install_unit)
DEB_BUILD_OPTIONS=noautodbgsym packaging/make-packages build $packages
# The next version has the same programs.
dpkg-deb -R $packages/teamd-offload_*.deb $packages/next
sed -i 's/^Version: .*/Version: 9.9/' $packages/next/DEBIAN/control
dpkg-deb -Znone -b $packages/next $packages/next.deb >/dev/null
apt-get install -y $packages/teamd-offload_*.deb >/run/apt.log 2>&1 || { cat /run/apt.log >&2; fail "the package cannot be installed"; }
named=$(PATH=/usr/bin:/bin teamoctl bench 2>&1) || true # it fails, and with pipefail grep's success would not count
[[ $named == *"install the package teamd-offload-bench"* ]] || fail "teamoctl bench does not say what to install: $named"
dpkg -i $packages/teamd-offload-bench_*.deb >/run/apt.log 2>&1 && PATH=/usr/bin:/bin teamoctl bench --version | grep -q "^teamo-bench " ||
    { cat /run/apt.log >&2; fail "the benchmark is not installed"; }
dpkg --purge teamd-offload-bench >/dev/null || fail "the benchmark cannot be removed"
step "the benchmark has a package of its own, which teamoctl names"
config '"eth", "ipv4", "l4"' "\"datapath\": \"$datapath\"," a1 a2 >$conf
systemctl start "$unit" || fail "systemctl start"
await 20 carry 2 || fail "two ports do not carry"
address
first=$(pid)
none_lost "systemctl restart" systemctl restart "$unit"
[ "$(pid)" != "$first" ] || fail "the restart started no new daemon"
config '"ipv4"' "\"datapath\": \"$datapath\", \"link_watch\": {\"name\": \"ethtool\", \"delay_up\": 50}," a1 a3 >$conf
none_lost "systemctl reload, with another hash, port and watch" systemctl reload "$unit"
await 20 carry 2 || fail "two ports do not carry after the reload"
teamoctl team0 port present a3 || fail "a3 did not join"
! teamoctl team0 port present a2 2>/dev/null || fail "a2 did not leave"
before=$(pid)
none_lost "upgrade of the package" apt-get install -y $packages/next.deb
[ "$(pid)" != "$before" ] || fail "the upgrade did not start the new daemon"
await 20 carry 2 || fail "two ports do not carry after the upgrade"
echo 'not JSON' >$conf
! systemctl reload "$unit" 2>/dev/null || fail "a bad file was reloaded"
carry 2 || fail "a bad file changed the team"
before=$(pid)
dpkg -i $packages/next.deb >/run/apt.log 2>&1 || { cat /run/apt.log >&2; fail "the package cannot be installed again"; }
[ "$(pid)" = "$before" ] || fail "an upgrade ended the daemon of a team with a bad file"
grep "$unit goes on with the former program" /run/apt.log || fail "the upgrade does not name the bad file: $(cat /run/apt.log)"
apt-get purge -y teamd-offload >/run/apt.log 2>&1 || { cat /run/apt.log >&2; fail "the package cannot be removed"; }
! ip link show team0 >/dev/null 2>&1 || fail "team0 is still there after the removal"
[ ! -e /usr/bin/teamd-offload ] && [ ! -e /usr/lib/systemd/system/teamd-offload@.service ] || fail "files of the package remain"
step "removed: the team is gone, no file remains"
[ "$datapath" = team ] || exit 0

# A team that libteam's teamd runs.
config '"ipv4"' "" a1 a2 >/run/old.conf
teamd -d -f /run/old.conf || fail "libteam's teamd does not start"
address
# One whose file nobody can find any more.
printf '{"device": "team1", "runner": {"name": "roundrobin"}, "ports": {"a3": {}}}\n' >/run/lost.conf
(cd /run && teamd -d -f lost.conf) || fail "libteam's teamd does not start for a second team"
second=$(pgrep -f 'teamd -d -f lost.conf')
count=$(lost 10000 apt-get install -y $packages/teamd-offload_*.deb $packages/teamd-offload-compat_*.deb)
[ "$count" -le 10 ] || fail "$count packets lost while teamd was replaced"
grep -h teamd-offload-compat: /run/command.log
[[ $(teamd -v) == "teamd-offload "* ]] || fail "teamd is still libteam's: $(teamd -v)"
[ "$(teamdctl.libteam team0 state item get datapath.name)" = team ] || fail "teamd-offload does not run the team"
reaches || fail "the far end does not answer any more"
step "libteam's teamd replaced: $count packets lost at 10,000 a second"
[ -d "/proc/$second" ] || fail "a teamd that teamd-offload could not follow was ended"
[[ " $(systemctl show --property=Before --value 'teamd-offload-replaced-*.service') " == *" network-pre.target "* ]] || fail "the team goes down before the network: $(systemctl show 'teamd-offload-replaced-*.service')"
kill "$second"
teamd -k -t team0 || fail "teamd -k"
# An administrator's own unit of libteam's name stays as it is.
printf '[Service]\nExecStart=/bin/true\n' >/etc/systemd/system/teamd@.service
systemctl daemon-reload
[ "$(systemctl show --property=Type --value teamd@own.service)" = simple ] || fail "the package changes a teamd@.service in /etc: $(systemctl cat teamd@own.service)"
rm /etc/systemd/system/teamd@.service
systemctl daemon-reload
# The same by libteam's unit: an upgrade hands the team over, a removal ends it.
mkdir -p /run/teamd
cp /run/old.conf /run/teamd/team0.conf
unit=teamd@team0.service
systemctl start "$unit" || fail "systemctl start $unit"
await 20 carry 2 || fail "two ports do not carry by $unit"
address
before=$(pid)
none_lost "upgrade under $unit" apt-get install -y $packages/next.deb
[ "$(pid)" != "$before" ] || fail "the upgrade did not start the new daemon of $unit"
apt-get purge -y teamd-offload-compat teamd-offload >/run/apt.log 2>&1 || { cat /run/apt.log >&2; fail "the packages cannot be purged"; }
! ip link show team0 >/dev/null 2>&1 || fail "team0 is still there after the removal"
[[ $(teamd -v) == "teamd 1."* ]] || fail "purge did not give back libteam's teamd: $(teamd -v)"
[ ! -e /usr/bin/teamd.libteam ] || fail "a diverted file remains"
# It refuses ports that are up, as they were when teamd-offload took the team over.
ip link set a1 down; ip link set a2 down
teamd -d -f /run/old.conf && teamd -k -t team0 || fail "libteam's teamd does not work any more"
step "purged: libteam's programs are back"
