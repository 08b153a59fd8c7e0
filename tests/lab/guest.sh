#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# In the guest, with the host's file system at /: completes the boot, then runs the command.
# guest.sh RUN MODULES NIC INIT INTERACTIVE
run=$1 modules=$2 nic=$3 init=$4 interactive=$5
export PATH=/usr/sbin:/usr/bin:/sbin:/bin

mount -t tmpfs -o mode=755 tmpfs /run
# Keeps a checkout below /tmp visible.
case $run in /tmp/*) ;; *) mount -t tmpfs -o mode=1777 tmpfs /tmp ;; esac
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t bpf bpf /sys/fs/bpf
mount -t tracefs tracefs /sys/kernel/tracing
mkdir -p "/lib/modules/$(uname -r)"
mount --bind "$modules" "/lib/modules/$(uname -r)"
echo lab | tee /etc/hostname >/proc/sys/kernel/hostname
ip link set lo up

# Without udev the ports keep the kernel's names: ethN in the order of the slots.
modprobe tun
modprobe "${nic/virtio/virtio_net}"
mkdir -p /dev/virtio-ports
# The ports appear one after the other, slowly on a busy machine (drivers/char/virtio_console.c: control work).
for _ in {1..300}; do
    names=$(cat /sys/class/virtio-ports/*/name 2>/dev/null)
    [[ $names == *teamo.peer* && $names == *teamo.status* && $names == *teamo.out* && $names == *teamo.err* ]] && break
    sleep 0.1
done
for port in /sys/class/virtio-ports/*; do
    ln -sf "/dev/${port##*/}" "/dev/virtio-ports/$(cat "$port/name")"
done

if [ "$init" = systemd ]; then
    . "${BASH_SOURCE%/*}/systemd.sh"
    exec /lib/systemd/systemd --unit=lab.target </dev/console >/dev/console 2>&1
fi
# Not as PID 1, which ignores signals by default.
bash "${BASH_SOURCE%/*}/command.sh" "$run" "$interactive"
sleep infinity
