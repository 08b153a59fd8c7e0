/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
 *
 * The transmit hash: the bucket of a flow. The BPF program adds its terms while it parses a packet's headers,
 * as does the classic BPF program for the team driver (hash_program.cpp). User space calls
 * teamo_flow_bucket() to find the bucket of a given flow.
 *
 * A multilinear hash: each field times its own odd 32-bit constant, summed mod 2^32 (classic BPF has 32
 * bits); the bucket is the top 8 bits. A MAC address is two numbers, of 16 and 32 bits. teamd combines the
 * same fields with XOR: then 10.0.0.i -> 10.0.1.i all use one port, and addresses in steps of 4 use one port
 * of four. Here each step of a field moves the hash by a fixed angle. The constants are chosen so that the
 * points stay evenly spread (like multiples of the golden ratio) for steps of 1, 2, 4 and 256, and for the
 * pairs of fields that count up together in real networks. So ports that own contiguous ranges of buckets get
 * even shares; mixing after the sum would make the shares random. (Multilinear hashing: Carter and Wegman
 * 1979; Dietzfelbinger 1996 for mod 2^w and the top bits.)
 *
 * Numbers are in host order: a next address or port is then plus one. Fields that are zero or absent add
 * nothing. dst and src have different constants: a -> b and b -> a are different flows.
 */
#ifndef TEAMO_FLOW_HASH_H
#define TEAMO_FLOW_HASH_H

/* NOLINTBEGIN: C, in the kernel's manner */

#include "abi.h"

/*
 * Found by search among random odd 64-bit numbers: those whose multiples, alone and in sums of two or three
 * fields that count up together, are spread most evenly over halves, thirds, quarters and eighths of the
 * circle. These are their upper halves (made odd): for 64 points the lower halves do not matter. The two for
 * the upper parts of MAC addresses, which do not count up, are lower halves and so just random. With 64
 * clients in steps of 1, 2 or 4, by either MAC address or any word of either IP address, the busiest of four
 * ports gets at most 1.19 times its share, for any first address: that only rotates the points. More in
 * tests/bpf/flow_hash_test.cpp. Do not change these constants: flows of a running team would change ports.
 */
#define TEAMO_K_DST_MAC 0xc3d1a72dU
#define TEAMO_K_DST_MAC_HIGH 0xcd442de3U /* the first two bytes; the other four count up */
#define TEAMO_K_SRC_MAC_HIGH 0x32f3b601U
#define TEAMO_K_SRC_MAC 0x49235e59U
#define TEAMO_K_VLAN 0xb46c83f3U
#define TEAMO_K_DST_IP0 0x694e63c7U
#define TEAMO_K_DST_IP1 0x694ad6c5U
#define TEAMO_K_DST_IP2 0x96bc31b5U
#define TEAMO_K_DST_IP3 0xd311c7b9U /* and an IPv4 address */
#define TEAMO_K_SRC_IP0 0x6942d2b3U
#define TEAMO_K_SRC_IP1 0x9bc30e2dU
#define TEAMO_K_SRC_IP2 0xf0ddef5dU
#define TEAMO_K_SRC_IP3 0xa356acadU
#define TEAMO_K_DST_PORT 0x88a18301U
#define TEAMO_K_SRC_PORT 0x9253946fU

/* Of the hash by source alone, whose buckets move one by one: the golden ratio, with which 64 addresses that
 * count up in steps of 1 or 2 have 64 buckets. With the one above in steps of 1 they would have nine, as it
 * is near 2/7. */
#define TEAMO_K_SOURCE 0x9e3779b1U

/* A flow as user space describes it. */
struct teamo_flow {
    __u64 dst_mac, src_mac;     /* 48 bits: the first byte is the highest */
    __u32 vlan;                 /* VIDs, 12 bits each, the outermost highest; no priority, no DEI */
    __u32 ip_version;           /* 4, 6, or 0 for neither */
    __u32 dst_ip[4], src_ip[4]; /* an IPv4 address is word 3 */
    __u32 protocol;             /* IPPROTO_*; 0 if there are no ports, as in any fragment */
    __u32 dst_port, src_port;
};

