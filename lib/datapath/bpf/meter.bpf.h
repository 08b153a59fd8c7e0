/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
 *
 * Counts the transmitted packets of each bucket.
 */
#ifndef TEAMO_METER_BPF_H
#define TEAMO_METER_BPF_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "abi.h"
#include "tcp.bpf.h"

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, TEAMO_BUCKETS);
    __type(key, __u32);
    __type(value, struct teamo_bucket_counters);
} teamo_bucket_counters SEC(".maps");

static __always_inline void teamo_count_bucket(struct __sk_buff* skb, __u32 bucket) {
    struct teamo_bucket_counters* counters = bpf_map_lookup_elem(&teamo_bucket_counters, &bucket);

    if (!counters) return;
    counters->packets++;
    counters->bytes += skb->len;
    if (skb->gso_size) counters->gso_bytes += skb->len;
    teamo_count_tcp(skb, counters);
}

#endif
