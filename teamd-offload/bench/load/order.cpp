// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/load/order.h"

#include "base/take_until.h"
#include "base/whole_number.h"

#include <fmt/format.h>

#include <array>

namespace teamo::bench {
namespace {

constexpr auto order_words =
    std::to_array<std::string_view>({"sink", "source", "echo", "file", "store", "GET", "totals"});

std::uint32_t most_bytes_of(Serve what) {
    return what == Serve::file || what == Serve::store ? file_size : longest_message;
}

} // namespace

std::string text_of(const Order& order) {
    const auto word = order_words.at(static_cast<std::size_t>(order.what));
    if (order.what == Serve::http) return fmt::format("{} / HTTP/1.0\r\n\r\n", word);
    return fmt::format("{} {} {}\n", word, order.bytes, order.buffer);
}

std::optional<Order> parse_order(std::string_view line) {
    const auto word = take_until(line, " ");
    for (std::size_t number = 0; number < order_words.size(); ++number) {
        if (order_words[number] != word) continue;
        const auto what = static_cast<Serve>(number);
        if (what == Serve::http) return Order{.what = what}; // the rest of it is not needed
        const auto bytes = whole_number<std::uint32_t>(take_until(line, " "));
        const auto buffer = whole_number<std::uint32_t>(line);
        if (!bytes || !buffer || *bytes > most_bytes_of(what) || *buffer > largest_buffer)
            return std::nullopt;
        return Order{.what = what, .bytes = *bytes, .buffer = *buffer};
    }
    return std::nullopt;
}

} // namespace teamo::bench
