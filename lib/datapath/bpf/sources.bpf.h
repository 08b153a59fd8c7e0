/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
 *
 * The hash by source address (docs/adr/0044). The switches know nothing of the team, so they deliver to each
 * port what they flood, and also bring back by one port what the team has sent by another.
 *
 * What arrives is taken once:
 * - A frame from an address that the team itself sends from is dropped: it comes back. An address that has
 *   not sent for a second has moved to another place, and is forgotten.
 * - A frame to one address is taken by the port by which that address sends: there the switches have learned
 *   it, and of a frame that they flood one copy comes there. For two seconds after a move they may still
 *   have the former port.
 * - Of a multicast or broadcast the first copy is taken, and then the copies that come by the same port.
 */
#ifndef TEAMO_SOURCES_BPF_H
#define TEAMO_SOURCES_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "abi.h"
#include "buckets.bpf.h"
#include "links.bpf.h"
#include "live.bpf.h"
#include "meter.bpf.h"
#include "parse.bpf.h"

/* 1: the hash is by source; set before the programs are loaded. */
const volatile __u32 teamo_by_source = 0;

#define TEAMO_MS 1000000ULL
/* A frame comes back within that time: the longest queues of switches are some tenths of a second long. */
#define TEAMO_SOURCE_LIFE (1000 * TEAMO_MS)
/* The switches have learned a new port within that time: it is announced at once and again after a second. */
#define TEAMO_RELEARNING (2000 * TEAMO_MS)
/* Between two copies of a frame that come by different ports. */
#define TEAMO_COPY_TIME (250 * TEAMO_MS)

#define TEAMO_MULTICAST (1ULL << 40) /* of a MAC address as a number */

/* With other hashes the daemon sets the sizes of both to 1. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, TEAMO_SOURCES);
    __type(key, __u64);
    __type(value, struct teamo_source);
} teamo_sources SEC(".maps");

struct teamo_stream_key {
    __u64 src, dst;
};

/* By source and destination: the slot that the frames come by, with the time of one of the last frames above
 * its four bits, and what the last frame was like. Not in abi.h, because only this program uses it. */
struct teamo_stream {
    __u64 bound, print;
};
#define TEAMO_STREAM_SLOT 0xfULL

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, TEAMO_SOURCES);
    __type(key, struct teamo_stream_key);
    __type(value, struct teamo_stream);
} teamo_streams SEC(".maps");

/* The number of the outermost tag, by which switches learn. */
static __always_inline __u32 teamo_outer_vlan(struct __sk_buff* skb, const struct ethhdr* eth) {
    struct teamo_vlan_tag copy;
    const struct teamo_vlan_tag* tag;

    if (skb->vlan_present) return skb->vlan_tci & TEAMO_VID;
    if (!teamo_is_vlan(eth->h_proto)) return 0;
    tag = teamo_header(skb, ETH_HLEN, &copy, sizeof(copy));
    return tag ? bpf_ntohs(tag->tci) & TEAMO_VID : 0;
}

static __always_inline __u64 teamo_address_of(__u64 mac, __u32 vlan) {
    return mac << TEAMO_ADDRESS_VLAN | vlan;
}

static __always_inline __u32 teamo_address_bucket(__u64 address) {
    return teamo_bucket_of(teamo_hash_source(address >> TEAMO_ADDRESS_VLAN, address & TEAMO_VID));
}

/* The source of a packet that the team sends; 0: it has none. */
static __always_inline __u64 teamo_source_of(struct __sk_buff* skb) {
    void* data = (void*)(long)skb->data;
    void* end = (void*)(long)skb->data_end;

    if (data + ETH_HLEN > end) return 0;
    return teamo_address_of(teamo_be64(data + 4) & 0xffffffffffffULL, teamo_outer_vlan(skb, data));
}

/* An announcement, by which switches learn where an address is. */
static __always_inline bool teamo_is_rarp(struct __sk_buff* skb) {
    void* data = (void*)(long)skb->data;
    void* end = (void*)(long)skb->data_end;
    struct teamo_vlan_tag copy;
    const struct teamo_vlan_tag* tag;
    __be16 ethertype;

    if (data + ETH_HLEN > end) return false;
    ethertype = ((const struct ethhdr*)data)->h_proto;
    if (teamo_is_vlan(ethertype)) {
        tag = teamo_header(skb, ETH_HLEN, &copy, sizeof(copy));
        ethertype = tag ? tag->ethertype : 0;
    }
    return ethertype == bpf_htons(ETH_P_RARP);
}

