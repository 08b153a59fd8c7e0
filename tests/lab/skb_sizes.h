// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/handle.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace teamo::test {

/// Measures the packets that a device's driver gets, while this object lives: a packet that the card segments
/// counts once. The card's own counters count its segments.
class SkbSizes {
public:
    explicit SkbSizes(const std::string& device);
    SkbSizes(const SkbSizes&) = delete;
    SkbSizes& operator=(const SkbSizes&) = delete;

    std::uint64_t packets() const { return packets_; }
    std::uint64_t bytes() const { return bytes_; }

private:
    void count(const std::stop_token& stop);
    UniqueFd socket_;
    std::atomic<std::uint64_t> packets_{0}, bytes_{0};
    std::jthread counting_;
};

} // namespace teamo::test
