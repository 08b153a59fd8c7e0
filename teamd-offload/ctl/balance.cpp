// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/commands.h"
#include "ctl/datapath_ports.h"
#include "ctl/output.h"
#include "ctl/table.h"

namespace teamo::ctl {
namespace {

using Ports = std::vector<DatapathPort>;

std::int64_t sum_of_buckets(const Ports& ports) {
    std::int64_t sum = 0;
    for (const auto& port : ports)
        sum += port.buckets;
    return sum;
}

json::Value document_of(const std::string& team, const Ports& ports) {
    json::Object rows;
    for (const auto& port : ports)
        rows.push_back({port.name, json::Object{{"buckets", port.buckets},
                                                {"link_up", port.link_up},
                                                {"speed", port.speed},
                                                {"transmits", port.transmits}}});
    return json::Object{{"buckets", sum_of_buckets(ports)}, {"ports", std::move(rows)}, {"team", team}};
}

std::string text_of(const Ports& ports) {
    const auto all = sum_of_buckets(ports);
    std::vector<Row> rows;
    for (const auto& port : ports) {
        // Runners that do not hash have no buckets to share.
        const auto share = all > 0 ? fmt::format("{:.1f} %", 100.0 * static_cast<double>(port.buckets) /
                                                                 static_cast<double>(all))
                                   : std::string("-");
        rows.push_back({port.name, port.link_up ? "up" : "down",
                        port.speed > 0 ? fmt::format("{} Mbit/s", port.speed) : std::string("-"),
                        port.transmits ? "yes" : "no", std::to_string(port.buckets), share});
    }
    return table_of({"port", "link", "speed", "transmits", "buckets", "share"}, rows);
}

} // namespace

Result<> balance_show(Session& session, Arguments) {
    const auto ports = read_datapath_ports(session);
    if (!ports) return tl::unexpected(ports.error());
    if (session.options().json)
        session.print(document_of(session.team(), *ports));
    else
        put(text_of(*ports));
    return {};
}

} // namespace teamo::ctl
