// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/offload_report.h"

#include "ctl/report/state_tables.h"
#include "json/fields.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace teamo::ctl {
namespace {

using json::Object;
using json::rounded;
using json::Value;

/// The titles of the columns, by OffloadGroup. Its last, `other`, is not shown.
constexpr std::array<std::string_view, 12> group_titles{"tso", "tso6", "uso", "gso",  "gro",    "lro",
                                                        "tx",  "rx",   "sg",  "vlan", "tunnel", "tls"};

/// "on", "off", "part" (only some of several features are on) or "-" (the device does not have it). Then "!"
/// if it is required and not on, "*" if it is not as configured.
std::string cell_of(const DeviceOffloads& device, OffloadGroup group) {
    std::size_t available = 0, on = 0;
    bool lacks = false, mismatch = false;
    for (const auto& offload : offload_catalogue()) {
        if (offload.group != group) continue;
        const bool active = device.active.contains(offload.name);
        on += active ? 1 : 0;
        available += active || device.changeable.contains(offload.name) ? 1 : 0;
        lacks = lacks || device.lacking.contains(offload.name);
        mismatch = mismatch || (active ? device.planned_off : device.planned_on).contains(offload.name);
    }
    // GRO by hardware (rx-gro-hw) is an alternative to GRO by software, and usually off.
    const bool all = group == OffloadGroup::gro ? on > 0 : on == available;
    if (available == 0 && !lacks) return "-";
    std::string cell = on == 0 ? "off" : all ? "on" : "part";
    if (lacks) return cell + "!";
    return mismatch ? cell + "*" : cell;
}

std::string table(const OffloadStatus& offload) {
    auto devices = offload.ports;
    devices.push_back(offload.team);
    Row titles{"port"};
    std::vector<Row> rows;
    for (const auto& device : devices)
        rows.push_back({device.name});
    const auto add_column = [&](std::string_view title, const auto& cell) {
        titles.emplace_back(title);
        for (std::size_t row = 0; row < rows.size(); ++row)
            rows[row].push_back(cell(devices[row]));
    };
    // TSO for IPv6 has a column only if it differs from TSO for IPv4.
    const bool differs = std::ranges::any_of(devices, [](const DeviceOffloads& device) {
        return cell_of(device, OffloadGroup::tso) != cell_of(device, OffloadGroup::tso6);
    });
    for (std::size_t index = 0; index < group_titles.size(); ++index)
        if (const auto group = static_cast<OffloadGroup>(index); differs || group != OffloadGroup::tso6)
            add_column(group_titles[index], [&](const auto& device) { return cell_of(device, group); });
    add_column("gso-max", [](const auto& device) {
        return device.gso_max.size == 0 ? "-" : std::to_string(device.gso_max.size);
    });
    add_column("repaired", [](const auto& device) { return std::to_string(device.repaired); });
    return table_of(titles, std::move(rows));
}

/// Explains the marks that the table has.
std::string legend(const std::string& table) {
    std::string text;
    if (table.find('!') != std::string::npos) text += "!  required, but not on\n";
    if (table.find('*') != std::string::npos) text += "*  not as configured\n";
    return text;
}

Value tenths(double value) { return std::round(value * 10) / 10; }

Value cost_json(const PortCost& cost, const std::string& measurement_error) {
    Value document = Object{{"bulk_bytes_per_second", rounded(cost.sending.bulk)},
                            {"bulk_source", std::string(name_of(cost.sending.source))},
                            {"bytes_per_second", rounded(cost.sending.bytes)},
                            {"families", cost.software_tso == SoftwareTso::all ? "all" : "one"}};
    if (const auto part = cpu_share(cost)) {
        document.set("cpu_percent", *part * 100);
        document.set("ns_per_kib", tenths(extra_cost_of(*cost.measured)));
        document.set("ns_per_kib_cut", tenths(cost.measured->cut));
        document.set("ns_per_kib_whole", tenths(cost.measured->whole));
    } else {
        document.set("unmeasured", measurement_error);
    }
    return document;
}

} // namespace

std::string offload_text(const OffloadReport& report) {
    auto text = table(*report.state.offload);
    text += legend(text);
    for (const auto& remarks :
         {offload_remarks(*report.state.offload), cost_remarks(report), bond_remarks(report.state)})
        for (const auto& remark : remarks)
            text += remark + "\n";
    return text;
}

// The objects of the devices are those of the state. A port without TSO also has "cost".
json::Value offload_json(const OffloadReport& report) {
    Value document = Object{{"team", report.state.name}};
    const auto& offload = json::child(report.state.document, "offload");
    for (const auto* key : {"lacking", "repair"})
        if (const auto* value = offload.find(key)) document.set(key, *value);
    if (const auto* device = offload.find("team")) document.set("team_device", *device);
    auto ports = json::object(offload, "ports");
    for (auto& port : ports) {
        const auto cost = std::ranges::find(report.costs, port.key, &PortCost::port);
        if (cost != report.costs.end()) port.value.set("cost", cost_json(*cost, report.measurement_error));
    }
    document.set("ports", std::move(ports));
    auto remarks = offload_remarks(*report.state.offload);
    std::ranges::move(bond_remarks(report.state), std::back_inserter(remarks));
    document.set("remarks", json::Array(remarks.begin(), remarks.end()));
    return document;
}

} // namespace teamo::ctl
