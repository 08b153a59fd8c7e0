// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/load/order.h"

#include "base/take_until.h"
#include "base/whole_number.h"

#include <fmt/format.h>

namespace teamo::bench {
namespace {

std::uint32_t most_bytes_of(Serve what) {
    return what == Serve::file || what == Serve::store ? file_size : longest_message;
}

} // namespace

std::string text_of(const Order& order) {
    const std::string_view word = name_of(order.what);
    if (order.what == Serve::http) return fmt::format("{} / HTTP/1.0\r\n\r\n", word);
    return fmt::format("{} {} {}\n", word, order.bytes, order.buffer);
}

std::optional<Order> parse_order(std::string_view line) {
    const auto what = named<Serve>(take_until(line, " "));
    if (!what || *what == Serve::http) return what ? std::optional(Order{.what = *what}) : std::nullopt;
    const auto bytes = whole_number<std::uint32_t>(take_until(line, " "));
    const auto buffer = whole_number<std::uint32_t>(line);
    if (!bytes || !buffer || *bytes > most_bytes_of(*what) || *buffer > largest_buffer) return std::nullopt;
    return Order{.what = *what, .bytes = *bytes, .buffer = *buffer};
}

} // namespace teamo::bench
