/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
 *
 * What is read of the kernel's bonding driver, as it is now (docs/adr/0038).
 *
 * In balance-xor and 802.3ad it names a slave. With the policy encap3+4 bonding takes the hash of a packet as
 * it is, if that is one of layer 4 (bond_xmit_hash()), and sends by usable_slaves[hash % count]. So the
 * program looks for the slave in that table and sets the hash. In active-backup it is asked whether the
 * active slave has a link.
 */
#ifndef TEAMO_BONDING_BPF_H
#define TEAMO_BONDING_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "abi.h"
#include "links.bpf.h"

#define TEAMO_BOND_POLICY_ENCAP34 4 /* BOND_XMIT_POLICY_ENCAP34 */
#define TEAMO_BOND_ACTIVE_BACKUP 1  /* BOND_MODE_ACTIVEBACKUP (linux/if_bonding.h needs libc) */

const volatile struct teamo_bonding teamo_bonding = {};

/* The place of the slot's slave last time. Not in abi.h, because only this program uses it. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, TEAMO_SLOTS);
    __type(key, __u32);
    __type(value, __u32);
} teamo_places SEC(".maps");

#ifndef TEAMO_WITHOUT_CAST
/* Memory without a type that the kernel knows is read as this one, which every kernel has. Its first member
 * is a number, also for the verifier, so what is read may be calculated with. */
struct timespec64 {
    __s64 tv_sec;
};

#define TEAMO_CAST(address)                                                                                  \
    bpf_rdonly_cast((const void*)(address), bpf_core_type_id_kernel(struct timespec64))
#endif

/* What stands at an address of the kernel; 0 where nothing can be read. */
static __always_inline __u64 teamo_address_at(__u64 address) {
    __u64 value = 0;

#ifndef TEAMO_WITHOUT_CAST
    if (teamo_link_reading == TEAMO_LINKS_READ) return *(const volatile __u64*)TEAMO_CAST(address);
#endif
    bpf_probe_read_kernel(&value, sizeof(value), (const void*)address);
    return value;
}

static __always_inline __u32 teamo_number_at(__u64 address) {
    __u32 value = 0;

#ifndef TEAMO_WITHOUT_CAST
    if (teamo_link_reading == TEAMO_LINKS_READ) return *(const volatile __u32*)TEAMO_CAST(address);
#endif
    bpf_probe_read_kernel(&value, sizeof(value), (const void*)address);
    return value;
}

/* Whether the slave at that place, of `count`, is this device. */
static __always_inline bool teamo_is_at(__u64 usable, __u32 count, __u32 place, __u64 device) {
    __u64 slave;

    if (place >= count) return false;
    slave = teamo_address_at(usable + teamo_bonding.first + place * sizeof(__u64));
    return slave && teamo_address_at(slave + teamo_bonding.device) == device;
}

/* Looks through the table, and remembers the place. `count`: the slave is not in it. Few packets come here.
 * Not static, so that the verifier checks it once; kernels before 6.8 do that also for the other exits, with
 * which the kernel may refuse to read its memory. */
__attribute__((noinline)) __u32 teamo_search_place(__u64 usable, __u32 count, __u32 slot) {
    __u32 *known, place;
    const struct teamo_device* device;

    if (!teamo_bonding.usable_slaves) return count;
    known = bpf_map_lookup_elem(&teamo_places, &slot);
    device = bpf_map_lookup_elem(&teamo_devices, &slot);
    if (!known || !device || !device->address) return count;
    /* Not a loop: clang 14 rotates it so that kernel 6.1 sees a back-edge that it refuses. */
    if (teamo_is_at(usable, count, 0, device->address))
        place = 0;
    else if (teamo_is_at(usable, count, 1, device->address))
        place = 1;
    else if (teamo_is_at(usable, count, 2, device->address))
        place = 2;
    else if (teamo_is_at(usable, count, 3, device->address))
        place = 3;
    else if (teamo_is_at(usable, count, 4, device->address))
        place = 4;
    else if (teamo_is_at(usable, count, 5, device->address))
        place = 5;
    else if (teamo_is_at(usable, count, 6, device->address))
        place = 6;
    else if (teamo_is_at(usable, count, 7, device->address))
        place = 7;
    else
        return count;
    *known = place;
    return place;
}

