// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/load/transfer.h"

#include <algorithm>
#include <vector>

namespace teamo::bench {
namespace {

/// Of a recv(): as the papers' messages. The buffers of many connections fill the caches of the CPUs.
constexpr std::size_t buffer_size = std::size_t{1} << 15;

} // namespace

void send_messages(const Connection& connection, std::uint32_t bytes, const std::stop_token& stop,
                   Tally& tally) {
    const std::string message(std::max(bytes, 1U), 'x');
    while (connection.send(message, stop))
        tally.sent += message.size();
}

void receive_messages(const Connection& connection, const std::stop_token& stop, Tally& tally) {
    std::vector<char> into(buffer_size);
    while (const auto got = connection.receive(into, stop))
        tally.received += got;
}

bool receive_bytes(const Connection& connection, std::size_t bytes, const std::stop_token& stop,
                   Tally& tally) {
    // Kept by the thread: a file is received many times.
    thread_local std::vector<char> into(buffer_size);
    while (bytes > 0) {
        const auto got = connection.receive(std::span(into).first(std::min(bytes, into.size())), stop);
        if (got == 0) return false;
        tally.received += got;
        bytes -= got;
    }
    return true;
}

} // namespace teamo::bench
