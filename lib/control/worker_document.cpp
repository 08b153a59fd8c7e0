// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/worker_document.h"

#include <cmath>

namespace teamo::control {
namespace {

using json::Object;
using json::Value;

Value worker_of(const WorkerStatus& status) {
    Object by_cpu, by_port;
    for (const auto& [cpu, bytes] : status.traffic.by_cpu)
        by_cpu.push_back({std::to_string(cpu), json::counted(bytes)});
    for (const auto& [port, bytes] : status.traffic.by_port)
        by_port.push_back({port, json::counted(bytes)});
    const auto& worker = status.worker;
    return Object{{"bytes_by_cpu", std::move(by_cpu)},
                  {"bytes_by_port", std::move(by_port)},
                  {"bytes_per_second", json::counted(status.traffic.bytes)},
                  {"cgroup", worker.cgroup},
                  {"command", worker.command},
                  {"cpu_percent", static_cast<std::int64_t>(std::llround(100 * status.work))},
                  {"cpus", text_of(status.cpus)},
                  {"packets_per_second", json::counted(status.traffic.packets)},
                  {"pid", static_cast<std::int64_t>(worker.id.pid)},
                  {"policy", name_of(status.policy)},
                  {"reason", status.reason},
                  {"rule", status.rule},
                  {"threads", worker.threads},
                  {"unit", worker.unit},
                  {"user", json::counted(worker.user)}};
}

} // namespace

Value worker_document(const WorkersStatus& status) {
    json::Array rules, workers;
    for (const auto& rule : status.rules)
        rules.emplace_back(Object{{"policy", name_of(rule.policy)}, {"rule", text_of(rule)}});
    for (const auto& worker : status.workers)
        workers.push_back(worker_of(worker));
    return Object{{"limitations", status.limitations}, {"complaint", status.complaint},
                  {"managed", status.managed},         {"refused", status.refused},
                  {"rules", std::move(rules)},         {"workers", std::move(workers)}};
}

} // namespace teamo::control
