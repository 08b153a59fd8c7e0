// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/files/task_name.h"

#include "kernel/netlink/netlink_socket.h"

#include <linux/taskstats.h>
#include <netlink/genl/ctrl.h>

#include <cstring>

namespace teamo {

Result<std::string> read_task_name(pid_t process) {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_GENERIC));
    const int family = genl_ctrl_resolve(socket.get(), TASKSTATS_GENL_NAME);
    if (family < 0) return fail(ENOENT, "this kernel has no statistics of tasks");
    const auto make = [&] {
        auto message = make_generic_message(family, TASKSTATS_GENL_VERSION, TASKSTATS_CMD_GET, 0);
        nla_put_u32(message.get(), TASKSTATS_CMD_ATTR_PID, static_cast<std::uint32_t>(process));
        return message;
    };
    const auto parse = [](const nlmsghdr* message) -> std::optional<std::string> {
        const nlattr* nest = attribute_in(generic_attributes(message), TASKSTATS_TYPE_AGGR_PID);
        const auto* statistics = attribute_in(nest, TASKSTATS_TYPE_STATS);
        if (statistics == nullptr) return std::nullopt;
        const auto task = struct_in<taskstats>(statistics);
        return std::string(task.ac_comm, ::strnlen(task.ac_comm, sizeof task.ac_comm));
    };
    const auto names = TEAMO_TRY(within(fmt::format("process {}", process), socket.list(make, parse)));
    if (names.empty()) return fail(EBADMSG, fmt::format("process {}: no statistics", process));
    return names.front();
}

} // namespace teamo
