// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What clients and servers both do on a connection, counted as it is done.
#pragma once

#include "bench/load/connection.h"
#include "bench/load/tally.h"

namespace teamo::bench {

// Until the connection is closed or the thread must stop.
void send_messages(const Connection& connection, std::uint32_t bytes, const std::stop_token& stop,
                   Tally& tally);
void receive_messages(const Connection& connection, const std::stop_token& stop, Tally& tally);

/// Receives that many bytes. False: it is closed, or the thread must stop.
bool receive_bytes(const Connection& connection, std::size_t bytes, const std::stop_token& stop,
                   Tally& tally);

} // namespace teamo::bench
