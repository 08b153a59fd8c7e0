#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# demo_test.sh PROGRAM: runs a brief demo. Fails if the demo fails, if its table is incomplete, or if it leaves
# anything behind: devices, named namespaces, pinned programs, files of a team, processes.
set -u
program=$1
out=$(mktemp)
trap 'rm -f "$out"' EXIT

processes() {
    for exe in /proc/[0-9]*/exe; do readlink "$exe"; done 2>/dev/null |
        grep -E "^$(dirname "$program")/(teamo-demo|teamd-offload|teamoctl)$"
}

system_state() {
    ip -o link | cut -d ' ' -f 1,2
    ip netns
    ls -A /run/teamd /run/teamd-offload /sys/fs/bpf 2>&1
    grep -E " /(proc|run|sys|sys/fs/bpf) " /proc/mounts
    processes
}

before=$(system_state)
"$program" --brief >"$out" 2>&1
status=$?
cat "$out"
[ "$status" -eq 0 ] || exit "$status"
rows=$(grep -cE '\| (yes|no: .*)$' "$out")
[ "$rows" -eq 9 ] || { echo "the table has $rows rows, not 9"; exit 1; }
after=$(system_state)
[ "$before" = "$after" ] || { printf 'left behind:\n%s\nbefore it was\n%s\n' "$after" "$before"; exit 1; }
