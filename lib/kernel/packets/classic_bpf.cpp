// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/packets/classic_bpf.h"

#include <linux/if_packet.h>
#include <sys/socket.h>

#include <cassert>

namespace teamo {
namespace {
constexpr auto unplaced = static_cast<std::size_t>(-1);
constexpr std::size_t longest_jump = 255; // the longest conditional jump, in instructions

bool is_conditional(const sock_filter& code) {
    return BPF_CLASS(code.code) == BPF_JMP && BPF_OP(code.code) != BPF_JA;
}
} // namespace

ClassicBpf::Label ClassicBpf::label() {
    places_.push_back(unplaced);
    return {places_.size() - 1};
}

void ClassicBpf::place(Label label) {
    assert(places_[label.number] == unplaced);
    places_[label.number] = steps_.size();
}

void ClassicBpf::emit(unsigned code, std::uint32_t k) {
    steps_.push_back({.code = {.code = static_cast<std::uint16_t>(code), .jt = 0, .jf = 0, .k = k}});
}

void ClassicBpf::jump(Label to) {
    emit(BPF_JMP | BPF_JA);
    steps_.back().to = to;
}

void ClassicBpf::branch(unsigned code, std::uint32_t k, bool when, Label to) {
    emit(BPF_JMP | code, k);
    steps_.back().to = to;
    steps_.back().when = when;
}

void ClassicBpf::jump_if(unsigned comparison, std::uint32_t k, Label to) {
    branch(comparison | BPF_K, k, true, to);
}
void ClassicBpf::jump_unless(unsigned comparison, std::uint32_t k, Label to) {
    branch(comparison | BPF_K, k, false, to);
}
void ClassicBpf::jump_if_x(unsigned comparison, Label to) { branch(comparison | BPF_X, 0, true, to); }

std::vector<std::size_t> ClassicBpf::positions(const std::vector<bool>& far) const {
    std::vector<std::size_t> at{0};
    for (std::size_t i = 0; i < steps_.size(); i++)
        at.push_back(at.back() + (far[i] ? 2 : 1));
    return at;
}

std::vector<sock_filter> ClassicBpf::finish() const {
    std::vector<bool> far(steps_.size(), false);
    auto at = positions(far);
    const auto distance = [&](std::size_t step) {
        const auto place = places_[steps_[step].to->number];
        assert(place != unplaced && place > step);
        return at[place] - at[step] - 1;
    };
    // A far jump takes two instructions, which can make other jumps far: repeat until nothing changes.
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t i = 0; i < steps_.size(); i++)
            if (steps_[i].to && is_conditional(steps_[i].code) && !far[i] && distance(i) > longest_jump)
                far[i] = changed = true;
        at = positions(far);
    }

    std::vector<sock_filter> program;
    for (std::size_t i = 0; i < steps_.size(); i++) {
        auto& code = program.emplace_back(steps_[i].code);
        if (!steps_[i].to) continue;
        const auto away = static_cast<std::uint32_t>(distance(i));
        if (!is_conditional(code)) {
            code.k = away;
            continue;
        }
        // A far jump: if the comparison has the other result, skip the unconditional jump.
        const bool first = steps_[i].when != far[i];
        (first ? code.jt : code.jf) = static_cast<std::uint8_t>(far[i] ? 1 : away);
        if (far[i]) program.push_back({.code = BPF_JMP | BPF_JA, .jt = 0, .jf = 0, .k = away - 1});
    }
    return program;
}

void ClassicBpf::drop_own_and_tagged(Label drop) {
    load(BPF_B, ancillary(SKF_AD_PKTTYPE));
    jump_if(BPF_JEQ, PACKET_OUTGOING, drop);
    load(BPF_B, ancillary(SKF_AD_VLAN_TAG_PRESENT));
    jump_unless(BPF_JEQ, 0, drop);
}

std::vector<sock_filter> ClassicBpf::finish_filter(std::uint32_t most_bytes, Label drop) {
    emit(BPF_RET | BPF_K, most_bytes);
    place(drop);
    emit(BPF_RET | BPF_K, 0);
    return finish();
}

Result<> attach_filter(int socket, std::vector<sock_filter> filter, std::string_view failure) {
    const sock_fprog program{.len = static_cast<unsigned short>(filter.size()), .filter = filter.data()};
    if (::setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) < 0)
        return fail_errno(errno, failure);
    return {};
}

} // namespace teamo
