/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
 *
 * Computes the transmit hash of a packet. Reads only the headers that the hash fields need; truncated and
 * unknown headers add nothing. The verifier of kernel 6.1 must accept it: no loop helper, no dynptr.
 */
#ifndef TEAMO_PARSE_BPF_H
#define TEAMO_PARSE_BPF_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "flow_hash.h"

#define TEAMO_HASH_L4 (TEAMO_HASH_TCP | TEAMO_HASH_UDP | TEAMO_HASH_SCTP)
#define TEAMO_VLAN_TAGS 2 /* in the packet's bytes; one more may be in the skb's metadata */
#define TEAMO_VID 0x0fff
#define TEAMO_IP_FRAGMENT 0x3fff /* more fragments, or an offset: RFC 791 */
#define TEAMO_IPV6_EXTENSIONS 6

struct teamo_vlan_tag {
    __be16 tci;
    __be16 ethertype;
};

struct teamo_ports {
    __be16 src, dst;
};

/*
 * A pointer to a header, or to a copy if it is not in the skb's linear part (a page from a tap or from a
 * driver's receive ring). bpf_skb_pull_data() would make the kernel reallocate the skb's head.
 */
static __always_inline const void* teamo_header(struct __sk_buff* skb, __u32 offset, void* copy, __u32 size) {
    void* data = (void*)(long)skb->data;
    void* end = (void*)(long)skb->data_end;

    if (data + offset + size <= end) return data + offset;
    return bpf_skb_load_bytes(skb, offset, copy, size) ? NULL : copy;
}

static __always_inline __u32 teamo_parse_ports(struct __sk_buff* skb, __u32 offset) {
    struct teamo_ports copy;
    const struct teamo_ports* ports = teamo_header(skb, offset, &copy, sizeof(copy));

    return ports ? teamo_hash_ports(bpf_ntohs(ports->dst), bpf_ntohs(ports->src)) : 0;
}

static __always_inline __u32 teamo_parse_ipv4(struct __sk_buff* skb, __u32 offset, __u32 fields) {
    struct iphdr copy;
    const struct iphdr* ip = teamo_header(skb, offset, &copy, sizeof(copy));
    __u32 hash = 0;

    if (!ip) return 0;
    if (fields & TEAMO_HASH_IPV4) hash += teamo_hash_ipv4(bpf_ntohl(ip->daddr), bpf_ntohl(ip->saddr));
    /* Later fragments have no ports, so those of the first are not hashed: all must use one port. */
    if (!(fields & teamo_hash_field_of(ip->protocol)) || ip->frag_off & bpf_htons(TEAMO_IP_FRAGMENT) ||
        ip->ihl < 5)
        return hash;
    return hash + teamo_parse_ports(skb, offset + ip->ihl * 4);
}

/* What follows an IPv6 header's extensions (RFC 8200, 4), and where. Stops at a fragment header. */
static __always_inline __u32 teamo_skip_extensions(struct __sk_buff* skb, __u32* offset, __u32 next) {
    __u8 extension[2]; /* next header, length in 8 bytes less one */
    int i;

    for (i = 0; i < TEAMO_IPV6_EXTENSIONS; i++) {
        if (next != IPPROTO_HOPOPTS && next != IPPROTO_ROUTING && next != IPPROTO_DSTOPTS) return next;
        if (bpf_skb_load_bytes(skb, *offset, extension, sizeof(extension))) return IPPROTO_NONE;
        next = extension[0];
        *offset += (extension[1] + 1) * 8;
    }
    return next;
}

static __always_inline __u32 teamo_parse_ipv6_ports(struct __sk_buff* skb, __u32 offset, __u32 next,
                                                    __u32 fields) {
    next = teamo_skip_extensions(skb, &offset, next);
    return fields & teamo_hash_field_of(next) ? teamo_parse_ports(skb, offset) : 0;
}

static __always_inline __u32 teamo_parse_ipv6(struct __sk_buff* skb, __u32 offset, __u32 fields) {
    struct ipv6hdr copy;
    const struct ipv6hdr* ip = teamo_header(skb, offset, &copy, sizeof(copy));
    __u32 hash = 0;

    if (!ip) return 0;
    if (fields & TEAMO_HASH_IPV6) {
        const __be32 *dst = ip->daddr.s6_addr32, *src = ip->saddr.s6_addr32;

        hash += TEAMO_HASH_IPV6_WORD(0, bpf_ntohl(dst[0]), bpf_ntohl(src[0]));
        hash += TEAMO_HASH_IPV6_WORD(1, bpf_ntohl(dst[1]), bpf_ntohl(src[1]));
        hash += TEAMO_HASH_IPV6_WORD(2, bpf_ntohl(dst[2]), bpf_ntohl(src[2]));
        hash += TEAMO_HASH_IPV6_WORD(3, bpf_ntohl(dst[3]), bpf_ntohl(src[3]));
    }
    if (!(fields & TEAMO_HASH_L4)) return hash;
    return hash + teamo_parse_ipv6_ports(skb, offset + sizeof(*ip), ip->nexthdr, fields);
}

