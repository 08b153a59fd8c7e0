// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/worker_report.h"

#include "base/whole_number.h"
#include "ctl/report/table.h"
#include "ctl/units.h"
#include "json/fields.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo::ctl {
namespace {

using json::count;
using json::cpus;
using json::flag;
using json::list;
using json::number;
using json::text;

WorkerPolicy policy_of(const std::string& word) {
    for (const auto policy : {WorkerPolicy::follow, WorkerPolicy::spread})
        if (word == name_of(policy)) return policy;
    return WorkerPolicy::off;
}

std::uint64_t count_of(const json::Value& value) {
    return value.integer() == nullptr ? 0 : static_cast<std::uint64_t>(*value.integer());
}

ProcessTraffic read_traffic(const json::Value& value) {
    ProcessTraffic traffic{.bytes = count(value, "bytes_per_second"),
                           .packets = count(value, "packets_per_second"),
                           .by_cpu = {},
                           .by_port = {}};
    for (const auto& entry : json::object(value, "bytes_by_cpu"))
        if (const auto cpu = whole_number<unsigned>(entry.key)) traffic.by_cpu[*cpu] = count_of(entry.value);
    for (const auto& entry : json::object(value, "bytes_by_port"))
        traffic.by_port[entry.key] = count_of(entry.value);
    return traffic;
}

WorkerStatus read_worker(const json::Value& value) {
    return {.worker = {.id = {.pid = static_cast<pid_t>(number(value, "pid")), .started = 0},
                       .command = text(value, "command"),
                       .user = static_cast<uid_t>(number(value, "user")),
                       .cgroup = text(value, "cgroup"),
                       .unit = text(value, "unit"),
                       .threads = static_cast<unsigned>(number(value, "threads"))},
            .rule = text(value, "rule"),
            .policy = policy_of(text(value, "policy")),
            .traffic = read_traffic(value),
            .work = static_cast<double>(number(value, "cpu_percent")) / 100,
            .cpus = cpus(value, "cpus"),
            .reason = text(value, "reason")};
}

WorkerRule read_rule(const json::Value& value) {
    WorkerRule rule{.policy = policy_of(text(value, "policy"))};
    const auto words = text(value, "rule");
    const auto blank = std::min(words.find(' '), words.size());
    const auto kind = std::ranges::find(worker_selector_names, std::string_view(words).substr(0, blank));
    if (kind != worker_selector_names.end())
        rule.selector = static_cast<WorkerSelector>(kind - worker_selector_names.begin());
    rule.name = blank == words.size() ? "" : words.substr(blank + 1);
    return rule;
}

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

WorkersStatus read_workers(const json::Value& document) {
    return {.managed = flag(document, "managed"),
            .refused = text(document, "refused"),
            .limitations = text(document, "limitations"),
            .complaint = text(document, "complaint"),
            .rules = list<WorkerRule>(document, "rules", read_rule),
            .workers = list<WorkerStatus>(document, "workers", read_worker)};
}

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
