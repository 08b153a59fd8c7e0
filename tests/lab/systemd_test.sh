#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# In a guest with systemd as first process: the unit starts a team over real cards, shows its state, is restarted when
# the daemon is killed, and restores the ports. One argument: the datapath, team or bpf.
#
# lab: systemd_test.sh team in -k newest -s, 70 s, long
# lab: systemd_test.sh bpf in -k newest -s, 60 s
set -euo pipefail
datapath=$1
. "${BASH_SOURCE%/*}/unit.sh"
# The settings of the ports that must be the same at the end; not the carrier.
port_settings() {
    local port
    for port in eth0 eth1 eth2 eth3; do
        ip -d link show dev $port | sed 's/ state [A-Z]*//; s/,LOWER_UP//; s/NO-CARRIER,//'
        ethtool -k $port
        tc qdisc show dev $port
        cat /proc/sys/net/ipv6/conf/$port/disable_ipv6
    done
}

install_unit
mkdir -p /etc/teamd-offload
cat >/etc/teamd-offload/team0.conf <<END
{"device": "team0", "datapath": "$datapath", "runner": {"name": "loadbalance"},
 "workers": [{"unit": "fed.service", "policy": "follow"}],
 "ports": {"eth0": {}, "eth1": {}, "eth2": {}, "eth3": {}}}
END
systemctl daemon-reload # the generator gives the unit the rights for workers
# A device gets its queueing discipline when it is first up, and keeps it.
for port in eth0 eth1 eth2 eth3; do ip link set $port up; ip link set $port down; done
before=$(port_settings)

systemctl start "$unit" || fail "systemctl start"
systemctl is-active --quiet "$unit" || fail "not active after start"
await 80 carry 4 || fail "four ports do not carry: $(teamoctl team0 state dump)"
says_so() { [[ $(systemctl show --property=StatusText --value "$unit") == *", 4 of 4 ports carry"* ]]; }
await 20 says_so || fail "the status line does not follow the ports"
status=$(systemctl --no-pager --lines=0 status "$unit")
printf '%s\n' "$status"
grep -q "Active: active (running)" <<<"$status" || fail "status is not active"
grep -q "Status: \"loadbalance over $datapath (.*4 of 4 ports carry" <<<"$status" || fail "the status line does not show the team"
pid=$(systemctl show --property=MainPID --value "$unit")
policy=$(awk '{print $41}' "/proc/$pid/stat") # proc(5); 2 is SCHED_RR
[ "$policy" = 2 ] || fail "scheduling policy $policy: a busy CPU delays the answer to a lost link"
step "started: active, real-time policy, the status line shows the team, four ports carry"

# A unit with one process that receives from all cables: the daemon binds it through systemd.
cat >/etc/systemd/system/fed.service <<END
[Service]
ExecStart=$TEAMO_LAB_BUSYBOX nc -l -p 7000
StandardOutput=null
END
main_pid() { systemctl show --property=MainPID --value fed.service; }
# Before 6.2 a change of AllowedCPUs= undoes the affinities of threads, so the daemon binds the threads themselves.
if [ "$(printf '%s\n' 6.2 "$(uname -r)" | sort -V | head -n 1)" = 6.2 ]; then
    allowed() { systemctl show --property=AllowedCPUs --value fed.service; }
else
    allowed() { awk '/^Cpus_allowed_list/ {print $2}' "/proc/$(main_pid)/status"; }
fi
systemctl daemon-reload
systemctl restart fed.service || fail "systemctl restart fed.service"
unbound=$(allowed) # the daemon needs a second at least
ip link set team0 up; ip addr add 10.9.0.1/24 dev team0
build/bin/teamo-lab peer 'ip link add br0 type bridge; for tap in tap0 tap1 tap2 tap3; do ip link set $tap master br0; done; ip addr add 10.9.0.2/24 dev br0; ip link set br0 up'
reaches() { [[ $(build/bin/teamo-lab peer "timeout 1 bash -c '</dev/tcp/10.9.0.1/22' 2>&1") == *refused* ]]; }
await 80 reaches || fail "the far end does not reach the team"
build/bin/teamo-lab peer "bash -c 'while head -c 20000 /dev/zero && sleep 0.1; do :; done > /dev/tcp/10.9.0.1/7000' </dev/null >/dev/null 2>&1 &"
is_bound() { [[ $(allowed) =~ ^[0-9]+$ ]]; }
await 120 is_bound || fail "fed.service is not bound: $(teamoctl team0 workers)"
teamoctl team0 workers
step "fed.service: bound to CPU $(allowed)"

ip -o monitor link >/run/links &
monitor=$!
bound=$(allowed)
pid=$(systemctl show --property=MainPID --value "$unit")
kill -KILL "$pid"
another() { now=$(systemctl show --property=MainPID --value "$unit"); [ "$now" != 0 ] && [ "$now" != "$pid" ] && carry 4; }
await 80 another || fail "no new daemon after kill -9"
[ "$(allowed)" = "$bound" ] || fail "fed.service was bound to $bound, after kill -9 to $(allowed)"
systemctl is-active --quiet "$unit" || fail "not active after kill -9"
kill $monitor
! link_went || fail "a link went down or was deleted after kill -9"
step "killed: restarted, no link went down or was deleted"

systemctl stop "$unit" || fail "systemctl stop"
! ip link show team0 >/dev/null 2>&1 || fail "team0 is still there"
[ "$(allowed)" = "$unbound" ] || fail "fed.service is still bound to $(allowed)"
after=$(port_settings)
difference=$(diff <(echo "$before") <(echo "$after")) || fail "the ports are not restored: $difference"
step "stopped: team0 is gone, the ports are restored"
# The rest does not depend on the datapath.
[ "$datapath" = bpf ] || exit 0

# What counts against the unit stands in docs/threat-model.md.
exposure() { # exposure TEXT TENTHS
    systemd-analyze security --no-pager --threshold="$2" "$unit" >/run/exposure 2>&1 || fail "$1: exposure above $2: $(grep ^✗ /run/exposure)"
    step "$1: $(tail -n 1 /run/exposure)"
}
exposure "with workers" 24

# The generator gives rights only to a team whose configuration needs them.
sed -i '/"workers"/d' /etc/teamd-offload/team0.conf
systemctl daemon-reload
exposure "without workers" 20
systemctl start "$unit" || fail "systemctl start without workers"
await 80 carry 4 || fail "four ports do not carry without workers: $(teamoctl team0 state dump)"
pid=$(systemctl show --property=MainPID --value "$unit")
[ "$(awk '{print $41}' "/proc/$pid/stat")" = 2 ] || fail "no real-time policy without workers"
systemctl stop "$unit"

# As on a kernel with CONFIG_RT_GROUP_SCHED.
mount --bind /bin/false /usr/bin/chrt
systemctl start "$unit" || fail "systemctl start where real-time priority is refused"
await 80 carry 4 || fail "four ports do not carry where real-time priority is refused"
systemctl stop "$unit"
umount /usr/bin/chrt
step "starts without real-time priority too"
