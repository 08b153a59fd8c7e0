// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "support/traffic/traffic.h"

#include <atomic>
#include <optional>
#include <thread>

namespace teamo::demo {

/// Hears when the kernel tells that a device lost its carrier, as the daemon does. What a stream loses before
/// is the kernel's, what it loses after is the daemon's.
class LinkNews {
public:
    LinkNews(const test::NetNs& in, unsigned device, const test::Stream& stream);

    /// The number of the packet that the stream was to send next then; none where nothing came.
    std::optional<std::uint64_t> heard_at() const;

private:
    void listen(const std::stop_token& stop, unsigned device, const test::Stream& stream);

    static constexpr auto never = ~std::uint64_t{0};
    UniqueFd socket_;
    std::atomic<std::uint64_t> heard_at_{never};
    std::jthread listening_; ///< last: it uses the rest
};

} // namespace teamo::demo