/* Whether the bond has the policy that takes the hash: nobody may have told the daemon of another one. */
static __always_inline bool teamo_takes_hash(void) {
    __u32 none = TEAMO_NO_SLOT;
    const struct teamo_device* bond = bpf_map_lookup_elem(&teamo_devices, &none);

    return bond && bond->address &&
           teamo_number_at(bond->address + teamo_bonding.own + teamo_bonding.policy) ==
               TEAMO_BOND_POLICY_ENCAP34;
}

/* Gives the packet the hash by which bonding sends it by this slot's slave. Without a place, when it returns
 * false, the packet keeps its hash, and bonding chooses among the slaves that it can use. */
static __always_inline bool teamo_name_by_hash(struct __sk_buff* skb, __u32 slot) {
    __u32 none = TEAMO_NO_SLOT, count, place, hash;
    const struct teamo_device* bond = bpf_map_lookup_elem(&teamo_devices, &none);
    const struct teamo_device* device = bpf_map_lookup_elem(&teamo_devices, &slot);
    const __u32* known = bpf_map_lookup_elem(&teamo_places, &slot);
    __u64 usable;

    if (!bond || !bond->address || !device || !device->address || !known) return false;
    usable = teamo_address_at(bond->address + teamo_bonding.own + teamo_bonding.usable_slaves);
    if (!usable) return false;
    count = teamo_number_at(usable + teamo_bonding.count);
    if (!count || count >= TEAMO_SLOTS) return false;
    place = *known;
    if (!teamo_is_at(usable, count, place, device->address)) place = teamo_search_place(usable, count, slot);
    if (place >= count) return false;
    /* The upper part stays that of the flow: by it the slave chooses its transmit queue. */
    hash = bpf_get_hash_recalc(skb);
    hash -= hash % count;
    if (hash > ~0u - count) hash -= count;
    bpf_set_hash(skb, hash + place);
    return true;
}

/* Whether an active-backup bond sends by a slave without a link: bonding has not noticed the loss yet. False
 * also if it has no active slave, because then it has noticed. */
static __always_inline bool teamo_active_is_lost(void) {
    __u32 none = TEAMO_NO_SLOT;
    const struct teamo_device* bond = bpf_map_lookup_elem(&teamo_devices, &none);
    struct teamo_device active = {};
    __u64 slave, own;

    if (teamo_link_reading == TEAMO_LINKS_UNSEEN || !bond || !bond->address || !teamo_is_there(TEAMO_NO_SLOT))
        return false;
    own = bond->address + teamo_bonding.own;
    slave = teamo_address_at(own + teamo_bonding.active);
    if (!slave) return false;
    active.address = teamo_address_at(slave + teamo_bonding.device);
    if (!active.address || teamo_sees_link(&active, false)) return false;
    return teamo_number_at(own + teamo_bonding.mode) == TEAMO_BOND_ACTIVE_BACKUP;
}

/* Whether the slot's device is a slave of this bond: nobody may have told the daemon, or no daemon runs. */
static __always_inline bool teamo_is_slave(__u32 slot) {
    __u32 none = TEAMO_NO_SLOT;
    const struct teamo_device* bond = bpf_map_lookup_elem(&teamo_devices, &none);
    const struct teamo_device* device = bpf_map_lookup_elem(&teamo_devices, &slot);
    __u64 slave;

    if (!bond || !device || !device->address) return false;
    slave = teamo_address_at(device->address + teamo_bonding.handler_data);
    return slave && teamo_address_at(slave + teamo_bonding.bond) == bond->address + teamo_bonding.own;
}

#endif
