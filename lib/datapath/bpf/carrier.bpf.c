// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * Reports at once that a port's carrier changed. If the card is not a port of the kernel's own team or bond,
 * netlink reports it up to a second later (net/core/link_watch.c: linkwatch_urgent_event).
 *
 * On exit of the kernel's functions, not on entry: there the carrier is not off yet, and a daemon that reads
 * it on another CPU would still see it on. Also reports when the carrier returns: linkwatch delays that in
 * the same way while a loss is pending.
 */
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "abi.h"
#include "device.bpf.h"

/* The inode of the daemon's network namespace: ifindexes are valid only there. */
const volatile __u32 teamo_network_namespace = 0;

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, TEAMO_SLOTS);
    __type(key, __u32); /* ifindex */
    __type(value, __u8);
} teamo_watched SEC(".maps");

/* struct teamo_carrier_record. Records that do not fit are lost; netlink reports them within a second. */
struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 4096); /* libbpf rounds up to a page */
} teamo_carrier_events SEC(".maps");

static __always_inline int teamo_report(const struct net_device* dev, __u32 lost) {
    struct teamo_carrier_record record = {.ifindex = BPF_CORE_READ(dev, ifindex), .lost = lost};

    if (bpf_map_lookup_elem(&teamo_watched, &record.ifindex) &&
        BPF_CORE_READ(dev, nd_net.net, ns.inum) == teamo_network_namespace)
        bpf_ringbuf_output(&teamo_carrier_events, &record, sizeof(record), 0);
    return 0;
}

/* Drivers also call these without a change, so the record has which one it was. */
SEC("fexit/netif_carrier_off")
int teamo_carrier_off(__u64* arguments) { return teamo_report((const struct net_device*)arguments[0], 1); }

SEC("fexit/netif_carrier_on")
int teamo_carrier_on(__u64* arguments) { return teamo_report((const struct net_device*)arguments[0], 0); }

char teamo_license[] SEC("license") = "GPL";
