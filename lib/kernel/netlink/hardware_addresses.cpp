// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/hardware_addresses.h"

#include "kernel/netlink/netlink_socket.h"

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <new>

namespace teamo {
namespace {

/// A PF_BRIDGE dump takes an ifinfomsg with the device's number (net/core/rtnetlink.c:
/// valid_fdb_dump_legacy).
NlMessage list_dump(IfIndex device) {
    auto message = make_message(RTM_GETNEIGH, NLM_F_REQUEST | NLM_F_DUMP);
    ifinfomsg header{};
    header.ifi_family = PF_BRIDGE;
    header.ifi_index = static_cast<int>(device.value);
    if (nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO) < 0) throw std::bad_alloc();
    return message;
}

} // namespace

std::optional<HardwareAddress> parse_hardware_address(const nlmsghdr* message) {
    std::array<nlattr*, NDA_MAX + 1> attributes{};
    if (message->nlmsg_type != RTM_NEWNEIGH ||
        nlmsg_parse(const_cast<nlmsghdr*>(message), sizeof(ndmsg), attributes.data(), NDA_MAX, nullptr) < 0)
        return std::nullopt;
    const auto* header = static_cast<const ndmsg*>(nlmsg_data(message));
    const auto* address = attributes[NDA_LLADDR];
    HardwareAddress entry;
    if (header->ndm_family != PF_BRIDGE || (header->ndm_flags & NTF_SELF) == 0 || address == nullptr ||
        static_cast<std::size_t>(nla_len(address)) != entry.address.bytes.size())
        return std::nullopt;
    entry.device = IfIndex{static_cast<std::uint32_t>(header->ndm_ifindex)};
    std::copy_n(static_cast<const std::uint8_t*>(nla_data(address)), entry.address.bytes.size(),
                entry.address.bytes.begin());
    return entry;
}

Result<std::vector<MacAddress>> read_unicast_list(IfIndex device) {
    auto socket = NetlinkSocket::open(NETLINK_ROUTE);
    if (!socket) return tl::unexpected(socket.error());
    std::vector<MacAddress> list;
    const auto take = [&list, device](const nlmsghdr* message) {
        const auto entry = parse_hardware_address(message);
        if (entry && entry->device == device && !entry->address.is_multicast())
            list.push_back(entry->address);
    };
    auto read = socket->dump([device] { return list_dump(device); }, take, [&list] { list.clear(); });
    if (!read) return within("the list of hardware addresses", std::move(read.error()));
    return list;
}

} // namespace teamo
