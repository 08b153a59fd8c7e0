// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/offload_report.h"

#include "model/bond_hardware.h"
#include "model/observation.h"
#include "model/offload.h"
#include "text/numbers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>

namespace teamo::ctl {
namespace {

std::string list_of(const FeatureNames& names) { return fmt::format("{}", fmt::join(names, ", ")); }

/// The offloads that save CPU time for each packet. tx-checksum-ip-generic (NETIF_F_HW_CSUM) includes the
/// checksums of IPv4 and of IPv6.
FeatureNames cpu_saving(const FeatureNames& features) {
    using enum OffloadGroup;
    constexpr std::array groups{tso, tso6, uso, gso, tx_checksum, rx_checksum, scatter_gather, tunnels};
    FeatureNames names;
    for (const auto& offload : offload_catalogue())
        if (features.contains(offload.name) && std::ranges::find(groups, offload.group) != groups.end())
            names.insert(offload.name);
    if (names.erase("tx-checksum-ip-generic") > 0) names.insert({"tx-checksum-ipv4", "tx-checksum-ipv6"});
    return names;
}

FeatureNames of_the_others(const OffloadStatus& offload, const DeviceOffloads& port) {
    FeatureNames names;
    for (const auto& other : offload.ports)
        if (other.name != port.name) names.add(cpu_saving(other.active));
    return names;
}

void add_lacking(const DeviceOffloads& port, std::vector<std::string>& remarks) {
    if (port.lacking.empty()) return;
    const auto off = port.lacking.common_with(port.changeable),
               missing = port.lacking.without(port.changeable);
    std::vector<std::string> parts;
    if (!missing.empty()) parts.push_back(fmt::format("has no {}", list_of(missing)));
    if (!off.empty()) parts.push_back(fmt::format("has {} off", list_of(off)));
    remarks.push_back(
        fmt::format("{} limits the team: it {}, which is required; {}", port.name, fmt::join(parts, " and "),
                    port.last ? "it carries only while no other port can" : "it is used anyway"));
}

/// Offloads that other ports have on: switched off by the configuration, only switched off, or missing.
void add_less_than_others(const OffloadStatus& offload, const DeviceOffloads& port,
                          std::vector<std::string>& remarks) {
    const auto fewer = of_the_others(offload, port).without(cpu_saving(port.active)).without(port.lacking);
    const auto add = [&](const FeatureNames& names, std::string_view before, std::string_view after) {
        if (!names.empty())
            remarks.push_back(
                fmt::format("{} limits the team: it has {}{}{}", port.name, before, list_of(names), after));
    };
    const auto unwanted = fewer.common_with(port.planned_off);
    add(unwanted, "", " off, as configured; others have it on");
    // add_not_as_configured() reports what is configured as on.
    const auto rest = fewer.without(unwanted).without(port.planned_on);
    add(rest.common_with(port.changeable), "", " off, which others have on");
    add(rest.without(port.changeable), "no ", ", which others have");
}

void add_not_as_configured(const OffloadStatus& offload, const DeviceOffloads& device,
                           std::vector<std::string>& remarks) {
    const auto off = device.planned_on.without(device.active).without(device.lacking);
    const auto on = device.planned_off.common_with(device.active);
    const auto* suffix = offload.repair ? "" : "; it is not repaired, because \"repair\" is false";
    if (!off.empty())
        remarks.push_back(
            fmt::format("{}: {} is configured on, but is off{}", device.name, list_of(off), suffix));
    if (!on.empty())
        remarks.push_back(
            fmt::format("{}: {} is configured off, but is on{}", device.name, list_of(on), suffix));
    if (device.gave_up)
        remarks.push_back(fmt::format("{}: another program keeps changing its offloads; the daemon gave up "
                                      "after {}",
                                      device.name, counted(device.repaired, "repair", "repairs")));
}

/// The ports whose limits are those of the team (plan/team/make_plan.cpp: team_limits): the ports with TSO,
/// or all ports if none has it.
std::vector<DeviceOffloads> limiting_ports(const OffloadStatus& offload) {
    auto ports = offload.ports;
    const auto has_tso = [](const DeviceOffloads& port) { return port.active.contains(tso); };
    if (std::ranges::any_of(ports, has_tso)) std::erase_if(ports, std::not_fn(has_tso));
    return ports;
}

void add_limit(const OffloadStatus& offload, std::uint32_t SegmentLimits::* limit, std::string_view unit,
               std::vector<std::string>& remarks) {
    std::map<std::uint32_t, std::vector<std::string>> ports; // by limit
    for (const auto& port : limiting_ports(offload))
        if (const auto value = port.gso_max.*limit; value != 0) ports[value].push_back(port.name);
    const auto team = offload.team.gso_max.*limit;
    if (ports.empty() || team == 0) return;
    const auto& [least, names] = *ports.begin();
    if (team < least)
        remarks.push_back(
            fmt::format("{}: packets are limited to {} {} by another program or the user; its ports take {}",
                        offload.team.name, team, unit, least));
    else if (ports.size() > 1)
        remarks.push_back(fmt::format("{} {} the packets of the team to {} {}; the other ports allow {}",
                                      fmt::join(names, ", "), names.size() == 1 ? "limits" : "limit", least,
                                      unit, std::next(ports.begin())->first));
}

void add_limits(const OffloadStatus& offload, std::vector<std::string>& remarks) {
    add_limit(offload, &SegmentLimits::size, "bytes", remarks);
    add_limit(offload, &SegmentLimits::segs, "segments", remarks);
    const bool differs = std::ranges::any_of(offload.ports, [](const DeviceOffloads& port) {
        return port.gso_max.ipv4_size != 0 && port.gso_max.ipv4_size != port.gso_max.size;
    });
    if (differs) add_limit(offload, &SegmentLimits::ipv4_size, "bytes with IPv4", remarks);
}

std::string percent(double part) {
    const auto value = 100 * part;
    return value < 1 ? fmt::format("{:.2g} %", value) : fmt::format("{:.1f} %", value);
}

/// "at least 412 Mbit/s of bulk"
std::string bulk_of(const Sending& sending) {
    if (sending.source == BulkSource::unknown)
        return fmt::format("{}, not known how much of it is bulk", megabits(sending.bulk));
    return fmt::format("{}{} of bulk", sending.source == BulkSource::at_least ? "at least " : "",
                       megabits(sending.bulk));
}

std::string cost_line(const PortCost& cost, std::string_view measurement_error) {
    const auto& sending = cost.sending;
    if (sending.bulk <= 0) {
        if (sending.bytes > 0 && sending.packets > 0 && sending.source == BulkSource::at_least)
            return fmt::format(
                "{}: packets have {:.0f} bytes on average, so little or nothing is segmented now", cost.port,
                sending.bytes / sending.packets);
        return fmt::format("{}: nothing to segment now", cost.port);
    }
    const auto* what =
        cost.software_tso == SoftwareTso::all ? "segmented in software" : "partly segmented in software";
    const auto part = cpu_share(cost);
    if (!part)
        return fmt::format("{}: {}, {}; the cost is not measured: {}", cost.port, bulk_of(sending), what,
                           measurement_error);
    const bool upper_bound = cost.software_tso != SoftwareTso::all || sending.source == BulkSource::unknown;
    return fmt::format("{}: {}, {}: {}{} of a CPU ({:.0f} ns/KiB measured here)", cost.port, bulk_of(sending),
                       what, upper_bound ? "at most " : "", percent(*part), extra_cost_of(*cost.measured));
}

/// An Ethernet header with a VLAN tag.
constexpr double frame_header = 18;

/// 0 for a port that was removed and added again: its counters are smaller then.
Sending count_between(const TeamState& earlier, const TeamState& later, std::string_view port) {
    const auto* after = find_port(later, port);
    if (after == nullptr) return {};
    const auto bytes = growth_of(&PortCounters::tx_bytes, *after, earlier);
    const auto packets = growth_of(&PortCounters::tx_packets, *after, earlier);
    if (!bytes || !packets) return {};
    return {.bytes = static_cast<double>(*bytes), .packets = static_cast<double>(*packets)};
}

} // namespace

std::vector<std::string> offload_remarks(const OffloadStatus& offload) {
    std::vector<std::string> remarks;
    if (software_tso_of(offload.team) == SoftwareTso::all)
        remarks.push_back(fmt::format(
            "{}: its TSO is off: the CPU segments every packet before a port gets it", offload.team.name));
    for (const auto& port : offload.ports) {
        add_lacking(port, remarks);
        add_less_than_others(offload, port, remarks);
        add_not_as_configured(offload, port, remarks);
    }
    add_not_as_configured(offload, offload.team, remarks);
    add_limits(offload, remarks);
    if (remarks.empty()) remarks.emplace_back("no port limits the team");
    return remarks;
}

Sending sending_between(const TeamState& earlier, const TeamState& later, std::string_view port,
                        std::uint32_t mtu, std::chrono::duration<double> between) {
    if (between.count() <= 0) return {};
    const auto count = count_between(earlier, later, port);
    Sending sending{.bytes = count.bytes / between.count(), .packets = count.packets / between.count()};
    if (const auto* load = find_balance(later, port);
        load != nullptr && later.balance->counted && load->bytes > 0) {
        sending.source = BulkSource::counted;
        sending.bulk = sending.bytes * std::min(load->bulk / load->bytes, 1.0);
    } else if (later.counts_by_program) {
        // It counts a GSO packet once, with its full length. Assume that all other packets are as large as
        // possible.
        sending.source = BulkSource::at_least;
        sending.bulk = std::max(sending.bytes - sending.packets * (mtu + frame_header), 0.0);
    } else {
        sending.bulk = sending.bytes;
    }
    return sending;
}

SoftwareTso software_tso_of(const DeviceOffloads& device) {
    if (device.active.empty() && device.changeable.empty()) return SoftwareTso::none;
    const bool ipv4 = device.active.contains(tso), ipv6 = device.active.contains(tso6);
    if (ipv4 && ipv6) return SoftwareTso::none;
    return ipv4 || ipv6 ? SoftwareTso::one_family : SoftwareTso::all;
}

Segmentation segmentation_of(const DeviceOffloads& device, std::uint32_t mtu) {
    return {.mtu = mtu,
            .scatter_gather = device.active.contains(scatter_gather),
            .checksum = device.active.contains("tx-checksum-ip-generic") ||
                        device.active.contains("tx-checksum-ipv4")};
}

double extra_cost_of(const SegmentationCost& cost) { return std::max(cost.cut - cost.whole, 0.0); }

std::optional<double> cpu_share(const PortCost& cost) {
    if (!cost.measured) return std::nullopt;
    return cost.sending.bulk / 1024 * extra_cost_of(*cost.measured) / 1e9;
}

std::vector<std::string> bond_remarks(const TeamState& state) {
    if (state.bond_mode.empty()) return {};
    const auto own = state.kernel_hashes ? name_of(BondPolicy::layer34) : name_of(BondPolicy::encap34);
    return {hardware_of(state.bond_mode, state.attached ? state.attached->policy : own)};
}

std::vector<std::string> cost_remarks(const OffloadReport& report) {
    std::vector<std::string> remarks;
    for (const auto& cost : report.costs)
        remarks.push_back(cost_line(cost, report.measurement_error));
    return remarks;
}

} // namespace teamo::ctl
