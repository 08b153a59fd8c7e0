// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Messages of the kernel about devices. They come from the kernel alone, but a newer one may send
// what this one does not: each attribute is read within its length. The first byte chooses the type.
// fuzz: -max_len=4096
#include "kernel/netlink/bond_lacp.h"
#include "kernel/netlink/bond_options.h"
#include "kernel/netlink/links.h"
#include "kernel_message.h"

#include <linux/rtnetlink.h>

#include <cstdlib>

using namespace teamo;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (size < 2) return 0;
    KernelMessage message(bytes[0] % 2 == 0 ? RTM_NEWLINK : RTM_DELLINK, {bytes + 2, size - 2});
    if (const auto link = parse_link(message.header())) {
        if (link->name.size() > size) std::abort();
        static_cast<void>(link->has_link());
        static_cast<void>(port_mark_of(*link));
        static_cast<void>(team_of_device(*link));
    }
    static_cast<void>(parse_ipv6_event(message.header()));
    BondOptions options;
    add_bond_options(message.header(), options);
    lacp::BondSystem system;
    add_bond_lacp(message.header(), IfIndex{1}, system);
    return 0;
}
