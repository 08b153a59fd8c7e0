// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Assembles a classic BPF program with labels. Jumps go forward only. A conditional jump reaches 255
// instructions; for a label farther away an unconditional jump, which has no limit, is inserted after it.
#pragma once

#include "base/result.h"

#include <linux/filter.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace teamo {

/// A field of the packet's metadata (Documentation/networking/filter.rst, "ancillary").
constexpr std::uint32_t ancillary(std::uint32_t field) {
    return static_cast<std::uint32_t>(SKF_AD_OFF) + field;
}

class ClassicBpf {
public:
    struct Label {
        std::size_t number;
    };
    /// A new label. Place it once, after every jump to it.
    Label label();
    void place(Label label);

    void emit(unsigned code, std::uint32_t k = 0);
    /// Into A: BPF_B, BPF_H or BPF_W, at an offset in the packet.
    void load(unsigned size, std::uint32_t at) { emit(BPF_LD | size | BPF_ABS, at); }
    void jump(Label to);
    /// `comparison` is BPF_JEQ, BPF_JGT, BPF_JGE or BPF_JSET; A is compared with `k`, or with X.
    void jump_if(unsigned comparison, std::uint32_t k, Label to);
    void jump_unless(unsigned comparison, std::uint32_t k, Label to);
    void jump_if_x(unsigned comparison, Label to);

    /// The host's own frames, and those with a VLAN tag, which the kernel has taken out, go to `drop`.
    void drop_own_and_tagged(Label drop);

    /// All labels must be placed.
    std::vector<sock_filter> finish() const;
    /// The same for a socket's filter, which passes so many bytes of a packet, and none at `drop`.
    std::vector<sock_filter> finish_filter(std::uint32_t most_bytes, Label drop);

private:
    struct Step {
        sock_filter code{};
        std::optional<Label> to{}; ///< for jumps
        bool when = true;          ///< for conditional jumps: jump if the comparison has this result
    };
    void branch(unsigned code, std::uint32_t k, bool when, Label to);
    /// The position of each step's first instruction, and of the program's end.
    std::vector<std::size_t> positions(const std::vector<bool>& far) const;
    std::vector<Step> steps_;
    std::vector<std::size_t> places_; ///< by label: the step that it precedes
};

/// `failure`: what to say if the kernel refuses it.
Result<> attach_filter(int socket, std::vector<sock_filter> filter, std::string_view failure);

} // namespace teamo
