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
    // A batch for each namespace: in an emulated guest each ip(8) costs 40 ms.
    std::string near, far;
    if (far_side_ != FarSide::open)
        far = "link add dev br0 type bridge forward_delay 0 stp_state 0 mcast_snooping 0\nlink set br0 up\n";
    for (unsigned number = 1; number <= ports; ++number) {
        // A device gets its queueing discipline when it is first up, and keeps it.
        near += fmt::format("{0}link set {1} up\nlink set {1} down\n", near_lines(number, 0), port(number));
        far += far_lines(number);
    }
    host_.ip(near);
    peer_.ip(far);
    if (far_side_ != FarSide::open) build_switch();
}

void Cabling::add_cable(unsigned number, unsigned generation) const {
    host_.ip(near_lines(number, generation));
    peer_.ip(far_lines(number));
}

std::string Cabling::near_lines(unsigned number, unsigned generation) const {
    // Far above those that the kernel counts up: it may have given a lower one to another device meanwhile.
    const auto near_index = 1'000'000 + 1'000 * generation + number,
               far_index = events_ == LinkEvents::immediate ? near_index + 50 : near_index;
    return fmt::format("link add dev {} index {} type veth peer name {} index {} netns {}\n", port(number),
                       near_index, far_end(number), far_index, peer_.path());
}

std::string Cabling::far_lines(unsigned number) const {
    auto lines = fmt::format("link set {} mtu 65535 up\n", far_end(number));
    if (far_side_ != FarSide::open) lines += fmt::format("link set {} master br0\n", far_end(number));
    if (far_side_ == FarSide::lag_switch)
        lines += fmt::format(
            "link set {0} type bridge_slave isolated on flood {1} mcast_flood {1} bcast_flood {1}\n",
            far_end(number), number == 1 ? "on" : "off");
    return lines;
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
