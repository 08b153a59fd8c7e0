// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/interrupt_document.h"

#include "control/document_fields.h"

namespace teamo::control {
namespace {

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
    using enum VectorSource;
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
    field.name("source", port.now.source, {none, netdev, names, counts, ungrouped});
    field.cpu_text("xps", port.now.xps);
};

constexpr auto interrupt_fields = [](auto field, auto& status) {
    using enum InterruptPolicy;
    field("degraded", status.degraded);
    field("managed", status.managed);
    field.name("policy", status.policy, {unique, off});
    field.by_name("ports", status.ports, port_interrupt_fields);
    field("writers", status.writers);
};

} // namespace

json::Value interrupt_document(const InterruptStatus& status) {
    return write_fields(status, interrupt_fields);
}

InterruptStatus read_interrupts(const json::Value& document) {
    return read_fields<InterruptStatus>(document, interrupt_fields);
}

} // namespace teamo::control
