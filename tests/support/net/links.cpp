// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/net/links.h"

#include "support/daemon/process.h"

#include <fmt/ranges.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <system_error>
#include <utility>

namespace teamo::test {
namespace {

struct FreeSocket {
    void operator()(nl_sock* socket) const { ::nl_socket_free(socket); }
};
using Socket = std::unique_ptr<nl_sock, FreeSocket>;

Socket rtnetlink(const NetNs& in) {
    Socket socket(::nl_socket_alloc());
    if (!socket || in.inside([&] { return ::nl_connect(socket.get(), NETLINK_ROUTE); }) < 0)
        throw SetupError("no rtnetlink socket");
    return socket;
}

/// Those that tests ask for, as ip(8) spells them.
std::set<std::string> names_of_flags(unsigned flags) {
    // IFF_LOWER_UP of <linux/if.h>, which cannot stand before <net/if.h>.
    constexpr unsigned lower_up = 1U << 16;
    static constexpr std::array<std::pair<unsigned, const char*>, 5> names{{{IFF_UP, "UP"},
                                                                            {IFF_NOARP, "NOARP"},
                                                                            {IFF_PROMISC, "PROMISC"},
                                                                            {IFF_ALLMULTI, "ALLMULTI"},
                                                                            {lower_up, "LOWER_UP"}}};
    std::set<std::string> all;
    for (const auto& [flag, name] : names)
        if ((flags & flag) != 0) all.insert(name);
    return all;
}
std::string name_of_operstate(unsigned state) {
    static constexpr std::array names{"UNKNOWN", "NOTPRESENT", "DOWN", "LOWERLAYERDOWN",
                                      "TESTING", "DORMANT",    "UP"};
    return state < names.size() ? names[state] : "";
}

/// What one message tells; the master by its index, because its name is another question.
struct Answer {
    Device device;
    unsigned master = 0;
    bool came = false;
};

int read_answer(nl_msg* message, void* out) {
    auto& answer = *static_cast<Answer*>(out);
    auto* header = ::nlmsg_hdr(message);
    std::array<nlattr*, IFLA_MAX + 1> found{};
    if (header->nlmsg_type != RTM_NEWLINK ||
        ::nlmsg_parse(header, sizeof(ifinfomsg), found.data(), IFLA_MAX, nullptr) < 0)
        return NL_OK;
    const auto text = [&](int attribute) -> std::string {
        return found[attribute] != nullptr ? ::nla_get_string(found[attribute]) : "";
    };
    const auto number = [&](int attribute) {
        return found[attribute] != nullptr ? ::nla_get_u32(found[attribute]) : 0;
    };
    const auto* info = static_cast<const ifinfomsg*>(::nlmsg_data(header));
    auto& device = answer.device;
    device = {.index = static_cast<unsigned>(info->ifi_index),
              .name = text(IFLA_IFNAME),
              .address = "",
              .operstate = name_of_operstate(
                  found[IFLA_OPERSTATE] != nullptr ? ::nla_get_u8(found[IFLA_OPERSTATE]) : 0),
              .master = "",
              .kind = "",
              .alias = text(IFLA_IFALIAS),
              .flags = names_of_flags(info->ifi_flags),
              .altnames = {},
              .mtu = number(IFLA_MTU),
              .promiscuity = number(IFLA_PROMISCUITY)};
    if (auto* address = found[IFLA_ADDRESS])
        for (int i = 0; i < ::nla_len(address); ++i)
            device.address += fmt::format("{}{:02x}", i == 0 ? "" : ":",
                                          static_cast<const std::uint8_t*>(::nla_data(address))[i]);
    if (auto* list = found[IFLA_PROP_LIST]) {
        nlattr* one = nullptr;
        int left = 0;
        nla_for_each_nested(one, list, left) if (::nla_type(one) == IFLA_ALT_IFNAME)
            device.altnames.emplace_back(::nla_get_string(one));
    }
    std::array<nlattr*, IFLA_INFO_MAX + 1> kind{};
    if (found[IFLA_LINKINFO] != nullptr &&
        ::nla_parse_nested(kind.data(), IFLA_INFO_MAX, found[IFLA_LINKINFO], nullptr) == 0 &&
        kind[IFLA_INFO_KIND] != nullptr)
        device.kind = ::nla_get_string(kind[IFLA_INFO_KIND]);
    answer.master = number(IFLA_MASTER);
    answer.came = true;
    return NL_OK;
}

/// "NAME:VALUE" of each file that can be read: some answer with an error while they have no value.
std::string settings_below(const std::string& directory) {
    std::set<std::string> lines;
    std::error_code none;
    for (const auto& file : std::filesystem::directory_iterator(directory, none)) {
        std::ifstream stream(file.path());
        if (std::string value; std::getline(stream, value))
            lines.insert(fmt::format("{}:{}\n", file.path().string(), value));
    }
    return fmt::format("{}", fmt::join(lines, ""));
}

} // namespace

Device look(const NetNs& in, std::string_view name) {
    const auto socket = rtnetlink(in);
    Answer answer;
    ::nl_socket_modify_cb(socket.get(), NL_CB_VALID, NL_CB_CUSTOM, read_answer, &answer);
    const std::unique_ptr<nl_msg, decltype(&::nlmsg_free)> request(::nlmsg_alloc_simple(RTM_GETLINK, 0),
                                                                   ::nlmsg_free);
    ifinfomsg any{};
    const std::string wanted(name);
    if (::nlmsg_append(request.get(), &any, sizeof any, NLMSG_ALIGNTO) < 0 ||
        ::nla_put_string(request.get(), wanted.size() < IFNAMSIZ ? IFLA_IFNAME : IFLA_ALT_IFNAME,
                         wanted.c_str()) < 0 ||
        ::nl_send_auto(socket.get(), request.get()) < 0)
        throw SetupError("cannot ask for a device");
    const int status = ::nl_recvmsgs_default(socket.get());
    if (status < 0 || !answer.came)
        throw SetupError(fmt::format("no device {}: {}", name, ::nl_geterror(status)));
    if (answer.master != 0)
        in.inside([&] {
            std::array<char, IF_NAMESIZE> master{};
            if (::if_indextoname(answer.master, master.data()) != nullptr)
                answer.device.master = master.data();
        });
    return answer.device;
}

bool exists(const NetNs& in, std::string_view name) {
    return in.inside(
        [&] { return std::ifstream(fmt::format("/proc/sys/net/ipv4/conf/{}/forwarding", name)).good(); });
}

void rename(const NetNs& in, const std::string& from, const std::string& to) {
    const bool was_up = look(in, from).up();
    if (run({.argv = {"ip", "link", "set", from, "name", to}, .in = &in}).status == 0) return;
    in.ip(fmt::format("link set {0} down\nlink set {0} name {1}", from, to));
    if (was_up) in.ip(fmt::format("link set {} up", to));
}

void await_operation(const NetNs& in, std::string_view name) {
    const auto works = [&] {
        const auto state = look(in, name).operstate;
        return state == "UP" || state == "UNKNOWN";
    };
    if (!eventually("", works)) throw SetupError(fmt::format("{} does not become operational", name));
}

Counters operator-(const Counters& later, const Counters& earlier) {
    return {.rx_bytes = later.rx_bytes - earlier.rx_bytes,
            .rx_packets = later.rx_packets - earlier.rx_packets,
            .rx_dropped = later.rx_dropped - earlier.rx_dropped,
            .tx_bytes = later.tx_bytes - earlier.tx_bytes,
            .tx_packets = later.tx_packets - earlier.tx_packets,
            .tx_dropped = later.tx_dropped - earlier.tx_dropped};
}

Counters counters(const NetNs& in, std::string_view name) {
    std::ifstream table = in.inside([] { return std::ifstream("/proc/thread-self/net/dev"); });
    for (std::string line; std::getline(table, line);) {
        const auto colon = line.find(':');
        if (colon == std::string::npos) continue;
        const auto first = line.find_first_not_of(' ');
        if (std::string_view(line).substr(first, colon - first) != name) continue;
        std::istringstream numbers(line.substr(colon + 1));
        std::uint64_t skipped = 0;
        Counters read;
        numbers >> read.rx_bytes >> read.rx_packets >> skipped >> read.rx_dropped >> skipped >> skipped >>
            skipped >> skipped >> read.tx_bytes >> read.tx_packets >> skipped >> read.tx_dropped;
        return read;
    }
    throw SetupError(fmt::format("no counters of {}", name));
}

std::string snapshot(const NetNs& in, std::string_view name) {
    // A device without a clsact has no such filters: -force goes on after that error.
    const auto shown =
        fmt::format("qdisc show dev {0}\nfilter show dev {0} ingress\nfilter show dev {0} egress\n", name);
    const auto queues = run({.argv = {"tc", "-force", "-batch", "-"}, .in = &in, .input = shown});
    auto text = must(in, fmt::format("ip -j -p -d link show dev {}", name)) + queues.out + queues.err;
    in.inside([&] {
        for (const auto* family : {"ipv4", "ipv6"})
            text += settings_below(fmt::format("/proc/sys/net/{}/conf/{}", family, name));
    });
    return text;
}

std::string difference(const std::string& earlier, const std::string& later) {
    const auto lines_of = [](const std::string& text) {
        std::multiset<std::string> lines;
        std::istringstream stream(text);
        for (std::string line; std::getline(stream, line);)
            lines.insert(line);
        return lines;
    };
    const auto before = lines_of(earlier), after = lines_of(later);
    std::vector<std::string> gone, added;
    std::ranges::set_difference(before, after, std::back_inserter(gone));
    std::ranges::set_difference(after, before, std::back_inserter(added));
    std::string text;
    for (const auto& line : gone)
        text += "-" + line + "\n";
    for (const auto& line : added)
        text += "+" + line + "\n";
    return text;
}

} // namespace teamo::test
