// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * Drops frames that nobody here wants, at the ingress of a port, before the datapath's own filter and the
 * kernel's stack spend CPU time on them (docs/adr/0029).
 *
 * Judges ARP, IPv4 and IPv6 without a VLAN or in one that has a device here. Of everything else, and of what
 * it cannot read, only storms of broadcasts and multicasts are dropped.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/pkt_cls.h>
#include <stdbool.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "guard_abi.h"
#include "guard_addresses.bpf.h"
#include "guard_arp.bpf.h"
#include "guard_rates.bpf.h"
#include "parse.bpf.h"

#define TEAMO_DHCP_SERVER 67
#define TEAMO_DHCP_CLIENT 68
#define TEAMO_DHCPV6_CLIENT 546
#define TEAMO_DHCPV6_SERVER 547
#define TEAMO_IGMP 2
#define TEAMO_VRRP 112
#define TEAMO_ICMPV6 58
#define TEAMO_FRAGMENT_OFFSET 0x1fff
#define TEAMO_ETH_TIPC 0x88ca

/* An ICMPv6 header and, in a neighbour solicitation, its target: RFC 4861, 4.3. */
struct teamo_solicitation {
    __u8 type, code;
    __be16 checksum;
    __u32 reserved;
    struct teamo_guard_ipv6 target;
};

/*
 * Until when the addresses are known to be right (CLOCK_MONOTONIC). The daemon moves it on; when it has died,
 * nobody would add a new address.
 */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u64);
} guard_until SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, TEAMO_GUARD_REASONS);
    __type(key, __u32);
    __type(value, __u64);
} guard_counters SEC(".maps");

static __always_inline int teamo_judged(__u32 reason, struct teamo_frame* frame) {
    __u64 *count, *until;
    __u32 zero = 0;

    if (reason != TEAMO_GUARD_PASSED) {
        until = bpf_map_lookup_elem(&guard_until, &zero);
        if (!until || teamo_now(frame) > *until) reason = TEAMO_GUARD_PASSED;
    }
    count = bpf_map_lookup_elem(&guard_counters, &reason);
    if (count) (*count)++;
    return reason == TEAMO_GUARD_PASSED ? TC_ACT_UNSPEC : TC_ACT_SHOT;
}

/* False: the frame is too short. */
static __always_inline bool teamo_read_frame(struct __sk_buff* skb, struct teamo_frame* frame) {
    void* data = (void*)(long)skb->data;
    void* end = (void*)(long)skb->data_end;
    const struct ethhdr* eth = data;
    const struct teamo_vlan_tag* tag;
    struct teamo_vlan_tag copy;
    bool is_tagged = false;
    int i;

    if (data + ETH_HLEN > end) return false;
    frame->to = teamo_be64(data) >> 16;
    frame->from = teamo_be64(data + 4) & TEAMO_BROADCAST;
    frame->offset = ETH_HLEN;
    frame->ethertype = eth->h_proto;
    frame->vlan = 0;
    frame->is_foreign = false;
    frame->is_link_scope = true;
    frame->is_news = frame->is_for_other = false;
    /* Set here for the verifier of early 6.1, which does not see that they are read only after ARP has set
     * them. */
    frame->sender = (struct teamo_guard_neighbour){};
    frame->sender_mac = 0;
    if (skb->vlan_present) {
        is_tagged = true;
        frame->vlan = skb->vlan_tci & TEAMO_VID;
        frame->is_foreign = !teamo_has_vlan(skb->vlan_proto, skb->vlan_tci);
    }
    for (i = 0; i < TEAMO_VLAN_TAGS && teamo_is_vlan(frame->ethertype); i++) {
        tag = teamo_header(skb, frame->offset, &copy, sizeof(copy));
        if (!tag) break;
        /* Which device has a VLAN in a VLAN is not known. */
        if (is_tagged || !teamo_has_vlan(frame->ethertype, bpf_ntohs(tag->tci))) frame->is_foreign = true;
        is_tagged = true;
        frame->vlan = bpf_ntohs(tag->tci) & TEAMO_VID;
        frame->ethertype = tag->ethertype;
        frame->offset += sizeof(*tag);
    }
    return true;
}

static __always_inline bool teamo_is_dhcp(struct __sk_buff* skb, __u32 offset, __u16 one, __u16 other) {
    struct teamo_ports copy;
    const struct teamo_ports* ports = teamo_header(skb, offset, &copy, sizeof(copy));

    return ports && (ports->dst == bpf_htons(one) || ports->dst == bpf_htons(other));
}

