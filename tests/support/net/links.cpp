// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/net/links.h"

#include "support/daemon/process.h"

#include <rapidjson/document.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace teamo::test {
namespace {

std::string text(const rapidjson::Value& object, const char* key) {
    const auto found = object.FindMember(key);
    return found != object.MemberEnd() && found->value.IsString() ? found->value.GetString() : "";
}

unsigned number(const rapidjson::Value& object, const char* key) {
    const auto found = object.FindMember(key);
    return found != object.MemberEnd() && found->value.IsUint() ? found->value.GetUint() : 0;
}

std::vector<std::string> texts(const rapidjson::Value& object, const char* key) {
    std::vector<std::string> all;
    const auto found = object.FindMember(key);
    if (found != object.MemberEnd() && found->value.IsArray())
        for (const auto& one : found->value.GetArray())
            all.emplace_back(one.GetString());
    return all;
}

Device device_from(const rapidjson::Value& object) {
    const auto flags = texts(object, "flags");
    const auto info = object.FindMember("linkinfo");
    return {.index = number(object, "ifindex"),
            .name = text(object, "ifname"),
            .address = text(object, "address"),
            .operstate = text(object, "operstate"),
            .master = text(object, "master"),
            .kind = info == object.MemberEnd() ? "" : text(info->value, "info_kind"),
            .alias = text(object, "ifalias"),
            .flags = {flags.begin(), flags.end()},
            .altnames = texts(object, "altnames"),
            .mtu = number(object, "mtu"),
            .promiscuity = number(object, "promiscuity")};
}

} // namespace

Device look(const NetNs& in, std::string_view name) {
    const auto shown = run({.argv = {"ip", "-j", "-d", "link", "show", "dev", std::string(name)}, .in = &in});
    rapidjson::Document document;
    document.Parse(shown.out.c_str());
    if (document.HasParseError() || !document.IsArray() || document.Empty())
        throw SetupError(fmt::format("no device {}: {}", name, shown.err));
    return device_from(document[0]);
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
    const auto shown = fmt::format("ip -j -p -d link show dev {0}; tc qdisc show dev {0};"
                                   "tc filter show dev {0} ingress 2>&1; tc filter show dev {0} egress 2>&1;"
                                   "cd /proc/sys/net; grep -s . ipv4/conf/{0}/* ipv6/conf/{0}/*; true",
                                   name);
    return must(in, shown);
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
