/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
 *
 * Whether a port has a link, read from the kernel's device for each packet: a lost link stops the port at the
 * next packet, also while no daemon runs.
 *
 * Whether it still is that device is known by a devmap: the kernel takes a device out of it when the device
 * is deleted or moves to another namespace (dev_map_notification()), and keeps its memory until no program
 * can read it any more. Memory, ifindex and name can all be those of another device a moment later.
 * docs/adr/0020.
 */
#ifndef TEAMO_LINKS_BPF_H
#define TEAMO_LINKS_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "abi.h"
#include "device.bpf.h"

/* enum teamo_link_reading; set before the programs are loaded. */
const volatile __u32 teamo_link_reading = TEAMO_LINKS_UNSEEN;

#ifndef TEAMO_WITHOUT_CAST
/* Since kernel 6.2. */
extern void* bpf_rdonly_cast(const void* object, __u32 btf_id) __ksym __weak;
#endif

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, TEAMO_SLOTS);
    __type(key, __u32);
    __type(value, struct teamo_device);
} teamo_devices SEC(".maps");

/* The device of each slot, by its ifindex. */
struct {
    __uint(type, BPF_MAP_TYPE_DEVMAP);
    __uint(max_entries, TEAMO_SLOTS);
    __type(key, __u32);
    __type(value, __u32);
} teamo_there SEC(".maps");

/* enum netdev_state_t, unchanged since 2.6. A port that waits for linkwatch drops packets until
 * dev_activate(). */
#define TEAMO_STATE_START 1ul
#define TEAMO_STATE_PRESENT 2ul
#define TEAMO_STATE_NOCARRIER 4ul
#define TEAMO_STATE_LINKWATCH_PENDING 8ul
#define TEAMO_STATE_BITS                                                                                     \
    (TEAMO_STATE_START | TEAMO_STATE_PRESENT | TEAMO_STATE_NOCARRIER | TEAMO_STATE_LINKWATCH_PENDING)
#define TEAMO_STATE_LINK (TEAMO_STATE_START | TEAMO_STATE_PRESENT)

/* Kernel 6.1 has no bpf_rdonly_cast(). Each probe read is a call of some 30 ns, so only one is made, and a
 * second one for a port that waits. */
static __always_inline bool teamo_probe_link(const struct teamo_device* known, bool waits) {
    const struct net_device* device = (const void*)known->address;

    if ((BPF_CORE_READ(device, state) & TEAMO_STATE_BITS) != TEAMO_STATE_LINK) return false;
    return !waits || (__u32)BPF_CORE_READ(device, carrier_down_count.counter) == known->losses;
}

static __always_inline bool teamo_read_link(const struct teamo_device* known, bool waits) {
#ifdef TEAMO_WITHOUT_CAST
    return teamo_probe_link(known, waits);
#else
    const struct net_device* device =
        bpf_rdonly_cast((const void*)known->address, bpf_core_type_id_kernel(struct net_device));

    if ((device->state & TEAMO_STATE_BITS) != TEAMO_STATE_LINK) return false;
    return !waits || (__u32)device->carrier_down_count.counter == known->losses;
#endif
}

/* False if the slot's device is gone; another one may have its index. */
static __always_inline bool teamo_is_there(__u32 slot) {
    return teamo_link_reading == TEAMO_LINKS_UNSEEN || bpf_map_lookup_elem(&teamo_there, &slot);
}

static __always_inline bool teamo_sees_link(const struct teamo_device* known, bool waits) {
    return teamo_link_reading == TEAMO_LINKS_PROBED ? teamo_probe_link(known, waits)
                                                    : teamo_read_link(known, waits);
}

/* True if the slot's device has a link, and (`may_wait`) had it without interruption if the slot must wait.
 * True also for a slot whose device could not be learned: then the daemon's tables decide alone. */
static __always_inline bool teamo_has_link(__u32 slot, bool may_wait) {
    const struct teamo_device* known;

    if (teamo_link_reading == TEAMO_LINKS_UNSEEN) return true;
    if (!teamo_is_there(slot)) return false;
    known = bpf_map_lookup_elem(&teamo_devices, &slot);
    if (!known || !known->address) return true;
    return teamo_sees_link(known, may_wait && known->waits);
}

/* Those of `slots` that have a link. A function of its own (not static), so that the verifier checks it once
 * and not for each way that leads here. */
__attribute__((noinline)) __u32 teamo_linked(__u32 slots, __u32 may_wait) {
    __u32 slot, linked = 0;

    for (slot = 1; slot < TEAMO_SLOTS; slot++)
        if (slots >> slot & 1 && teamo_has_link(slot, may_wait)) linked |= 1u << slot;
    return linked;
}

/* Stores where the kernel keeps the device of this packet. */
static __always_inline bool teamo_learn(struct __sk_buff* skb, __u32 slot) {
    struct teamo_device* known = bpf_map_lookup_elem(&teamo_devices, &slot);
    struct net_device* device = NULL;

    if (!known) return false;
    /* The program's context is the kernel's sk_buff; only its loads are translated. */
    if (bpf_probe_read_kernel(&device, sizeof(device),
                              (const void*)skb + bpf_core_field_offset(struct sk_buff, dev)))
        return false;
    known->address = (__u64)device;
    return true;
}

#endif
