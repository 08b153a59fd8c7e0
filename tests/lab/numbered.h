// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Numbered packets from a guest to a counter outside, so that a test can count lost packets.
#pragma once

#include "base/handle.h"
#include "support/eventually.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace teamo::test {

/// Receives numbers on a UDP port, and answers how many of a range are missing. Does not return.
int count_numbers(std::uint16_t port);

/// Sends numbers at a fixed rate to such a counter while it lives. Uses absolute deadlines.
class NumberedStream {
public:
    NumberedStream(const std::string& address, std::uint16_t port, unsigned rate);
    NumberedStream(const NumberedStream&) = delete;
    NumberedStream& operator=(const NumberedStream&) = delete;
    ~NumberedStream();

    /// The number of the next packet.
    std::uint64_t next() const { return next_; }
    /// How many of [first, end) did not arrive; throws SetupError if the counter does not answer.
    std::uint64_t missing(std::uint64_t first, std::uint64_t end) const;
    /// Waits until this many packets in a row have arrived.
    testing::AssertionResult flows(std::uint64_t packets, milliseconds patience = 20s) const;

private:
    void send_all(const std::stop_token& stop);
    unsigned rate_;
    UniqueFd sender_, asker_;
    std::atomic<std::uint64_t> next_{0};
    std::jthread sending_;
};

} // namespace teamo::test
