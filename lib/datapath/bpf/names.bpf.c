// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * An iterator over all BPF programs: id and name. By a descriptor of a program (BPF_PROG_GET_FD_BY_ID) the
 * kernel tells them only with CAP_SYS_ADMIN, which the daemon does not have.
 */
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "abi.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct seq_file;

struct bpf_iter_meta {
    struct seq_file* seq;
};

struct bpf_prog_aux {
    __u32 id;
    char name[16];
};

struct bpf_prog {
    struct bpf_prog_aux* aux;
};

struct bpf_iter__bpf_prog {
    struct bpf_iter_meta* meta;
    struct bpf_prog* prog;
};
#pragma clang attribute pop

SEC("iter/bpf_prog")
int teamo_names(struct bpf_iter__bpf_prog* context) {
    struct teamo_program_name record = {};
    struct bpf_prog* prog = context->prog;

    if (!prog) return 0;
    record.id = BPF_CORE_READ(prog, aux, id);
    BPF_CORE_READ_STR_INTO(&record.name, prog, aux, name);
    bpf_seq_write(context->meta->seq, &record, sizeof(record));
    return 0;
}

char teamo_license[] SEC("license") = "GPL";
