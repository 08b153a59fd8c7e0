// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * An iterator over all TCP and UDP sockets that processes have open: the process, the CPU that processed the
 * last packet, and the bytes received. No other interface of the kernel has all of that: inet_diag has
 * neither the CPU nor the NAPI ID, and getsockopt() needs the descriptor.
 */
#include <linux/bpf.h>

#include <linux/in.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "sockets_abi.h"

#define TEAMO_TCP_LISTEN 10 /* net/tcp_states.h */

/* The members of the kernel's structures that we read; libbpf relocates them for the running kernel. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct seq_file;
struct file;

struct upid {
    int nr;
};

struct pid {
    unsigned int level;
    struct upid numbers[1];
};

struct net;

struct nsproxy {
    struct net* net_ns;
};

struct task_struct {
    struct nsproxy* nsproxy;
    struct task_struct* group_leader;
    struct pid* thread_pid;
};

struct bpf_iter_meta {
    struct seq_file* seq;
};

struct bpf_iter__task_file {
    struct bpf_iter_meta* meta;
    struct task_struct* task;
    __u32 fd;
    struct file* file;
};

typedef struct {
    struct net* net;
} possible_net_t;

struct sock_common {
    possible_net_t skc_net;
    unsigned char skc_state;
    unsigned short skc_family;
    unsigned short skc_rx_queue_mapping;
    int skc_incoming_cpu;
};

struct sock {
    struct sock_common __sk_common;
    __u16 sk_protocol;
    __u16 sk_type;
    unsigned int sk_napi_id;
    int sk_rx_dst_ifindex; /* since 5.17 */
};

struct inet_sock {
    int rx_dst_ifindex; /* before */
};

struct tcp_sock {
    __u64 bytes_received;
    __u32 data_segs_in;
};

struct socket {
    struct sock* sk;
};
#pragma clang attribute pop

/* A process has a PID in each PID namespace that sees it; this is the one in the reader's namespace. */
static __always_inline __u32 teamo_number_here(const struct task_struct* task) {
    const struct task_struct* reader = bpf_get_current_task_btf();
    unsigned int level = reader->thread_pid->level;
    /* A scalar: verifiers before 6.2 do not allow arithmetic on typed pointers. */
    const struct pid* pid = BPF_CORE_READ(task, group_leader, thread_pid);
    int number = 0;

    if (BPF_CORE_READ(pid, level) < level) return 0;
    /* libbpf cannot relocate a member with a variable index. */
    bpf_probe_read_kernel(&number, sizeof(number),
                          (const char*)pid + bpf_core_field_offset(struct pid, numbers) +
                              level * bpf_core_type_size(struct upid));
    return number;
}

static __always_inline __u32 teamo_device(const struct sock* sk) {
    if (bpf_core_field_exists(sk->sk_rx_dst_ifindex)) return sk->sk_rx_dst_ifindex;
    if (bpf_core_field_exists(((struct inet_sock*)0)->rx_dst_ifindex))
        return BPF_CORE_READ((const struct inet_sock*)sk, rx_dst_ifindex);
    return 0;
}

static __always_inline __u8 teamo_foreign(const struct sock* sk) {
    const struct task_struct* reader = bpf_get_current_task_btf();

    if (!bpf_core_field_exists(((possible_net_t*)0)->net)) /* CONFIG_NET_NS */
        return 0;
    return BPF_CORE_READ(sk, __sk_common.skc_net.net) != BPF_CORE_READ(reader, nsproxy, net_ns);
}

SEC("iter/task_file")
int teamo_sockets(struct bpf_iter__task_file* ctx) {
    struct teamo_socket_record record = {};
    const struct task_struct* task = ctx->task;
    struct file* file = ctx->file;
    const struct tcp_sock* tcp;
    struct socket* socket;
    struct sock* sk;
    __u16 protocol;

    if (!task || !file) return 0;
    socket = bpf_sock_from_file(file);
    if (!socket) return 0;
    sk = socket->sk;
    if (!sk) return 0;
    protocol = sk->sk_protocol; /* MPTCP's number needs more than a byte */
    if (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP) return 0;
    record.protocol = protocol;
    if (sk->__sk_common.skc_family != 2 && sk->__sk_common.skc_family != 10) /* AF_INET, AF_INET6 */
        return 0;
    if (record.protocol == IPPROTO_TCP) {
        tcp = bpf_skc_to_tcp_sock(sk);
        if (!tcp || sk->__sk_common.skc_state == TEAMO_TCP_LISTEN) return 0;
        record.bytes = tcp->bytes_received;
        record.packets = tcp->data_segs_in;
    }
    record.process = teamo_number_here(task);
    if (!record.process) return 0;
    record.cookie = bpf_get_socket_cookie(sk);
    record.cpu = sk->__sk_common.skc_incoming_cpu;
    record.ifindex = teamo_device(sk);
    record.foreign = teamo_foreign(sk);
    record.napi = bpf_core_field_exists(sk->sk_napi_id) ? sk->sk_napi_id : 0;
    record.queue = bpf_core_field_exists(sk->__sk_common.skc_rx_queue_mapping)
                       ? sk->__sk_common.skc_rx_queue_mapping
                       : 0xffff;
    bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
    return 0;
}

char teamo_license[] SEC("license") = "GPL";
