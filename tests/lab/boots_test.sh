#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The lab boots with the requested kernel and cards: boots_test.sh KERNEL NIC
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# Kernel warnings during a command fail it; earlier ones, and those that a busy machine causes, do not.
complains() { ! printf '%s\n' "$@" | "$here/splats.sh" >/dev/null; }
complains "BUG: kernel NULL pointer dereference" || { echo "a kernel warning was not detected" >&2; exit 1; }
! complains "WARNING: CPU: 1 PID: 2 at a.c:3" "lab: the command begins" "eth0: link up" "watchdog: BUG: soft lockup" ||
    { echo "a message before the command, or a slow CPU, was taken for a kernel warning" >&2; exit 1; }

errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
status=0
said=$("$here/lab" -k "$1" -n "$2" -p 2 -- "$here/boots_test_guest.sh" "$1" "$2" 42 2>"$errors" </dev/null) || status=$?
cat "$errors" >&2
# Includes the last output: nothing is lost when the guest is switched off.
[ $status -eq 42 ] || { echo "exit status $status, not the command's 42" >&2; exit 1; }
[ "$said" = "all is well" ] || { echo "standard output is not what the command wrote: $said" >&2; exit 1; }
[ "$(tail -n 2 "$errors" | head -n 1)" = "to standard error" ] || { echo "standard error is not what the command wrote" >&2; exit 1; }
[[ "$(tail -n 1 "$errors")" == "lab: the kernel says: "*"soft lockup - of a test" ]] || { echo "the kernel's message is not shown" >&2; exit 1; }
