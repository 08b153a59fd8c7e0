// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * Chooses the port of each packet (teamo_exit_by: how it leaves).
 *
 * A pair: team0 is one end of a veth pair (or a netkit device), "inner" the other.
 *   host -> team0 ~ inner ingress: teamo_transmit -> a port's egress
 *   wire -> port ingress: teamo_receive -> inner's egress ~ team0 -> host
 *   accepted by a program of others before it -> nftables -> inner's egress: teamo_recheck ~ team0 -> host
 *
 * A bond in its own mode, ours or of another program: host -> its egress: teamo_transmit names the slave by
 * the packet's hash -> bonding. Packets are never dropped; what has no port leaves as bonding chooses. In
 * active-backup bonding chooses; teamo_send_by_backup and teamo_hand_in help until it has noticed a loss.
 *
 * A device of the team driver, which chooses itself: teamo_avoid_lost_link on the egress of each port.
 *
 * The programs read everything from maps for each packet: the daemon adds, stops or removes a port with one
 * write, and packets flow while no daemon runs. GSO packets are segmented only after the redirect.
 */
#include <linux/bpf.h>
#include <linux/if_packet.h>
#include <linux/pkt_cls.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "abi.h"
#include "bonding.bpf.h"
#include "buckets.bpf.h"
#include "cpu_choice.bpf.h"
#include "links.bpf.h"
#include "live.bpf.h"
#include "parse.bpf.h"
#include "sources.bpf.h"

/* enum teamo_exit; set before the programs are loaded. */
const volatile __u32 teamo_exit_by = TEAMO_EXIT_REDIRECT;

#define TEAMO_ALL_SLOTS (((1u << TEAMO_SLOTS) - 1) & ~(1u << TEAMO_NO_SLOT))

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, TEAMO_SLOTS);
    __type(key, __u32);
    __type(value, struct teamo_counters);
} teamo_port_counters SEC(".maps");

/* The slot that round-robin used last on this CPU. Not in abi.h, because only this program uses it. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u32);
} teamo_last_slot SEC(".maps");

/* The slot of a word with one bit set, 0 for none: BPF has no instruction that finds a bit. */
static __always_inline __u32 teamo_slot_of(__u32 bit) {
    return (bit & 0x100) >> 5 | !!(bit & 0xf0) << 2 | !!(bit & 0xcc) << 1 | !!(bit & 0xaa);
}

static __always_inline void teamo_count_tx(struct __sk_buff* skb, __u32 slot) {
    struct teamo_counters* counters = bpf_map_lookup_elem(&teamo_port_counters, &slot);

    if (counters) {
        counters->tx_packets++;
        counters->tx_bytes += skb->len;
    }
}

static __always_inline void teamo_count_rx(struct __sk_buff* skb, __u32 slot) {
    struct teamo_counters* counters = bpf_map_lookup_elem(&teamo_port_counters, &slot);

    if (counters) {
        counters->rx_packets++;
        counters->rx_bytes += skb->len;
    }
}

static __always_inline int teamo_drop_rx(__u32 slot) {
    struct teamo_counters* counters = bpf_map_lookup_elem(&teamo_port_counters, &slot);

    if (counters) counters->rx_dropped++;
    return TC_ACT_SHOT;
}

static __always_inline int teamo_leave_to_port(__u32 slot) {
    struct teamo_counters* counters = bpf_map_lookup_elem(&teamo_port_counters, &slot);

    if (counters) counters->rx_left++;
    return TC_ACT_UNSPEC;
}

static __always_inline __u32 teamo_port_of(const struct teamo_team* team, __u32 slot) {
    return slot < TEAMO_SLOTS ? team->port_ifindex[slot] : 0;
}

/* On a bond of others: a frame without any hashed field would share one slave with all others of its kind;
 * bonding has hashes for it. */
static __always_inline bool teamo_has_fields(const struct __sk_buff* skb, const struct teamo_team* team) {
    return team->hash_fields & (TEAMO_HASH_ETH | TEAMO_HASH_SOURCE) || skb->protocol == bpf_htons(ETH_P_IP) ||
           skb->protocol == bpf_htons(ETH_P_IPV6);
}

/* A packet without a port. */
#define TEAMO_NOWHERE (teamo_exit_by == TEAMO_EXIT_STEER ? TC_ACT_UNSPEC : TC_ACT_SHOT)

