/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
 *
 * Counts the TCP segments of each bucket that are sent, and those that are sent again: a port whose flows
 * send far more again than others loses packets although its link is up. Works for the host's own sockets,
 * for other namespaces, guests and routed packets alike, with every kernel.
 *
 * A segment is sent again if the end of its data is not beyond the highest that its flow has sent. That is
 * kept for the last flow of each of TEAMO_TCP_FLOWS hashes; a flow that shares its place with another counts
 * little.
 */
#ifndef TEAMO_TCP_BPF_H
#define TEAMO_TCP_BPF_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "abi.h"
#include "parse.bpf.h"

/* By flow: a check of the flow in the upper half, the sequence number after its last data in the lower. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, TEAMO_TCP_FLOWS);
    __type(key, __u32);
    __type(value, __u64);
} teamo_tcp_flows SEC(".maps");

/* No flow has more data in flight; what is farther back belongs to a new connection. */
#define TEAMO_TCP_WINDOW (16u << 20)

/* Odd constants of multiplicative hashing (the golden ratio, and the constants of MurmurHash3). */
#define TEAMO_TCP_K1 0x9e3779b97f4a7c15ULL
#define TEAMO_TCP_K2 0x85ebca6bc2b2ae35ULL

static __always_inline void teamo_count_segments(struct __sk_buff* skb, const struct tcphdr* tcp, __u64 flow,
                                                 __u32 payload, struct teamo_bucket_counters* counters) {
    __u32 place, check, end = bpf_ntohl(tcp->seq) + payload, segments = skb->gso_segs ? skb->gso_segs : 1;
    __u64* entry;
    __u64 known;

    flow *= TEAMO_TCP_K2;
    place = flow >> 32 & (TEAMO_TCP_FLOWS - 1);
    check = flow;
    if (payload) counters->tcp_segments += segments;
    entry = bpf_map_lookup_elem(&teamo_tcp_flows, &place);
    if (!entry) return;
    known = *(volatile __u64*)entry; /* at once: another CPU may write it */
    if (known >> 32 == check && !tcp->syn && (__u32)known - end < TEAMO_TCP_WINDOW &&
        payload > 1) /* keepalives may have one byte */
        counters->tcp_again += segments;
    else
        *(volatile __u64*)entry = (__u64)check << 32 | end;
}

/* Packets without data (but a SYN begins a flow), and those whose headers are not in the linear part, are not
 * counted. */
static __always_inline void teamo_count_tcp(struct __sk_buff* skb, struct teamo_bucket_counters* counters) {
    void* data = (void*)(long)skb->data;
    void* end = (void*)(long)skb->data_end;
    const struct ethhdr* eth = data;
    const struct tcphdr* tcp;
    __u32 offset, length, payload;
    __u64 flow;

    if ((void*)(eth + 1) > end) return;
    if (eth->h_proto == bpf_htons(ETH_P_IP)) {
        const struct iphdr* ip = data + ETH_HLEN;

        if ((void*)(ip + 1) > end || ip->protocol != IPPROTO_TCP || ip->ihl != 5 ||
            ip->frag_off & bpf_htons(TEAMO_IP_FRAGMENT))
            return;
        flow = (__u64)ip->saddr << 32 | ip->daddr;
        offset = ETH_HLEN + sizeof(*ip);
        length = bpf_ntohs(ip->tot_len) + ETH_HLEN;
    } else if (eth->h_proto == bpf_htons(ETH_P_IPV6)) {
        const struct ipv6hdr* ip = data + ETH_HLEN;
        const __be32 *src = ip->saddr.s6_addr32, *dst = ip->daddr.s6_addr32;

        if ((void*)(ip + 1) > end || ip->nexthdr != IPPROTO_TCP) return;
        flow = (__u64)(src[0] ^ src[1] ^ src[2] ^ src[3]) << 32 | (dst[0] ^ dst[1] ^ dst[2] ^ dst[3]);
        offset = ETH_HLEN + sizeof(*ip);
        length = bpf_ntohs(ip->payload_len) + offset;
    } else {
        return;
    }
    tcp = data + offset;
    if ((void*)(tcp + 1) > end) return;
    /* A short frame is padded; a GSO packet may be longer than its header can say. */
    payload = (skb->gso_size ? skb->len : length) - offset - tcp->doff * 4;
    if ((__s32)payload < 0 || (!payload && !tcp->syn)) return;
    flow = flow * TEAMO_TCP_K1 + ((__u32)tcp->source << 16 | tcp->dest);
    teamo_count_segments(skb, tcp, flow, payload, counters);
}

#endif
