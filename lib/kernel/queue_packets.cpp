// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/queue_packets.h"

#include "base/handle.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

namespace teamo {
namespace {

/// More than any driver has; what is asked for is room in memory.
constexpr std::uint32_t most_statistics = 65'536;

/// Of packets that were counted elsewhere too, or never came in.
constexpr auto something_else =
    std::to_array<std::string_view>({"tx", "xdp", "xsk", "prio", "drop", "err", "bad", "miss", "fail",
                                     "alloc", "csum", "lro", "gro", "cache", "byte"});

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

struct Numbered {
    std::string pattern; ///< the name with '#' for its number
    unsigned number = 0;
};

/// Nothing where there is not exactly one number.
std::optional<Numbered> take_number(std::string_view name) {
    constexpr std::string_view digits = "0123456789";
    const auto start = name.find_first_of(digits);
    if (start == std::string_view::npos) return std::nullopt;
    const auto end = std::min(name.find_first_not_of(digits, start), name.size());
    if (name.find_first_of(digits, end) != std::string_view::npos) return std::nullopt;
    Numbered found{.pattern = fmt::format("{}#{}", name.substr(0, start), name.substr(end))};
    const auto [at, error] = std::from_chars(name.data() + start, name.data() + end, found.number);
    if (error != std::errc()) return std::nullopt;
    return found;
}

std::optional<Numbered> of_receive_queue(std::string name) {
    std::ranges::transform(name, name.begin(),
                           [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    if (!has(name, "rx")) return std::nullopt;
    if (!has(name, "packets") && !has(name, "pkt") && !has(name, "cnt")) return std::nullopt;
    if (std::ranges::any_of(something_else, [&name](auto part) { return has(name, part); }))
        return std::nullopt;
    return take_number(name);
}

/// What SIOCETHTOOL does to one device.
class Device {
public:
    static Result<Device> open(const std::string& name) {
        UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        if (!socket) return fail_errno(errno, "no socket");
        return Device(std::move(socket), name);
    }
    /// `request` begins with a command (linux/ethtool.h), and is where the kernel answers.
    Result<> ask(void* request, std::string_view what) {
        ifreq frame{};
        name_.copy(frame.ifr_name, sizeof frame.ifr_name - 1);
        frame.ifr_data = static_cast<char*>(request);
        if (::ioctl(socket_.get(), SIOCETHTOOL, &frame) < 0)
            return fail_errno(errno, fmt::format("{} of {}", what, name_));
        return {};
    }

private:
    Device(UniqueFd socket, std::string name) : socket_(std::move(socket)), name_(std::move(name)) {}
    UniqueFd socket_;
    std::string name_;
};

/// How many strings there are of ETH_SS_STATS.
Result<std::uint32_t> count_statistics(Device& device) {
    alignas(ethtool_sset_info) std::array<char, sizeof(ethtool_sset_info) + sizeof(std::uint32_t)> room{};
    auto* request = reinterpret_cast<ethtool_sset_info*>(room.data());
    request->cmd = ETHTOOL_GSSET_INFO;
    request->sset_mask = 1ULL << ETH_SS_STATS;
    if (auto done = device.ask(request, "the number of statistics"); !done)
        return tl::unexpected(done.error());
    const auto count = request->sset_mask == 0 ? 0 : request->data[0];
    if (count == 0 || count > most_statistics) return fail(ENOTSUP, "no statistics");
    return count;
}

// The kernel fills in as many as the driver has by then: between two questions that may have become another
// number (ethtool -L), so both say how many they have room for, and the kernel refuses or cuts what is more
// (net/ethtool/ioctl.c: ethtool_get_strings, ethtool_get_stats). Room is kept for twice as many all the same.

Result<std::vector<std::string>> read_names(Device& device, std::uint32_t count) {
    std::vector<std::uint64_t> room((sizeof(ethtool_gstrings) + 2UL * count * ETH_GSTRING_LEN) / 8 + 1);
    auto* request = reinterpret_cast<ethtool_gstrings*>(room.data());
    *request = {.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_STATS, .len = count};
    if (auto done = device.ask(request, "the names of the statistics"); !done)
        return tl::unexpected(done.error());
    if (request->len != count) return fail(EAGAIN, "the statistics have changed");
    std::vector<std::string> names;
    const auto* text = reinterpret_cast<const char*>(request->data);
    for (std::uint32_t at = 0; at < count; ++at, text += ETH_GSTRING_LEN)
        names.emplace_back(text, ::strnlen(text, ETH_GSTRING_LEN));
    return names;
}

Result<std::vector<std::uint64_t>> read_values(Device& device, std::uint32_t count) {
    std::vector<std::uint64_t> room(sizeof(ethtool_stats) / 8 + 2UL * count + 1);
    auto* request = reinterpret_cast<ethtool_stats*>(room.data());
    *request = {.cmd = ETHTOOL_GSTATS, .n_stats = count};
    if (auto done = device.ask(request, "the statistics"); !done) return tl::unexpected(done.error());
    if (request->n_stats != count) return fail(EAGAIN, "the statistics have changed");
    const auto* first = room.data() + sizeof(ethtool_stats) / 8;
    return std::vector<std::uint64_t>(first, first + count);
}

} // namespace

std::vector<std::size_t> find_queue_packets(std::span<const std::string> names, unsigned queues) {
    std::map<std::string, std::map<unsigned, std::size_t>> by_pattern;
    for (std::size_t at = 0; at < names.size(); ++at)
        if (const auto found = of_receive_queue(names[at]); found && found->number < queues)
            by_pattern[found->pattern].emplace(found->number, at);
    std::vector<std::size_t> first;
    for (const auto& [pattern, places] : by_pattern) {
        // All of the packets are told before some kind of them.
        if (queues == 0 || places.size() < queues ||
            (!first.empty() && first.front() < places.begin()->second))
            continue;
        first.clear();
        for (const auto& [number, at] : places)
            first.push_back(at);
    }
    return first;
}

Result<std::vector<std::uint64_t>> read_queue_packets(const std::string& device, unsigned queues) {
    auto opened = Device::open(device);
    if (!opened) return tl::unexpected(opened.error());
    const auto count = count_statistics(*opened);
    if (!count) return tl::unexpected(count.error());
    const auto names = read_names(*opened, *count);
    if (!names) return tl::unexpected(names.error());
    const auto places = find_queue_packets(*names, queues);
    if (places.empty())
        return fail(ENOTSUP, fmt::format("{} does not count packets by receive queue", device));
    const auto values = read_values(*opened, *count);
    if (!values) return tl::unexpected(values.error());
    std::vector<std::uint64_t> packets;
    for (const auto at : places)
        packets.push_back((*values)[at]);
    return packets;
}

} // namespace teamo