/* Sends by this slot. A packet without a port is counted in slot 0. */
static __always_inline int teamo_leave_by(struct __sk_buff* skb, const struct teamo_team* team, __u32 slot) {
    __u32 port = teamo_port_of(team, slot);
    bool named;

    teamo_count_tx(skb, port ? slot : TEAMO_NO_SLOT);
    if (!port && teamo_exit_by != TEAMO_EXIT_STEER) return TC_ACT_SHOT;
    if (teamo_exit_by == TEAMO_EXIT_STEER) {
        named =
            port && (teamo_bonding.names_all || teamo_has_fields(skb, team)) && teamo_name_by_hash(skb, slot);
        if (teamo_by_source) teamo_note_source(skb, named && teamo_takes_hash() ? slot : TEAMO_NO_SLOT);
        return TC_ACT_UNSPEC;
    }
    if (teamo_by_source) teamo_note_source(skb, slot);
    /*
     * veth_xmit() records the packet's receive queue, and the port's skb_tx_hash() would use it: all
     * packets in queue 0. Zero means none recorded; the port then uses XPS or the flow hash.
     */
    skb->queue_mapping = 0;
    return bpf_redirect(port, 0);
}

/* The next live slot after the last one, per CPU: exact round-robin, independent of the buckets. */
static __always_inline __u32 teamo_next_slot(__u32 live) {
    __u32 zero = 0, later, slot;
    __u32* last = bpf_map_lookup_elem(&teamo_last_slot, &zero);

    if (!last) return TEAMO_NO_SLOT;
    later = live & ~((2u << (*last & 15)) - 1);
    if (!later) later = live;
    slot = teamo_slot_of(later & -later);
    *last = slot;
    return slot;
}

static __always_inline bool teamo_is_by_cpu(const struct teamo_team* team) {
    return team->mode == TEAMO_MODE_HASH && team->hash_fields & TEAMO_HASH_CPU;
}

/* The packet's bucket, counted; 0 for round-robin. By CPU as in the team driver's program. */
static __always_inline __u32 teamo_find_bucket(struct __sk_buff* skb, const struct teamo_team* team) {
    __u32 bucket;

    if (team->mode == TEAMO_MODE_ROUNDROBIN) return 0;
    if (team->mode == TEAMO_MODE_RANDOM) return bpf_get_prandom_u32() & (TEAMO_BUCKETS - 1);
    bucket = teamo_is_by_cpu(team) ? bpf_get_smp_processor_id() & (TEAMO_BUCKETS - 1)
                                   : teamo_bucket_of(teamo_packet_hash(skb, team->hash_fields));
    teamo_count_bucket(skb, bucket);
    return bucket;
}

/* The slot that a packet of that bucket leaves by, among `slots`. */
static __always_inline __u32 teamo_choose(struct __sk_buff* skb, const struct teamo_team* team, __u32 bucket,
                                          __u32 slots) {
    if (team->mode == TEAMO_MODE_ROUNDROBIN) return teamo_next_slot(slots);
    if (teamo_is_by_cpu(team)) return teamo_slot_by_cpu(skb, team->hash_fields, slots);
    return teamo_slot_in_bucket(bucket & (TEAMO_BUCKETS - 1), slots);
}

/*
 * The chosen slot has no link, and the daemon has not written that yet, or no daemon runs: chooses among the
 * slots that have one, then the standby slots, then the slots that should wait. If none has a link, the first
 * choice stays, unless its device is gone: another device may have its index. Few packets come here. Not
 * static, so that the verifier checks it once.
 */
__attribute__((noinline)) __u32 teamo_choose_linked(struct __sk_buff* skb, __u32 slot, __u32 bucket) {
    __u32 zero = 0, linked, standby;
    const struct teamo_team* team = bpf_map_lookup_elem(&teamo_team, &zero);
    const struct teamo_live* live = bpf_map_lookup_elem(&teamo_live, &zero);

    if (!team || !live) return slot;
    linked = teamo_linked(TEAMO_READ_ONCE(live->tx), true);
    if (!linked) {
        standby = teamo_standby_slot(live);
        if (standby != TEAMO_NO_SLOT) return standby;
        linked = teamo_linked(TEAMO_READ_ONCE(live->tx), false);
        if (!linked) return teamo_is_there(slot) ? slot : TEAMO_NO_SLOT;
    }
    return teamo_choose(skb, team, bucket, linked);
}

/*
 * A copy by each of `slots` that has a link; one packet by another slot if none has. Not static, so that the
 * verifier checks it once.
 */
