// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The interrupt and the thread of each queue, as the kernel's netdev family reports them (6.8 and later;
// Documentation/netlink/specs/netdev.yaml).
#pragma once

#include "base/named.h"
#include "kernel/netlink/netlink_socket.h"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace teamo {

struct NetdevQueue {
    unsigned queue = 0;
    bool receive = true; ///< false: transmit
    std::uint32_t napi = 0;
    bool operator==(const NetdevQueue&) const = default;
};

struct NetdevNapi {
    std::uint32_t id = 0;
    std::optional<unsigned> irq; ///< if the driver reports it (netif_napi_set_irq)
    std::optional<pid_t> thread; ///< threaded NAPI
    bool operator==(const NetdevNapi&) const = default;
};

/// Of one device. Empty while it is down, and if the kernel or the driver does not report it.
struct NetdevQueues {
    std::vector<NetdevQueue> queues; ///< those with a NAPI
    std::vector<NetdevNapi> napis;
    bool operator==(const NetdevQueues&) const = default;
};

class NetdevFamily {
public:
    /// Succeeds on a kernel without the family; read() then returns nothing.
    static Result<NetdevFamily> open();
    bool is_there() const { return family_ != 0; }

    Result<NetdevQueues> read(IfIndex index);

private:
    NetdevFamily(NetlinkSocket socket, int family) : socket_(std::move(socket)), family_(family) {}
    template <class Entry>
    Result<std::vector<Entry>> list(std::uint8_t command, int index_attribute, IfIndex index,
                                    std::optional<Entry> (*parse)(std::span<const std::byte>));
    NetlinkSocket socket_;
    int family_;
};

// Parse the attributes of an answer; none if a required one is missing. Pure.
std::optional<NetdevQueue> parse_netdev_queue(std::span<const std::byte> attributes);
std::optional<NetdevNapi> parse_netdev_napi(std::span<const std::byte> attributes);

} // namespace teamo
