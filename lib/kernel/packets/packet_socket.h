// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/handle.h"
#include "base/named.h"
#include "base/result.h"

#include <cstddef>
#include <span>

namespace teamo {

/// Sends complete Ethernet frames; receives nothing. Never blocks.
class PacketSocket {
public:
    static Result<PacketSocket> open();
    /// ENETDOWN: the device is down.
    Result<> send(IfIndex device, std::span<const std::byte> frame);

private:
    explicit PacketSocket(UniqueFd socket) : socket_(std::move(socket)) {}
    UniqueFd socket_;
};

} // namespace teamo
