// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Infers the role of an interrupt from the name that its driver gave it. Pure.
#pragma once

#include "model/interrupts.h"

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
        other,   ///< link state, command completion, configuration
        foreign, ///< serves another function of the card (RDMA), not the port
        unknown  ///< the name does not show it
    };
    Kind kind = Kind::unknown;
    unsigned queue = 0; ///< if `kind` is queue
    bool operator==(const VectorRole&) const = default;
};

/// The roles of all vectors of a port, by their handlers' names. A driver sets the names when the port goes
/// up, so they may contain an earlier name of the port. `device_names`: names to ignore.
std::vector<VectorRole> roles_of(std::span<const IrqVector> vectors,
                                 std::span<const std::string> device_names);

/// The NAPI number in the name of a thread of the device: 8197 of "napi/eth0-8197". None: another thread, or
/// a NAPI without a number, as virtio's for transmission (NAPI_STATE_NO_BUSY_POLL).
std::optional<unsigned> napi_of_thread(std::string_view command, std::string_view device);

/// True for "eth0" and "eth0-rx-1", not for "eth01", if the device is "eth0".
bool is_named_after(std::string_view handler, std::string_view device);

} // namespace teamo
