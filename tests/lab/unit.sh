# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# For tests in a guest with systemd as PID 1: installs and configures the unit of the team team0.
unit=teamd-offload@team0.service
step() { printf '%s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*" >&2; systemctl --no-pager status "$unit" >&2 || true; exit 1; }
# await SECONDS COMMAND…: polls until it succeeds
await() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.1
    done
}
# carry NUMBER: whether this many ports carry
carry() { [ "$(teamoctl team0 state dump 2>/dev/null | grep -c '"transmits": true')" = "$1" ]; }
# link_went: whether a device lost its carrier or was deleted, by what `ip -o monitor link` wrote to /run/links
link_went() { grep -E "NO-CARRIER|state (LOWERLAYER)?DOWN|Deleted" /run/links; }
# networkd_says DEVICE STATE
networkd_says() { [[ $(networkctl --no-legend --no-pager list "$1" | awk '{ print $NF }') == "$2" ]]; }
install_unit() {
    cmake --install build --prefix /usr >/dev/null
    systemd-sysusers teamd-offload.conf
    systemctl daemon-reload
}
# configure DATAPATH PORT…
configure() {
    local datapath=$1 ports
    shift
    ports=$(printf '"%s": {}, ' "$@")
    mkdir -p /etc/teamd-offload
    cat >/etc/teamd-offload/team0.conf <<END
{"device": "team0", "datapath": "$datapath", "runner": {"name": "loadbalance"}, "ports": {${ports%, }}}
END
}
# start_udevd POLICY: with Debian's rules and this MACAddressPolicy=, but the ports keep the lab's names. It comes from
# $TEAMO_LAB_MANAGERS.
start_udevd() {
    rm -f /etc/systemd/system/systemd-udev*
    systemctl daemon-reload
    mkdir -p /etc/systemd/network
    printf '[Match]\nOriginalName=*\n[Link]\nNamePolicy=\nMACAddressPolicy=%s\n' "$1" >/etc/systemd/network/99-default.link
    systemctl start systemd-udevd.service || fail "udevd does not start"
    udevadm trigger --action=add --subsystem-match=net
    udevadm settle -t 60 || fail "udevd does not settle"
}
