// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/offload_report.h"
#include "ctl/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace teamo::ctl {
namespace {

FeatureNames without(const FeatureNames& names, const FeatureNames& others) {
    FeatureNames rest;
    std::ranges::set_difference(names, others, std::inserter(rest, rest.end()));
    return rest;
}

FeatureNames both(const FeatureNames& one, const FeatureNames& other) {
    FeatureNames common;
    std::ranges::set_intersection(one, other, std::inserter(common, common.end()));
    return common;
}

std::string list_of(const FeatureNames& names) { return fmt::format("{}", fmt::join(names, ", ")); }

/// Those that spare the CPU work packet by packet. A card sums by protocol, or whatever it is told to: the
/// latter does for both (NETIF_F_HW_CSUM).
FeatureNames sparing(const FeatureNames& features) {
    using enum OffloadGroup;
    constexpr std::array groups{tso, tso6, uso, gso, tx_checksum, rx_checksum, scatter_gather, tunnels};
    FeatureNames names;
    for (const auto& offload : offload_catalogue())
        if (features.contains(offload.name) && std::ranges::find(groups, offload.group) != groups.end())
            names.emplace(offload.name);
    if (names.erase("tx-checksum-ip-generic") > 0) names.insert({"tx-checksum-ipv4", "tx-checksum-ipv6"});
    return names;
}

FeatureNames of_the_others(const OffloadStatus& offload, const DeviceOffloads& port) {
    FeatureNames names;
    for (const auto& other : offload.ports)
        if (other.name != port.name) names.merge(sparing(other.active));
    return names;
}

void add_lacking(const DeviceOffloads& port, std::vector<std::string>& remarks) {
    if (port.lacking.empty()) return;
    const auto here = both(port.lacking, port.changeable), never = without(port.lacking, port.changeable);
    std::vector<std::string> parts;
    if (!never.empty()) parts.push_back(fmt::format("has no {}", list_of(never)));
    if (!here.empty()) parts.push_back(fmt::format("has {} off", list_of(here)));
    remarks.push_back(fmt::format(
        "{} holds the team back: it {}, which is required; {}", port.name, fmt::join(parts, " and "),
        port.last ? "it carries only while no other port can" : "it is used all the same"));
}

/// Off as somebody wrote it, or because nobody asks for it.
void add_behind(const OffloadStatus& offload, const DeviceOffloads& port, std::vector<std::string>& remarks) {
    const auto behind = without(without(of_the_others(offload, port), sparing(port.active)), port.lacking);
    const auto say = [&](const FeatureNames& names, std::string_view before, std::string_view after) {
        if (!names.empty())
            remarks.push_back(fmt::format("{} holds the team back: it has {}{}{}", port.name, before,
                                          list_of(names), after));
    };
    const auto unwanted = both(behind, port.shall_be_off);
    say(unwanted, "", " off, as it is configured; others have it on");
    // What shall be on is spoken of by add_astray().
    const auto rest = without(without(behind, unwanted), port.shall_be_on);
    say(both(rest, port.changeable), "", " off, which others have on");
    say(without(rest, port.changeable), "no ", ", which others have");
}

void add_astray(const OffloadStatus& offload, const DeviceOffloads& device,
                std::vector<std::string>& remarks) {
    const auto off = without(without(device.shall_be_on, device.active), device.lacking);
    const auto on = both(device.shall_be_off, device.active);
    const auto* why = offload.repair ? "" : ", and stays so: \"repair\" is false";
    if (!off.empty())
        remarks.push_back(fmt::format("{}: {} shall be on and is off{}", device.name, list_of(off), why));
    if (!on.empty())
        remarks.push_back(fmt::format("{}: {} shall be off and is on{}", device.name, list_of(on), why));
    if (device.gave_up)
        remarks.push_back(fmt::format("{}: somebody switches its offloads back; after {} the daemon gave up "
                                      "putting them right",
                                      device.name, counted(device.repaired, "time", "times")));
}

/// Who segments sets the largest packet that the team may send (plan/make_plan.cpp: team_limits).
std::vector<const DeviceOffloads*> that_segment(const OffloadStatus& offload) {
    std::vector<const DeviceOffloads*> all, some;
    for (const auto& port : offload.ports) {
        all.push_back(&port);
        if (port.active.contains(tso)) some.push_back(&port);
    }
    return some.empty() ? all : some;
}

void add_limit(const OffloadStatus& offload, std::uint32_t SegmentLimits::*limit, std::string_view unit,
               std::vector<std::string>& remarks) {
    std::uint32_t least = 0, next = 0; // 0: none
    for (const auto* port : that_segment(offload))
        if (const auto here = port->gso_max.*limit; here != 0 && (least == 0 || here < least)) least = here;
    std::vector<std::string> names;
    for (const auto* port : that_segment(offload)) {
        const auto here = port->gso_max.*limit;
        if (here == least && least != 0) names.push_back(port->name);
        if (here > least && (next == 0 || here < next)) next = here;
    }
    const auto team = offload.team.gso_max.*limit;
    if (names.empty() || team == 0) return;
    if (team < least)
        remarks.push_back(fmt::format("{}: a packet may have {} {}, as somebody set it; its ports take {}",
                                      offload.team.name, team, unit, least));
    else if (next != 0)
        remarks.push_back(fmt::format("{} {} the team back: a packet may have {} {}, the others take {}",
                                      fmt::join(names, ", "), names.size() == 1 ? "holds" : "hold", least,
                                      unit, next));
}

void add_limits(const OffloadStatus& offload, std::vector<std::string>& remarks) {
    add_limit(offload, &SegmentLimits::size, "bytes", remarks);
    add_limit(offload, &SegmentLimits::segs, "segments", remarks);
    const bool differs = std::ranges::any_of(offload.ports, [](const DeviceOffloads& port) {
        return port.gso_max.ipv4_size != 0 && port.gso_max.ipv4_size != port.gso_max.size;
    });
    if (differs) add_limit(offload, &SegmentLimits::ipv4_size, "bytes by IPv4", remarks);
}

std::string percent(double part) {
    const auto value = 100 * part;
    return value < 1 ? fmt::format("{:.2g} %", value) : fmt::format("{:.1f} %", value);
}

/// "at least 412 Mbit/s of bulk"
std::string bulk_of(const Sending& sending) {
    if (sending.source == BulkSource::unknown)
        return fmt::format("{}, of which it is not known how much is bulk", megabits(sending.bulk));
    return fmt::format("{}{} of bulk", sending.source == BulkSource::at_least ? "at least " : "",
                       megabits(sending.bulk));
}

std::string cost_line(const PortCost& cost, std::string_view unmeasured) {
    const auto& sending = cost.sending;
    if (sending.bulk <= 0) {
        if (sending.bytes > 0 && sending.packets > 0 && sending.source == BulkSource::at_least)
            return fmt::format(
                "{}: its packets have {:.0f} bytes on average, little or nothing is segmented now", cost.port,
                sending.bytes / sending.packets);
        return fmt::format("{}: nothing to segment now", cost.port);
    }
    const auto* what = cost.cuts == Cuts::all ? "segmented in software" : "in part segmented in software";
    const auto part = cpu_share(cost);
    if (!part)
        return fmt::format("{}: {}, {}; the cost is not measured: {}", cost.port, bulk_of(sending), what,
                           unmeasured);
    const bool most = cost.cuts != Cuts::all || sending.source == BulkSource::unknown;
    return fmt::format("{}: {}, {}: {}{} of a CPU ({:.0f} ns/KiB measured here)", cost.port, bulk_of(sending),
                       what, most ? "at most " : "", percent(*part), price_of(*cost.measured));
}

} // namespace

Result<> tells_of_offloads(const TeamState& state) {
    if (state.offload) return {};
    return fail(ENOTSUP,
                "the daemon is older than this command and does not tell of offloads; a new one that is "
                "started in its place goes on with the team");
}

std::vector<std::string> offload_remarks(const OffloadStatus& offload) {
    std::vector<std::string> remarks;
    if (cuts_of(offload.team) == Cuts::all)
        remarks.push_back(fmt::format("{}: its TSO is off, every packet is cut before it comes to a port",
                                      offload.team.name));
    for (const auto& port : offload.ports) {
        add_lacking(port, remarks);
        add_behind(offload, port, remarks);
        add_astray(offload, port, remarks);
    }
    add_astray(offload, offload.team, remarks);
    add_limits(offload, remarks);
    if (remarks.empty()) remarks.emplace_back("no port holds the team back");
    return remarks;
}

std::vector<std::string> cost_remarks(const OffloadReport& report) {
    std::vector<std::string> remarks;
    for (const auto& cost : report.costs)
        remarks.push_back(cost_line(cost, report.unmeasured));
    return remarks;
}

} // namespace teamo::ctl
