/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
 *
 * ARP: for whom a request is, and which neighbours have a new MAC address.
 */
#ifndef TEAMO_GUARD_ARP_BPF_H
#define TEAMO_GUARD_ARP_BPF_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <stdbool.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "guard_abi.h"
#include "guard_addresses.bpf.h"
#include "guard_rates.bpf.h"
#include "parse.bpf.h"

#define TEAMO_ARP_REQUEST 1
#define TEAMO_TELL_AGAIN 30000000000ULL /* nanoseconds */
#define TEAMO_JUDGE_AGAIN 1000000000ULL

/* ARP for Ethernet and IPv4: RFC 826. */
struct teamo_arp {
    __be16 hardware, protocol;
    __u8 hardware_size, protocol_size;
    __be16 operation;
    __u8 sender_mac[6], sender_ip[4], target_mac[6], target_ip[4];
} __attribute__((packed));

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, TEAMO_GUARD_NEIGHBOURS);
    __type(key, struct teamo_guard_neighbour);
    __type(value, struct teamo_guard_told);
} guard_told SEC(".maps");

/*
 * The last request for another host that was dropped, of each sender. The next one of it is dropped by one
 * look-up, in half of the time: a storm costs that time a million times a second.
 */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, TEAMO_GUARD_REPEATED);
    __type(key, __u32);
    __type(value, struct teamo_guard_repeated);
} guard_repeated SEC(".maps");

static __always_inline struct teamo_guard_repeated* teamo_repeated_of(__u32 ip, __u32 port) {
    __u32 slot = (bpf_ntohl(ip) ^ port) % TEAMO_GUARD_REPEATED;

    return bpf_map_lookup_elem(&guard_repeated, &slot);
}

/*
 * True for a broadcast without a VLAN if the same sender's last request was dropped, and this one is not for
 * an address that may be ours either. Without the look-ups in hashes.
 */
static __always_inline bool teamo_repeats_itself(const struct teamo_guard_settings* settings,
                                                 struct __sk_buff* skb, struct teamo_frame* frame) {
    const void* end = (void*)(long)skb->data_end;
    const struct ethhdr* eth = (void*)(long)skb->data;
    const struct teamo_arp* arp = (void*)(eth + 1);
    const struct teamo_guard_repeated* last;
    __u32 sender, target;

    if ((void*)(arp + 1) > end || eth->h_proto != bpf_htons(ETH_P_ARP) || skb->vlan_present ||
        arp->hardware != bpf_htons(1) || arp->protocol != bpf_htons(ETH_P_IP) ||
        arp->operation != bpf_htons(TEAMO_ARP_REQUEST))
        return false;
    sender = *(const __u32*)arp->sender_ip;
    target = *(const __u32*)arp->target_ip;
    last = teamo_repeated_of(sender, skb->ifindex);
    return last && last->ip == sender && last->port == skb->ifindex &&
           last->mac == teamo_be64(arp->sender_mac) >> 16 && teamo_be64(eth) >> 16 == TEAMO_BROADCAST &&
           last->from == (teamo_be64(eth->h_dest + 4) & TEAMO_BROADCAST) && sender != target &&
           !(settings->ips & teamo_guard_bit(arp->target_ip[3])) &&
           !(settings->macs & teamo_guard_bit(last->from)) && teamo_now(frame) < last->due;
}

/* CPUs that write a slot at the same moment may mix two senders, for TEAMO_JUDGE_AGAIN at most. */
static __always_inline void teamo_note_repeated(struct teamo_frame* frame) {
    struct teamo_guard_repeated* last = teamo_repeated_of(frame->sender.ip, frame->sender.port);

    if (!last || frame->vlan) return;
    last->ip = frame->sender.ip;
    last->port = frame->sender.port;
    last->from = frame->from;
    last->mac = frame->sender_mac;
    last->due = teamo_now(frame) + TEAMO_JUDGE_AGAIN;
}

/*
 * The kernel takes a neighbour's new MAC address from each request, whatever its target (net/ipv4/arp.c:
 * arp_process). Told again now and then, because the kernel ignores what comes within a second of the last
 * change (locktime), and the datapath may have dropped the frame.
 */
static __always_inline bool teamo_is_news(struct teamo_frame* frame) {
    const struct teamo_guard_told* told = bpf_map_lookup_elem(&guard_told, &frame->sender);

    return !told || told->mac != frame->sender_mac || teamo_now(frame) > told->due;
}

/* A sender with an address of ours is always news: programs look for such conflicts (RFC 5227). */
static __always_inline void teamo_note_told(const struct teamo_guard_settings* settings,
                                            struct teamo_frame* frame) {
    struct teamo_guard_told told = {.mac = frame->sender_mac, .due = teamo_now(frame) + TEAMO_TELL_AGAIN};
    struct teamo_guard_repeated* last = teamo_repeated_of(frame->sender.ip, frame->sender.port);

    if (last) last->due = 0; /* judge its next request in full */
    if (!teamo_is_our_ipv4(settings, (const __u8*)&frame->sender.ip))
        bpf_map_update_elem(&guard_told, &frame->sender, &told, BPF_ANY);
}

/* What cannot be read is PLAIN: the kernel cannot read it either. */
static __always_inline enum teamo_sort teamo_judge_arp(const struct teamo_guard_settings* settings,
                                                       struct __sk_buff* skb, struct teamo_frame* frame) {
    struct teamo_arp copy;
    const struct teamo_arp* arp = teamo_header(skb, frame->offset, &copy, sizeof(copy));
    __u32 sender, target;
    __be64 mac; /* and two bytes of the IP address */

    if (!arp || arp->hardware != bpf_htons(1) || arp->protocol != bpf_htons(ETH_P_IP)) return TEAMO_PLAIN;
    __builtin_memcpy(&sender, arp->sender_ip, sizeof(sender));
    __builtin_memcpy(&target, arp->target_ip, sizeof(target));
    if (sender && !frame->is_foreign) {
        __builtin_memcpy(&mac, arp->sender_mac, sizeof(mac));
        frame->sender_mac = bpf_be64_to_cpu(mac) >> 16;
        frame->sender.ip = sender;
        frame->sender.port = skb->ifindex;
        frame->sender.vlan = frame->vlan;
        frame->is_news = teamo_is_news(frame);
    }
    /* An answer, or gratuitous: a neighbour may have changed its MAC address. */
    if (arp->operation != bpf_htons(TEAMO_ARP_REQUEST) || sender == target) return TEAMO_ANNOUNCEMENT;
    /*
     * From our own MAC address: a probe of a link watch, seen by another port. Without a sender it is a probe
     * (RFC 5227): the address may be one that a program here probes too, and that no device has yet.
     */
    if (teamo_is_our_ipv4(settings, arp->target_ip) || teamo_is_our_mac(settings, frame->from))
        return TEAMO_REQUEST;
    if (frame->is_news) {
        frame->is_for_other = true;
        return TEAMO_ANNOUNCEMENT;
    }
    return sender ? TEAMO_UNWANTED : TEAMO_PLAIN;
}

#endif
