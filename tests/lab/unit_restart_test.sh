#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# When systemd restarts the unit, and when not, as in teamd-offload(8).
# One argument: the datapath, team or bpf.
#
# lab: unit_restart_test.sh bpf in -k newest -s, 35 s
set -euo pipefail
datapath=$1
. "${BASH_SOURCE%/*}/unit.sh"
restarts() { systemctl show --property=NRestarts --value "$unit"; }
pid() { systemctl show --property=MainPID --value "$unit"; }
# another OLD: whether a process other than OLD runs the team, and both ports carry
another() { local now; now=$(pid) && [ "$now" != 0 ] && [ "$now" != "$1" ] && carry 2; }

install_unit
configure "$datapath" eth0 eth1
systemctl start "$unit" || fail "systemctl start"
await 20 carry 2 || fail "two ports do not carry: $(teamoctl team0 state dump)"
[ "$(restarts)" = 0 ] || fail "it was restarted $(restarts) times"

# An upgrade that restarted nothing: doctor names the daemon of another version, with the command that restarts it.
rm -f /usr/sbin/policy-rc.d # a container forbids packages to restart services; this guest is a machine
version=$(teamd-offload --version)
version=${version#* }
cp /usr/bin/teamd-offload /run/installed
LC_ALL=C sed "s/\x00${version//./\\.}\x00/\x00${version//[0-9]/9}\x00/g" /run/installed >/run/former
install /run/former /usr/bin/teamd-offload
systemctl restart "$unit"
install /run/installed /usr/bin/teamd-offload
await 20 carry 2 || fail "two ports do not carry by another version"
! said=$(teamoctl team0 doctor) || fail "doctor names nothing: $said"
[[ $said == *"the daemon runs version ${version//[0-9]/9}, installed is $version"* ]] || fail "doctor does not name the version: $said"
eval "$(sed -n 's/^ *\(.*restart-teams [^ ]*\).*/\1/p' <<<"$said")"
await 20 carry 2 || fail "two ports do not carry after the command of doctor"
[[ $(teamoctl team0 doctor) != *"installed is"* ]] || fail "the command of doctor did not restart the daemon: $(teamoctl team0 doctor)"
step "another version: named by doctor, and restarted by the command that it shows"

# The watchdog kills a hanging daemon after ten seconds, and it is restarted; the team continues.
ip -o monitor link >/run/links &
monitor=$!
old=$(pid)
index=$(cat /sys/class/net/team0/ifindex)
kill -STOP "$old"
await 90 another "$old" || fail "the hanging daemon was not killed"
[ "$(restarts)" = 1 ] || fail "restarted $(restarts) times, not once"
[ "$(cat /sys/class/net/team0/ifindex)" = "$index" ] || fail "the device is a new one"
kill $monitor
! link_went || fail "a link went down or was deleted during the restart"
step "hangs: killed by the watchdog and restarted, no link went down or was deleted"

# Another program removes the device: status 2, a failure.
old=$(pid)
ip link del team0
await 30 another "$old" || fail "the team was not created again after its device was removed"
[ "$(restarts)" = 2 ] || fail "restarted $(restarts) times, not twice"
[ "$(cat /sys/class/net/team0/ifindex)" != "$index" ] || fail "the device is still the old one"
step "device removed: restarted, with a new device"

# One port that cannot join does not keep the others from carrying.
systemctl stop "$unit" || fail "systemctl stop"
configure "$datapath" eth0 lo
systemctl start "$unit" || fail "systemctl start with lo as a port"
await 20 carry 1 || fail "the other port does not carry: $(teamoctl team0 state dump)"
systemctl stop "$unit" || fail "systemctl stop"
step "a port that cannot join: the team starts with the other one"

# A refusal is final.
sed -i 's/loadbalance/fastest/' /etc/teamd-offload/team0.conf
! systemctl start "$unit" 2>/dev/null || fail "a runner that does not exist was accepted"
for _ in {1..30}; do
    state=$(systemctl show --property=ActiveState,SubState,ExecMainStatus,NRestarts --value "$unit" | sort | tr '\n' ' ')
    [ "$state" = "0 1 failed failed " ] || fail "after a refusal the unit is: $state"
    sleep 0.1
done
step "refused: failed with status 1, and not restarted"

# A passing failure is retried until the start succeeds.
configure "$datapath" eth0 eth1
mkdir -p "/run/systemd/system/$unit.d"
printf '[Service]\nLimitNOFILE=16\n' >"/run/systemd/system/$unit.d/few.conf"
systemctl daemon-reload
systemctl start --no-block "$unit"
# The unit itself shows the status only for a moment between two starts.
tried() { [ "$(restarts)" -ge 3 ] && [ "$(journalctl --quiet --unit "$unit" | grep -c "status=75/")" -ge 3 ]; }
await 60 tried || fail "a start without enough descriptors: $(systemctl show --property=NRestarts "$unit"), $(journalctl --unit "$unit" | tail)"
rm "/run/systemd/system/$unit.d/few.conf"
systemctl daemon-reload
await 30 carry 2 || fail "the team does not carry although its start can succeed"
step "no descriptors: failed with status 75, and restarted until there were enough"
