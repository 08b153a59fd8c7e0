// SPDX-License-Identifier: LGPL-2.1-or-later
#include "soak/records.h"

#include "soak/state.h"

#include <linux/if.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace teamo::soak {

using namespace test;

namespace {

std::string wrong_entry(const World& world, const Model& model, unsigned port,
                        const rapidjson::Value& entry) {
    const auto name = Cabling::port(port);
    const auto slot = entry["slot"].GetUint();
    if (slot == 0) return fmt::format("{} has the slot 0 in the journal", name);
    const auto flags = entry["flags"].GetUint();
    const auto has =
        settings_text(entry["address"].GetString(), entry["mtu"].GetUint(), (flags & IFF_UP) != 0,
                      (flags & IFF_PROMISC) != 0, (flags & IFF_ALLMULTI) != 0);
    const auto was = world.before(port).substr(0, world.before(port).find('\n'));
    // One that is away may have been made again and have left while the daemon was frozen: the entry is that
    // of the former device. It is compared when it is here again.
    if (model.at(port).here && !was.empty() && has != was)
        return fmt::format("{} was \"{}\" before it was a port, and \"{}\" by the journal", name, was, has);
    if (!model.is_member(port)) return {};
    const auto mark = fmt::format("teamo-port-team0-{}", slot);
    const auto marks = look(world.wires().host(), name).altnames;
    return std::ranges::find(marks, mark) != marks.end()
               ? ""
               : fmt::format("{} has the slot {} in the journal, and the marks {}", name, slot,
                             testing::PrintToString(marks));
}

} // namespace

std::string settings_text(const std::string& address, unsigned mtu, bool up, bool promiscuous,
                          bool all_multicast) {
    return fmt::format("address {} mtu {}{}{}{}", address, mtu, up ? " UP" : "",
                       promiscuous ? " PROMISC" : "", all_multicast ? " ALLMULTI" : "");
}

std::string wrong_journal(const World& world, const Model& model) {
    const auto journal = parsed(content_of(journal_file));
    if (!journal) return "the journal is no JSON object";
    const auto* list = find(*journal, "/ports");
    if (list == nullptr || !list->IsArray()) return "the journal has no ports";
    std::set<unsigned> slots, seen;
    for (const auto& entry : list->GetArray()) {
        if (!slots.insert(entry["slot"].GetUint()).second) return "two ports of the journal have one slot";
        for (unsigned port = 1; port <= ports; ++port) {
            if (entry["name"].GetString() != Cabling::port(port)) continue;
            seen.insert(port);
            if (auto wrong = wrong_entry(world, model, port, entry); !wrong.empty()) return wrong;
        }
    }
    for (unsigned port = 1; port <= ports; ++port)
        if (model.is_member(port) && !seen.contains(port))
            return fmt::format("{} is not in the journal", Cabling::port(port));
    return {};
}

bool is_removed_by_hand(const std::string& port) {
    const auto journal = parsed(content_of(journal_file));
    const auto* list = journal ? find(*journal, "/removed_by_hand") : nullptr;
    return list != nullptr && list->IsArray() &&
           std::ranges::any_of(list->GetArray(), [&](const auto& name) { return name.GetString() == port; });
}

std::string wrong_files() {
    for (const auto* folder : {"/run/teamd", "/run/teamd-offload"})
        for (const auto& file : std::filesystem::directory_iterator(folder))
            if (const auto name = file.path().filename().string();
                name.find("tmp") != std::string::npos || name.find("broken") != std::string::npos)
                return fmt::format("{} is left", file.path().native());
    return {};
}

std::string wrong_pair(const NetNs& host, bool may_have_ipv6) {
    if (!exists(host, "team0")) return {};
    const auto marked = [](const Device& device, const char* mark) {
        return std::ranges::find(device.altnames, mark) != device.altnames.end();
    };
    if (!marked(look(host, "team0"), "teamo-team-team0")) return {};
    if (sh(host, "ip link show dev teamo-inner-team0").status != 0)
        return "team0 has its mark, and its inner end has none";
    const auto inner = look(host, "teamo-inner-team0");
    constexpr unsigned widest_mtu = 65'535;
    if (inner.mtu != widest_mtu || !inner.flags.contains("NOARP") || inner.alias.empty())
        return fmt::format(
            "team0 has its mark, and its inner end {} has the MTU {}, the alias \"{}\", NOARP {}", inner.name,
            inner.mtu, inner.alias, inner.flags.contains("NOARP"));
    if (!may_have_ipv6 &&
        must(host, fmt::format("cat /proc/sys/net/ipv6/conf/{}/disable_ipv6", inner.name)) != "1\n")
        return fmt::format("team0 has its mark, and its inner end {} has IPv6", inner.name);
    return {};
}

} // namespace teamo::soak
