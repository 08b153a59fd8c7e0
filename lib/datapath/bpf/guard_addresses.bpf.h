/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
 *
 * What the guard knows of this host: its settings, addresses, groups and VLANs.
 */
#ifndef TEAMO_GUARD_ADDRESSES_BPF_H
#define TEAMO_GUARD_ADDRESSES_BPF_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <stdbool.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "guard_abi.h"
#include "parse.bpf.h"

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct teamo_guard_settings);
} guard_settings SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, TEAMO_GUARD_ADDRESSES);
    __type(key, __u32); /* network order */
    __type(value, __u8);
} guard_ipv4 SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, TEAMO_GUARD_ADDRESSES);
    __type(key, struct teamo_guard_ipv6);
    __type(value, __u8);
} guard_ipv6 SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, TEAMO_GUARD_ADDRESSES);
    __type(key, __u64); /* a number: 02:00:00:00:00:01 is 0x020000000001 */
    __type(value, __u8);
} guard_macs SEC(".maps"); /* also of the groups that have a listener */

/* VLANs that have a device in this namespace. Frames of the others pass. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, TEAMO_GUARD_ADDRESSES);
    __type(key, __u32);
    __type(value, __u8);
} guard_vlans SEC(".maps");

static __always_inline bool teamo_is_our_mac(const struct teamo_guard_settings* settings, __u64 mac) {
    return settings->macs & teamo_guard_bit(mac) && bpf_map_lookup_elem(&guard_macs, &mac);
}

static __always_inline bool teamo_is_our_ipv4(const struct teamo_guard_settings* settings, const __u8* ip) {
    __u32 key;

    __builtin_memcpy(&key, ip, sizeof(key));
    return settings->ips & teamo_guard_bit(ip[3]) && bpf_map_lookup_elem(&guard_ipv4, &key);
}

static __always_inline bool teamo_is_our_ipv6(const struct teamo_guard_settings* settings,
                                              const struct teamo_guard_ipv6* ip) {
    return settings->ips & teamo_guard_bit(ip->bytes[15]) && bpf_map_lookup_elem(&guard_ipv6, ip);
}

static __always_inline bool teamo_has_vlan(__be16 protocol, __u16 tci) {
    __u32 vlan = tci & TEAMO_VID;

    /* VLAN 0 is a priority without a VLAN: IEEE 802.1Q, 9.6. */
    return protocol == bpf_htons(ETH_P_8021Q) && (!vlan || bpf_map_lookup_elem(&guard_vlans, &vlan));
}

#endif