__attribute__((noinline)) int teamo_leave_by_all(struct __sk_buff* skb, __u32 slots) {
    __u32 zero = 0, linked, slot;
    const struct teamo_team* team = bpf_map_lookup_elem(&teamo_team, &zero);

    if (!team) return TC_ACT_SHOT;
    linked = teamo_linked(slots, true) & TEAMO_ALL_SLOTS;
    if (!linked) return teamo_leave_by(skb, team, teamo_choose_linked(skb, teamo_slot_of(slots & -slots), 0));
    skb->queue_mapping = 0; /* also for the copies: see teamo_leave_by() */
    for (slot = 1; slot < TEAMO_SLOTS; slot++) {
        if (!(linked >> slot & 1)) continue;
        if (!(linked >> slot >> 1)) return teamo_leave_by(skb, team, slot);
        /* A copy that fails for lack of memory counts as a drop. */
        teamo_count_tx(skb, bpf_clone_redirect(skb, teamo_port_of(team, slot), 0) ? TEAMO_NO_SLOT : slot);
    }
    return TC_ACT_SHOT;
}

/* The slot of a packet that has its port by its source address, and the address's bucket. */
static __always_inline __u32 teamo_choose_by_source(struct __sk_buff* skb, __u32 tx, __u32* bucket) {
    *bucket = teamo_address_bucket(teamo_source_of(skb));
    if (!(tx & (tx - 1))) return teamo_slot_of(tx);
    teamo_count_bucket(skb, *bucket);
    return teamo_slot_in_bucket(*bucket, tx);
}

SEC("tc")
int teamo_transmit(struct __sk_buff* skb) {
    __u32 zero = 0, tx, bucket = 0, slot;
    const struct teamo_team* team = bpf_map_lookup_elem(&teamo_team, &zero);
    const struct teamo_live* live = bpf_map_lookup_elem(&teamo_live, &zero);

    if (!team || !live) return TEAMO_NOWHERE;
    tx = TEAMO_READ_ONCE(live->tx) & TEAMO_ALL_SLOTS;
    if (teamo_by_source) {
        slot = teamo_choose_by_source(skb, tx, &bucket);
    } else if (!(tx & (tx - 1)) && !(team->hash_fields & TEAMO_HASH_CPU)) {
        /* At most one live port: no choice, and only "cpu" stores anything. */
        slot = teamo_slot_of(tx);
    } else if (team->mode == TEAMO_MODE_BROADCAST) {
        return teamo_leave_by_all(skb, tx);
    } else {
        bucket = teamo_find_bucket(skb, team);
        slot = teamo_choose(skb, team, bucket, tx);
    }
    if (slot == TEAMO_NO_SLOT || !teamo_has_link(slot, true)) slot = teamo_choose_linked(skb, slot, bucket);
    /* One call for all: of a second one kernel 6.1 does not see that the slot is in bounds. */
    return teamo_leave_by(skb, team, slot);
}

/* The slot of a port; 0 for a device that is not a port (any more). */
static __always_inline __u32 teamo_slot_of_port(const struct teamo_team* team, __u32 ifindex) {
    __u32 slot;

#pragma unroll
    for (slot = 1; slot < TEAMO_SLOTS; slot++)
        if (team->port_ifindex[slot] == ifindex) return slot;
    return TEAMO_NO_SLOT;
}

/* IEEE 802.1Q, 8.6.3: 01:80:c2:00:00:00 to 0f, which bridges do not forward. */
#define TEAMO_LINK_LOCAL 0x0180c2000000ULL
#define TEAMO_PAUSE 0x0180c2000001ULL
#define TEAMO_SLOW_PROTOCOLS 0x0180c2000002ULL
/* IEEE 802.1X; a switch that knows the station answers to its address. */
#define TEAMO_EAPOL bpf_htons(0x888e)

/* Of the port's own link, and not of the team's. */
static __always_inline bool teamo_is_of_link(const void* data) {
    return (teamo_be64(data) >> 16 & ~0xfULL) == TEAMO_LINK_LOCAL ||
           ((const struct ethhdr*)data)->h_proto == TEAMO_EAPOL;
}

/*
 * True if what arrives by this slot is delivered. A standby slot that stands in is then the only one that
 * receives: by a port that waits after a short loss, the switch would send the same frames again.
 */
static __always_inline bool teamo_receives(const struct teamo_live* live, __u32 slot) {
    __u32 rx = TEAMO_READ_ONCE(live->rx), stand_in;

    if (live->standby) {
        stand_in = teamo_stand_in();
        if (stand_in != TEAMO_NO_SLOT && !(rx >> (stand_in & 15) & 1)) return slot == stand_in;
    }
    return rx >> slot & 1;
}

