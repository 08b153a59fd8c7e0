/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
 *
 * Types that the BPF programs and the daemon share. Compiled as C (clang -target bpf) and as C++.
 *
 * Zero means none: array maps start as zeros, so slot 0 is "no port" and field set 0 is "no hash". A later
 * daemon does not read these maps: it loads its own and replaces them with its programs.
 */
#ifndef TEAMO_ABI_H
#define TEAMO_ABI_H

/* NOLINTBEGIN: C, in the kernel's manner */

#include <linux/types.h>

#define TEAMO_BUCKETS 256u
#define TEAMO_SLOTS 9u /* slot 0 is none, 1 to 8 are ports */
#define TEAMO_NO_SLOT 0u
#define TEAMO_CPUS 8192u      /* the largest CONFIG_NR_CPUS */
#define TEAMO_FLOWS 65536u    /* remembered flows if the hash is by CPU */
#define TEAMO_TCP_FLOWS 4096u /* see tcp.bpf.h */

#define TEAMO_SOURCES 16384u /* see sources.bpf.h */

/* The fragments of a transmit hash: the bits of HashField in lib/model/config.h. */
#define TEAMO_HASH_ETH (1u << 0)
#define TEAMO_HASH_VLAN (1u << 1)
#define TEAMO_HASH_IPV4 (1u << 2)
#define TEAMO_HASH_IPV6 (1u << 3)
#define TEAMO_HASH_TCP (1u << 4)
#define TEAMO_HASH_UDP (1u << 5)
#define TEAMO_HASH_SCTP (1u << 6)
#define TEAMO_HASH_CPU (1u << 7)    /* by the sending CPU; the other bits are used if its port is not live */
#define TEAMO_HASH_SOURCE (1u << 8) /* alone: the source address and the outermost VLAN */

enum teamo_mode {
    TEAMO_MODE_HASH = 0,       /* bucket = hash of the flow: loadbalance, and activebackup with one slot */
    TEAMO_MODE_ROUNDROBIN = 1, /* the next live slot after the last one, on each CPU */
    TEAMO_MODE_RANDOM = 2,     /* bucket = a random number */
    TEAMO_MODE_BROADCAST = 3,  /* a copy to every live slot */
};

/* Map "teamo_team", one element. Written by the daemon when the team changes, read per packet. */
struct teamo_team {
    __u32 mode;          /* enum teamo_mode */
    __u32 hash_fields;   /* TEAMO_HASH_* */
    __u32 team_ifindex;  /* the team's end: team0 */
    __u32 inner_ifindex; /* of a pair, the inner end: its ingress transmits, its egress delivers */
    __u32 port_ifindex[TEAMO_SLOTS]; /* by slot; [0] is 0 */
    __u32 port_protocol;             /* an EtherType, in network order, that stays at the ports; 0: none */
};

/* Map "teamo_live", one element: the slots that carry, one bit each (bit = slot). Each word is written and
 * read atomically: clearing a bit of tx removes a lost port from every bucket. */
struct teamo_live {
    __u32 tx; /* may transmit */
    __u32 rx; /* may receive: packets are delivered to the team */
    /* The slots that may carry while no slot of tx has a link, in order, the first one in the first byte:
     * the backups of an active port. The first that has a link then transmits and receives. */
    __u64 standby;
};

/* Map "teamo_devices", TEAMO_SLOTS elements: where the kernel keeps the ports' devices; [0]: the team's.
 * Zeros: not known. The program teamo_learn_device writes it, the daemon adds the last two members. */
struct teamo_device {
    __u64 address; /* of its struct net_device */
    __u32 waits;   /* 1: after a lost link it carries again only when the daemon writes its new `losses` */
    __u32 losses;  /* net_device.carrier_down_count when the daemon let it carry */
};

/* How a packet leaves by the chosen port. */
enum teamo_exit {
    TEAMO_EXIT_REDIRECT = 0, /* to the port's egress, from the inner end of a pair */
    TEAMO_EXIT_DRIVER = 1,   /* the team driver chooses; only a port without a link is avoided */
    TEAMO_EXIT_STEER = 2, /* by a bond in its own mode: the hash names the place of a slave (bonding.bpf.h) */
};

/* Where the kernel's bonding driver keeps what is read of it, in bytes, and what is done with it; set before
 * the programs are loaded. */
