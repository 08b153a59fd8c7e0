// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Messages of the kernel about counters, qdiscs and tc filters, and of generic netlink about queues and
// speed: each attribute is read within its length. The first byte chooses the type.
//
// fuzz: -max_len=1024
#include "kernel/ethtool/ethtool.h"
#include "kernel/netlink/bond_lacp.h"
#include "kernel/netlink/counters.h"
#include "kernel/netlink/netdev_queues.h"
#include "kernel/netlink/traffic_control.h"
#include "kernel_message.h"
#include "require.h"

#include <linux/rtnetlink.h>

#include <array>

using namespace teamo;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (size < 2) return 0;
    constexpr auto types =
        std::to_array<std::uint16_t>({RTM_NEWSTATS, RTM_NEWQDISC, RTM_NEWTFILTER, 21 /* a family */});
    KernelMessage buffer(types[bytes[0] % types.size()], {bytes + 2, size - 2});
    const auto* message = buffer.header();

    static_cast<void>(parse_stats(message));
    static_cast<void>(parse_bond_frames(message));
    DeviceQueues queues;
    add_queue(message, queues);
    require(queues.counters.size() <= 1 && queues.without.size() <= 1);
    if (const auto filter = parse_tc_filter(message))
        require(filter->handle != 0 && filter->name.size() <= size);

    require(parse_link_modes(message).has_value());
    static_cast<void>(device_of_ethtool_event(message));
    static_cast<void>(parse_netdev_queue(generic_attributes(message)));
    if (const auto napi = parse_netdev_napi(generic_attributes(message))) require(napi->thread != 0);
    return 0;
}
