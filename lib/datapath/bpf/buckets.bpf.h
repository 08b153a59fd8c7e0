/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
 *
 * Chooses the slot of a bucket, and moves a bucket to another slot without reordering.
 *
 * Packets may still wait in the old port's queues when the new port sends at once. So a bucket that moves
 * stays with the old port until its traffic has a gap of the port's drain time, after which those queues
 * are empty (flowlet switching: Sinha, Kandula, Katabi 2004). Only buckets that move pay for this: the
 * others read no clock and write nothing.
 */
#ifndef TEAMO_BUCKETS_BPF_H
#define TEAMO_BUCKETS_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "abi.h"
#include "meter.bpf.h"

#define TEAMO_READ_ONCE(x) (*(const volatile typeof(x)*)&(x))

/* struct teamo_bucket as one number, slot[0] in its first byte. The daemon writes it through a mapping. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, TEAMO_BUCKETS);
    __type(key, __u32);
    __type(value, __u64);
} teamo_buckets SEC(".maps");

/* By bucket: the time of its last packet (CLOCK_MONOTONIC, nanoseconds) while it moves. The daemon writes
 * the time when the move begins, before it marks the bucket as leaving. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, TEAMO_BUCKETS);
    __type(key, __u32);
    __type(value, __u64);
} teamo_last_sent SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, TEAMO_SLOTS);
    __type(key, __u32);
    __type(value, __u64);
} teamo_drains SEC(".maps");

/* True if the bucket has paused long enough to leave the slot. Call once for each packet: stores the time. */
static __always_inline bool teamo_has_paused(__u32 bucket, __u32 slot) {
    __u64* last = bpf_map_lookup_elem(&teamo_last_sent, &bucket);
    const __u64* drain = bpf_map_lookup_elem(&teamo_drains, &slot);
    __u64 now, before;

    if (!last || !drain) return true;
    now = bpf_ktime_get_ns();
    before = TEAMO_READ_ONCE(*last);
    *(volatile __u64*)last = now;
    /* Signed: another CPU may have stored a later time than this one's. */
    return (__s64)(now - before) >= (__s64)*drain;
}

/* The first live slot of an order. */
static __always_inline __u32 teamo_first_slot(__u64 order, __u32 live) {
    int i;

    for (i = 0; i < 8; i++) {
        __u32 slot = order >> 56;

        if (slot < TEAMO_SLOTS && live >> slot & 1) return slot;
        order <<= 8;
    }
    return TEAMO_NO_SLOT;
}

#define TEAMO_SETTLED(order) ((order) & ~(0xfULL << (56 + TEAMO_LEAVING_SHIFT)))

/* The slot that a bucket uses now. */
static __always_inline __u32 teamo_present_slot(__u32 bucket, __u32 live) {
    const __u64* entry = bpf_map_lookup_elem(&teamo_buckets, &bucket);
    __u64 order;
    __u32 leaving;

    if (!entry) return TEAMO_NO_SLOT;
    order = bpf_be64_to_cpu(TEAMO_READ_ONCE(*entry));
    leaving = order >> (56 + TEAMO_LEAVING_SHIFT);
    if (leaving && leaving < TEAMO_SLOTS && live >> leaving & 1) return leaving;
    return teamo_first_slot(TEAMO_SETTLED(order), live);
}

/* The same for a packet of the bucket: ends the bucket's move when its time has come. */
static __always_inline __u32 teamo_slot_in_bucket(__u32 bucket, __u32 live) {
    __u64* entry = bpf_map_lookup_elem(&teamo_buckets, &bucket);
    __u64 order, settled;
    __u32 leaving;

    if (!entry) return TEAMO_NO_SLOT;
    /* All eight at once, so that the order is never partly old and partly new. */
    order = bpf_be64_to_cpu(TEAMO_READ_ONCE(*entry));
    leaving = order >> (56 + TEAMO_LEAVING_SHIFT);
    if (leaving) {
        settled = TEAMO_SETTLED(order);
        if (leaving < TEAMO_SLOTS && live >> leaving & 1 && !teamo_has_paused(bucket, leaving))
            return leaving;
        /* Fails if the daemon has written another order meanwhile. */
        __sync_val_compare_and_swap(entry, bpf_cpu_to_be64(order), bpf_cpu_to_be64(settled));
        order = settled;
    }
    return teamo_first_slot(order, live);
}

#endif
