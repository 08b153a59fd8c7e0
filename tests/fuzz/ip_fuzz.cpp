// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Messages of the kernel about addresses, neighbours, routes and TCP sockets: each attribute is read within
// its length. The first byte chooses the type; the second is not used.
//
// fuzz: -max_len=1024
#include "kernel/netlink/addresses.h"
#include "kernel/netlink/local_routes.h"
#include "kernel/netlink/tcp_sockets.h"
#include "kernel_message.h"
#include "require.h"

#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>

#include <array>

using namespace teamo;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (size < 2) return 0;
    constexpr auto types =
        std::to_array<std::uint16_t>({RTM_NEWADDR, RTM_NEWNEIGH, RTM_NEWROUTE, SOCK_DIAG_BY_FAMILY});
    KernelMessage buffer(types[bytes[0] % types.size()], {bytes + 2, size - 2});
    const auto* message = buffer.header();

    if (const auto address = parse_address(message)) require(address->ip.size() <= address->ip.bytes.size());
    static_cast<void>(parse_neighbour(message));
    static_cast<void>(parse_hardware_address(message));
    static_cast<void>(parse_group(message));
    static_cast<void>(parse_route(message));
    if (const auto route = parse_local_route(message)) require(route->prefix <= 8 * route->to.size());
    static_cast<void>(parse_tcp_socket(message));
    return 0;
}
