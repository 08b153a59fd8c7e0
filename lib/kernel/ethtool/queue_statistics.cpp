// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/ethtool/queue_statistics.h"

#include "base/handle.h"
#include "base/whole_number.h"
#include "kernel/files/files.h"

#include <linux/ethtool.h>
#include <linux/netlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string_view>

namespace teamo {
namespace {

/// More than any driver has. Limits the memory that we allocate.
constexpr std::uint32_t most_statistics = 65'536;

/// Names with these count packets a second time, or packets that were not received.
constexpr auto excluded =
    std::to_array<std::string_view>({"tx", "xdp", "xsk", "prio", "drop", "err", "bad", "miss", "fail",
                                     "alloc", "csum", "lro", "gro", "cache", "byte"});

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

struct Numbered {
    std::string pattern; ///< the name with '#' for its number
    unsigned number = 0;
};

/// None if the name does not have exactly one number.
std::optional<Numbered> take_number(std::string_view name) {
    constexpr std::string_view digits = "0123456789";
    const auto start = name.find_first_of(digits);
    if (start == std::string_view::npos) return std::nullopt;
    const auto end = std::min(name.find_first_not_of(digits, start), name.size());
    if (name.find_first_of(digits, end) != std::string_view::npos) return std::nullopt;
    const auto number = whole_number<unsigned>(name.substr(start, end - start));
    if (!number) return std::nullopt;
    return Numbered{.pattern = fmt::format("{}#{}", name.substr(0, start), name.substr(end)),
                    .number = *number};
}

std::optional<Numbered> of_receive_queue(std::string name) {
    std::ranges::transform(name, name.begin(),
                           [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    if (!has(name, "rx")) return std::nullopt;
    if (!has(name, "packets") && !has(name, "pkt") && !has(name, "cnt")) return std::nullopt;
    if (std::ranges::any_of(excluded, [&name](auto part) { return has(name, part); })) return std::nullopt;
    return take_number(name);
}

/// SIOCETHTOOL for one device.
struct Device {
    UniqueFd socket;
    const std::string& name;

    /// `request` begins with a command (linux/ethtool.h); the kernel writes its answer into it.
    Result<> ask(void* request, std::string_view what) const {
        ifreq frame{};
        name.copy(frame.ifr_name, sizeof frame.ifr_name - 1);
        frame.ifr_data = static_cast<char*>(request);
        if (::ioctl(socket.get(), SIOCETHTOOL, &frame) < 0)
            return fail_errno(errno, fmt::format("{} of {}", what, name));
        return {};
    }
};

/// The number of strings in ETH_SS_STATS.
Result<std::uint32_t> count_statistics(const Device& device) {
    alignas(ethtool_sset_info) std::array<char, sizeof(ethtool_sset_info) + sizeof(std::uint32_t)> buffer{};
    auto* request = reinterpret_cast<ethtool_sset_info*>(buffer.data());
    request->cmd = ETHTOOL_GSSET_INFO;
    request->sset_mask = 1ULL << ETH_SS_STATS;
    TEAMO_TRY(device.ask(request, "the number of statistics"));
    const auto count = request->sset_mask == 0 ? 0 : request->data[0];
    if (count == 0 || count > most_statistics) return fail(ENOTSUP, "the driver has no statistics");
    return count;
}

struct Unmap {
    std::size_t length;
    void operator()(void* start) const noexcept { ::munmap(start, length); }
};

/// A buffer that ends at a guard page, so that a longer answer fails with EFAULT. The kernel ignores the size
/// of our buffer and writes as many values as the driver has at that moment (net/ethtool/ioctl.c:
/// ethtool_get_strings, ethtool_get_stats), which `ethtool -L` may have changed since we counted them.
struct GuardedBuffer {
    std::unique_ptr<void, Unmap> pages;
    void* answer;

    static Result<GuardedBuffer> of(std::size_t size) {
        const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
        const auto usable = (size + page - 1) / page * page;
        auto* start = ::mmap(nullptr, usable + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (start == MAP_FAILED) return fail_errno(errno, "no memory for statistics");
        GuardedBuffer buffer{.pages{start, Unmap{usable + page}},
                             .answer = static_cast<char*>(start) + (usable - size)};
        if (::mprotect(start, usable, PROT_READ | PROT_WRITE) < 0)
            return fail_errno(errno, "no memory for statistics");
        return buffer;
    }
};

/// Asks for all statistics. EAGAIN: their number, which the answer has in `counted`, is not `count` any more.
Result<> ask_all(const Device& device, void* request, const std::uint32_t& counted, std::uint32_t count,
                 std::string_view what) {
    auto done = device.ask(request, what);
    if (done ? counted != count : done.error().number == EFAULT)
        return fail(EAGAIN, "the number of statistics changed while they were read");
    return done;
}

Result<std::vector<std::string>> read_names(const Device& device, std::uint32_t count) {
    auto buffer =
        TEAMO_TRY(GuardedBuffer::of(sizeof(ethtool_gstrings) + std::size_t{count} * ETH_GSTRING_LEN));
    auto* request = new (buffer.answer)
        ethtool_gstrings{.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_STATS, .len = count};
    TEAMO_TRY(ask_all(device, request, request->len, count, "the names of the statistics"));
    std::vector<std::string> names;
    const auto* text = reinterpret_cast<const char*>(request->data);
    for (std::uint32_t at = 0; at < count; ++at, text += ETH_GSTRING_LEN)
        names.emplace_back(text, ::strnlen(text, ETH_GSTRING_LEN));
    return names;
}

Result<std::vector<std::uint64_t>> read_values(const Device& device, std::uint32_t count) {
    auto buffer =
        TEAMO_TRY(GuardedBuffer::of(sizeof(ethtool_stats) + std::size_t{count} * sizeof(std::uint64_t)));
    auto* request = new (buffer.answer) ethtool_stats{.cmd = ETHTOOL_GSTATS, .n_stats = count};
    TEAMO_TRY(ask_all(device, request, request->n_stats, count, "the statistics"));
    return std::vector<std::uint64_t>(request->data, request->data + count);
}

} // namespace

std::vector<std::size_t> find_queue_packets(std::span<const std::string> names, unsigned queues) {
    std::map<std::string, std::map<unsigned, std::size_t>> by_pattern;
    for (std::size_t at = 0; at < names.size(); ++at)
        if (const auto found = of_receive_queue(names[at]); found && found->number < queues)
            by_pattern[found->pattern].emplace(found->number, at);
    std::vector<std::size_t> first;
    for (const auto& [pattern, positions] : by_pattern) {
        // Drivers list the total of a queue before the counters for kinds of packets.
        if (queues == 0 || positions.size() < queues ||
            (!first.empty() && first.front() < positions.begin()->second))
            continue;
        first.clear();
        for (const auto& [number, at] : positions)
            first.push_back(at);
    }
    return first;
}

Result<std::vector<std::uint64_t>> read_queue_packets(const std::string& device, unsigned queues) {
    // Any socket will do, and the service may not open AF_INET; ethtool(8) does the same.
    const Device opened{.socket = UniqueFd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC)),
                        .name = device};
    if (!opened.socket) return fail_errno(errno, "cannot create a socket");
    const auto count = TEAMO_TRY(count_statistics(opened));
    const auto names = TEAMO_TRY(read_names(opened, count));
    const auto positions = find_queue_packets(names, queues);
    if (positions.empty())
        return fail(ENOTSUP, fmt::format("{} does not count packets by receive queue", device));
    const auto values = TEAMO_TRY(read_values(opened, count));
    std::vector<std::uint64_t> packets;
    for (const auto at : positions)
        packets.push_back(values[at]);
    return packets;
}

Result<InterruptSample> read_interrupt_sample(const PortInterrupts& port, const std::string& device) {
    auto packets = TEAMO_TRY(read_queue_packets(device, port.receive_queues));
    const auto sent = sysfs::number("/sys/class/net/" + device + "/statistics/tx_packets");
    InterruptSample sample{.packets = std::move(packets),
                           .sent = static_cast<std::uint64_t>(sent.value_or(0))};
    for (const auto& vector : vectors_of(port))
        sample.vectors.emplace(vector.irq, vector.count);
    return sample;
}

} // namespace teamo
