// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/netkit.h"

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

namespace teamo {
namespace {

// Debian 12's headers do not have netkit (include/uapi/linux/bpf.h of kernel 6.7).
constexpr std::uint32_t netkit_primary = 54; // BPF_NETKIT_PRIMARY
constexpr std::uint32_t before = 1U << 3;    // BPF_F_BEFORE
constexpr std::uint32_t after = 1U << 4;     // BPF_F_AFTER

/// union bpf_attr of BPF_PROG_ATTACH, BPF_PROG_DETACH and BPF_PROG_QUERY as in 6.7.
struct AttachAttributes {
    std::uint32_t target_ifindex = 0, program = 0, type = netkit_primary, flags = 0, replaced = 0,
                  relative = 0;
    std::uint64_t expected_revision = 0;
};
struct QueryAttributes {
    std::uint32_t target_ifindex = 0, type = netkit_primary, query_flags = 0, attach_flags = 0;
    std::uint64_t program_ids = 0;
    std::uint32_t count = 0, padding = 0;
    std::array<std::uint64_t, 4> more{};
};

int bpf(int command, void* attributes, std::size_t size) {
    return static_cast<int>(::syscall(SYS_bpf, command, attributes, size));
}

Result<std::uint32_t> count_programs(IfIndex device) {
    QueryAttributes query;
    query.target_ifindex = device.value;
    if (bpf(BPF_PROG_QUERY, &query, sizeof query) < 0)
        return fail_errno(errno, "cannot list the netkit programs");
    return query.count;
}

} // namespace

Result<> attach_netkit(IfIndex device, int program) {
    const auto others = TEAMO_TRY(count_programs(device));
    AttachAttributes attach;
    attach.target_ifindex = device.value;
    attach.program = static_cast<std::uint32_t>(program);
    attach.flags = before;
    if (bpf(BPF_PROG_ATTACH, &attach, sizeof attach) < 0)
        return fail_errno(errno, "cannot attach a netkit program");
    // The new program is first and decides about every packet. Detach those after it, of an earlier daemon.
    for (std::uint32_t left = others; left > 0; --left) {
        AttachAttributes detach;
        detach.target_ifindex = device.value;
        detach.flags = after;
        if (bpf(BPF_PROG_DETACH, &detach, sizeof detach) < 0)
            return fail_errno(errno, "cannot detach an earlier netkit program");
    }
    return {};
}

} // namespace teamo
