// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A classic BPF program put together by labels. Jumps go forward only, and a conditional one reaches 255
// instructions: here each is followed by an unconditional one, which reaches everything.
#pragma once

#include <linux/filter.h>

#include <cstdint>
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
    struct Jump {
        std::size_t at;
        Label to;
    };
    void branch(unsigned code, std::uint32_t k, bool when, Label to);
    std::vector<sock_filter> program_;
    std::vector<std::size_t> places_;
    std::vector<Jump> jumps_;
};

} // namespace teamo