static inline __attribute__((always_inline)) __u32 teamo_hash_macs(__u64 dst, __u64 src) {
    __u64 low = (dst & 0xffffffff) * TEAMO_K_DST_MAC + (src & 0xffffffff) * TEAMO_K_SRC_MAC;
    __u64 high = (dst >> 32) * TEAMO_K_DST_MAC_HIGH + (src >> 32) * TEAMO_K_SRC_MAC_HIGH;

    return (low + high) & 0xffffffff; /* the mask avoids a g++ warning about the narrowing */
}

static inline __attribute__((always_inline)) __u32 teamo_hash_vlan(__u32 vlan) { return vlan * TEAMO_K_VLAN; }

/* By source alone: the VLAN is one number of 12 bits. */
static inline __attribute__((always_inline)) __u32 teamo_hash_source(__u64 src, __u32 vlan) {
    __u64 low = (src & 0xffffffff) * TEAMO_K_SOURCE + (src >> 32) * TEAMO_K_SRC_MAC_HIGH;

    return (low + teamo_hash_vlan(vlan)) & 0xffffffff; /* see teamo_hash_macs() */
}

static inline __attribute__((always_inline)) __u32 teamo_hash_ipv4(__u32 dst, __u32 src) {
    return dst * TEAMO_K_DST_IP3 + src * TEAMO_K_SRC_IP3;
}

/* One word of both IPv6 addresses. */
#define TEAMO_HASH_IPV6_WORD(word, dst, src) ((dst) * TEAMO_K_DST_IP##word + (src) * TEAMO_K_SRC_IP##word)

static inline __attribute__((always_inline)) __u32 teamo_hash_ports(__u32 dst, __u32 src) {
    return dst * TEAMO_K_DST_PORT + src * TEAMO_K_SRC_PORT;
}

/* The hash field for the ports of an IP protocol; 0 if there is none. */
static inline __attribute__((always_inline)) __u32 teamo_hash_field_of(__u32 protocol) {
    return protocol == 6     ? TEAMO_HASH_TCP
           : protocol == 17  ? TEAMO_HASH_UDP
           : protocol == 132 ? TEAMO_HASH_SCTP
                             : 0;
}

static inline __attribute__((always_inline)) __u32 teamo_bucket_of(__u32 hash) {
    __u32 top = hash >> 24;

    return top & (TEAMO_BUCKETS - 1); /* the mask avoids a g++ warning about the narrowing */
}

/* The bucket of a flow while the team hashes `fields`. */
static inline __u32 teamo_flow_bucket(const struct teamo_flow* flow, __u32 fields) {
    const __u32 *dst = flow->dst_ip, *src = flow->src_ip;
    __u32 hash = 0;

    if (fields & TEAMO_HASH_SOURCE)
        return teamo_bucket_of(
            teamo_hash_source(flow->src_mac, flow->vlan >> 12 ? flow->vlan >> 12 : flow->vlan));
    if (fields & TEAMO_HASH_ETH) hash += teamo_hash_macs(flow->dst_mac, flow->src_mac);
    if (fields & TEAMO_HASH_VLAN) hash += teamo_hash_vlan(flow->vlan);
    if (flow->ip_version == 4 && fields & TEAMO_HASH_IPV4) hash += teamo_hash_ipv4(dst[3], src[3]);
    if (flow->ip_version == 6 && fields & TEAMO_HASH_IPV6)
        hash += TEAMO_HASH_IPV6_WORD(0, dst[0], src[0]) + TEAMO_HASH_IPV6_WORD(1, dst[1], src[1]) +
                TEAMO_HASH_IPV6_WORD(2, dst[2], src[2]) + TEAMO_HASH_IPV6_WORD(3, dst[3], src[3]);
    if (fields & teamo_hash_field_of(flow->protocol))
        hash += teamo_hash_ports(flow->dst_port, flow->src_port);
    return teamo_bucket_of(hash);
}

/* NOLINTEND */

#endif
