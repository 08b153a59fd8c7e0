// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/handle.h"
#include "base/mac_address.h"
#include "base/named.h"
#include "base/result.h"

#include <cstddef>
#include <optional>
#include <span>

namespace teamo {

/// Sends and receives complete frames of one protocol at one device, whatever master the device has. Never
/// blocks.
class PortSocket {
public:
    /// `protocol`: an ethertype, in host order. `group`: a multicast address that the device must receive.
    /// ENODEV: the device is gone.
    static Result<PortSocket> open(IfIndex device, std::uint16_t protocol, std::optional<MacAddress> group);

    /// ENETDOWN: the device is down.
    Result<> send(std::span<const std::byte> frame);
    /// The next received frame, cut to the length of `into`; none: there is no more.
    std::optional<std::span<const std::byte>> receive(std::span<std::byte> into);
    int fd() const { return socket_.get(); }

private:
    PortSocket(UniqueFd socket, IfIndex device) : socket_(std::move(socket)), device_(device) {}
    UniqueFd socket_;
    IfIndex device_;
};

} // namespace teamo
