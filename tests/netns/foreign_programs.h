// SPDX-License-Identifier: LGPL-2.1-or-later
//
// BPF programs of somebody else, as small as they can be.
#pragma once

#include "base/handle.h"
#include "support/links.h"
#include "support/process.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <array>
#include <cstring>

namespace teamo::test {

/// Loads "return VERDICT".
inline UniqueFd load_program(bpf_prog_type type, int verdict) {
    const std::array<bpf_insn, 2> program{
        bpf_insn{.code = BPF_ALU64 | BPF_MOV | BPF_K,
                 .dst_reg = BPF_REG_0,
                 .src_reg = 0,
                 .off = 0,
                 .imm = verdict},
        bpf_insn{.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0}};
    UniqueFd loaded(::bpf_prog_load(type, "foreign", "GPL", program.data(), program.size(), nullptr));
    if (!loaded) throw SetupError(fmt::format("a foreign program: {}", std::strerror(errno)));
    return loaded;
}

/// An XDP program on a device of this process's namespace that counts packets and lets everything pass.
class ForeignXdp {
public:
    ForeignXdp(const NetNs& in, std::string_view device)
        : count_(::bpf_map_create(BPF_MAP_TYPE_ARRAY, "count", sizeof(std::uint32_t), sizeof(std::uint64_t),
                                  1, nullptr)),
          program_(load()),
          index_(static_cast<int>(look(in, device).index)) {
        if (::bpf_xdp_attach(index_, program_.get(), 0, nullptr) < 0) throw SetupError("cannot attach XDP");
        attached_as_ = id();
    }
    bool attached() const { return attached_as_ != 0 && id() == attached_as_; }
    /// Packets that it has seen.
    std::uint64_t seen() const {
        const std::uint32_t key = 0;
        std::uint64_t count = 0;
        if (::bpf_map_lookup_elem(count_.get(), &key, &count) < 0) throw SetupError("no count of XDP");
        return count;
    }

private:
    UniqueFd load() const {
        const auto code = [](int operation, int dst, int src, int offset, std::int32_t number) {
            return bpf_insn{.code = static_cast<__u8>(operation),
                            .dst_reg = static_cast<__u8>(dst & 15),
                            .src_reg = static_cast<__u8>(src & 15),
                            .off = static_cast<__s16>(offset),
                            .imm = number};
        };
        const std::array program{
            code(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, 0),
            code(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0),
            code(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4),
            code(BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, count_.get()),
            code(0, 0, 0, 0, 0),
            code(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
            code(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 2, 0),
            code(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_1, 0, 0, 1),
            code(BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_0, BPF_REG_1, 0, BPF_ADD),
            code(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, XDP_PASS),
            code(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
        };
        UniqueFd loaded(
            ::bpf_prog_load(BPF_PROG_TYPE_XDP, "counting", "GPL", program.data(), program.size(), nullptr));
        if (!loaded) throw SetupError(fmt::format("a foreign XDP program: {}", std::strerror(errno)));
        return loaded;
    }
    std::uint32_t id() const {
        std::uint32_t found = 0;
        return ::bpf_xdp_query_id(index_, 0, &found) == 0 ? found : 0;
    }
    UniqueFd count_, program_;
    int index_;
    std::uint32_t attached_as_ = 0;
};

/// Whether a program can be put in front of the kernel's netif_carrier_off(), as the daemon's are: asked for
/// here without any of the daemon's code.
inline bool kernel_takes_fentry_programs() {
    const int function = ::libbpf_find_vmlinux_btf_id("netif_carrier_off", BPF_TRACE_FENTRY);
    if (function < 0) return false;
    LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_TRACE_FENTRY,
                .attach_btf_id = static_cast<__u32>(function));
    const std::array<bpf_insn, 2> program{
        bpf_insn{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .src_reg = 0, .off = 0, .imm = 0},
        bpf_insn{.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0}};
    const UniqueFd loaded(
        ::bpf_prog_load(BPF_PROG_TYPE_TRACING, "trial", "GPL", program.data(), program.size(), &options));
    return loaded && UniqueFd(::bpf_raw_tracepoint_open(nullptr, loaded.get()));
}

/// A tc filter program that has no opinion, pinned; returns its path.
inline std::string pinned_foreign_filter() {
    std::string path = "/sys/fs/bpf/foreign";
    if (::bpf_obj_pin(load_program(BPF_PROG_TYPE_SCHED_CLS, TC_ACT_UNSPEC).get(), path.c_str()) < 0)
        throw SetupError("cannot pin " + path);
    return path;
}

} // namespace teamo::test
