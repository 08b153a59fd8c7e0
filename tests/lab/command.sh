#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs the command in the guest, reports its exit status, and ends the guest. A kernel warning meanwhile fails the
# command. command.sh RUN INTERACTIVE
run=$1 interactive=$2
here=${BASH_SOURCE%/*}
ports=/dev/virtio-ports
status() { echo "$1" >$ports/teamo.status; }

status begun
if [ -n "$interactive" ]; then
    setsid -w -c bash "$run/command" </dev/ttyS1 >/dev/ttyS1 2>&1
    result=$?
    # stty waits until all output is written.
    stty -F /dev/ttyS1 sane
else
    # Pipes, so that no terminal changes the bytes, and programs see that there is no terminal.
    mkfifo /run/lab-out /run/lab-err
    for stream in out err; do "$here/../../build/bin/teamo-lab" relay $ports/teamo.$stream </run/lab-$stream & done
    # Keeps the pipe open for the kernel's messages below.
    exec 7>/run/lab-err
    echo "lab: the command begins" >/dev/kmsg
    group=/sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)/command
    mkdir "$group"
    (
        echo 0 >"$group/cgroup.procs"
        exec setsid -w bash "$run/command"
    ) </dev/null >/run/lab-out 2>&7 7>&-
    result=$?
    dmesg | "$here/splats.sh" >&7 || [ $result -ne 0 ] || result=1
    exec 7>&-
    # Background processes of the command would keep its pipes open.
    echo 1 >"$group/cgroup.kill"
    wait
fi
status $result
# Powers off at once, without the service manager.
"${run%/*}"/tools/busybox poweroff -f
