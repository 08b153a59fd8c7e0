// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/bpf/load_program.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

TEST(ReasonOfRefusal, is_the_last_word_of_the_verifier) {
    EXPECT_EQ("R1 invalid mem access 'scalar'",
              reason_in("libbpf: prog 'teamo_transmit': BPF program load failed: Permission denied\n"
                        "libbpf: prog 'teamo_transmit': -- BEGIN PROG LOAD LOG --\n"
                        "0: R1=ctx() R10=fp0\n"
                        "1: (61) r0 = *(u32 *)(r1 +0)\n"
                        "R1 invalid mem access 'scalar'\n"
                        "processed 2 insns (limit 1000000) max_states_per_insn 0\n"
                        "-- END PROG LOAD LOG --\n"
                        "libbpf: prog 'teamo_transmit': failed to load: -13\n"));
}

TEST(ReasonOfRefusal, is_the_first_of_libbpf_without_a_verifier) {
    EXPECT_EQ(
        "failed to find valid kernel BTF",
        reason_in("libbpf: failed to find valid kernel BTF\n"
                  "libbpf: Error loading vmlinux BTF: -3\nlibbpf: failed to load object 'teamo_forward'\n"));
    EXPECT_EQ("", reason_in(""));
    EXPECT_EQ("", reason_in("\n\n"));
}

TEST(LoadPrograms, says_what_and_why) {
    EXPECT_TRUE(load_programs("nothing", [] { return 0; }));
    const auto refused = load_programs("the BPF datapath", [] { return -EPERM; });
    ASSERT_FALSE(refused);
    EXPECT_EQ(EPERM, refused.error().number);
    EXPECT_EQ("the kernel refuses to load the BPF datapath: Operation not permitted", refused.error().text);
}

} // namespace
} // namespace teamo
