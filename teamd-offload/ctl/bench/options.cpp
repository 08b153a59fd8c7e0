// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/bench/options.h"

#include "base/named.h"
#include "base/take_until.h"
#include "base/whole_number.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace teamo::ctl::bench {
namespace {

using namespace std::chrono_literals;

struct Bounds {
    unsigned least, most;
};

/// The number of an option, or `otherwise` if it was not given.
Result<unsigned> number_from(const OptionValues& values, std::string_view name, unsigned otherwise,
                             Bounds bounds) {
    const auto found = values.find(name);
    if (found == values.end()) return otherwise;
    const auto number = whole_number<unsigned>(found->second);
    if (!number || *number < bounds.least || *number > bounds.most)
        return fail(EINVAL, fmt::format("--{}: \"{}\" is not a number from {} to {}", name, found->second,
                                        bounds.least, bounds.most));
    return *number;
}

/// The length of a round: seconds, also 0.2.
Result<std::chrono::milliseconds> round_from(const OptionValues& values,
                                             std::chrono::milliseconds otherwise) {
    constexpr double least = 0.1, most = 3600, milliseconds = 1000;
    const auto found = values.find("seconds");
    if (found == values.end()) return otherwise;
    double seconds = 0;
    const auto* end = found->second.data() + found->second.size();
    const auto [stop, error] = std::from_chars(found->second.data(), end, seconds);
    if (error != std::errc{} || stop != end || !(seconds >= least && seconds <= most))
        return fail(EINVAL, fmt::format("--seconds: \"{}\" is not a number from {} to {}", found->second,
                                        least, most));
    return std::chrono::milliseconds(std::llround(seconds * milliseconds));
}

Result<std::vector<std::string>> addresses_from(const OptionValues& values, std::string_view name) {
    std::vector<std::string> addresses;
    const auto found = values.find(name);
    if (found == values.end()) return addresses;
    std::string_view rest = found->second;
    while (!rest.empty()) {
        const auto address = take_until(rest, ",");
        if (!parse_ip(address))
            return fail(EINVAL, fmt::format("--{}: \"{}\" is not an IP address", name, address));
        addresses.emplace_back(address);
    }
    return addresses;
}

constexpr Bounds all_ports{1, 65'535};

} // namespace

Result<Options> options_from(const OptionValues& values) {
    Options options;
    if (const auto profile = values.find("profile"); profile != values.end()) {
        static constexpr std::array<std::string_view, 4> profiles{"quick", "peers", "binding", "paper"};
        if (std::ranges::find(profiles, profile->second) == profiles.end())
            return fail(EINVAL, "--profile: quick, peers, binding or paper expected");
        options.profile = profile->second;
    }
    const bool paper = options.profile == "paper";
    options.ports = TEAMO_TRY(number_from(values, "self", 0, {1, max_ports}));
    options.peers = TEAMO_TRY(addresses_from(values, "peer"));
    for (const auto& peer : options.peers)
        if (parse_ip(peer)->is_link_local())
            return fail(EINVAL, fmt::format("--peer: {} is a link-local address, which many links have: give "
                                            "another address of the peer",
                                            peer));
    options.port = static_cast<std::uint16_t>(TEAMO_TRY(number_from(values, "port", 5201, all_ports)));
    options.rate = TEAMO_TRY(number_from(values, "rate", 1000, {0, 400'000}));
    options.round = TEAMO_TRY(round_from(values, paper ? 60s : 1s));
    options.rounds = TEAMO_TRY(number_from(values, "rounds", paper ? 3 : 2, {1, 1000}));
    if (const auto html = values.find("html"); html != values.end()) options.html = html->second;
    if (const auto prices = values.find("prices"); prices != values.end()) options.prices = prices->second;
    if (const auto only = values.find("only"); only != values.end()) options.only = only->second;
    return options;
}

Result<ServeOptions> serve_options_from(const OptionValues& values) {
    ServeOptions options;
    options.port = static_cast<std::uint16_t>(TEAMO_TRY(number_from(values, "port", 5201, all_ports)));
    for (const auto& address : TEAMO_TRY(addresses_from(values, "allow")))
        options.allowed.insert(unmapped(*parse_ip(address))); // as the server sees a client
    if (options.allowed.empty())
        return fail(EINVAL, "name the clients that may connect: --allow=ADDRESS[,ADDRESS...]");
    return options;
}

} // namespace teamo::ctl::bench
