/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
 *
 * Types that guard.bpf.c and the daemon share. Compiled as C (clang -target bpf) and as C++.
 */
#ifndef TEAMO_GUARD_ABI_H
#define TEAMO_GUARD_ABI_H

/* NOLINTBEGIN: C, in the kernel's manner */

#include <linux/types.h>

#define TEAMO_GUARD_ADDRESSES 4096u   /* of each kind; with more the guard steps aside */
#define TEAMO_GUARD_SENDERS 16384u    /* remembered senders of broadcasts and multicasts */
#define TEAMO_GUARD_NEIGHBOURS 16384u /* remembered senders of ARP */
#define TEAMO_GUARD_REPEATED 256u     /* remembered senders of requests for other hosts */

enum teamo_guard_mode {
    TEAMO_GUARD_ASIDE = 0, /* passes everything; what an empty map says */
    TEAMO_GUARD_ARP = 1,
    TEAMO_GUARD_FULL = 2,
};

/* Why a frame is dropped; the index of its counter. */
enum teamo_guard_reason {
    TEAMO_GUARD_PASSED = 0,
    TEAMO_GUARD_BY_ARP,       /* an ARP request for another host */
    TEAMO_GUARD_BY_NEIGHBOUR, /* an IPv6 neighbour solicitation for another host */
    TEAMO_GUARD_BY_UNICAST,   /* to the MAC address of another host */
    TEAMO_GUARD_BY_BROADCAST, /* broadcasts of all senders are above the rate */
    TEAMO_GUARD_BY_MULTICAST, /* multicasts of all senders are above the rate */
    TEAMO_GUARD_BY_SENDER,    /* broadcasts and multicasts of this sender are above the rate */
    TEAMO_GUARD_REASONS,
};

/*
 * A rate: one frame each `interval` nanoseconds, and `tolerance` nanoseconds ahead of that at once. Interval
 * 0: no limit.
 */
struct teamo_guard_rate {
    __u64 interval;
    __u64 tolerance;
};

static inline __u64 teamo_guard_bit(__u64 last_byte) { return 1ULL << (last_byte & 63); }

struct teamo_guard_settings {
    __u32 mode; /* enum teamo_guard_mode */
    __u32 unused;
    /*
     * Bit N is set if an address in the maps has a last byte whose low six bits are N: spares a storm for
     * other hosts most look-ups.
     */
    __u64 ips;
    __u64 macs;
    struct teamo_guard_rate all;    /* of broadcasts, and the same of multicasts */
    struct teamo_guard_rate sender; /* of broadcasts and multicasts of a source MAC address */
};

/* Who sends ARP, where: a copy that comes by another port may not reach the stack. */
struct teamo_guard_neighbour {
    __u32 ip; /* network order */
    __u32 port;
    __u32 vlan; /* 0: none */
};

/* What the stack has been told of a neighbour. */
struct teamo_guard_told {
    __u64 mac; /* a number */
    __u64 due; /* when it is told again (CLOCK_MONOTONIC) */
};

/* The last request for another host of a sender, if it was dropped. */
struct teamo_guard_repeated {
    __u32 ip; /* of its sender, network order */
    __u32 port;
    __u64 from; /* the frame's source, a number */
    __u64 mac;  /* the sender as ARP says, a number */
    __u64 due;  /* when one like it is judged again (CLOCK_MONOTONIC) */
};

struct teamo_guard_ipv6 {
    __u8 bytes[16];
};

/* NOLINTEND */

#endif
