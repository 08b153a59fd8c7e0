// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/offload_report.h"
#include "ctl/report/table.h"

#include <algorithm>
#include <cmath>

namespace teamo::ctl {
namespace {

using json::Object;
using json::rounded;
using json::Value;

struct Column {
    OffloadGroup group;
    std::string_view title;
};
constexpr auto all_columns = std::to_array<Column>({
    {OffloadGroup::tso, "tso"},
    {OffloadGroup::tso6, "tso6"},
    {OffloadGroup::uso, "uso"},
    {OffloadGroup::gso, "gso"},
    {OffloadGroup::gro, "gro"},
    {OffloadGroup::lro, "lro"},
    {OffloadGroup::tx_checksum, "tx"},
    {OffloadGroup::rx_checksum, "rx"},
    {OffloadGroup::scatter_gather, "sg"},
    {OffloadGroup::vlan, "vlan"},
    {OffloadGroup::tunnels, "tunnel"},
    {OffloadGroup::tls, "tls"},
});

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
        mismatch = mismatch || (active ? device.shall_be_off : device.shall_be_on).contains(offload.name);
    }
    // GRO by hardware (rx-gro-hw) is an alternative to GRO by software, and usually off.
    const bool all = group == OffloadGroup::gro ? on > 0 : on == available;
    if (available == 0 && !lacks) return "-";
    std::string cell = on == 0 ? "off" : all ? "on" : "part";
    if (lacks) return cell + "!";
    return mismatch ? cell + "*" : cell;
}

std::vector<const DeviceOffloads*> devices_of(const OffloadStatus& offload) {
    std::vector<const DeviceOffloads*> devices;
    for (const auto& port : offload.ports)
        devices.push_back(&port);
    devices.push_back(&offload.team);
    return devices;
}

/// TSO for IPv6 has a column only if it differs from TSO for IPv4.
std::vector<Column> columns_of(const OffloadStatus& offload) {
    const bool differs = std::ranges::any_of(devices_of(offload), [](const DeviceOffloads* device) {
        return cell_of(*device, OffloadGroup::tso) != cell_of(*device, OffloadGroup::tso6);
    });
    std::vector<Column> columns;
    for (const auto& column : all_columns)
        if (differs || column.group != OffloadGroup::tso6) columns.push_back(column);
    return columns;
}

std::string table(const OffloadStatus& offload) {
    const auto columns = columns_of(offload);
    Row titles{"port"};
    for (const auto& column : columns)
        titles.emplace_back(column.title);
    titles.insert(titles.end(), {"gso-max", "repaired"});
    std::vector<Row> rows;
    for (const auto* device : devices_of(offload)) {
        Row row{device->name};
        for (const auto& column : columns)
            row.push_back(cell_of(*device, column.group));
        row.push_back(device->gso_max.size == 0 ? "-" : std::to_string(device->gso_max.size));
        row.push_back(std::to_string(device->repaired));
        rows.push_back(std::move(row));
    }
    return table_of(titles, rows);
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

Value list_of(const std::vector<std::string>& texts) { return json::Array(texts.begin(), texts.end()); }

} // namespace

std::string offload_text(const OffloadReport& report) {
    auto text = table(*report.state.offload);
    text += legend(text);
    for (const auto& remarks : {offload_remarks(*report.state.offload), cost_remarks(report)})
        for (const auto& remark : remarks)
            text += remark + "\n";
    return text;
}

// The objects of the devices are those of the state. A port without TSO also has "cost".
json::Value offload_json(const OffloadReport& report) {
    Value document = Object{{"team", report.state.name}};
    Object ports;
    if (const auto* offload = report.state.document.find("offload")) {
        for (const auto* key : {"lacking", "repair"})
            if (const auto* value = offload->find(key)) document.set(key, *value);
        if (const auto* device = offload->find("team")) document.set("team_device", *device);
        if (const auto* list = offload->find("ports"); list != nullptr && list->object())
            for (const auto& port : *list->object())
                ports.push_back({port.key, port.value});
    }
    for (auto& port : ports) {
        const auto cost = std::ranges::find(report.costs, port.key, &PortCost::port);
        if (cost != report.costs.end()) port.value.set("cost", cost_json(*cost, report.measurement_error));
    }
    document.set("ports", std::move(ports));
    document.set("remarks", list_of(offload_remarks(*report.state.offload)));
    return document;
}

} // namespace teamo::ctl