static __always_inline enum teamo_sort teamo_judge_ipv4(struct __sk_buff* skb, struct teamo_frame* frame) {
    struct iphdr copy;
    const struct iphdr* ip = teamo_header(skb, frame->offset, &copy, sizeof(copy));

    if (!ip) return TEAMO_PLAIN;
    frame->is_link_scope = (ip->daddr & bpf_htonl(0xffffff00)) == bpf_htonl(0xe0000000);
    if (ip->protocol == TEAMO_IGMP) return TEAMO_ANNOUNCEMENT;
    if (ip->protocol == TEAMO_VRRP) return TEAMO_EXEMPT;
    if (ip->protocol == IPPROTO_UDP && !(ip->frag_off & bpf_htons(TEAMO_FRAGMENT_OFFSET)) &&
        teamo_is_dhcp(skb, frame->offset + ip->ihl * 4, TEAMO_DHCP_SERVER, TEAMO_DHCP_CLIENT))
        return TEAMO_EXEMPT;
    return TEAMO_PLAIN;
}

/* MLD (RFC 2710, RFC 3810), and router solicitation, advertisement, neighbour advertisement, redirect (RFC
 * 4861). */
static __always_inline bool teamo_announces(__u8 type) {
    return (type >= 130 && type <= 134) || type == 136 || type == 137 || type == 143;
}

static __always_inline enum teamo_sort teamo_judge_icmpv6(const struct teamo_guard_settings* settings,
                                                          struct __sk_buff* skb,
                                                          const struct teamo_frame* frame, __u32 offset) {
    const struct teamo_solicitation* asked;
    struct teamo_solicitation copy;
    struct teamo_guard_ipv6 target;
    __u8 type[1];

    if (bpf_skb_load_bytes(skb, offset, type, sizeof(type))) return TEAMO_PLAIN;
    if (teamo_announces(type[0])) return TEAMO_ANNOUNCEMENT;
    if (type[0] != 135) return TEAMO_PLAIN;
    asked = teamo_header(skb, offset, &copy, sizeof(copy));
    if (!asked) return TEAMO_PLAIN;
    target = asked->target;
    if (teamo_is_our_ipv6(settings, &target) || teamo_is_our_mac(settings, frame->from)) return TEAMO_REQUEST;
    return TEAMO_UNWANTED;
}

static __always_inline enum teamo_sort teamo_judge_ipv6(const struct teamo_guard_settings* settings,
                                                        struct __sk_buff* skb, struct teamo_frame* frame) {
    struct ipv6hdr copy;
    const struct ipv6hdr* ip = teamo_header(skb, frame->offset, &copy, sizeof(copy));
    __u32 offset = frame->offset + sizeof(*ip);
    __u8 next, options[2]; /* next header, length in 8 bytes less one */

    if (!ip) return TEAMO_PLAIN;
    next = ip->nexthdr;
    frame->is_link_scope = (ip->daddr.s6_addr[1] & 0xf) <= 2;
    /* MLD has hop-by-hop options (RFC 3810, 5). */
    if (next == IPPROTO_HOPOPTS) {
        if (bpf_skb_load_bytes(skb, offset, options, sizeof(options))) return TEAMO_PLAIN;
        next = options[0];
        offset += (options[1] + 1) * 8;
    }
    if (next == TEAMO_VRRP) return TEAMO_EXEMPT;
    if (next == IPPROTO_UDP && teamo_is_dhcp(skb, offset, TEAMO_DHCPV6_CLIENT, TEAMO_DHCPV6_SERVER))
        return TEAMO_EXEMPT;
    return next == TEAMO_ICMPV6 ? teamo_judge_icmpv6(settings, skb, frame, offset) : TEAMO_PLAIN;
}

/* Only these protocols, in a VLAN of this host, are dropped for where they go. */
static __always_inline bool teamo_is_known(const struct teamo_frame* frame) {
    return !frame->is_foreign &&
           (frame->ethertype == bpf_htons(ETH_P_IP) || frame->ethertype == bpf_htons(ETH_P_IPV6) ||
            frame->ethertype == bpf_htons(ETH_P_ARP));
}

static __always_inline enum teamo_sort teamo_sort_of(const struct teamo_guard_settings* settings,
                                                     struct __sk_buff* skb, struct teamo_frame* frame,
                                                     bool is_group) {
    enum teamo_sort sort = TEAMO_FOREIGN;

    /* Unicast IPv4 is the traffic itself: nothing more to read. */
    if (frame->ethertype == bpf_htons(ETH_P_IP))
        sort = is_group ? teamo_judge_ipv4(skb, frame) : TEAMO_PLAIN;
    else if (frame->ethertype == bpf_htons(ETH_P_IPV6))
        sort = teamo_judge_ipv6(settings, skb, frame);
    else if (frame->ethertype == bpf_htons(ETH_P_ARP))
        sort = teamo_judge_arp(settings, skb, frame);
    else if (frame->ethertype == bpf_htons(TEAMO_ETH_TIPC))
        sort = TEAMO_EXEMPT; /* sends its data as broadcasts: net/tipc/bcast.c */
    /* The address may be one of a VLAN in a VLAN, whose device is not known. */
    if (frame->is_foreign && sort != TEAMO_EXEMPT && sort != TEAMO_REQUEST) return TEAMO_FOREIGN;
    return sort;
}

