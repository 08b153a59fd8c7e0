// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/net/programs.h"

#include "base/handle.h"
#include "kernel/bpf/device_hooks.h"
#include "support/net/links.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include <utility>

namespace teamo::test {
namespace {

/// Needs CAP_SYS_ADMIN, which the daemon does not have.
std::string name_of_program(ProgramId id) {
    const UniqueFd program(::bpf_prog_get_fd_by_id(id.value));
    bpf_prog_info info{};
    std::uint32_t size = sizeof info;
    return program && ::bpf_obj_get_info_by_fd(program.get(), &info, &size) == 0 ? info.name : "";
}

} // namespace

IfIndex index_of(const NetNs& in, std::string_view device) { return IfIndex{look(in, device).index}; }

std::string our_programs(const NetNs& in, std::string_view device) {
    std::string lines;
    if (!exists(in, device)) return lines;
    const auto index = index_of(in, device);
    for (const auto& [hook, direction] :
         {std::pair{DeviceHook::tcx_ingress, "ingress"}, {DeviceHook::tcx_egress, "egress"}}) {
        if (const auto attached = read_device_programs(index, hook))
            for (const auto id : attached->ids)
                if (const auto name = name_of_program(id); name.starts_with("teamo_"))
                    lines += fmt::format("{} {} {}\n", direction, name, id.value);
        lines +=
            sh(in, fmt::format("tc filter show dev {} {} | sed -nE 's/.* (teamo_[a-z_]*):?.* id ([0-9]+) "
                               ".*/{} \\1 \\2/p'",
                               device, direction, direction))
                .out;
    }
    return lines;
}

void remove_our_programs(const NetNs& in, std::string_view device) {
    const auto index = index_of(in, device);
    for (const auto hook : {DeviceHook::tcx_ingress, DeviceHook::tcx_egress})
        for (auto list = read_device_programs(index, hook); list && !list->ids.empty();
             list = read_device_programs(index, hook))
            if (!detach_device_program(index, hook, *list, 0)) throw SetupError("cannot detach a program");
    static_cast<void>(sh(in, fmt::format("tc qdisc del dev {} clsact", device)));
}

} // namespace teamo::test
