#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Boots the guest in namespaces of its own: taps, QEMU, and the server outside for the requests of its tests.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
cd "$run" # so that the paths of the sockets are short
root=$cache/linux-$kernel
version=$(basename "$root"/lib/modules/*)

# /sys of the new network namespace
mount -t sysfs sysfs /sys
ip link set lo up
queues=1
[ "$nic" != virtio ] || queues=4
devices=() topology=(-smp "$cpus" -m 2048)
if [ -n "$numa" ]; then
    topology=(-smp "$cpus,sockets=2,cores=$((cpus / 4)),threads=2" -m 2048)
    for node in 1 0; do # the guest finds the last one first
        topology+=(-object "memory-backend-ram,id=memory$node,size=1024M"
            -numa "node,nodeid=$node,cpus=$((node * cpus / 2))-$(((node + 1) * cpus / 2 - 1)),memdev=memory$node")
        devices+=(-device "pxb-pcie,id=side$node,bus_nr=$((64 * (node + 1))),bus=pcie.0,numa_node=$node")
    done
    topology+=(-numa "dist,src=0,dst=1,val=20")
fi
for ((port = 0; port < ports; port++)); do
    if [ $queues -gt 1 ]; then ip tuntap add dev "tap$port" mode tap multi_queue; else ip tuntap add dev "tap$port" mode tap; fi
    # The far end must not send anything by itself.
    echo 1 >"/proc/sys/net/ipv6/conf/tap$port/disable_ipv6"
    ip link set "tap$port" up
    devices+=(-netdev "tap,id=net$port,ifname=tap$port,script=no,downscript=no,vhost=off,queues=$queues")
    address=52:54:00:00:01:0$((port + 1))
    bus=
    if [ -n "$numa" ]; then
        devices+=(-device "pcie-root-port,id=bus$port,bus=side$((2 * port / ports)),chassis=$((port + 1)),slot=$port")
        bus=,bus=bus$port
    fi
    case $nic in
        virtio) devices+=(-device "virtio-net-pci,netdev=net$port,id=port$port,romfile=,mac=$address$bus,mq=on,vectors=$((2 * queues + 2))") ;;
        # Needs a bus of its own because of its virtual functions.
        igb) [ -n "$bus" ] || devices+=(-device "pcie-root-port,id=bus$port,chassis=$((port + 1))")
            devices+=(-device "igb,bus=bus$port,netdev=net$port,id=port$port,romfile=,mac=$address") ;;
        *) devices+=(-device "$nic,netdev=net$port,id=port$port,romfile=,mac=$address$bus") ;;
    esac
done

# Debian 12's own is too old (fetch.sh).
qemu=(qemu-system-x86_64)
if [ -d "$cache/qemu" ]; then
    export LD_LIBRARY_PATH=$cache/qemu/usr/lib/x86_64-linux-gnu
    qemu=("$cache/qemu/usr/bin/qemu-system-x86_64" -L "$cache/qemu/usr/share/qemu" -L "$cache/qemu/usr/share/seabios")
fi
qemu+=(-M q35)
# Never KVM: on some machines /dev/kvm opens and every guest hangs. Only TCG can count instructions.
# All CPUs of a guest take turns in one thread (without -t). With a thread for each, about one boot in thirty on a busy machine ended with
# an assertion of QEMU (iotlb_to_section, its issue 1921), some guests hung before their first line as if an interrupt was
# lost, emulated cards stopped, and three guests on two CPUs took longer, because threads spin while others wait.
if [ -n "$icount" ]; then qemu+=(-accel tcg,thread=single -icount shift=0); else qemu+=(-accel "tcg,thread=$threads"); fi

# With several CPUs a guest assumes unsynchronized TSCs and then reads the time from the emulated HPET, under QEMU's
# global lock. Here all CPUs use the host's TSC. no_timer_check: skips a timer test that fails on a busy machine.
clock="tsc=reliable no_timer_check"
# A guest that measures the TSC itself, on a busy machine, can get it wrong: the clock of one ran 3.4 times too fast.
khz=$("$checkout/build/bin/teamo-lab" tsc)
[ -n "$icount" ] || [ "$khz" -eq 0 ] || clock+=" tsc_early_khz=$khz"
cpu=max
# A seventh less time: no clearing of pages byte by byte (rep stosb), no fifth level of page tables, no separate ones for
# the kernel. A guest that counts instructions stays as the kernel is on a machine.
if [ -z "$icount" ]; then
    cpu+=,erms=off,fsrm=off,smap=off,la57=off
    clock+=" init_on_alloc=0 nopti spectre_v2=off"
fi
qemu+=(-cpu "$cpu${numa:+,vendor=GenuineIntel}" "${topology[@]}" -nodefaults -display none -no-reboot
    -kernel "$root/vmlinuz" -initrd "$cache/initramfs-$kernel"
    -append "console=ttyS0 quiet loglevel=1 log_buf_len=1M oops=panic panic=1 net.ifnames=0 fstab=no lab.lab=$here lab.run=$run lab.modules=$(readlink -f "$root/lib/modules/$version") lab.nic=$nic lab.init=$init lab.interactive=$interactive $clock $arguments"
    -virtfs "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap"
    -serial file:kernel.log -chardev stdio,id=console,signal=off -serial chardev:console
    -chardev socket,id=qmp,path=qmp,server=on,wait=off -mon chardev=qmp,mode=control
    -device virtio-serial-pci
    -chardev socket,id=peer,path=peer,server=on,wait=off -device virtserialport,chardev=peer,name=teamo.peer)
for name in status out err; do
    qemu+=(-chardev "file,id=$name,path=$name" -device "virtserialport,chardev=$name,name=teamo.$name")
done
input=/dev/null
[ -z "$interactive" ] || input=/dev/stdin
mkfifo out err

boot() {
    "$checkout/build/bin/teamo-lab" serve peer qmp "$checkout" </dev/null &
    # If the reader of our output exits, discard it, so that the guest's command does not block.
    { cat 2>/dev/null || cat >/dev/null; } <out &
    local readers=($!)
    { cat 2>/dev/null || cat >/dev/null; } <err >&2 &
    readers+=($!)
    rm -f status
    give_up_in_time &
    local watchdog=$!
    # In a subshell, to suppress the shell's message about a killed QEMU: it is reported below, in one line.
    ("${qemu[@]}" -pidfile qemu.pid "${devices[@]}" <$input 2>qemu.log; exit $?) 2>/dev/null || qemu_status=$?
    [ -s status ] || kill $watchdog 2>/dev/null || true # else it has already ended
    : <>out <>err # unblocks a reader whose pipe QEMU never opened
    wait "${readers[@]}"
}

# Kills a guest that has not started its command in time.
# A guest that uses CPU time gets five times as long: the machine may be busy.
patience=${TEAMO_LAB_PATIENCE:-120}
ticks_used() { awk '{ print $14 + $15 }' "/proc/$(cat qemu.pid)/stat" 2>/dev/null || echo 0; }
give_up_in_time() {
    local waited=0 used=0 before=0 works=
    while [ $waited -lt "$patience" ] || { [ -n "$works" ] && [ $waited -lt $((5 * patience)) ]; }; do
        sleep 1
        waited=$((waited + 1))
        [ ! -s status ] || return 0
        [ $((waited % 30)) -eq 0 ] || continue
        used=$(ticks_used)
        works=
        [ $((used - before)) -lt 300 ] || works=1
        before=$used
    done
    [ ! -s status ] || return 0
    echo "the guest has not started its command in $waited s" >gave_up
    kill -KILL "$(cat qemu.pid)"
}

# Before the command has started another boot is safe. Each further boot adds a line to a file: they show a problem of QEMU
# or of the machine.
for boots_left in 2 1 0; do
    qemu_status=0
    boot
    mapfile -t reported < <(cat status 2>/dev/null)
    [ ${#reported[@]} -eq 0 ] || break
    reason="QEMU ended with status $qemu_status before the command started: $(tail -qn 1 qemu.log kernel.log | tr '\n' ' ')"
    [ ! -s gave_up ] || reason=$(cat gave_up)
    rm -f gave_up
    echo "lab: $reason" >&2
    [ $boots_left -eq 0 ] || echo "$asked_by: $reason" >>"$retries"
done
[ ${#reported[@]} -lt 2 ] || exit "${reported[1]}"
echo "lab: the guest ended before its command (QEMU's exit status: $qemu_status); end of its log:" >&2
tail -n 1 qemu.log >&2
tail -n 40 kernel.log >&2
exit 125
