// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/bpf/device_hooks.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace teamo {
namespace {

// Debian 12's headers do not have these (include/uapi/linux/bpf.h of kernel 6.6).
constexpr std::uint32_t before = 1U << 3;   // BPF_F_BEFORE
constexpr std::uint32_t after = 1U << 4;    // BPF_F_AFTER
constexpr std::uint32_t named_by = 1U << 5; // BPF_F_ID

/// union bpf_attr of BPF_PROG_ATTACH, BPF_PROG_DETACH and BPF_PROG_QUERY as in 6.6.
struct AttachAttributes {
    std::uint32_t target_ifindex = 0, program = 0, type = 0, flags = 0, replaced = 0, relative = 0;
    std::uint64_t expected_revision = 0;
};
struct QueryAttributes {
    std::uint32_t target_ifindex = 0, type = 0, query_flags = 0, attach_flags = 0;
    std::uint64_t program_ids = 0;
    std::uint32_t count = 0, padding = 0;
    std::uint64_t attach_flags_of_each = 0, link_ids = 0, link_attach_flags = 0, revision = 0;
};

constexpr std::size_t most = 64; // kernel/bpf/mprog.c: bpf_mprog_max

template <class Attributes>
int bpf(bpf_cmd command, Attributes& attributes) {
    return static_cast<int>(::syscall(SYS_bpf, command, &attributes, sizeof attributes));
}

std::uint32_t type_of(DeviceHook hook) { return static_cast<std::uint32_t>(hook); }

} // namespace

Result<AttachedPrograms> read_device_programs(IfIndex device, DeviceHook hook) {
    std::vector<std::uint32_t> ids(most);
    QueryAttributes query{.target_ifindex = device.value,
                          .type = type_of(hook),
                          .program_ids = reinterpret_cast<std::uint64_t>(ids.data()),
                          .count = most};
    if (bpf(BPF_PROG_QUERY, query) < 0) return fail_errno(errno, "cannot list the BPF programs of a device");
    AttachedPrograms list{.revision = query.revision};
    for (std::size_t place = 0; place < query.count && place < most; ++place)
        list.ids.push_back(ProgramId{ids[place]});
    return list;
}

Result<> attach_device_program(IfIndex device, DeviceHook hook, int program, ProgramId next) {
    AttachAttributes attach{.target_ifindex = device.value,
                            .program = static_cast<std::uint32_t>(program),
                            .type = type_of(hook)};
    if (next) {
        attach.flags = before | named_by;
        attach.relative = next.value;
    }
    if (bpf(BPF_PROG_ATTACH, attach) < 0) return fail_errno(errno, "cannot attach a BPF program");
    return {};
}

/// By the position beside a neighbour: a descriptor of a program that another process has loaded needs
/// CAP_SYS_ADMIN (kernel/bpf/mprog.c: bpf_mprog_detach).
Result<> detach_device_program(IfIndex device, DeviceHook hook, const AttachedPrograms& list,
                               std::size_t place) {
    AttachAttributes detach{
        .target_ifindex = device.value, .type = type_of(hook), .expected_revision = list.revision};
    if (place > 0) {
        detach.flags = after | named_by;
        detach.relative = list.ids[place - 1].value;
    } else if (list.ids.size() > 1) {
        detach.flags = before | named_by;
        detach.relative = list.ids[1].value;
    }
    if (bpf(BPF_PROG_DETACH, detach) < 0) return fail_errno(errno, "cannot detach a BPF program");
    return {};
}

Result<ProgramId> id_of_program(int program) {
    bpf_prog_info info{};
    std::uint32_t size = sizeof info;
    if (bpf_obj_get_info_by_fd(program, &info, &size) < 0)
        return fail_errno(errno, "cannot read the id of a BPF program");
    return ProgramId{info.id};
}

} // namespace teamo
