/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
 *
 * The records that the programs for sockets pass to user space. Compiled as C (clang -target bpf) and as C++.
 */
#ifndef TEAMO_SOCKETS_ABI_H
#define TEAMO_SOCKETS_ABI_H

/* NOLINTBEGIN: C, in the kernel's manner */

#include <linux/types.h>

/* The largest number of sockets in one sample; the least recently used are evicted. */
#define TEAMO_SAMPLED_SOCKETS 16384u

/* One open socket of one process, written by sockets.bpf.c. */
struct teamo_socket_record {
    __u64 cookie;
    __u64 bytes;   /* received; 0 for UDP, which has no counter */
    __u32 packets; /* the same */
    __u32 process; /* PID in the reader's PID namespace */
    __s32 cpu;     /* of the last packet; -1: no packet yet, or unconnected UDP */
    __u32 napi;
    __u32 ifindex;
    __u16 queue;   /* 0xffff: unknown */
    __u8 protocol; /* IPPROTO_TCP or IPPROTO_UDP */
    __u8 foreign;  /* in another network namespace than the reader: `ifindex` is not valid for the reader */
};

/* Packets of one socket on one CPU since the sample began, written by sample.bpf.c. */
struct teamo_sampled {
    __u64 bytes;
    __u64 packets;
    __u32 napi;
    __u32 ifindex;
};

/* NOLINTEND */

#endif