SEC("tc")
int teamo_receive(struct __sk_buff* skb) {
    void* data = (void*)(long)skb->data;
    void* end = (void*)(long)skb->data_end;
    __u32 zero = 0, slot;
    const struct teamo_team* team = bpf_map_lookup_elem(&teamo_team, &zero);
    const struct teamo_live* live = bpf_map_lookup_elem(&teamo_live, &zero);
    __u64 dst;
    bool rx;

    /* Skip our own multicast that dev_loopback_xmit() loops back: it looks like a received packet. */
    if (!team || !live || skb->pkt_type > PACKET_OTHERHOST || data + ETH_HLEN > end) return TC_ACT_UNSPEC;
    slot = teamo_slot_of_port(team, skb->ifindex);
    if (slot == TEAMO_NO_SLOT) return TC_ACT_UNSPEC;

    /* TIPC's bearer is the port itself (link watch tipc). */
    if (team->port_protocol && ((const struct ethhdr*)data)->h_proto == team->port_protocol)
        return teamo_leave_to_port(slot);
    rx = teamo_receives(live, slot);
    if (teamo_is_of_link(data)) {
        /* LACP and pause frames concern only the link. LLDP, STP and others may have listeners on both. */
        dst = teamo_be64(data) >> 16;
        if (rx && dst != TEAMO_PAUSE && dst != TEAMO_SLOW_PROTOCOLS &&
            !bpf_clone_redirect(skb, team->inner_ifindex, 0))
            teamo_count_rx(skb, slot);
        return teamo_leave_to_port(slot);
    }
    if (!rx || (teamo_by_source && !teamo_takes(skb, slot))) return teamo_drop_rx(slot);
    if (teamo_by_source) teamo_count_received(skb, data);
    teamo_count_rx(skb, slot);
    return bpf_redirect(team->inner_ifindex, 0);
}

/*
 * The egress of the inner end, while programs of others run before teamo_receive on a port: what they accept
 * does not reach teamo_receive, and nftables sends it here (docs/adr/0035). What teamo_receive sends here
 * gets the same verdict again.
 */
SEC("tc")
int teamo_recheck(struct __sk_buff* skb) {
    void* data = (void*)(long)skb->data;
    void* end = (void*)(long)skb->data_end;
    __u32 zero = 0, slot;
    const struct teamo_team* team = bpf_map_lookup_elem(&teamo_team, &zero);
    const struct teamo_live* live = bpf_map_lookup_elem(&teamo_live, &zero);

    if (!team || !live) return TC_ACT_UNSPEC;
    slot = teamo_slot_of_port(team, skb->ingress_ifindex);
    if (slot == TEAMO_NO_SLOT) return TC_ACT_UNSPEC;
    if (!teamo_receives(live, slot)) return teamo_drop_rx(slot);
    if (!teamo_by_source || data + ETH_HLEN > end || teamo_is_of_link(data)) return TC_ACT_UNSPEC;
    return teamo_takes(skb, slot) ? TC_ACT_UNSPEC : teamo_drop_rx(slot);
}

/* The ingress of a slave of a bond that is steered by source: drops what the team does not take. */
SEC("tc")
int teamo_sift(struct __sk_buff* skb) {
    void* data = (void*)(long)skb->data;
    void* end = (void*)(long)skb->data_end;
    __u32 zero = 0, slot;
    const struct teamo_team* team = bpf_map_lookup_elem(&teamo_team, &zero);

    if (!team || skb->pkt_type > PACKET_OTHERHOST || data + ETH_HLEN > end) return TC_ACT_UNSPEC;
    slot = teamo_slot_of_port(team, skb->ifindex);
    /* It may have left the bond while no daemon ran. */
    if (slot == TEAMO_NO_SLOT || teamo_is_of_link(data) || !teamo_is_slave(slot)) return TC_ACT_UNSPEC;
    if (!teamo_takes(skb, slot)) return teamo_drop_rx(slot);
    teamo_count_received(skb, data);
    return TC_ACT_UNSPEC;
}

/*
 * The egress of a port of the team driver, whose mode loadbalance sends by a port without a link until the
 * daemon has disabled it: sends such a packet by another port. It must not reach the port's queue, because
 * the driver would send it again after a refusal (docs/adr/0023).
 */