struct teamo_bonding {
    __u32 own;           /* from the bond's struct net_device: its struct bonding */
    __u32 mode;          /* in a struct bonding: BOND_MODE_* */
    __u32 active;        /* there too: the address of the active struct slave */
    __u32 usable_slaves; /* there too: the address of its struct bond_up_slave */
    __u32 count, first;  /* in that one: the number of slaves, and the first of their addresses */
    __u32 device, bond;  /* in a struct slave: the addresses of its struct net_device and struct bonding */
    __u32 handler_data;  /* in a struct net_device: the address of its struct slave, if it is a slave */
    __u32 policy;        /* in a struct bonding: BOND_XMIT_POLICY_* */
    __u32 names_all;     /* 1: frames without any hashed field get a slave too (a bond of ours) */
};

/* How the programs see whether a port has a link. */
enum teamo_link_reading {
    TEAMO_LINKS_UNSEEN = 0, /* not at all: the daemon's tables decide alone */
    TEAMO_LINKS_PROBED = 1, /* by bpf_probe_read_kernel() */
    TEAMO_LINKS_READ = 2,   /* by bpf_rdonly_cast(), since kernel 6.2 */
};

/* Map "teamo_buckets", TEAMO_BUCKETS elements: the slots of a bucket in order of preference. A
 * packet leaves by the first one that is live. Unused elements are TEAMO_NO_SLOT.
 *
 * While a bucket moves, the upper half of its first element has the slot that it leaves. Packets still
 * leave by that slot, while it is live, until the traffic has a gap of that slot's drain time. The program
 * then clears the upper half. Always written and read atomically, as one number of 64 bits. */
struct teamo_bucket {
    __u8 slot[8];
};
#define TEAMO_SLOT_MASK 0x0fu
#define TEAMO_LEAVING_SHIFT 4

/* Map "teamo_drains", TEAMO_SLOTS elements of __u64: the slot's drain time in nanoseconds, after which all
 * its packets are on the wire. Written by the daemon, which measures the ports' queues.
 *
 * Map "teamo_last_sent", TEAMO_BUCKETS elements of __u64: see buckets.bpf.h. */

/* Map "teamo_cpu_slots", TEAMO_CPUS elements of __u8: the slot of the port whose interrupts the CPU serves.
 * Written by the daemon, read if the hash is by CPU (TEAMO_HASH_CPU). Packets are then counted in the bucket
 * CPU modulo TEAMO_BUCKETS. A packet whose CPU has no live slot uses the bucket of the flow's hash by the
 * other fields in "teamo_buckets". */

/* Map "teamo_bucket_counters", per CPU, TEAMO_BUCKETS elements. Written for each packet while
 * several ports are live, read by the daemon. */
struct teamo_bucket_counters {
    __u64 bytes, packets; /* a GSO packet counts once, with its whole length */
    __u64 gso_bytes;      /* the part of `bytes` in GSO packets */
    __u64 tcp_segments;   /* with data; a GSO packet counts as its segments */
    __u64 tcp_again;      /* of these, sent before */
};

/* Map "teamo_port_counters", per CPU, TEAMO_SLOTS elements. Written per packet, read by the daemon.
 * Slot 0 counts packets without a port. */
struct teamo_counters {
    __u64 tx_packets, tx_bytes; /* a GSO packet counts once, with its whole length */
    __u64 rx_packets, rx_bytes;
    __u64 rx_dropped; /* arrived on a port that does not receive for the team */
    __u64 rx_left;    /* concerns only the link, or the port itself: left to it */
};

/* Map "teamo_sources", TEAMO_SOURCES elements by address and VLAN (teamo_address_of()): the source addresses
 * that the team has sent from, if the hash is by source. Written per packet at most eight times a second, and
 * each packet that arrives reads it. Times are of CLOCK_MONOTONIC_COARSE, in nanoseconds. */
struct teamo_source {
    __u64 sent;      /* when it sent last, an eighth of TEAMO_SOURCE_LIFE too early at most */
    __u64 announced; /* when a RARP frame was sent for it while it was known */
    __u64 heard;     /* when a frame from it arrived last and was dropped, with the same delay */
    __u64 moved;     /* when it sent by another slot than before; 0: never */
    __u32 slot;      /* by which it sent last; 0: bonding chose, and any slot may receive for it */
    __u32 former;    /* by which it sent before `moved`; 0: none */
};
#define TEAMO_ADDRESS_VLAN 12 /* an address as a number: the MAC address, shifted by this, and the VLAN */

/* A record of the iterator over all BPF programs (names.bpf.c). */
struct teamo_program_name {
    __u32 id;
    char name[16]; /* with its NUL */
};

/* A record of the ring buffer "teamo_carrier_events". A later daemon does not read it. */
struct teamo_carrier_record {
    __u32 ifindex;
    __u32 lost; /* 1: the driver reported carrier off, 0: carrier on */
};

/* NOLINTEND */

#endif
