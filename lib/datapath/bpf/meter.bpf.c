// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * Counts the transmitted packets of each bucket if the kernel's team driver carries them: on the egress hook
 * of the team's device, with the same hash that the driver uses. The driver itself counts only bytes
 * (lb_hash_stats), but the balancer must also know how much of them is bulk.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_helpers.h>

#include "abi.h"
#include "meter.bpf.h"
#include "parse.bpf.h"

/* Written by the daemon when the team changes. */
volatile __u32 teamo_fields = 0;

SEC("tc")
int teamo_meter(struct __sk_buff* skb) {
    teamo_count_bucket(skb, teamo_bucket_of(teamo_packet_hash(skb, teamo_fields)));
    return TC_ACT_UNSPEC;
}

char teamo_license[] SEC("license") = "GPL";
