// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/handle.h"
#include "base/mac_address.h"
#include "base/named.h"
#include "base/result.h"

#include <linux/filter.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace teamo {

/// Sends and receives complete frames at one device, whatever master the device has. Never blocks.
class PortSocket {
public:
    /// Frames to read at once: other events of the daemon wait meanwhile.
    static constexpr int frames_at_once = 16;

    struct What {
        std::uint16_t protocol = 0;          ///< an ethertype, in host order
        std::optional<MacAddress> group{};   ///< a multicast address that the device must receive
        std::vector<sock_filter> filter{};   ///< of received frames
        std::optional<int> receive_buffer{}; ///< bytes
    };
    /// ENODEV: the device is gone.
    static Result<PortSocket> open(IfIndex device, const What& what);

    /// The device must receive frames to this address too.
    Result<> add_address(const MacAddress& address);
    /// The same for a multicast address.
    Result<> add_group(const MacAddress& address);
    /// ENETDOWN: the device is down.
    Result<> send(std::span<const std::byte> frame);
    /// The next received frame, cut to the length of `into`; none: there is no more.
    std::optional<std::span<const std::byte>> receive(std::span<std::byte> into);
    int fd() const { return socket_.get(); }

private:
    Result<> add_membership(unsigned short type, const MacAddress& address);
    PortSocket(UniqueFd socket, IfIndex device) : socket_(std::move(socket)), device_(device) {}
    UniqueFd socket_;
    IfIndex device_;
};

} // namespace teamo
