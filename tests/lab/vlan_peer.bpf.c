// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * A host in VLAN 5, and one in VLAN 5 inside the service VLAN 9, on a kernel without VLAN devices (the kernel
 * outside the lab may have none). Runs on a veth end that is a port of the peer's switch: tags the packets
 * from the host, and passes only packets with these tags to it.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

enum { customer = 5, service = 9, vid = 0xfff };

static __always_inline int carries(const struct __sk_buff* skb, __u16 protocol, __u32 id) {
    return skb->vlan_present && skb->vlan_proto == bpf_htons(protocol) && (skb->vlan_tci & vid) == id;
}

SEC("tc/tag")
int tag(struct __sk_buff* skb) {
    return bpf_skb_vlan_push(skb, bpf_htons(ETH_P_8021Q), customer) ? TC_ACT_SHOT : TC_ACT_OK;
}

SEC("tc/untag")
int untag(struct __sk_buff* skb) {
    if (!carries(skb, ETH_P_8021Q, customer) || bpf_skb_vlan_pop(skb)) return TC_ACT_SHOT;
    return TC_ACT_OK;
}

SEC("tc/tag_twice")
int tag_twice(struct __sk_buff* skb) {
    if (bpf_skb_vlan_push(skb, bpf_htons(ETH_P_8021Q), customer)) return TC_ACT_SHOT;
    return bpf_skb_vlan_push(skb, bpf_htons(ETH_P_8021AD), service) ? TC_ACT_SHOT : TC_ACT_OK;
}

SEC("tc/untag_twice")
int untag_twice(struct __sk_buff* skb) {
    if (!carries(skb, ETH_P_8021AD, service) || bpf_skb_vlan_pop(skb)) return TC_ACT_SHOT;
    if (!carries(skb, ETH_P_8021Q, customer) || bpf_skb_vlan_pop(skb)) return TC_ACT_SHOT;
    return TC_ACT_OK;
}

char vlan_peer_license[] SEC("license") = "GPL";
