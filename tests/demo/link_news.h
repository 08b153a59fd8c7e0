// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "support/traffic/traffic.h"

#include <atomic>
#include <optional>
#include <thread>

namespace teamo::demo {

/// Receives the kernel's event that a device lost its carrier, as the daemon does. The kernel causes the
/// losses of a stream before this event, the daemon those after it.
class CarrierLossListener {
public:
    CarrierLossListener(const test::NetNs& in, unsigned device, const test::Stream& stream);

    /// The number of the stream's next packet at that time; none if no event came.
    std::optional<std::uint64_t> received_at() const;

private:
    void listen(const std::stop_token& stop, unsigned device, const test::Stream& stream);

    static constexpr auto never = ~std::uint64_t{0};
    UniqueFd socket_;
    std::atomic<std::uint64_t> received_at_{never};
    std::jthread listening_; ///< last: uses the other members
};

} // namespace teamo::demo
