#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs the command on the guest's console, tells its exit status, and ends the guest. command.sh RUN
[ -n "$interactive" ] || stty -opost </dev/ttyS1
setsid -w -c bash "$1/command" </dev/ttyS1 >/dev/ttyS1 2>&1
echo $? >/dev/virtio-ports/teamo.status
# The kernel says nothing of its own on the way down; a service manager has no part in it.
"${1%/*}"/tools/*bin/busybox poweroff -f
