// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/netdev_queues.h"

#include <netlink/attr.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>

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
    // nla_find() does not change the attributes.
    auto* first = reinterpret_cast<nlattr*>(const_cast<std::byte*>(attributes.data()));
    const auto* attribute = nla_find(first, static_cast<int>(attributes.size()), type);
    if (attribute == nullptr || nla_len(attribute) < 4) return std::nullopt;
    return nla_get_u32(attribute);
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

Result<> NetdevFamily::dump(std::uint8_t command, int index_attribute, IfIndex index,
                            const NetlinkSocket::Receiver& receiver) {
    const auto make = [&] {
        auto message = make_message(0, 0);
        genlmsg_put(message.get(), NL_AUTO_PORT, NL_AUTO_SEQ, family_, 0, NLM_F_REQUEST | NLM_F_DUMP, command,
                    family_version);
        nla_put_u32(message.get(), index_attribute, index.value);
        return message;
    };
    auto read = socket_.dump(make, receiver, [] {});
    // The family exists since 6.3, these commands since 6.8.
    if (!read && read.error().number == EOPNOTSUPP) return {};
    if (!read) return within("netdev", std::move(read.error()));
    return {};
}

Result<NetdevQueues> NetdevFamily::read(IfIndex index) {
    NetdevQueues reported;
    if (family_ == 0) return reported;
    const auto add_queue = [&reported](const nlmsghdr* message) {
        if (auto queue = parse_netdev_queue(generic_attributes(message))) reported.queues.push_back(*queue);
    };
    const auto add_napi = [&reported](const nlmsghdr* message) {
        if (auto napi = parse_netdev_napi(generic_attributes(message))) reported.napis.push_back(*napi);
    };
    TEAMO_TRY(dump(queue_get, queue_ifindex, index, add_queue));
    TEAMO_TRY(dump(napi_get, napi_ifindex, index, add_napi));
    return reported;
}

} // namespace teamo
