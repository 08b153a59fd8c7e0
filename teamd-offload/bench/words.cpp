// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/compare.h"

#include "text/numbers.h"

#include <fmt/format.h>

#include <array>

namespace teamo::bench {
namespace {

void add_other_settings(const Case& what, std::vector<std::string>& words) {
    static const Case ordinary;
    if (what.binding == Binding::unbound) words.emplace_back("workers not bound");
    if (what.binding == Binding::follow) words.emplace_back("workers follow the packets");
    if (what.binding == Binding::cross) words.emplace_back("workers bound crosswise");
    if (what.clients != ordinary.clients) words.push_back(fmt::format("{} clients a port", what.clients));
    const bool streams = what.load == Load::stream; // other loads set no sizes
    if (streams && what.message != ordinary.message)
        words.push_back(fmt::format("messages of {} bytes", what.message));
    if (streams && what.socket_buffer != ordinary.socket_buffer)
        words.push_back(fmt::format("sockets of {} bytes", what.socket_buffer));
    if (what.gso_max != ordinary.gso_max) words.push_back(fmt::format("gso_max_size {}", what.gso_max));
    if (what.mtu != ordinary.mtu) words.push_back(fmt::format("MTU {}", what.mtu));
}

/// In the order of the enumerators.
template <class Enum, std::size_t count>
std::string_view text_in(const std::array<std::string_view, count>& texts, Enum value) {
    return texts.at(static_cast<std::size_t>(value));
}
constexpr std::array<std::string_view, 3> way_texts{"transmit", "receive", "both ways"};
constexpr std::array<std::string_view, 4> load_texts{"streams", "files of 6 MB", "request/response",
                                                     "short HTTP requests"};
constexpr std::array<std::string_view, 4> carrier_texts{"team", "ports alone", "bonding", "teamd"};
constexpr std::array<std::string_view, 4> limit_texts{"not known", "CPU", "shaper", "link"};

} // namespace

std::string_view way_text(Way way) { return text_in(way_texts, way); }
std::string_view load_text(Load load) { return text_in(load_texts, load); }
std::string_view limit_text(Limit limit) { return text_in(limit_texts, limit); }

std::string carrier_words(const Case& what) {
    const auto over = text_in(carrier_texts, what.over);
    return what.datapath.empty() ? std::string(over) : fmt::format("{} ({})", over, what.datapath);
}

std::string setup_text(const Case& what) {
    std::vector<std::string> words{carrier_words(what)};
    words.emplace_back(load_text(what.load));
    if (what.load == Load::stream) {
        words.push_back(fmt::format("messages of {} bytes", what.message));
        words.push_back(fmt::format("sockets of {} bytes", what.socket_buffer));
    }
    auto rest = what;
    rest.message = Case{}.message;
    rest.socket_buffer = Case{}.socket_buffer;
    add_other_settings(rest, words);
    return joined(words);
}

std::string case_text(const Case& what) {
    std::vector<std::string> words{carrier_words(what)};
    words.push_back(counted(what.ports, "port", "ports"));
    words.emplace_back(way_text(what.way));
    if (what.load != Load::stream) words.emplace_back(load_text(what.load));
    if (!what.tso) words.emplace_back("TSO and GSO off");
    add_other_settings(what, words);
    return joined(words);
}

std::string ratio_text(Subject about, double ratio) {
    if (about == Subject::single_sum) return fmt::format("{:.1f} %", 100 * ratio);
    if (about == Subject::demand_by_ports) return fmt::format("{:.2f} times", ratio);
    return fmt::format("{:+.1f} %", 100 * (ratio - 1));
}

std::string ratio_text(const Comparison& comparison) {
    const auto& [about, what, against, ratio, why] = comparison;
    if (ratio.rounds < 2) return ratio_text(about, ratio.median);
    return fmt::format("{} ({} to {})", ratio_text(about, ratio.median), ratio_text(about, ratio.low),
                       ratio_text(about, ratio.high));
}

} // namespace teamo::bench
