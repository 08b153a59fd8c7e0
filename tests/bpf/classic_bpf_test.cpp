// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The assembler of classic BPF: which jumps it writes, and that the kernel accepts and executes them.
#include "kernel/packets/classic_bpf.h"

#include "classic_program.h"
#include "datapath/bpf/abi.h"
#include "datapath/team/hash_program.h"

#include <gmock/gmock.h>

#include <iostream>

namespace teamo::test {
namespace {

constexpr unsigned load_value = BPF_LD | BPF_IMM, no_op = BPF_MISC | BPF_TAX, return_a = BPF_RET | BPF_A;
/// Kernels before 6.7 accept socket filters of at most 20 KiB (net.core.optmem_max), at 8 bytes per
/// instruction.
constexpr std::size_t long_way = 2000;

/// "A = 7; if (comparison) goto there; A = 1; `between` no-ops; return A; there: A = 2; return A":
/// the jump skips `between` + 2 instructions.
std::vector<sock_filter> jumping(std::size_t between,
                                 const std::function<void(ClassicBpf&, ClassicBpf::Label)>& jump) {
    ClassicBpf code;
    const auto there = code.label();
    code.emit(load_value, 7);
    jump(code, there);
    code.emit(load_value, 1);
    for (std::size_t i = 0; i < between; i++)
        code.emit(no_op);
    const auto end = code.label();
    code.jump(end);
    code.place(there);
    code.emit(load_value, 2);
    code.place(end);
    code.emit(return_a);
    return code.finish();
}

std::uint32_t result(const std::vector<sock_filter>& program) {
    return low_byte_by_kernel(program, Bytes(64));
}

TEST(ClassicBpf, emits_instructions_in_order) {
    ClassicBpf code;
    code.emit(load_value, 5);
    code.emit(return_a);
    const auto program = code.finish();
    ASSERT_EQ(program.size(), 2U);
    EXPECT_EQ(program[0].code, load_value);
    EXPECT_EQ(program[0].k, 5U);
    EXPECT_EQ(program[1].code, return_a);
}

TEST(ClassicBpf, jumps_if_and_unless) {
    for (const std::size_t between : std::initializer_list<std::size_t>{0, 10, 253, 254, 300, long_way}) {
        const auto if_seven = [](ClassicBpf& code, auto there) { code.jump_if(BPF_JEQ, 7, there); };
        const auto if_eight = [](ClassicBpf& code, auto there) { code.jump_if(BPF_JEQ, 8, there); };
        const auto unless_seven = [](ClassicBpf& code, auto there) { code.jump_unless(BPF_JEQ, 7, there); };
        const auto unless_eight = [](ClassicBpf& code, auto there) { code.jump_unless(BPF_JEQ, 8, there); };
        EXPECT_EQ(result(jumping(between, if_seven)), 2U) << between;
        EXPECT_EQ(result(jumping(between, if_eight)), 1U) << between;
        EXPECT_EQ(result(jumping(between, unless_seven)), 1U) << between;
        EXPECT_EQ(result(jumping(between, unless_eight)), 2U) << between;
    }
}

TEST(ClassicBpf, compares_with_x_register) {
    for (const std::uint32_t x : {6U, 7U}) {
        ClassicBpf code;
        const auto greater = code.label();
        code.emit(BPF_LDX | BPF_IMM, x);
        code.emit(load_value, 7);
        code.jump_if_x(BPF_JGT, greater);
        code.emit(load_value, 1);
        code.place(greater);
        code.emit(return_a);
        EXPECT_EQ(result(code.finish()), x == 6 ? 7U : 1U);
    }
}

TEST(ClassicBpf, jumps_unconditionally_over_any_distance) {
    for (const std::size_t between : std::initializer_list<std::size_t>{0, 255, 256, long_way})
        EXPECT_EQ(result(jumping(between, [](ClassicBpf& code, auto there) { code.jump(there); })), 2U);
}

TEST(ClassicBpf, adds_instruction_only_for_long_jump) {
    const auto size = [](std::size_t between) {
        const auto branch = [](ClassicBpf& code, auto there) { code.jump_if(BPF_JEQ, 7, there); };
        return jumping(between, branch).size() - between;
    };
    EXPECT_EQ(size(253), size(0)) << "a jump by 255";
    EXPECT_EQ(size(254), size(0) + 1) << "a jump by 256";
}

TEST(ClassicBpf, lengthens_jumps_over_a_lengthened_jump) {
    // The first jump skips 255 instructions only while the second one, which skips 256 and so needs two
    // instructions, has one.
    ClassicBpf code;
    const auto near = code.label(), far = code.label();
    code.emit(load_value, 7);
    code.jump_if(BPF_JEQ, 7, near); // skips the second jump and 254 more
    code.jump_if(BPF_JEQ, 9, far);
    for (int i = 0; i < 254; i++)
        code.emit(no_op);
    code.place(near);
    code.emit(load_value, 3);
    for (int i = 0; i < 255; i++)
        code.emit(no_op);
    code.place(far);
    code.emit(return_a);
    const auto program = code.finish();
    EXPECT_EQ(program.size(), 1 + 2 + 2 + 254 + 1 + 255 + 1U);
    EXPECT_EQ(result(program), 3U);
}

TEST(ClassicBpf, allows_several_labels_at_one_place) {
    ClassicBpf code;
    const auto one = code.label(), other = code.label();
    code.emit(load_value, 7);
    code.jump_if(BPF_JGT, 9, one);
    code.jump_if(BPF_JSET, 4, other);
    code.emit(load_value, 1);
    code.place(one);
    code.place(other);
    code.emit(return_a);
    EXPECT_EQ(result(code.finish()), 7U);
}

TEST(ClassicBpf, keeps_hash_programs_within_kernel_limit) {
    constexpr std::uint32_t all = 0x7f;
    const auto size = [](std::uint32_t fields) { return hash_program(fields).size(); };
    for (std::uint32_t fields = 0; fields <= all; fields++) {
        EXPECT_LT(size(fields), std::size_t{BPF_MAXINSNS}) << fields;
        for (std::uint32_t more = 1; more <= all; more <<= 1)
            EXPECT_LE(size(fields), size(fields | more)) << fields << " and " << more;
    }
    EXPECT_EQ(size(0), 1U) << "return 0";
    for (const auto& [what, fields] : std::initializer_list<std::pair<const char*, std::uint32_t>>{
             {"nothing", 0},
             {"eth", TEAMO_HASH_ETH},
             {"vlan", TEAMO_HASH_VLAN},
             {"ipv4", TEAMO_HASH_IPV4},
             {"ipv6", TEAMO_HASH_IPV6},
             {"tcp", TEAMO_HASH_TCP},
             {"eth, ipv4, ipv6 (the default)", TEAMO_HASH_ETH | TEAMO_HASH_IPV4 | TEAMO_HASH_IPV6},
             {"tcp, udp, sctp", TEAMO_HASH_TCP | TEAMO_HASH_UDP | TEAMO_HASH_SCTP},
             {"all", all}})
        std::cout << what << ": " << size(fields) << " instructions\n";
}

} // namespace
} // namespace teamo::test
