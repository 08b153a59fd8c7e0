/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
 *
 * The members of the kernel's structures that the programs read; libbpf relocates them for the running
 * kernel.
 */
#ifndef TEAMO_DEVICE_BPF_H
#define TEAMO_DEVICE_BPF_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct ns_common {
    unsigned int inum;
};

struct net {
    struct ns_common ns;
};

typedef struct {
    struct net* net;
} possible_net_t;

typedef struct {
    int counter;
} atomic_t;

struct net_device {
    unsigned long state;
    int ifindex;
    possible_net_t nd_net;
    atomic_t carrier_down_count;
};

struct sk_buff {
    struct net_device* dev;
};
#pragma clang attribute pop

#endif
