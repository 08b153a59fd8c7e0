/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
 *
 * What the BPF programs and the daemon share. Compiled as C (clang -target bpf) and as C++.
 *
 * Zero means nothing: array maps start as zeros, so slot 0 is "no port" and field set 0 is "no hash".
 * A later daemon does not read these maps: it brings its own and swaps them in with its programs.
 */
#ifndef TEAMO_ABI_H
#define TEAMO_ABI_H

/* NOLINTBEGIN: C, in the kernel's manner */

#include <linux/types.h>

#define TEAMO_BUCKETS 256u
#define TEAMO_SLOTS 9u /* slot 0 is none, 1 to 8 are ports */
#define TEAMO_NO_SLOT 0u
#define TEAMO_CPUS 8192u   /* as many as any kernel is built for (CONFIG_NR_CPUS) */
#define TEAMO_FLOWS 65536u /* that are remembered where the hash is by CPU */

/* The fragments of a transmit hash: the bits of HashField in lib/model/config.h. */
#define TEAMO_HASH_ETH (1u << 0)
#define TEAMO_HASH_VLAN (1u << 1)
#define TEAMO_HASH_IPV4 (1u << 2)
#define TEAMO_HASH_IPV6 (1u << 3)
#define TEAMO_HASH_TCP (1u << 4)
#define TEAMO_HASH_UDP (1u << 5)
#define TEAMO_HASH_SCTP (1u << 6)
#define TEAMO_HASH_CPU (1u << 7) /* by the CPU that sends; the rest serves where its port is not live */

enum teamo_mode {
    TEAMO_MODE_HASH = 0,       /* bucket = hash of the flow: loadbalance, and activebackup with one slot */
    TEAMO_MODE_ROUNDROBIN = 1, /* the next live slot after the last one, on each CPU */
    TEAMO_MODE_RANDOM = 2,     /* bucket = a random number */
    TEAMO_MODE_BROADCAST = 3,  /* a copy to every live slot */
};

/* Map "teamo_team", one element. Written by the daemon when the team changes, read per packet. */
struct teamo_team {
    __u32 mode;                      /* enum teamo_mode */
    __u32 hash_fields;               /* TEAMO_HASH_* */
    __u32 team_ifindex;              /* the device people see: team0 */
    __u32 inner_ifindex;             /* its other end, whose ingress transmits and whose egress delivers */
    __u32 port_ifindex[TEAMO_SLOTS]; /* by slot; [0] is 0 */
};

/* Map "teamo_live", one element: which slots carry, one bit each (bit = slot). Two words in one value,
 * each written and read at once: clearing a bit of tx takes a lost port out of every bucket. */
struct teamo_live {
    __u32 tx; /* may transmit */
    __u32 rx; /* what arrives there is delivered to the team */
};

/* Map "teamo_buckets", TEAMO_BUCKETS elements: the slots of a bucket in order of preference. The
 * packet leaves by the first that is live. Unused places are TEAMO_NO_SLOT.
 *
 * A bucket that moves has in the upper half of its first place the slot that it leaves: it goes on by
 * that one, while it is live, until its traffic has paused for that slot's drain time. The program then
 * clears the upper half. Always written and read at once, as one number of 64 bits. */
struct teamo_bucket {
    __u8 slot[8];
};
#define TEAMO_SLOT_MASK 0x0fu
#define TEAMO_LEAVING_SHIFT 4

/* Map "teamo_drains", TEAMO_SLOTS elements of __u64: nanoseconds after which what left by the slot is on
 * the wire. Written by the daemon, which looks at the ports' queues.
 *
 * Map "teamo_last_sent", TEAMO_BUCKETS elements of __u64: see buckets.bpf.h. */

/* Map "teamo_cpu_slots", TEAMO_CPUS elements of __u8: the slot of the port whose interrupts the CPU serves.
 * Written by the daemon, read where the hash is by CPU (TEAMO_HASH_CPU). A bucket is a CPU there: number
 * modulo TEAMO_BUCKETS; but the orders in "teamo_buckets" are those of the flow's hash by the other
 * fragments, for packets whose CPU has no slot that is live. */

/* Map "teamo_bucket_counters", per CPU, TEAMO_BUCKETS elements. Written per packet where there is a choice
 * of ports, read by the daemon. */
struct teamo_bucket_counters {
    __u64 bytes, packets; /* a GSO packet counts once, with its whole length */
    __u64 gso_bytes;      /* of these bytes, those of GSO packets */
};

/* Map "teamo_port_counters", per CPU, TEAMO_SLOTS elements. Written per packet, read by the daemon.
 * Slot 0 counts what had no port to go to. */
struct teamo_counters {
    __u64 tx_packets, tx_bytes; /* a GSO packet counts once, with its whole length */
    __u64 rx_packets, rx_bytes;
    __u64 rx_dropped; /* arrived on a port that does not deliver */
};

/* What the ring "teamo_carrier_news" is made of. No later daemon reads it. */
struct teamo_carrier_record {
    __u32 ifindex;
    __u32 lost; /* 1: the driver said that the carrier is off, 0: that it is on */
};

/* NOLINTEND */

#endif
