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

/// An XDP program on a device of this process's namespace that lets everything pass.
class ForeignXdp {
public:
    ForeignXdp(const NetNs& in, std::string_view device)
        : program_(load_program(BPF_PROG_TYPE_XDP, XDP_PASS)),
          index_(static_cast<int>(look(in, device).index)) {
        if (::bpf_xdp_attach(index_, program_.get(), 0, nullptr) < 0) throw SetupError("cannot attach XDP");
        attached_as_ = id();
    }
    bool attached() const { return attached_as_ != 0 && id() == attached_as_; }

private:
    std::uint32_t id() const {
        std::uint32_t found = 0;
        return ::bpf_xdp_query_id(index_, 0, &found) == 0 ? found : 0;
    }
    UniqueFd program_;
    int index_;
    std::uint32_t attached_as_ = 0;
};

/// A tc filter program that has no opinion, pinned; returns its path.
inline std::string pinned_foreign_filter() {
    std::string path = "/sys/fs/bpf/foreign";
    if (::bpf_obj_pin(load_program(BPF_PROG_TYPE_SCHED_CLS, TC_ACT_UNSPEC).get(), path.c_str()) < 0)
        throw SetupError("cannot pin " + path);
    return path;
}

} // namespace teamo::test
