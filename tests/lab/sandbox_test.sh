#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# In a guest with systemd as first process: what confines the unit does not keep the daemon from its work, and what the
# unit cannot do without more rights is reported. The unit of teamd has the same lines.
#
# lab: sandbox_test.sh in -k newest -s, 30 s, long
# lab: sandbox_test.sh in -k 6.1 -s, 40 s
set -euo pipefail
. "${BASH_SOURCE%/*}/unit.sh"
ports="eth0 eth1 eth2 eth3"
conf=/etc/teamd-offload/team0.conf
pid() { systemctl show --property=MainPID --value "$unit"; }
exposure() { # exposure TEXT TENTHS
    systemd-analyze security --no-pager --threshold="$2" "$unit" >/run/exposure 2>&1 || fail "$1: exposure above $2: $(grep ^✗ /run/exposure)"
    step "$1: $(tail -n 1 /run/exposure)"
}
inside() { nsenter --target "$(pid)" --mount "$@"; }
threads_stay() { [[ $(teamoctl team0 doctor 2>&1 || true) == *"NAPI threads stay where they are"* ]]; }
thread_is_placed() { [[ $(taskset -cp "$(pgrep '^napi/eth0-' | head -n 1)") =~ ': '[0-9]+$ ]]; }

install_unit
# shellcheck disable=SC2086
configure bpf $ports
systemctl daemon-reload
for port in $ports; do ip link set "$port" up; echo 1 >"/sys/class/net/$port/threaded"; ip link set "$port" down; done
systemctl start "$unit" || fail "systemctl start"
await 80 carry 4 || fail "four ports do not carry: $(teamoctl team0 state dump)"
exposure "the unit" 20
# Mounts of /tmp or /var/tmp may need the network, which waits for the team.
[[ $(systemctl show --property=RequiresMountsFor --value "$unit") != */tmp* ]] || fail "the unit needs $(systemctl show --property=RequiresMountsFor "$unit")"
inside test ! -w /tmp || fail "/tmp can be written"
said=$(teamoctl team0 interrupts) || fail "teamoctl team0 interrupts"
[[ $said != *Read-only* ]] || fail "interrupts: $said"
for file in /proc/irq/default_smp_affinity /proc/sys/net/ipv6/conf/eth0/disable_ipv6 /run/teamd /run/teamd-offload; do
    inside test -w $file || fail "$file cannot be written"
done
for file in /proc/sysrq-trigger /proc/sys/kernel/panic /sys/module/kernel/parameters/panic /run /run/systemd /etc; do
    ! inside test -w $file || fail "$file can be written"
done
step "of /proc and /sys only what the daemon needs can be written"

await 40 threads_stay || fail "the doctor does not say that threads stay: $(teamoctl team0 doctor)"
[ "$(journalctl -q "_PID=$(pid)" | grep -c 'port eth0: its NAPI threads stay')" = 1 ] || fail "the log: $(journalctl -q "_PID=$(pid)")"
install -D -m 644 -t "/etc/systemd/system/$unit.d" /usr/share/teamd-offload/systemd/bind-threads.conf
systemctl daemon-reload
exposure "with bind-threads.conf" 24
index=$(cat /sys/class/net/team0/ifindex)
systemctl restart "$unit"
await 80 carry 4 || fail "four ports do not carry with bind-threads.conf"
[ "$(cat /sys/class/net/team0/ifindex)" = "$index" ] || fail "the restart removed the team"
await 40 thread_is_placed || fail "the thread of eth0 is not placed: $(teamoctl team0 interrupts)"
teamoctl team0 state >/dev/null || fail "the daemon does not answer"
! threads_stay || fail "the doctor still says that threads stay"
# While the ports are up: since 7.x the kernel waits for ever, with all devices locked, if a port is down (net/core/dev.c:
# napi_stop_kthread).
for port in $ports; do echo 0 >"/sys/class/net/$port/threaded"; done
systemctl stop "$unit" || fail "systemctl stop"
rm -r "/etc/systemd/system/$unit.d"
systemctl daemon-reload
step "threads of threaded NAPI: reported, and placed with bind-threads.conf"

# /proc shows it to no process of the unit.
mkdir -p /run/other
cp "$(command -v sleep)" /run/other/teamd
/run/other/teamd 600 &
teamd=$!
echo "$teamd" >/run/teamd/team0.pid
! systemctl start "$unit" 2>/dev/null || fail "the team of a running teamd was taken"
# Not by the unit: journald cannot tell the unit of a process that has just ended.
[[ $(journalctl -q -b) == *"Daemon already running on PID $teamd"* ]] || fail "the log: $(journalctl -q -b -n 20)"
[ "$(cat /run/teamd/team0.pid)" = "$teamd" ] || fail "the PID file of teamd is gone"
kill "$teamd"
wait "$teamd" || true
step "a running teamd keeps its team and its PID file"

# The unit of teamd, for this daemon; there is no bus for -D.
folder=/etc/systemd/system/teamd@.service.d
mkdir -p $folder
cat packaging/compat/teamd@.service packaging/systemd/10-daemon.conf >/etc/systemd/system/teamd@.service
printf '[Service]\nExecStart=\nExecStart=/usr/bin/teamd-offload -U -o -t %%i -f /run/teamd/%%i.conf\n' >$folder/20-lab.conf
cp $conf /run/teamd/team0.conf
systemctl daemon-reload
wrong=$(systemd-analyze verify --man=no "$unit" teamd@team0.service 2>&1 | grep teamd || true)
[ -z "$wrong" ] || fail "systemd-analyze verify: $wrong"
unit=teamd@team0.service
systemctl start "$unit" || fail "systemctl start $unit"
await 80 carry 4 || fail "four ports do not carry by $unit"
exposure "$unit" 27
[ "$(systemctl show --property=StartLimitIntervalUSec --value "$unit")" = 0 ] || fail "$unit is given up after some deaths"
systemctl stop "$unit" || fail "systemctl stop $unit"
[ -e /run/teamd/team0.conf ] || fail "the stop removed the configuration"
rm -r /etc/systemd/system/teamd@.service $folder
systemctl daemon-reload
step "the unit of teamd is confined too"
