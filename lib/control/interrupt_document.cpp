// SPDX-License-Identifier: LGPL-2.1-or-later
//
// CPU lists are written like the kernel's, "0-3,6": on a large machine a port may have hundreds of CPUs.
#include "control/interrupt_document.h"

namespace teamo::control {
namespace {

using json::Object;
using json::Value;

Value list_of(const std::vector<std::string>& texts) { return json::Array(texts.begin(), texts.end()); }

/// The planned CPUs; "" if the plan does not set it.
std::string wanted_of(const PortInterruptStatus& port, CpuSetting setting) {
    const auto found = port.wanted.find(setting);
    return found == port.wanted.end() ? std::string() : text_of(found->second);
}

Value vector_of(const PortInterruptStatus& port, const IrqVector& vector) {
    return Object{{"affinity", text_of(vector.affinity)},
                  {"count", static_cast<std::int64_t>(vector.count)},
                  {"effective", text_of(vector.effective)},
                  {"irq", vector.irq},
                  {"movable", vector.movable},
                  {"name", vector.name},
                  {"wanted", wanted_of(port, {.kind = CpuSetting::Kind::irq, .number = vector.irq})}};
}

Value queue_of(const PortInterruptStatus& port, const QueueVectors& queue) {
    json::Array vectors;
    for (const auto& vector : queue.vectors)
        vectors.push_back(vector_of(port, vector));
    Value value = Object{{"queue", queue.queue}, {"vectors", std::move(vectors)}};
    const auto add = [&value](const char* key, const std::optional<NapiThread>& thread) {
        if (thread)
            value.set(key, Object{{"affinity", text_of(thread->affinity)},
                                  {"pid", static_cast<std::int64_t>(thread->pid)}});
    };
    add("thread", queue.thread);
    add("second_thread", queue.second_thread);
    return value;
}

Value masks_of(const std::vector<CpuList>& masks) {
    json::Array list;
    for (const auto& mask : masks)
        list.emplace_back(text_of(mask));
    return list;
}

Value port_of(const PortInterruptStatus& port) {
    json::Array cpus, queues, others;
    for (const auto cpu : port.cpus)
        cpus.emplace_back(static_cast<std::int64_t>(cpu));
    for (const auto& queue : port.now.queues)
        queues.push_back(queue_of(port, queue));
    for (const auto& vector : port.now.others)
        others.push_back(vector_of(port, vector));
    return Object{{"contested", port.contested},
                  {"cpus", std::move(cpus)},
                  {"drift", port.drift},
                  {"moves", port.moves},
                  {"node", port.now.node},
                  {"others", std::move(others)},
                  {"queues", std::move(queues)},
                  {"reason", port.reason},
                  {"refused", list_of(port.refused)},
                  {"repaired", port.repaired},
                  {"rps", masks_of(port.now.rps)},
                  {"shares_with", list_of(port.shares)},
                  {"source", name_of(port.now.source)},
                  {"xps", masks_of(port.now.xps)}};
}

} // namespace

Value interrupt_document(const InterruptStatus& status) {
    Object ports;
    for (const auto& port : status.ports)
        ports.push_back({port.name, port_of(port)});
    return Object{{"degraded", status.degraded},
                  {"managed", status.managed},
                  {"policy", status.policy == InterruptPolicy::off ? "off" : "unique"},
                  {"ports", std::move(ports)},
                  {"writers", list_of(status.writers)}};
}

} // namespace teamo::control
