// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "netns/traffic/foreign_programs.h"
#include "support/net/cabling.h"
#include "support/net/links.h"

#include <algorithm>
#include <map>

namespace teamo::test {

/// A device that loses a part of what it receives, at random, although its link is up.
class Dropper {
public:
    Dropper(const NetNs& in, std::string_view device, double part) : in_(in) {
        const auto limit = static_cast<std::int32_t>(static_cast<std::uint32_t>(part * 0x100000000));
        const std::array program{
            instruction(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_prandom_u32),
            instruction(BPF_ALU | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_0, 0, 0),
            instruction(BPF_ALU | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, TC_ACT_SHOT),
            instruction(BPF_JMP32 | BPF_JLT | BPF_K, BPF_REG_1, 0, 1, limit),
            instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, TC_ACT_UNSPEC),
            instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
        };
        const auto loaded = load_program(BPF_PROG_TYPE_SCHED_CLS, program);
        if (!loaded) throw SetupError(fmt::format("a program that drops: {}", std::strerror(errno)));
        hook_.ifindex = static_cast<int>(look(in, device).index);
        const int attached = in.inside([&] {
            LIBBPF_OPTS(bpf_tc_opts, options, .prog_fd = loaded.get());
            ::bpf_tc_hook_create(&hook_); // it may be there
            return ::bpf_tc_attach(&hook_, &options);
        });
        if (attached < 0) throw SetupError("cannot attach a program that drops");
    }
    Dropper(const Dropper&) = delete;
    Dropper& operator=(const Dropper&) = delete;
    ~Dropper() {
        in_.inside([&] {
            hook_.attach_point = static_cast<bpf_tc_attach_point>(BPF_TC_INGRESS | BPF_TC_EGRESS);
            return ::bpf_tc_hook_destroy(&hook_); // the whole clsact
        });
    }

private:
    const NetNs& in_;
    bpf_tc_hook hook_{.sz = sizeof(bpf_tc_hook), .ifindex = 0, .attach_point = BPF_TC_INGRESS, .parent = 0};
};

/// The number of the port that sends most now. A hash spreads the connections, so in one of a hundred runs a
/// given port of four has none of 16.
inline unsigned busiest_port(const Cabling& wires) {
    std::map<unsigned, std::uint64_t> before;
    for (unsigned port = 1; port <= wires.ports(); ++port)
        before[port] = counters(wires.host(), Cabling::port(port)).tx_bytes;
    const auto sent = [&wires](const auto& entry) {
        return counters(wires.host(), Cabling::port(entry.first)).tx_bytes - entry.second;
    };
    static_cast<void>(eventually("a port sends", [&] {
        return std::ranges::any_of(before, [&](const auto& entry) { return sent(entry) > 1'000'000; });
    }));
    return std::ranges::max_element(before, {}, sent)->first;
}

} // namespace teamo::test
