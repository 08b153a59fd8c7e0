// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/neighbours.h"

#include "kernel/netlink/attributes.h"
#include "kernel/netlink/netlink_socket.h"

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <array>

namespace teamo {
namespace {

/// What all entries have. `destination` belongs to the message; null if it has none.
struct Entry {
    ndmsg header;
    IfIndex device;
    MacAddress mac;
    const nlattr* destination;
};

/// None for entries without an Ethernet address, and for other messages.
std::optional<Entry> parse_entry(const nlmsghdr* message) {
    std::array<nlattr*, NDA_MAX + 1> attributes{};
    if (message->nlmsg_type != RTM_NEWNEIGH ||
        nlmsg_parse(const_cast<nlmsghdr*>(message), sizeof(ndmsg), attributes.data(), NDA_MAX, nullptr) < 0)
        return std::nullopt;
    const auto mac = mac_in(attributes[NDA_LLADDR]);
    if (!mac) return std::nullopt;
    const auto& header = *static_cast<const ndmsg*>(nlmsg_data(message));
    return Entry{.header = header,
                 .device = IfIndex{static_cast<std::uint32_t>(header.ndm_ifindex)},
                 .mac = *mac,
                 .destination = attributes[NDA_DST]};
}

NlMessage neighbour_dump() { return make_message(RTM_GETNEIGH, NLM_F_REQUEST | NLM_F_DUMP, ndmsg{}); }

/// A PF_BRIDGE dump takes an ifinfomsg with the device's number (net/core/rtnetlink.c:
/// valid_fdb_dump_legacy).
NlMessage hardware_address_dump(IfIndex device) {
    ifinfomsg header{};
    header.ifi_family = PF_BRIDGE;
    header.ifi_index = static_cast<int>(device.value);
    return make_message(RTM_GETNEIGH, NLM_F_REQUEST | NLM_F_DUMP, header);
}

} // namespace

std::optional<Neighbour> parse_neighbour(const nlmsghdr* message) {
    const auto entry = parse_entry(message);
    if (!entry || (entry->header.ndm_state & (NUD_INCOMPLETE | NUD_FAILED)) != 0) return std::nullopt;
    const auto address = ip_in(entry->destination, entry->header.ndm_family);
    if (!address) return std::nullopt;
    return Neighbour{.device = entry->device, .address = *address, .mac = entry->mac};
}

Result<std::vector<Neighbour>> read_neighbours() {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    auto list = socket.list(neighbour_dump, parse_neighbour);
    if (!list) return within("the neighbour table", std::move(list.error()));
    return list;
}

std::optional<HardwareAddress> parse_hardware_address(const nlmsghdr* message) {
    const auto entry = parse_entry(message);
    if (!entry || entry->header.ndm_family != PF_BRIDGE || (entry->header.ndm_flags & NTF_SELF) == 0)
        return std::nullopt;
    return HardwareAddress{.device = entry->device, .address = entry->mac};
}

Result<std::vector<MacAddress>> read_unicast_list(IfIndex device) {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    const auto unicast = [device](const nlmsghdr* message) -> std::optional<MacAddress> {
        const auto entry = parse_hardware_address(message);
        if (!entry || entry->device != device || entry->address.is_multicast()) return std::nullopt;
        return entry->address;
    };
    auto list = socket.list([device] { return hardware_address_dump(device); }, unicast);
    if (!list) return within("the list of hardware addresses", std::move(list.error()));
    return list;
}

} // namespace teamo
