// SPDX-License-Identifier: LGPL-2.1-or-later
#include "classic_program.h"

#include "base/handle.h"
#include "datapath/hash_program.h"
#include "support/process.h"

#include <sys/socket.h>

#include <array>

namespace teamo::test {
namespace {

/// Whether a socket with that filter gets the packet.
bool passes(std::vector<sock_filter> program, const Bytes& packet) {
    std::array<int, 2> pair{};
    if (::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data()) < 0)
        throw SetupError("no pair of sockets");
    const UniqueFd here(pair[0]), there(pair[1]);
    const sock_fprog filter{.len = static_cast<unsigned short>(program.size()), .filter = program.data()};
    if (::setsockopt(there.get(), SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) < 0)
        throw SetupError("the kernel takes no filter of " + std::to_string(program.size()) + " instructions");
    if (::send(here.get(), packet.data(), packet.size(), 0) < 0) throw SetupError("nothing can be sent");
    std::array<char, 1> byte{};
    return ::recv(there.get(), byte.data(), byte.size(), MSG_TRUNC) > 0;
}

/// The program but for its last instruction, "return A" or "return k": the value is left in A.
std::vector<sock_filter> into_a(std::vector<sock_filter> program) {
    const auto last = program.back();
    program.pop_back();
    if (last.code == (BPF_RET | BPF_K)) program.push_back({BPF_LD | BPF_IMM, 0, 0, last.k});
    return program;
}

} // namespace

std::uint32_t low_byte_by_kernel(const std::vector<sock_filter>& program, const Bytes& packet) {
    std::uint32_t value = 0;
    for (std::uint32_t bit = 0; bit < 8; ++bit) {
        auto asked = into_a(program);
        asked.push_back({BPF_JMP | BPF_JSET | BPF_K, 0, 1, 1U << bit});
        asked.push_back({BPF_RET | BPF_K, 0, 0, 0xffff});
        asked.push_back({BPF_RET | BPF_K, 0, 0, 0});
        value |= static_cast<std::uint32_t>(passes(std::move(asked), packet)) << bit;
    }
    return value;
}

std::uint32_t classic_bucket_of(const Bytes& packet, std::uint32_t hash_fields) {
    return low_byte_by_kernel(hash_program(hash_fields), packet);
}

} // namespace teamo::test
