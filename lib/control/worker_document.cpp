// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/worker_document.h"

#include "base/whole_number.h"
#include "control/document_fields.h"

#include <fmt/format.h>

namespace teamo::control {
namespace {

constexpr auto write_bytes = [](const auto& bytes_by_key) {
    json::Object object;
    for (const auto& [key, bytes] : bytes_by_key)
        object.push_back({fmt::format("{}", key), to_json(bytes)});
    return object;
};
void read_bytes_by_cpu(const json::Value& in, std::map<unsigned, std::uint64_t>& bytes) {
    if (in.object() == nullptr) return;
    for (const auto& member : *in.object())
        if (const auto cpu = whole_number<unsigned>(member.key)) from_json(member.value, bytes[*cpu]);
}
void read_bytes_by_port(const json::Value& in, std::map<std::string, std::uint64_t>& bytes) {
    if (in.object() == nullptr) return;
    for (const auto& member : *in.object())
        from_json(member.value, bytes[member.key]);
}

json::Value write_rule(const WorkerRule& rule) { return text_of(rule); }
/// Reads what text_of(WorkerRule) has written: "unit worker@*.service".
void read_rule(const json::Value& in, WorkerRule& rule) {
    const auto words = json::string_of(in);
    const auto blank = std::min(words.find(' '), words.size());
    const auto kind = std::ranges::find(worker_selector_names, std::string_view(words).substr(0, blank));
    if (kind != worker_selector_names.end())
        rule.selector = static_cast<WorkerSelector>(kind - worker_selector_names.begin());
    rule.name = blank == words.size() ? "" : words.substr(blank + 1);
}

constexpr auto rule_fields = [](auto field, auto& rule) {
    using enum WorkerPolicy;
    field.name("policy", rule.policy, {off, follow, spread});
    field.as("rule", rule, write_rule, read_rule);
};

constexpr auto worker_fields = [](auto field, auto& status) {
    using enum WorkerPolicy;
    field.as("bytes_by_cpu", status.traffic.by_cpu, write_bytes, read_bytes_by_cpu);
    field.as("bytes_by_port", status.traffic.by_port, write_bytes, read_bytes_by_port);
    field("bytes_per_second", status.traffic.bytes);
    field("cgroup", status.worker.cgroup);
    field("command", status.worker.command);
    field.whole_percent("cpu_percent", status.work);
    field.cpu_text("cpus", status.cpus);
    field("packets_per_second", status.traffic.packets);
    field("pid", status.worker.id.pid);
    field.name("policy", status.policy, {off, follow, spread});
    field("reason", status.reason);
    field("rule", status.rule);
    field("threads", status.worker.threads);
    field("unit", status.worker.unit);
    field("user", status.worker.user);
};

constexpr auto workers_fields = [](auto field, auto& status) {
    field("limitations", status.limitations);
    field("complaint", status.complaint);
    field("managed", status.managed);
    field("refused", status.refused);
    field.list("rules", status.rules, rule_fields);
    field.list("workers", status.workers, worker_fields);
};

} // namespace

json::Value workers_document(const WorkersStatus& status) { return write_fields(status, workers_fields); }

json::Value worker_document(const WorkerStatus& status) { return write_fields(status, worker_fields); }

WorkersStatus read_workers(const json::Value& document) {
    return read_fields<WorkersStatus>(document, workers_fields);
}

} // namespace teamo::control