SEC("tc")
int teamo_avoid_lost_link(struct __sk_buff* skb) {
    void* data = (void*)(long)skb->data;
    void* end = (void*)(long)skb->data_end;
    __u32 zero = 0, slot, other, port;
    const struct teamo_team* team = bpf_map_lookup_elem(&teamo_team, &zero);

    if (!team) return TC_ACT_UNSPEC;
    slot = teamo_slot_of_port(team, skb->ifindex);
    if (slot == TEAMO_NO_SLOT || teamo_has_link(slot, false) || data + ETH_HLEN > end) return TC_ACT_UNSPEC;
    /* Of the port itself, for its own link: LLDP, EAPOL and others. */
    if (teamo_is_of_link(data)) return TC_ACT_UNSPEC;
    other = teamo_choose_linked(skb, slot, teamo_bucket_of(teamo_packet_hash(skb, team->hash_fields)));
    port = teamo_port_of(team, other);
    if (!port || other == slot) return TC_ACT_UNSPEC;
    skb->queue_mapping = 0; /* see teamo_leave_by() */
    return bpf_redirect(port, 0);
}

/* The first backup that has a link and is still a slave. Few packets come here. Not static, so that the
 * verifier checks it once. */
__attribute__((noinline)) __u32 teamo_backup(void) {
    __u32 zero = 0;
    const struct teamo_live* live = bpf_map_lookup_elem(&teamo_live, &zero);
    __u64 order;
    int i;

    if (!live || !teamo_bonding.own) return TEAMO_NO_SLOT;
    order = bpf_be64_to_cpu(TEAMO_READ_ONCE(live->standby));
    for (i = 0; i < 8 && order; i++) {
        __u32 slot = order >> 56;

        if (slot < TEAMO_SLOTS && teamo_linked(1u << slot, true) && teamo_is_slave(slot)) return slot;
        order <<= 8;
    }
    return TEAMO_NO_SLOT;
}

/*
 * The egress of a bond in active-backup, whose active slave has lost its link without bonding
 * having noticed it: sends by the first backup that has a link. ESP waits: a card that encrypts does not ask
 * whose association it is.
 */
SEC("tc")
int teamo_send_by_backup(struct __sk_buff* skb) {
    __u32 zero = 0, port;
    const struct teamo_team* team = bpf_map_lookup_elem(&teamo_team, &zero);
    const struct teamo_live* live = bpf_map_lookup_elem(&teamo_live, &zero);

    if (!team || !live || !live->standby || !teamo_active_is_lost()) return TC_ACT_UNSPEC;
    port = teamo_port_of(team, teamo_backup());
    if (!port || teamo_is_esp(skb)) return TC_ACT_UNSPEC;
    skb->queue_mapping = 0; /* see teamo_leave_by() */
    return bpf_redirect(port, 0);
}

/*
 * The ingress of a backup of such a bond: gives the bond a copy of what bonding drops there. Bonding itself
 * gets the frame as ever, because its checks count what a backup receives.
 */
SEC("tc")
int teamo_hand_in(struct __sk_buff* skb) {
    void* data = (void*)(long)skb->data;
    void* end = (void*)(long)skb->data_end;
    __u32 zero = 0, slot;
    const struct teamo_team* team = bpf_map_lookup_elem(&teamo_team, &zero);
    const struct teamo_live* live = bpf_map_lookup_elem(&teamo_live, &zero);

    if (!team || !live || !live->standby || !teamo_active_is_lost()) return TC_ACT_UNSPEC;
    /* Our own multicast that is looped back, and frames that bonding gives to the bond or to the port alone.
     */
    if (skb->pkt_type > PACKET_OTHERHOST || data + ETH_HLEN > end || teamo_is_of_link(data))
        return TC_ACT_UNSPEC;
    slot = teamo_slot_of_port(team, skb->ifindex);
    if (slot == TEAMO_NO_SLOT || live->rx >> slot & 1 || slot != teamo_backup()) return TC_ACT_UNSPEC;
    bpf_clone_redirect(skb, team->team_ifindex, BPF_F_INGRESS);
    return TC_ACT_UNSPEC;
}

/* Run once for a port, or for a bond (BPF_PROG_TEST_RUN on its device), never
 * attached: stores where the kernel keeps the device. Returns the port's slot, or 0. */
SEC("tc")
int teamo_learn_device(struct __sk_buff* skb) {
    __u32 zero = 0, slot;
    const struct teamo_team* team = bpf_map_lookup_elem(&teamo_team, &zero);

    if (!team) return TEAMO_NO_SLOT;
    slot = teamo_slot_of_port(team, skb->ifindex);
    if (slot == TEAMO_NO_SLOT && skb->ifindex != team->team_ifindex) return TEAMO_NO_SLOT;
    return teamo_learn(skb, slot) ? (int)slot : TEAMO_NO_SLOT;
}

char teamo_license[] SEC("license") = "GPL";
