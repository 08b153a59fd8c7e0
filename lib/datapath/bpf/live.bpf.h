/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
 *
 * The team, and which of its slots carry.
 */
#ifndef TEAMO_LIVE_BPF_H
#define TEAMO_LIVE_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "abi.h"
#include "buckets.bpf.h"
#include "links.bpf.h"

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct teamo_team);
} teamo_team SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct teamo_live);
} teamo_live SEC(".maps");

/* The first standby slot that has a link. */
static __always_inline __u32 teamo_standby_slot(const struct teamo_live* live) {
    __u64 order = bpf_be64_to_cpu(TEAMO_READ_ONCE(live->standby));
    int i;

    for (i = 0; i < 8 && order; i++) {
        __u32 slot = order >> 56;

        if (slot < TEAMO_SLOTS && teamo_linked(1u << slot, true)) return slot;
        order <<= 8;
    }
    return TEAMO_NO_SLOT;
}

/* The slot that transmits because no slot of tx has a link; 0: none has to. */
__attribute__((noinline)) __u32 teamo_stand_in(void) {
    __u32 zero = 0;
    const struct teamo_live* live = bpf_map_lookup_elem(&teamo_live, &zero);

    if (!teamo_link_reading || !live || !live->standby || teamo_linked(TEAMO_READ_ONCE(live->tx), true))
        return TEAMO_NO_SLOT;
    return teamo_standby_slot(live);
}

#endif
