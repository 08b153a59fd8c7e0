/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
 *
 * The hash "cpu": a packet leaves by the port whose interrupts the sending CPU serves, so that a flow's
 * data, its acknowledgements and the card's descriptors stay in one CPU's caches. A process may move to
 * another CPU while its packets wait in the old port's queues: so a flow stays with its port until it has a
 * gap of the port's drain time. docs/adr/0013.
 */
#ifndef TEAMO_CPU_CHOICE_BPF_H
#define TEAMO_CPU_CHOICE_BPF_H

#include <linux/bpf.h>
#include <linux/in.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "abi.h"
#include "buckets.bpf.h"
#include "meter.bpf.h"
#include "parse.bpf.h"

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, TEAMO_CPUS);
    __type(key, __u32);
    __type(value, __u8);
} teamo_cpu_slots SEC(".maps");

/* By flow: the time of its last packet (CLOCK_MONOTONIC, nanoseconds), and in the lowest four bits its slot.
 * One number, so that two CPUs never combine a slot and a time that do not belong together. Not in abi.h,
 * because only this program uses it; with other hashes the daemon sets its size to 1. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, TEAMO_FLOWS);
    __type(key, __u64);
    __type(value, __u64);
} teamo_flows SEC(".maps");

#define TEAMO_FLOW_SLOT 0xfULL
#define TEAMO_FLOW_FIELDS                                                                                    \
    (TEAMO_HASH_ETH | TEAMO_HASH_VLAN | TEAMO_HASH_IPV4 | TEAMO_HASH_IPV6 | TEAMO_HASH_L4)
#define TEAMO_FLOW_BY_HEADERS (1ULL << 63) /* socket cookies are counters and do not reach this bit */

/* Not static, so that the verifier checks it once. For few packets. */
__attribute__((noinline)) __u32 teamo_flow_hash(struct __sk_buff* skb, __u32 fields) {
    return teamo_packet_hash(skb, fields);
}

/*
 * The flow of a packet. A connected socket is one flow, so headers need not be parsed. An unconnected socket
 * (of a name server) has many flows, and forwarded packets have no socket. Flows with the same hash wait for
 * a common gap, which does no other harm.
 */
static __always_inline __u64 teamo_flow_of(struct __sk_buff* skb) {
    struct bpf_sock* sk = skb->sk;

    if (sk) sk = bpf_sk_fullsock(sk);
    if (sk &&
        (sk->state == BPF_TCP_ESTABLISHED || (sk->protocol == IPPROTO_TCP && sk->state != BPF_TCP_LISTEN)))
        return bpf_get_socket_cookie(skb);
    return TEAMO_FLOW_BY_HEADERS | teamo_flow_hash(skb, TEAMO_FLOW_FIELDS);
}

static __always_inline bool teamo_is_live(__u32 slot, __u32 live) {
    return slot < TEAMO_SLOTS && live >> slot & 1;
}

/*
 * The flow's slot: `wanted`, unless it may still have packets queued at another live slot. The time is
 * written only once in an eighth of the drain time, because two CPUs that send one flow would otherwise
 * bounce the cache line. So the gap must be longer by an eighth.
 */
static __always_inline __u32 teamo_stay_or_go(__u64 key, __u32 wanted, __u32 live) {
    __u64* flow = bpf_map_lookup_elem(&teamo_flows, &key);
    __u64 now = bpf_ktime_get_ns() & ~TEAMO_FLOW_SLOT;
    __u64 note = now | wanted, before, seen;
    const __u64* drain;
    __s64 idle, step;
    __u32 slot;

    if (!flow) {
        if (!bpf_map_update_elem(&teamo_flows, &key, &note, BPF_NOEXIST)) return wanted;
        flow = bpf_map_lookup_elem(&teamo_flows, &key); /* another CPU was first */
        if (!flow) return wanted;
    }
    before = TEAMO_READ_ONCE(*flow);
    slot = before & TEAMO_FLOW_SLOT;
    drain = bpf_map_lookup_elem(&teamo_drains, &slot);
    if (drain && teamo_is_live(slot, live)) {
        /* Signed: another CPU may have stored a later time than this one's. */
        idle = now - (before & ~TEAMO_FLOW_SLOT);
        step = *drain >> 3;
        if (idle < step) return slot;
        if (idle < (__s64)*drain + step) note = now | slot;
    }
    seen = __sync_val_compare_and_swap(flow, before, note);
    slot = (seen == before ? note : seen) & TEAMO_FLOW_SLOT;
    return teamo_is_live(slot, live) ? slot : wanted;
}

/* Also while only one slot is live: when another one returns, the flow's packets are queued at this one. */
static __always_inline __u32 teamo_slot_by_cpu(struct __sk_buff* skb, __u32 hash_fields, __u32 live) {
    __u32 cpu = bpf_get_smp_processor_id(), wanted;
    const __u8* own = bpf_map_lookup_elem(&teamo_cpu_slots, &cpu);

    wanted = own ? TEAMO_READ_ONCE(*own) : TEAMO_NO_SLOT;
    if (!teamo_is_live(wanted, live)) {
        __u32 fields = hash_fields & ~TEAMO_HASH_CPU;

        wanted = teamo_slot_in_bucket(
            teamo_bucket_of(teamo_flow_hash(skb, fields ? fields : TEAMO_FLOW_FIELDS)), live);
    }
    if (wanted == TEAMO_NO_SLOT) return wanted;
    return teamo_stay_or_go(teamo_flow_of(skb), wanted, live);
}

#endif
