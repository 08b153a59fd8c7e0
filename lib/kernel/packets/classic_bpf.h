// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A classic BPF program put together by labels. Jumps go forward only, and a conditional one reaches 255
// instructions: where its label is farther, an unconditional one, which reaches everything, stands behind.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace teamo {

class ClassicBpf {
public:
    struct Label {
        std::size_t number;
    };
    /// To be placed once, behind every jump to it.
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
        std::optional<Label> to{}; ///< of a jump
        bool when = true;          ///< of a conditional one: jumps where the comparison holds, or where not
    };
    void branch(unsigned code, std::uint32_t k, bool when, Label to);
    /// Where each step's first instruction stands, and the program's end.
    std::vector<std::size_t> positions(const std::vector<bool>& far) const;
    std::vector<Step> steps_;
    std::vector<std::size_t> places_; ///< by label: the step it stands before
};

} // namespace teamo