/*
 * Notes that the source of the packet sends by this slot; 0: bonding chooses. The daemon announces only what
 * is known: such a frame tells where the address is, and not that it still sends. Not static, so that the
 * verifier checks it once.
 */
__attribute__((noinline)) int teamo_note_source(struct __sk_buff* skb, __u32 slot) {
    struct teamo_source* known;
    __u64 address, now;

    if (!teamo_by_source) return 0;
    address = teamo_source_of(skb);
    if (!address || address >> TEAMO_ADDRESS_VLAN & TEAMO_MULTICAST) return 0;
    known = bpf_map_lookup_elem(&teamo_sources, &address);
    now = bpf_ktime_get_coarse_ns();
    if (!known) {
        struct teamo_source fresh = {.sent = now, .slot = slot};

        bpf_map_update_elem(&teamo_sources, &address, &fresh, BPF_ANY);
        return 0;
    }
    if (known->slot != slot) {
        known->former = known->slot;
        known->moved = now;
        known->slot = slot;
    } else if ((__s64)(now - known->sent) < (__s64)(TEAMO_SOURCE_LIFE / 8)) {
        return 0;
    }
    if (teamo_is_rarp(skb))
        known->announced = now;
    else
        known->sent = now;
    return 0;
}

/* What a frame is like: its length and its first 64 bytes after the addresses, or 28 of a shorter one (ARP).
 * Two different frames of a stream differ there by a number or a checksum. */
static __always_inline __u64 teamo_print_of(struct __sk_buff* skb) {
    __u64 words[8] = {}, print = skb->len;
    int i;

    if (bpf_skb_load_bytes(skb, ETH_HLEN, words, sizeof(words))) bpf_skb_load_bytes(skb, ETH_HLEN, words, 28);
#pragma unroll
    for (i = 0; i < 8; i++) {
        print = (print ^ words[i]) * TEAMO_TCP_K1;
        print ^= print >> 32;
    }
    return print;
}

/* Whether frames may still come first by that slot: it sends and has a link. */
static __always_inline bool teamo_still_brings(__u32 slot) {
    __u32 zero = 0;
    const struct teamo_live* live = bpf_map_lookup_elem(&teamo_live, &zero);

    return live && slot < TEAMO_SLOTS && TEAMO_READ_ONCE(live->tx) >> slot & 1 && teamo_has_link(slot, false);
}

/*
 * Whether this frame is no copy of one that came by another slot. `wins`: this slot is where the frames
 * should come. Not static, so that the verifier checks it once.
 */
__attribute__((noinline)) int teamo_is_first(struct __sk_buff* skb, __u64 src, __u64 dst, __u32 slot,
                                             __u32 wins) {
    struct teamo_stream_key key = {.src = src, .dst = dst};
    struct teamo_stream *stream, fresh;
    __u64 now, before;
    bool is_recent;
    __u32 held;

    if (!teamo_by_source) return 1;
    now = bpf_ktime_get_coarse_ns() & ~TEAMO_STREAM_SLOT;
    fresh.bound = now | slot;
    fresh.print = teamo_print_of(skb);
    stream = bpf_map_lookup_elem(&teamo_streams, &key);
    if (!stream) {
        if (!bpf_map_update_elem(&teamo_streams, &key, &fresh, BPF_NOEXIST)) return 1;
        stream = bpf_map_lookup_elem(&teamo_streams, &key); /* another CPU was first */
        if (!stream) return 1;
    }
    before = TEAMO_READ_ONCE(stream->bound);
    held = before & TEAMO_STREAM_SLOT;
    is_recent = (__s64)(now - (before & ~TEAMO_STREAM_SLOT)) < (__s64)TEAMO_COPY_TIME;
    if (held != slot) {
        if (is_recent && !wins && teamo_still_brings(held)) return 0;
        if (__sync_val_compare_and_swap(&stream->bound, before, fresh.bound) != before) return 0;
        /* The last one that came by the other slot. */
        if (is_recent && TEAMO_READ_ONCE(stream->print) == fresh.print) return 0;
    } else if ((__s64)(now - (before & ~TEAMO_STREAM_SLOT)) >= (__s64)(TEAMO_COPY_TIME / 8)) {
        __sync_val_compare_and_swap(&stream->bound, before, fresh.bound);
    }
    *(volatile __u64*)&stream->print = fresh.print;
    return 1;
}

