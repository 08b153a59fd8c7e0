// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Follows the advice in HP's paper on APA: spread ports evenly over the I/O bays, put cards into slots that
// are as fast as the cards, and put no more of them behind a link than it can carry.
#include "ctl/doctor/findings.h"
#include "text/numbers.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo::ctl {
namespace {

using enum Severity;

/// Reported by devices without a real PCI Express link: parts of a system on chip (see i40e_probe()),
/// emulated devices.
constexpr PcieLink placeholder{.speed = 2.5, .width = 1};

bool is_real(const PcieLink& link) { return link.is_known() && link != placeholder; }

std::string link_text(const PcieLink& link) {
    return fmt::format("{:g} GT/s x{} ({:.0f} Mbit/s)", link.speed, link.width, link.mbits());
}

/// "0000:03:00" of "0000:03:00.1".
std::string card_of(const DevicePlace& place) { return place.address.substr(0, place.address.rfind('.')); }

/// Ports of the team that share a card or a bridge.
struct Group {
    std::vector<const PortStatus*> ports;
    const DevicePlace* place = nullptr; ///< of one port: all functions of a card have the same link

    /// Mbit/s that the ports may carry in one direction, as far as their speeds are known.
    double required(const TeamState& state) const {
        double sum = 0, most = 0;
        for (const auto* port : ports) {
            const double speed = port->link.speed.value_or(0);
            sum += speed;
            most = std::max(most, speed);
        }
        return state.runner == "activebackup" ? most : sum; // one of them carries at a time
    }
    /// Finding::where.
    std::string where(const TeamState& state) const {
        return ports.size() == 1 ? ports.front()->name : state.name;
    }
};

// ---- a card and its slot -----------------------------------------------------------------------

std::map<std::string, Group> cards_of(const Readings& readings) {
    std::map<std::string, Group> cards;
    for (const auto& port : readings.state.ports) {
        const auto* place = find(readings.places, port.name);
        if (place == nullptr || place->address.empty()) continue;
        auto& card = cards[card_of(*place)];
        card.ports.push_back(&port);
        card.place = place;
    }
    return cards;
}

void add_card(const TeamState& state, const Group& card, Findings& findings) {
    const auto& [now, most] = std::pair(card.place->current, card.place->card);
    if (!now.is_known() || !is_real(most)) return;
    const bool alone = card.ports.size() == 1;
    const auto required = card.required(state);
    const bool too_slow = required > now.mbits();
    const auto whose = alone ? "its card" : "the card of " + listed(names_of(card.ports));
    const auto loss = too_slow ? fmt::format(": too slow for {:.0f} Mbit/s", required) : std::string();
    const auto severity = too_slow ? warning : note;
    const auto where = card.where(state);
    if (const auto best = card.place->best(); card.place->slot.is_known() && now.mbits() < best.mbits())
        findings.push_back({severity, where,
                            fmt::format("{} runs at {}, but slot and card support {}{}", whose,
                                        link_text(now), link_text(best), loss),
                            fmt::format("reseat {}, or try another slot", card.place->address)});
    else if (now.mbits() < most.mbits())
        findings.push_back({severity, where,
                            fmt::format("{} runs at {}{}; it supports {}{}", whose, link_text(now),
                                        card.place->slot.is_known() ? ", the maximum of its slot" : "",
                                        link_text(most), loss),
                            fmt::format("move {2} to a slot with {0:g} GT/s and {1} lanes", most.speed,
                                        most.width, card.place->address)});
    else if (too_slow && !alone)
        findings.push_back({warning, where, fmt::format("{} runs at {}{}", whose, link_text(now), loss),
                            "use ports of another card for some of them"});
}

// ---- links above the slots ---------------------------------------------------------------------

struct Bridge : Group {
    std::string address;
    PcieLink link;
    std::string card; ///< the card of all its ports; empty: several cards
};

/// By port names: the slowest of several bridges above the same ports.
std::map<std::vector<std::string>, Bridge> bridges_of(const Readings& readings) {
    std::map<std::string, Bridge> all;
    for (const auto& port : readings.state.ports) {
        const auto* place = find(readings.places, port.name);
        if (place == nullptr) continue;
        for (std::size_t step = 0; step < std::min(place->path.size(), place->above.size()); ++step) {
            if (!is_real(place->above[step])) continue;
            auto& bridge = all[place->path[step]];
            bridge.address = place->path[step];
            bridge.link = place->above[step];
            bridge.card = bridge.ports.empty() || bridge.card == card_of(*place) ? card_of(*place) : "";
            bridge.place = place;
            bridge.ports.push_back(&port);
        }
    }
    std::map<std::vector<std::string>, Bridge> slowest;
    for (auto& [address, bridge] : all) {
        auto& kept = slowest.try_emplace(names_of(bridge.ports), bridge).first->second;
        if (bridge.link.mbits() < kept.link.mbits()) kept = bridge;
    }
    return slowest;
}

/// Whether the card's own link is as slow: add_card() reports it.
bool is_reported_for_card(const Bridge& bridge) {
    const auto& own = bridge.place->current;
    return !bridge.card.empty() && own.is_known() && own.mbits() <= bridge.link.mbits();
}

void add_bridge(const TeamState& state, const Bridge& bridge, Findings& findings) {
    const auto required = bridge.required(state);
    if (required <= bridge.link.mbits() || is_reported_for_card(bridge)) return;
    const bool alone = bridge.ports.size() == 1;
    findings.push_back({warning, bridge.where(state),
                        fmt::format("{} behind {}, whose link runs at {}: too slow for {:.0f} Mbit/s",
                                    alone ? "is" : listed(names_of(bridge.ports)) + " are", bridge.address,
                                    link_text(bridge.link), required),
                        fmt::format("move {} to a slot behind another root port  (lspci -tv)",
                                    alone ? "its card" : "a card")});
}

// ---- NUMA nodes --------------------------------------------------------------------------------

void add_nodes(const Readings& readings, Findings& findings) {
    if (readings.state.runner == "activebackup") return; // one port carries at a time
    std::map<unsigned, std::vector<std::string>> nodes;
    for (const auto& cpu : readings.topology.cpus)
        nodes[cpu.node];
    if (nodes.size() < 2) return;
    std::size_t known = 0, most = 0;
    for (const auto& [port, place] : readings.places) {
        if (place.node < 0) continue;
        auto& names = nodes[static_cast<unsigned>(place.node)];
        names.push_back(port);
        most = std::max(most, names.size());
        ++known;
    }
    if (most <= (known + nodes.size() - 1) / nodes.size()) return;
    std::string text;
    std::vector<std::string> empty;
    for (const auto& [node, names] : nodes) {
        if (names.empty())
            empty.push_back(std::to_string(node));
        else
            text += fmt::format("{}{} on node {}", text.empty() ? "" : ", ", listed(names), node);
    }
    if (!empty.empty()) text += ", none on " + listed(empty);
    findings.push_back(
        {note, readings.state.name, "its ports are spread unevenly over the NUMA nodes: " + text,
         "use ports of a card in a slot of another node  (/sys/class/net/PORT/device/numa_node)"});
}

} // namespace

Findings placement_findings(const Readings& readings) {
    Findings findings;
    for (const auto& [address, card] : cards_of(readings))
        add_card(readings.state, card, findings);
    for (const auto& [ports, bridge] : bridges_of(readings))
        add_bridge(readings.state, bridge, findings);
    add_nodes(readings, findings);
    return findings;
}

} // namespace teamo::ctl
