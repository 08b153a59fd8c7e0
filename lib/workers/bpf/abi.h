/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
 *
 * What the programs that look at sockets hand to user space. Compiled as C (clang -target bpf) and as C++.
 */
#ifndef TEAMO_SOCKETS_ABI_H
#define TEAMO_SOCKETS_ABI_H

/* NOLINTBEGIN: C, in the kernel's manner */

#include <linux/types.h>

/* As many sockets' counters as one sample has room for; the least used go first. */
#define TEAMO_SAMPLED_SOCKETS 16384u

/* One open socket of one process: sockets.bpf.c writes them one after the other. */
struct teamo_socket_record {
    __u64 cookie;
    __u64 bytes;   /* received; 0 for UDP, which does not count */
    __u32 packets; /* the same */
    __u32 process; /* its number in the reader's process namespace */
    __s32 cpu;     /* of the last packet; -1: none, or UDP that is not connected */
    __u32 napi;
    __u32 ifindex;
    __u16 queue;   /* 0xffff: not told */
    __u8 protocol; /* IPPROTO_TCP or IPPROTO_UDP */
    __u8 foreign;  /* of another network namespace than the reader: its ifindex is none of the reader's */
};

/* What one CPU has brought to one socket since the sample began: sample.bpf.c. */
struct teamo_sampled {
    __u64 bytes;
    __u64 packets;
    __u32 napi;
    __u32 ifindex;
};

/* NOLINTEND */

#endif
