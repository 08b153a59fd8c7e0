// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/netdev_queues.h"

#include <netlink/genl/ctrl.h>

#include <algorithm>

namespace teamo {
namespace {

// linux/netdev.h of 6.8; the headers here are older.
constexpr const char* family_name = "netdev";
constexpr std::uint8_t family_version = 1, queue_get = 10, napi_get = 11;
enum QueueAttribute : int { queue_id = 1, queue_ifindex, queue_type, queue_napi };
enum NapiAttribute : int { napi_ifindex = 1, napi_id, napi_irq, napi_pid };
constexpr std::uint32_t type_receive = 0, type_transmit = 1;

std::optional<std::uint32_t> number(std::span<const std::byte> attributes, int type) {
    return number_in(attribute_in(attributes, type));
}

} // namespace

std::optional<NetdevQueue> parse_netdev_queue(std::span<const std::byte> attributes) {
    const auto id = number(attributes, queue_id), type = number(attributes, queue_type),
               napi = number(attributes, queue_napi);
    if (!id || !type || !napi || (*type != type_receive && *type != type_transmit)) return std::nullopt;
    return NetdevQueue{.queue = *id, .receive = *type == type_receive, .napi = *napi};
}

std::optional<NetdevNapi> parse_netdev_napi(std::span<const std::byte> attributes) {
    const auto id = number(attributes, napi_id);
    if (!id) return std::nullopt;
    NetdevNapi napi{.id = *id, .irq = number(attributes, napi_irq), .thread = {}};
    if (const auto pid = number(attributes, napi_pid); pid && *pid != 0)
        napi.thread = static_cast<pid_t>(*pid);
    return napi;
}

Result<NetdevFamily> NetdevFamily::open() {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_GENERIC));
    const int family = genl_ctrl_resolve(socket.get(), family_name);
    return NetdevFamily(std::move(socket), std::max(family, 0));
}

template <class Entry>
Result<std::vector<Entry>> NetdevFamily::list(std::uint8_t command, int index_attribute, IfIndex index,
                                              std::optional<Entry> (*parse)(std::span<const std::byte>)) {
    const auto make = [&] {
        auto message = make_generic_message(family_, family_version, command, NLM_F_DUMP);
        nla_put_u32(message.get(), index_attribute, index.value);
        return message;
    };
    auto read =
        socket_.list(make, [parse](const nlmsghdr* message) { return parse(generic_attributes(message)); });
    // The family exists since 6.3, these commands since 6.8.
    if (!read && read.error().number == EOPNOTSUPP) return std::vector<Entry>();
    return within("netdev", std::move(read));
}

Result<NetdevQueues> NetdevFamily::read(IfIndex index) {
    NetdevQueues reported;
    if (family_ == 0) return reported;
    reported.queues = TEAMO_TRY(list(queue_get, queue_ifindex, index, parse_netdev_queue));
    reported.napis = TEAMO_TRY(list(napi_get, napi_ifindex, index, parse_netdev_napi));
    return reported;
}

} // namespace teamo