/*
 * Each host has joined them: 224.0.0.1, ff02::1, as a router ff02::2, solicited-node groups. Other groups
 * have the same MAC addresses (239.0.0.1, ff05::1).
 */
static __always_inline bool teamo_is_of_each_host(__u64 to) {
    __u32 end = to;

    return to == 0x01005e000001ULL || (to >> 32 == 0x3333 && (end <= 2 || end >> 24 == 0xff));
}

static __always_inline bool teamo_is_ip_group(__u64 to) { return to >> 24 == 0x01005e || to >> 32 == 0x3333; }

/*
 * A group that somebody here has joined carries what it asked for, at any rate: it is EXEMPT. Not so the
 * groups of the link (224.0.0.0/24, ff02::/16), whose protocols need few frames.
 */
static __always_inline enum teamo_sort teamo_sort_of_joined(const struct teamo_guard_settings* settings,
                                                            const struct teamo_frame* frame,
                                                            enum teamo_sort sort) {
    if ((sort != TEAMO_PLAIN && sort != TEAMO_FOREIGN) || frame->to == TEAMO_BROADCAST ||
        !teamo_is_our_mac(settings, frame->to))
        return sort;
    if (frame->is_link_scope && teamo_is_ip_group(frame->to))
        return sort == TEAMO_PLAIN ? TEAMO_PROTOCOL : TEAMO_FOREIGN_PROTOCOL;
    return teamo_is_of_each_host(frame->to) ? sort : TEAMO_EXEMPT;
}

/* For bridges and other devices of the network: IEEE 802, and Cisco's CDP, VTP and PVST+. */
static __always_inline bool teamo_is_control(__u64 to) {
    return to >> 24 == 0x0180c2 || (to & ~1ULL) == 0x01000cccccccULL;
}

static __always_inline __u32 teamo_judge(const struct teamo_guard_settings* settings,
                                         const struct teamo_frame* frame, enum teamo_sort sort,
                                         bool is_group) {
    if (sort == TEAMO_UNWANTED)
        return frame->ethertype == bpf_htons(ETH_P_ARP) ? TEAMO_GUARD_BY_ARP : TEAMO_GUARD_BY_NEIGHBOUR;
    if (!frame->is_for_other) {
        if (!is_group || settings->mode != TEAMO_GUARD_FULL) return TEAMO_GUARD_PASSED;
        sort = teamo_sort_of_joined(settings, frame, sort);
        if (sort == TEAMO_EXEMPT) return TEAMO_GUARD_PASSED;
    }
    return teamo_judge_rate(settings, frame, sort);
}

SEC("tc")
int teamo_guard(struct __sk_buff* skb) {
    __u32 zero = 0;
    const struct teamo_guard_settings* settings = bpf_map_lookup_elem(&guard_settings, &zero);
    struct teamo_frame frame;
    enum teamo_sort sort;
    bool is_group;
    __u32 reason;

    /* What the host sends itself comes here as PACKET_LOOPBACK. */
    if (!settings || settings->mode == TEAMO_GUARD_ASIDE || skb->pkt_type > PACKET_OTHERHOST)
        return TC_ACT_UNSPEC;
    frame.now = 0;
    if (teamo_repeats_itself(settings, skb, &frame)) return teamo_judged(TEAMO_GUARD_BY_ARP, &frame);
    if (!teamo_read_frame(skb, &frame)) return teamo_judged(TEAMO_GUARD_PASSED, &frame);
    is_group = frame.to >> 40 & 1;
    if (!is_group && settings->mode == TEAMO_GUARD_FULL && teamo_is_known(&frame) &&
        !teamo_is_our_mac(settings, frame.to))
        return teamo_judged(TEAMO_GUARD_BY_UNICAST, &frame);
    if (teamo_is_control(frame.to)) return teamo_judged(TEAMO_GUARD_PASSED, &frame);

    sort = teamo_sort_of(settings, skb, &frame, is_group);
    reason = teamo_judge(settings, &frame, sort, is_group);
    if (reason == TEAMO_GUARD_PASSED && frame.is_news)
        teamo_note_told(settings, &frame);
    else if (frame.is_for_other)
        reason = TEAMO_GUARD_BY_ARP;
    else if (reason == TEAMO_GUARD_BY_ARP)
        teamo_note_repeated(&frame);
    return teamo_judged(reason, &frame);
}

char teamo_license[] SEC("license") = "GPL";
