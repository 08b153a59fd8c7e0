// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What drivers call their interrupts, and what that tells. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace teamo {

struct VectorRole {
    enum class Kind : std::uint8_t {
        queue,   ///< serves a queue
        other,   ///< tells of the link, of commands done, of configuration
        foreign, ///< serves another function of the card (RDMA): none of the port's
        unknown  ///< the name tells neither
    };
    Kind kind = Kind::unknown;
    unsigned queue = 0; ///< of a queue's
    bool operator==(const VectorRole&) const = default;
};

/// Of all vectors of a port, by their handlers' names. A driver gives the name when the port goes up: it has
/// the port's name of then, if any. `bears`: names of the device, which say nothing about a queue.
std::vector<VectorRole> roles_of(std::span<const std::string> handlers,
                                 std::span<const std::string> device_names);

/// Whether the handler is the device's by its name: "eth0", "eth0-rx-1", not "eth01".
bool is_named_after(std::string_view handler, std::string_view device);

} // namespace teamo
