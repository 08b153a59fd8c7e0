// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/net/cabling.h"

#include <fmt/format.h>

namespace teamo::test {

Cabling::Cabling(unsigned ports, FarSide far_side, LinkEvents events)
    : ports_(ports),
      far_side_(far_side),
      events_(events),
      host_(NetNs::current()),
      peer_(NetNs::create()),
      client_(NetNs::create()) {
    if (far_side_ != FarSide::open)
        peer_.ip(
            "link add dev br0 type bridge forward_delay 0 stp_state 0 mcast_snooping 0\nlink set br0 up");
    for (unsigned number = 1; number <= ports; ++number) {
        add_cable(number);
        // A device gets its queueing discipline when it is first up, and keeps it.
        host_.ip(fmt::format("link set {0} up\nlink set {0} down", port(number)));
    }
    if (far_side_ != FarSide::open) build_switch();
}

void Cabling::add_cable(unsigned number, unsigned generation) const {
    // Far above those that the kernel counts up: it may have given a lower one to another device meanwhile.
    const auto near_index = 1'000'000 + 1'000 * generation + number,
               far_index = events_ == LinkEvents::immediate ? near_index + 50 : near_index;
    host_.ip(fmt::format("link add dev {} index {} type veth peer name {} index {} netns {}", port(number),
                         near_index, far_end(number), far_index, peer_.path()));
    peer_.ip(fmt::format("link set {} mtu 65535 up", far_end(number)));
    if (far_side_ != FarSide::open) peer_.ip(fmt::format("link set {} master br0", far_end(number)));
    if (far_side_ == FarSide::lag_switch)
        peer_.ip(fmt::format(
            "link set {0} type bridge_slave isolated on flood {1} mcast_flood {1} bcast_flood {1}",
            far_end(number), number == 1 ? "on" : "off"));
}

void Cabling::build_switch() const {
    peer_.ip(fmt::format("link add dev toclient type veth peer name client0 netns {}\n"
                         "link set toclient mtu 65535 master br0 up\n"
                         "link set br0 mtu 65535",
                         client_.path()));
    client_.ip(fmt::format("link set client0 up\n"
                           "addr add {}/24 dev client0\n"
                           "addr add {}/64 dev client0 nodad",
                           client_v4, client_v6));
    await_operation(client_, "client0");
    await_operation(peer_, "toclient");
}

void Cabling::pull(unsigned number) const { peer_.ip(fmt::format("link set {} down", far_end(number))); }
void Cabling::plug(unsigned number) const { peer_.ip(fmt::format("link set {} up", far_end(number))); }

void Cabling::address(std::string_view device) const {
    host_.ip(fmt::format("link set {0} up\naddr add {1}/24 dev {0}\naddr add {2}/64 dev {0} nodad", device,
                         team_v4, team_v6));
    await_operation(host_, device);
    await_cables();
}

void Cabling::await_cables() const {
    for (unsigned number = 1; number <= ports_; ++number)
        if (look(host_, port(number)).up() && look(peer_, far_end(number)).up()) {
            await_operation(host_, port(number));
            await_operation(peer_, far_end(number));
        }
}

} // namespace teamo::test
