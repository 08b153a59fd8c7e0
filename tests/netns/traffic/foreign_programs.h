// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Minimal BPF programs that are not ours.
#pragma once

#include "base/handle.h"
#include "kernel/bpf/device_hooks.h"
#include "support/daemon/process.h"
#include "support/net/links.h"
#include "support/net/programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <linux/pkt_cls.h>

#include <array>
#include <cstring>
#include <span>

namespace teamo::test {

inline bpf_insn instruction(int code, int dst, int src, int offset, std::int32_t number) {
    return {.code = static_cast<__u8>(code),
            .dst_reg = static_cast<__u8>(dst & 15),
            .src_reg = static_cast<__u8>(src & 15),
            .off = static_cast<__s16>(offset),
            .imm = number};
}

inline UniqueFd load_program(bpf_prog_type type, std::span<const bpf_insn> instructions,
                             bpf_prog_load_opts* options = nullptr) {
    return UniqueFd(
        ::bpf_prog_load(type, "foreign", "GPL", instructions.data(), instructions.size(), options));
}

/// A program that counts packets and returns `verdict`.
class CountingProgram {
public:
    CountingProgram(bpf_prog_type type, int verdict)
        : count_(::bpf_map_create(BPF_MAP_TYPE_ARRAY, "count", sizeof(std::uint32_t), sizeof(std::uint64_t),
                                  1, nullptr)) {
        const std::array program{
            instruction(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, 0),
            instruction(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0),
            instruction(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4),
            instruction(BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, count_.get()),
            instruction(0, 0, 0, 0, 0),
            instruction(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
            instruction(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 2, 0),
            instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_1, 0, 0, 1),
            instruction(BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_0, BPF_REG_1, 0, BPF_ADD),
            instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, verdict),
            instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
        };
        program_ = load_program(type, program);
        if (!program_) throw SetupError(fmt::format("a foreign program: {}", std::strerror(errno)));
    }
    int fd() const { return program_.get(); }
    /// The number of packets that it has seen.
    std::uint64_t seen() const {
        const std::uint32_t key = 0;
        std::uint64_t count = 0;
        if (::bpf_map_lookup_elem(count_.get(), &key, &count) < 0) throw SetupError("no count of packets");
        return count;
    }

private:
    UniqueFd count_, program_;
};

/// An XDP program that passes everything, on a device of this process's namespace.
class ForeignXdp {
public:
    /// `flags`: XDP_FLAGS_*; 0: native if the device has it.
    ForeignXdp(const NetNs& in, std::string_view device, std::uint32_t flags = 0)
        : index_(static_cast<int>(look(in, device).index)), flags_(flags) {
        if (::bpf_xdp_attach(index_, program_.fd(), flags, nullptr) < 0)
            throw SetupError("cannot attach XDP");
        attached_as_ = id();
    }
    bool attached() const { return attached_as_ != 0 && id() == attached_as_; }
    std::uint64_t seen() const { return program_.seen(); }
    void detach() const { ::bpf_xdp_detach(index_, flags_, nullptr); }

private:
    std::uint32_t id() const {
        std::uint32_t found = 0;
        return ::bpf_xdp_query_id(index_, 0, &found) == 0 ? found : 0;
    }
    CountingProgram program_{BPF_PROG_TYPE_XDP, XDP_PASS};
    int index_;
    std::uint32_t flags_, attached_as_ = 0;
};

/// A program on the tcx hook of a device of this process's namespace (kernel 6.6).
class ForeignTcx {
public:
    /// `first`: before all that are there; otherwise after them.
    ForeignTcx(const NetNs& in, std::string_view device, DeviceHook hook, int verdict, bool first)
        : program_(BPF_PROG_TYPE_SCHED_CLS, verdict) {
        const auto index = index_of(in, device);
        const auto present = read_device_programs(index, hook);
        if (!present) throw SetupError("this kernel has no tcx");
        const auto next = first && !present->ids.empty() ? present->ids.front() : ProgramId{};
        if (!attach_device_program(index, hook, program_.fd(), next)) throw SetupError("cannot attach tcx");
    }
    static bool known(const NetNs& in, std::string_view device) {
        return read_device_programs(index_of(in, device), DeviceHook::tcx_ingress).has_value();
    }
    std::uint64_t seen() const { return program_.seen(); }

private:
    CountingProgram program_;
};

/// A pinned tc filter program that continues with the next filter.
class PinnedFilter {
public:
    explicit PinnedFilter(const std::string& name) : path_("/sys/fs/bpf/" + name) {
        if (::bpf_obj_pin(program_.fd(), path_.c_str()) < 0) throw SetupError("cannot pin " + path_);
    }
    const std::string& path() const { return path_; }
    std::uint64_t seen() const { return program_.seen(); }

private:
    std::string path_;
    CountingProgram program_{BPF_PROG_TYPE_SCHED_CLS, TC_ACT_UNSPEC};
};

/// Whether a program can be attached to the kernel's netif_carrier_off(), as the daemon does. Does not use
/// the daemon's code.
inline bool kernel_takes_fentry_programs() {
    const int function = ::libbpf_find_vmlinux_btf_id("netif_carrier_off", BPF_TRACE_FENTRY);
    if (function < 0) return false;
    LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_TRACE_FENTRY,
                .attach_btf_id = static_cast<__u32>(function));
    const std::array program{instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0),
                             instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)};
    const auto loaded = load_program(BPF_PROG_TYPE_TRACING, program, &options);
    return loaded && UniqueFd(::bpf_raw_tracepoint_open(nullptr, loaded.get()));
}

} // namespace teamo::test
