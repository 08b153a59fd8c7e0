/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
 *
 * The hash "cpu": a packet leaves by the port whose interrupts the sending CPU serves, so that what a flow
 * sends, what is acknowledged to it and the card's descriptors stay in one CPU's caches. A process moves
 * between CPUs while its packets wait in the old port's queues: a flow stays by its port until it has paused
 * for so long that all of it is gone (the port's drain time). docs/adr/0013.
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

/* By flow: when its last packet was sent (CLOCK_MONOTONIC, nanoseconds), and in the lowest four bits of that
 * by which slot. One number, so that two CPUs never make up a slot and a time that do not belong together.
 * Nobody else's business, so not in abi.h; the daemon has it as small as can be where the hash is another. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, TEAMO_FLOWS);
    __type(key, __u64);
    __type(value, __u64);
} teamo_flows SEC(".maps");

#define TEAMO_FLOW_SLOT 0xfULL
#define TEAMO_FLOW_FIELDS                                                                                    \
    (TEAMO_HASH_ETH | TEAMO_HASH_VLAN | TEAMO_HASH_IPV4 | TEAMO_HASH_IPV6 | TEAMO_HASH_L4)
#define TEAMO_FLOW_BY_HEADERS (1ULL << 63) /* no socket's cookie has that bit: they are counted */

/* Called and not inlined: it is needed in two places, of which most packets come by neither. */
static __attribute__((noinline)) __u32 teamo_flow_hash(struct __sk_buff* skb, __u32 fields) {
    return teamo_packet_hash(skb, fields);
}

/*
 * Which flow a packet is of. A connected socket is one flow and costs no look at headers; one that is not
 * (a name server's) has many, and what is forwarded has none. Two flows of one hash wait for one another's
 * pauses, which costs nothing else.
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
 * The flow's slot: `wanted`, unless it may still have packets in flight by another one that is live. The time
 * is written once an eighth of the drain time and not with every packet (two CPUs that serve one flow would
 * pass the line to and fro), so a pause must be longer by as much.
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
        /* Signed: another CPU may have noted a later time than this one's. */
        idle = now - (before & ~TEAMO_FLOW_SLOT);
        step = *drain >> 3;
        if (idle < step) return slot;
        if (idle < (__s64)*drain + step) note = now | slot;
    }
    seen = __sync_val_compare_and_swap(flow, before, note);
    slot = (seen == before ? note : seen) & TEAMO_FLOW_SLOT;
    return teamo_is_live(slot, live) ? slot : wanted;
}

/* Also where only one slot is live: that is where the flow's packets are when another comes back. */
static __always_inline __u32 teamo_slot_by_cpu(struct __sk_buff* skb, __u32 hash_fields, __u32 live) {
    __u32 cpu = bpf_get_smp_processor_id(), wanted;
    const __u8* own = bpf_map_lookup_elem(&teamo_cpu_slots, &cpu);

    teamo_count_bucket(skb, cpu & (TEAMO_BUCKETS - 1)); /* as the team driver's program has it */
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
