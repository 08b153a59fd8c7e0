// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/subsystem_documents.h"

#include "json/document.h"

namespace teamo::control {
namespace {

// ---- balance ---------------------------------------------------------------------------------------

constexpr auto port_balance_fields = [](auto field, auto& port) {
    field.rounded("bulk_bytes_per_second", port.bulk);
    field.rounded("bytes_per_second", port.bytes);
    field.rounded("capacity_bytes_per_second", port.capacity);
    field.percent("cpu_load_percent", port.cpu_load);
    field("cpus", port.cpus);
    field("interrupt_cpus", port.interrupt_cpus);
    field.rounded("packets_per_second", port.packets);
    field.rounded("planned_bytes_per_second", port.planned);
    field.rounded("rate_bytes_per_second", port.rate);
    field("segments", port.segments);
};

constexpr auto move_fields = [](auto field, auto& move) {
    field("ago_ms", move.ago);
    field("bucket", move.bucket);
    field.name("end", move.end);
    field("from", move.from);
    field.percent("gain_percent", move.gain);
    field.name("reason", move.reason);
    field("to", move.to);
    field("waited_ms", move.waited);
};

/// Arrays by bucket, 0 to 255.
constexpr auto bucket_fields = [](auto field, auto& balance) {
    field.rounded("bulk_bytes_per_second", balance.loads, &BucketLoad::bulk);
    field.rounded("bytes_per_second", balance.loads, &BucketLoad::bytes);
    field.rounded("packets_per_second", balance.loads, &BucketLoad::packets);
    field("port", balance.leaves_by);
    field("next_ports", balance.next_ports);
};

json::Value write_hash(HashFields fields) { return json::to_json(hash_field_names(fields)); }

void read_hash(const json::Value& names, HashFields& fields) {
    if (names.array() == nullptr) return;
    for (const auto& name : *names.array())
        fields |= hash_fields_named(json::string_of(name));
}

constexpr auto balance_fields = [](auto field, auto& balance) {
    field("aware", balance.config.aware);
    field.object("buckets", balance, bucket_fields);
    field("counted", balance.counted);
    field("frozen", balance.frozen);
    field("interval_ms", balance.config.interval);
    field("moved", balance.moved);
    field.list("moves", balance.moves, move_fields);
    field("on", balance.config.on);
    field.by_name("ports", balance.ports, port_balance_fields);
    field.as("tx_hash", balance.tx_hash, write_hash, read_hash);
};

// ---- offload ---------------------------------------------------------------------------------------

constexpr auto limit_fields = [](auto field, auto& limits) {
    field("bytes", limits.size);
    field("ipv4_bytes", limits.ipv4_size);
    field("segments", limits.segs);
};

constexpr auto device_offload_fields = [](auto field, auto& device) {
    field("active", device.active);
    field("changeable", device.changeable);
    field("gave_up", device.gave_up);
    field.object("gso_max", device.gso_max, limit_fields);
    field("lacking", device.lacking);
    field("last", device.last);
    field("off", device.planned_off);
    field("on", device.planned_on);
    field("repaired", device.repaired);
    field("required", device.required);
};

constexpr auto offload_fields = [](auto field, auto& status) {
    field.name("lacking", status.lacking);
    field.by_name("ports", status.ports, device_offload_fields);
    field("repair", status.repair);
    field.object("team", status.team, device_offload_fields);
};

// ---- interrupts ------------------------------------------------------------------------------------

constexpr auto thread_fields = [](auto field, auto& thread) {
    field.cpu_text("affinity", thread.affinity);
    field("pid", thread.pid);
};

/// The planned CPUs of a vector; "" if the plan does not set it.
json::Value write_wanted(const CpuSettings& wanted, unsigned irq) {
    const auto found = wanted.find({.kind = CpuSetting::Kind::irq, .number = irq});
    return found == wanted.end() ? std::string() : text_of(found->second);
}
void read_wanted(const json::Value& in, CpuSettings& wanted, unsigned irq) {
    if (auto cpus = parse_cpu_list(json::string_of(in)); cpus && !cpus->empty())
        wanted.insert_or_assign({.kind = CpuSetting::Kind::irq, .number = irq}, std::move(*cpus));
}

/// `wanted`: the planned CPUs of all vectors of the port.
auto vector_fields(auto& wanted) {
    return [&wanted](auto field, auto& vector) {
        field.cpu_text("affinity", vector.affinity);
        field("count", vector.count);
        field.cpu_text("effective", vector.effective);
        field("irq", vector.irq);
        field("movable", vector.movable);
        field("name", vector.name);
        const unsigned irq = vector.irq;
        field.as(
            "wanted", wanted, [irq](const CpuSettings& all) { return write_wanted(all, irq); },
            [irq](const json::Value& in, CpuSettings& all) { read_wanted(in, all, irq); });
    };
}

auto queue_fields(auto& wanted) {
    return [&wanted](auto field, auto& queue) {
        field("queue", queue.queue);
        field.list("vectors", queue.vectors, vector_fields(wanted));
        field.object("thread", queue.thread, thread_fields);
        field.object("second_thread", queue.second_thread, thread_fields);
    };
}

constexpr auto port_interrupt_fields = [](auto field, auto& port) {
    field("contested", port.contested);
    field("cpus", port.cpus);
    field("drift", port.drift);
    field("moves", port.moves);
    field("node", port.now.node);
    field.list("others", port.now.others, vector_fields(port.wanted));
    field.list("queues", port.now.queues, queue_fields(port.wanted));
    field("reason", port.reason);
    field("refused", port.refused);
    field("repaired", port.repaired);
    field.cpu_text("rps", port.now.rps);
    field("shares_with", port.shares);
    field.name("source", port.now.source);
    field("threads_stay", port.threads_stay);
    field.cpu_text("xps", port.now.xps);
};

constexpr auto writer_fields = [](auto field, auto& writer) {
    field.name("program", writer.program);
    field("spares_ports", writer.spares_ports);
    field("text", writer.text);
};

constexpr auto interrupt_fields = [](auto field, auto& status) {
    field("degraded", status.degraded);
    field("managed", status.managed);
    field.name("policy", status.policy);
    field.by_name("ports", status.ports, port_interrupt_fields);
    field.list("writers", status.writers, writer_fields);
};

// ---- workers ---------------------------------------------------------------------------------------

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
    field.name("policy", rule.policy);
    field.as("rule", rule, write_rule, read_rule);
};

constexpr auto worker_fields = [](auto field, auto& status) {
    field("bytes_by_cpu", status.traffic.by_cpu);
    field("bytes_by_port", status.traffic.by_port);
    field("bytes_per_second", status.traffic.bytes);
    field("cgroup", status.worker.cgroup);
    field("command", status.worker.command);
    field.whole_percent("cpu_percent", status.work);
    field.cpu_text("cpus", status.cpus);
    field("packets_per_second", status.traffic.packets);
    field("pid", status.worker.id.pid);
    field.name("policy", status.policy);
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

json::Value balance_document(const BalanceStatus& balance) {
    return json::write_fields(balance, balance_fields);
}

json::Value port_balance_document(const PortBalance& port) {
    return json::write_fields(port, port_balance_fields);
}

BalanceStatus read_balance(const json::Value& document) {
    return json::read_fields<BalanceStatus>(document, balance_fields);
}

json::Value offload_document(const OffloadStatus& status) {
    return json::write_fields(status, offload_fields);
}

OffloadStatus read_offloads(const json::Value& document) {
    return json::read_fields<OffloadStatus>(document, offload_fields);
}

json::Value interrupt_document(const InterruptStatus& status) {
    return json::write_fields(status, interrupt_fields);
}

InterruptStatus read_interrupts(const json::Value& document) {
    return json::read_fields<InterruptStatus>(document, interrupt_fields);
}

json::Value workers_document(const WorkersStatus& status) {
    return json::write_fields(status, workers_fields);
}

json::Value worker_document(const WorkerStatus& status) { return json::write_fields(status, worker_fields); }

WorkersStatus read_workers(const json::Value& document) {
    return json::read_fields<WorkersStatus>(document, workers_fields);
}

} // namespace teamo::control