/* The slot by which the bucket's addresses send now, or would send. */
static __always_inline __u32 teamo_owner(const struct teamo_live* live, __u32 bucket) {
    __u32 slot = teamo_present_slot(bucket, TEAMO_READ_ONCE(live->tx)), linked;

    if (slot != TEAMO_NO_SLOT && teamo_has_link(slot, true)) return slot;
    linked = teamo_linked(TEAMO_READ_ONCE(live->tx), true);
    if (linked) return teamo_present_slot(bucket, linked);
    return teamo_standby_slot(live);
}

/* Whether a frame that arrived by this slot is taken. Not static, so that the verifier checks it once. */
__attribute__((noinline)) int teamo_takes(struct __sk_buff* skb, __u32 slot) {
    void* data = (void*)(long)skb->data;
    void* end = (void*)(long)skb->data_end;
    __u32 zero = 0, vlan, place;
    const struct teamo_live* live = bpf_map_lookup_elem(&teamo_live, &zero);
    const struct teamo_source* to;
    struct teamo_source* from;
    __u64 src, dst, now;

    if (!teamo_by_source) return 1;
    if (!live || data + ETH_HLEN > end) return 1;
    vlan = teamo_outer_vlan(skb, data);
    dst = teamo_address_of(teamo_be64(data) >> 16, vlan);
    src = teamo_address_of(teamo_be64(data + 4) & 0xffffffffffffULL, vlan);
    now = bpf_ktime_get_coarse_ns();
    from = bpf_map_lookup_elem(&teamo_sources, &src);
    if (from) {
        /* Signed: another CPU may have written a later time. */
        if ((__s64)(now - from->sent) < (__s64)TEAMO_SOURCE_LIFE) {
            if ((__s64)(now - from->heard) >= (__s64)(TEAMO_SOURCE_LIFE / 8)) from->heard = now;
            return 0;
        }
        if ((__s64)(now - from->announced) < (__s64)TEAMO_SOURCE_LIFE && teamo_is_rarp(skb)) return 0;
        bpf_map_delete_elem(&teamo_sources, &src);
    }
    if (dst >> TEAMO_ADDRESS_VLAN & TEAMO_MULTICAST) {
        if (!(TEAMO_READ_ONCE(live->tx) >> (slot & 15) & 1)) return slot == teamo_stand_in();
        return teamo_is_first(skb, src, dst, slot, false);
    }
    to = bpf_map_lookup_elem(&teamo_sources, &dst);
    if (to && !to->slot) to = NULL;
    place = to ? to->slot : TEAMO_NO_SLOT;
    if (!(TEAMO_READ_ONCE(live->rx) >> (place & 15) & 1) || !teamo_has_link(place, false))
        place = teamo_owner(live, teamo_address_bucket(dst));
    /* What is not known, as after a start, may come by any slot; what moved a moment ago by two. */
    if (to && (__s64)(now - to->moved) >= (__s64)TEAMO_RELEARNING) return slot == place;
    if (to && slot != place && to->former && slot != to->former) return 0;
    return teamo_is_first(skb, src, dst, slot, slot == place);
}

/* Counts what an address receives with what it sends: both are to be spread. */
static __always_inline void teamo_count_received(struct __sk_buff* skb, const struct ethhdr* eth) {
    __u64 dst = teamo_be64(eth) >> 16;
    __u32 bucket;
    struct teamo_bucket_counters* counters;

    if (dst & TEAMO_MULTICAST) return;
    bucket = teamo_address_bucket(teamo_address_of(dst, teamo_outer_vlan(skb, eth)));
    counters = bpf_map_lookup_elem(&teamo_bucket_counters, &bucket);
    if (!counters) return;
    counters->bytes += skb->len;
    if (skb->gso_size) counters->gso_bytes += skb->len;
}

#endif
