#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Reads a guest's kernel log: shows warnings since the start of the command, and fails if they are defects. Warnings
# about CPUs or cards that stall for seconds are shown only: a busy machine causes them.
awk '
/lab: the command begins/ { shown = bad = trace = 0; next }
/soft lockup|workqueue lockup|rcu.*(stall|starved)|blocked for more than|NETDEV WATCHDOG|dev_watchdog|unregister_netdevice: waiting|clocksource/ {
    lines[shown++] = $0
    next
}
/WARNING:|BUG:|Oops|general protection fault|refcount_t:|UBSAN:|KASAN:|INFO: possible (circular|recursive)|suspicious RCU usage/ {
    lines[shown++] = $0
    bad = 1
    trace = 30
    next
}
trace > 0 { lines[shown++] = $0; --trace }
END {
    for (line = 0; line < shown; ++line) print "lab: the kernel says: " lines[line]
    exit bad
}'
