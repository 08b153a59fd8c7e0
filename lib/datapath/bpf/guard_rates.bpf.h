/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
 *
 * The rates above which the guard drops broadcasts and multicasts.
 */
#ifndef TEAMO_GUARD_RATES_BPF_H
#define TEAMO_GUARD_RATES_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "guard_abi.h"

#define TEAMO_BROADCAST 0xffffffffffffULL

/* A neighbour that takes over a thousand addresses announces each of them several times at once. */
#define TEAMO_ANNOUNCEMENT_BURSTS 20

/*
 * What a broadcast or multicast is. Each sort has rates of its own, also by sender: a router that forwards a
 * stream which nobody here wants must still be able to announce itself.
 */
enum teamo_sort {
    TEAMO_PLAIN,        /* traffic */
    TEAMO_REQUEST,      /* somebody asks for an address of ours: a storm must not hide this host */
    TEAMO_ANNOUNCEMENT, /* what others say of themselves: ARP, IGMP, MLD, neighbours and routers */
    TEAMO_FOREIGN,      /* other protocols, and VLANs without a device here */
    /* To groups of the link that somebody here has joined (OSPF, PIM, mDNS): no router forwards them. */
    TEAMO_PROTOCOL,
    TEAMO_FOREIGN_PROTOCOL, /* the same in VLANs without a device here */
    TEAMO_SORTS,

    TEAMO_EXEMPT = TEAMO_SORTS, /* passes whatever the rate */
    TEAMO_UNWANTED,             /* is dropped whatever the rate */
};

struct teamo_frame {
    __u64 to, from;
    __u64 now;    /* nanoseconds; 0: not read */
    __u64 offset; /* of the header after the EtherType; 64 bits, so that the verifier knows it when spilled */
    __be16 ethertype;   /* after the tags */
    __u16 vlan;         /* 0: none */
    bool is_foreign;    /* in a VLAN that has no device here */
    bool is_link_scope; /* a group that no router forwards (RFC 5771, 4; RFC 4291, 2.7), or not read */
    /* ARP: */
    bool is_news;      /* has an address of its sender that the stack may not know */
    bool is_for_other; /* is wanted only for that */
    struct teamo_guard_neighbour sender;
    __u64 sender_mac;
};

/* By the coarse clock. Read at most once for each frame: in a storm a reading is a tenth of the program. */
static __always_inline __u64 teamo_now(struct teamo_frame* frame) {
    if (!frame->now) frame->now = bpf_ktime_get_coarse_ns();
    return frame->now;
}

/* When the next frame of a sender is due. The key is its MAC address, and the sort above it. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, TEAMO_GUARD_SENDERS);
    __type(key, __u64);
    __type(value, __u64);
} guard_senders SEC(".maps");

/* The same for all senders: for each sort broadcasts, then multicasts. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 2 * TEAMO_SORTS);
    __type(key, __u32);
    __type(value, __u64);
} guard_due SEC(".maps");

/*
 * True if a frame is above the rate (ATM Forum's generic cell rate algorithm: a token bucket in one number).
 * CPUs that write at the same moment lose a frame of the count: the rate is a limit for storms, not for a
 * bill.
 */
static __always_inline bool teamo_exceeds(__u64* due, const struct teamo_guard_rate* rate, __u64 now) {
    __u64 at = *due;

    if (at < now) at = now;
    if (at > now + rate->tolerance) return true;
    *due = at + rate->interval;
    return false;
}

static __always_inline __u32 teamo_judge_rate(const struct teamo_guard_settings* settings,
                                              const struct teamo_frame* frame, enum teamo_sort sort) {
    struct teamo_guard_rate sender = settings->sender, all = settings->all;
    __u64 now = bpf_ktime_get_ns(), first = now + sender.interval, from = frame->from | (__u64)sort << 48;
    bool is_multicast = frame->to != TEAMO_BROADCAST;
    __u32 kind = 2 * sort + is_multicast;
    __u64* due;

    if (sort == TEAMO_ANNOUNCEMENT) {
        sender.tolerance *= TEAMO_ANNOUNCEMENT_BURSTS;
        all.tolerance *= TEAMO_ANNOUNCEMENT_BURSTS;
    }
    /* The sender first: what it sends too much must not use up the rate of all. */
    if (sender.interval) {
        due = bpf_map_lookup_elem(&guard_senders, &from);
        if (!due)
            bpf_map_update_elem(&guard_senders, &from, &first, BPF_ANY);
        else if (teamo_exceeds(due, &sender, now))
            return TEAMO_GUARD_BY_SENDER;
    }
    due = bpf_map_lookup_elem(&guard_due, &kind);
    if (all.interval && due && teamo_exceeds(due, &all, now))
        return is_multicast ? TEAMO_GUARD_BY_MULTICAST : TEAMO_GUARD_BY_BROADCAST;
    return TEAMO_GUARD_PASSED;
}

#endif
