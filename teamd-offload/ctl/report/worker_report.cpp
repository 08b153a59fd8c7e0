// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/worker_report.h"

#include "ctl/report/table.h"
#include "ctl/units.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo::ctl {
namespace {

/// "eth1 92 %": the key with the most bytes, and its share of `all`.
template <class Map>
std::string top_of(const Map& map, std::uint64_t all) {
    const auto top = std::ranges::max_element(map, {}, [](const auto& entry) { return entry.second; });
    if (top == map.end() || top->second == 0) return "-";
    return fmt::format(
        "{} {}", top->first,
        share(static_cast<double>(top->second), static_cast<double>(std::max(all, top->second))));
}

Row row_of(const WorkerStatus& one) {
    return {std::to_string(one.worker.id.pid),
            one.worker.command,
            std::to_string(one.worker.threads),
            one.rule,
            name_of(one.policy),
            megabits(static_cast<double>(one.traffic.bytes)),
            top_of(one.traffic.by_cpu, one.traffic.bytes),
            top_of(one.traffic.by_port, one.traffic.bytes),
            fmt::format("{:.0f} %", 100 * one.work),
            one.cpus.empty() ? "-" : teamo::text_of(one.cpus)};
}

} // namespace

std::vector<std::string> worker_remarks(const WorkersStatus& workers) {
    std::vector<std::string> remarks;
    for (const auto* sentence : {&workers.refused, &workers.complaint, &workers.limitations})
        if (!sentence->empty()) remarks.push_back(*sentence);
    if (!workers.managed)
        remarks.emplace_back(
            "workers are set back to the CPUs from before they were bound, until: workers apply");
    return remarks;
}

std::string workers_text(const WorkersStatus& workers) {
    std::vector<Row> rows;
    for (const auto& one : workers.workers)
        rows.push_back(row_of(one));
    auto text = table_of({"process", "command", "threads", "by", "policy", "receives", "on CPU", "by port",
                          "uses", "bound to"},
                         rows);
    for (const auto& one : workers.workers)
        if (!one.reason.empty()) text += fmt::format("{}: {}\n", one.worker.id.pid, one.reason);
    if (workers.rules.empty() && workers.workers.empty())
        text += "no rule selects a process; add rules to \"workers\" in the configuration, or use: workers "
                "bind PID\n";
    else if (workers.workers.empty())
        text += "no process with a socket matches a rule\n";
    for (const auto& remark : worker_remarks(workers))
        text += remark + "\n";
    return text;
}

} // namespace teamo::ctl
