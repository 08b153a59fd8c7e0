// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/classic_bpf.h"

#include <cassert>

namespace teamo {
namespace {
constexpr auto nowhere = static_cast<std::size_t>(-1);
} // namespace

ClassicBpf::Label ClassicBpf::label() {
    places_.push_back(nowhere);
    return {places_.size() - 1};
}

void ClassicBpf::place(Label label) {
    assert(places_[label.number] == nowhere);
    places_[label.number] = program_.size();
}

void ClassicBpf::emit(unsigned code, std::uint32_t k) {
    program_.push_back({.code = static_cast<std::uint16_t>(code), .jt = 0, .jf = 0, .k = k});
}

void ClassicBpf::jump(Label to) {
    jumps_.push_back({.at = program_.size(), .to = to});
    emit(BPF_JMP | BPF_JA);
}

void ClassicBpf::branch(unsigned code, std::uint32_t k, bool when, Label to) {
    emit(BPF_JMP | code, k);
    // Over the jump, or into it.
    (when ? program_.back().jf : program_.back().jt) = 1;
    jump(to);
}

void ClassicBpf::jump_if(unsigned comparison, std::uint32_t k, Label to) {
    branch(comparison | BPF_K, k, true, to);
}
void ClassicBpf::jump_unless(unsigned comparison, std::uint32_t k, Label to) {
    branch(comparison | BPF_K, k, false, to);
}
void ClassicBpf::jump_if_x(unsigned comparison, Label to) { branch(comparison | BPF_X, 0, true, to); }

std::vector<sock_filter> ClassicBpf::finish() const {
    auto program = program_;
    for (const auto& jump : jumps_) {
        const auto place = places_[jump.to.number];
        assert(place != nowhere && place > jump.at);
        program[jump.at].k = static_cast<std::uint32_t>(place - jump.at - 1);
    }
    return program;
}

} // namespace teamo
