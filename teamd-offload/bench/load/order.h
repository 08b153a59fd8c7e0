// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a client asks of a server: the first line of each connection. Pure.
#pragma once

#include "base/named.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace teamo::bench {

/// What the server does on a connection. A message is `bytes` long.
enum class Serve : std::uint8_t {
    sink,   ///< receives until the client closes
    source, ///< sends messages until the client closes
    echo,   ///< answers each byte with one byte
    file,   ///< sends a file of that many bytes for each byte it receives
    store,  ///< receives that many bytes, then answers with one byte
    http,   ///< "GET": answers a request with a page of 1 KiB, and closes
    totals, ///< sends what all its connections did so far, and closes
};

} // namespace teamo::bench

template <>
inline constexpr std::array<std::string_view, 7> teamo::enum_names<teamo::bench::Serve>{
    "sink", "source", "echo", "file", "store", "GET", "totals"};

namespace teamo::bench {

struct Order {
    Serve what = Serve::sink;
    std::uint32_t bytes = 0;
    std::uint32_t buffer = 0; ///< SO_SNDBUF and SO_RCVBUF; 0: the kernel's choice
    bool operator==(const Order&) const = default;
};

/// The longest line, with its end.
inline constexpr std::size_t longest_order = 64;
// The most that a profile needs, so that a client cannot ask for more memory.
inline constexpr std::uint32_t file_size = 6'000'000; // FEP's
inline constexpr std::uint32_t longest_message = 65'536;
inline constexpr std::uint32_t largest_buffer = 1U << 20;
inline constexpr std::uint32_t page_size = 1024;

/// "source 32768 131072\n".
std::string text_of(const Order& order);
/// A line without its end. None: not an order.
std::optional<Order> parse_order(std::string_view line);

} // namespace teamo::bench
