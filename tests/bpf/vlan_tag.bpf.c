// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * BPF_PROG_TEST_RUN takes no VLAN tag beside a packet. This puts one there (mark is its TCI, with bit 31
 * an 802.1ad one) and goes on to the program under test.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

struct {
    __uint(type, BPF_MAP_TYPE_PROG_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u32);
} under_test SEC(".maps");

SEC("tc")
int tag_and_go_on(struct __sk_buff* skb) {
    __u32 mark = skb->mark;

    if (bpf_skb_vlan_push(skb, bpf_htons(mark >> 31 ? ETH_P_8021AD : ETH_P_8021Q), mark))
        return TC_ACT_STOLEN;
    bpf_tail_call(skb, &under_test, 0);
    return TC_ACT_STOLEN;
}

char vlan_tag_license[] SEC("license") = "GPL";