static __always_inline bool teamo_is_vlan(__be16 ethertype) {
    return ethertype == bpf_htons(ETH_P_8021Q) || ethertype == bpf_htons(ETH_P_8021AD);
}

/* Eight bytes of the packet as a number: two of these have both addresses of an Ethernet header. */
static __always_inline __u64 teamo_be64(const void* bytes) { return bpf_be64_to_cpu(*(const __be64*)bytes); }

/* The EtherType after the tags in the packet's bytes, and where what it names begins. `vlan`: the numbers of
 * the tags, that in the skb's metadata first. */
static __always_inline __be16 teamo_ethertype(struct __sk_buff* skb, const struct ethhdr* eth, __u32* offset,
                                              __u32* vlan) {
    __be16 ethertype = eth->h_proto;
    int i;

    *offset = ETH_HLEN;
    *vlan = skb->vlan_present ? skb->vlan_tci & TEAMO_VID : 0;
    for (i = 0; i < TEAMO_VLAN_TAGS && teamo_is_vlan(ethertype); i++) {
        struct teamo_vlan_tag copy;
        const struct teamo_vlan_tag* tag = teamo_header(skb, *offset, &copy, sizeof(copy));

        if (!tag) break;
        *vlan = *vlan << 12 | (bpf_ntohs(tag->tci) & TEAMO_VID);
        ethertype = tag->ethertype;
        *offset += sizeof(*tag);
    }
    return ethertype;
}

/* The hash of a packet. It is the same for a tag in the skb's metadata and in the packet's bytes. */
static __always_inline __u32 teamo_packet_hash(struct __sk_buff* skb, __u32 fields) {
    void* data = (void*)(long)skb->data;
    void* end = (void*)(long)skb->data_end;
    __u32 hash = 0, offset, vlan;
    __be16 ethertype;

    if (data + ETH_HLEN > end) return 0;
    if (fields & TEAMO_HASH_ETH)
        hash = teamo_hash_macs(teamo_be64(data) >> 16, teamo_be64(data + 4) & 0xffffffffffffULL);
    if (!(fields & ~TEAMO_HASH_ETH)) return hash;

    ethertype = teamo_ethertype(skb, data, &offset, &vlan);
    if (fields & TEAMO_HASH_VLAN) hash += teamo_hash_vlan(vlan);

    if (ethertype == bpf_htons(ETH_P_IP) && fields & (TEAMO_HASH_IPV4 | TEAMO_HASH_L4))
        hash += teamo_parse_ipv4(skb, offset, fields);
    else if (ethertype == bpf_htons(ETH_P_IPV6) && fields & (TEAMO_HASH_IPV6 | TEAMO_HASH_L4))
        hash += teamo_parse_ipv6(skb, offset, fields);
    return hash;
}

#define TEAMO_NAT_TRAVERSAL bpf_htons(4500) /* RFC 3948 */

/* ESP, also in UDP. Few packets come here. Not static, so that the verifier checks it once. */
__attribute__((noinline)) int teamo_is_esp(struct __sk_buff* skb) {
    void* data = (void*)(long)skb->data;
    void* end = (void*)(long)skb->data_end;
    __u32 offset, vlan, protocol;
    struct teamo_ports ports;
    struct iphdr ip;
    struct ipv6hdr ip6;
    __be16 ethertype;

    if (data + ETH_HLEN > end) return 0;
    ethertype = teamo_ethertype(skb, data, &offset, &vlan);
    if (ethertype == bpf_htons(ETH_P_IP)) {
        if (bpf_skb_load_bytes(skb, offset, &ip, sizeof(ip))) return 0;
        protocol = ip.protocol;
        offset += ip.ihl * 4;
    } else if (ethertype == bpf_htons(ETH_P_IPV6)) {
        if (bpf_skb_load_bytes(skb, offset, &ip6, sizeof(ip6))) return 0;
        offset += sizeof(ip6);
        protocol = teamo_skip_extensions(skb, &offset, ip6.nexthdr);
    } else {
        return 0;
    }
    if (protocol != IPPROTO_UDP) return protocol == IPPROTO_ESP;
    if (bpf_skb_load_bytes(skb, offset, &ports, sizeof(ports))) return 0;
    return ports.src == TEAMO_NAT_TRAVERSAL || ports.dst == TEAMO_NAT_TRAVERSAL;
}

#endif
