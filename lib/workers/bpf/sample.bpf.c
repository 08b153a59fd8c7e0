// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * Counts UDP packets by socket and CPU while it is attached. UDP sockets do not store this themselves: an
 * unconnected one has no incoming CPU (net/ipv4/udp.c: __udp_queue_rcv_skb), and none counts bytes.
 */
#include <linux/bpf.h>

#include <linux/in.h>

#include <bpf/bpf_helpers.h>

#include "sockets_abi.h"

struct {
    __uint(type, BPF_MAP_TYPE_LRU_PERCPU_HASH);
    __uint(max_entries, TEAMO_SAMPLED_SOCKETS);
    __type(key, __u64); /* socket cookie */
    __type(value, struct teamo_sampled);
} teamo_sample SEC(".maps");

SEC("cgroup_skb/ingress")
int teamo_count(struct __sk_buff* skb) {
    struct bpf_sock* socket = skb->sk;
    struct teamo_sampled* counted;
    __u64 cookie;

    if (!socket) return 1;
    socket = bpf_sk_fullsock(socket);
    if (!socket || socket->protocol != IPPROTO_UDP) return 1;
    cookie = bpf_get_socket_cookie(skb);
    counted = bpf_map_lookup_elem(&teamo_sample, &cookie);
    if (!counted) {
        struct teamo_sampled none = {};

        bpf_map_update_elem(&teamo_sample, &cookie, &none, BPF_NOEXIST);
        counted = bpf_map_lookup_elem(&teamo_sample, &cookie);
        if (!counted) return 1;
    }
    counted->bytes += skb->len;
    counted->packets += skb->gso_segs ?: 1;
    counted->napi = skb->napi_id;
    counted->ifindex = skb->ifindex;
    return 1; /* allow the packet */
}

char teamo_license[] SEC("license") = "GPL";
