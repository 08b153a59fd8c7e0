// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Assembles a classic BPF program with labels. Jumps go forward only. A conditional jump reaches 255
// instructions; for a label farther away an unconditional jump, which has no limit, is inserted after it.
#pragma once

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
    void jump(Label to);
    /// `comparison` is BPF_JEQ, BPF_JGT, BPF_JGE or BPF_JSET; A is compared with `k`, or with X.
    void jump_if(unsigned comparison, std::uint32_t k, Label to);
    void jump_unless(unsigned comparison, std::uint32_t k, Label to);
    void jump_if_x(unsigned comparison, Label to);

    /// All labels must be placed.
    std::vector<sock_filter> finish() const;

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

} // namespace teamo
