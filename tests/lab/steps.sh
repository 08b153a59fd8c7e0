#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs the steps of one boot in its guest, each a shell command. A failed step does not stop the next. steps.sh STEP…
set -u

# Restores the state after the boot for the next step: new ports, no team, no team driver, no network namespace, far ends
# without a bridge.
reset_guest() {
    local link left=
    ip -all netns delete # of far_switch.sh
    for link in /sys/class/net/*; do
        link=${link##*/}
        case $link in
            lo | eth* | bonding_masters) ;;
            *) left+=" $link"; ip link del "$link" ;;
        esac
    done 2>/dev/null
    [ -z "$left" ] || echo "== left behind:$left"
    modprobe -r "${TEAMO_LAB_NIC/virtio/virtio_net}" && modprobe "${TEAMO_LAB_NIC/virtio/virtio_net}"
    lsmod | awk '/^team/ { print $1 }' | xargs -r modprobe -r -a 2>/dev/null
    rm -rf /run/teamd-offload
    build/bin/teamo-lab peer 'for link in $(ls /sys/class/net); do
        case $link in
            lo) ;;
            tap*) ip link set $link nomaster up; ip addr flush dev $link ;;
            *) ip link del $link ;;
        esac
    done >/dev/null 2>&1; true'
}

failed=()
for step; do
    echo "== $step"
    start=$SECONDS
    result=0
    bash -c "$step" || result=$?
    echo "== $((SECONDS - start)) s, exit status $result: $step"
    [ $result -eq 0 ] || failed+=("$step")
    reset_guest
done
[ ${#failed[@]} -eq 0 ] && exit 0
for step in "${failed[@]}"; do echo "== failed: $step"; done
exit 1
