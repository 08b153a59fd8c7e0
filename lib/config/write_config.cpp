// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config/config_file.h"
#include "config/write_back.h"

#include <algorithm>

namespace teamo {
namespace config {
namespace {

/// The object of that name, created if missing; nullptr if the value is not an object.
json::Value* object_at(json::Value& holder, std::string_view name) {
    auto* present = holder.find(name);
    if (present == nullptr) return &holder.set(name, json::Object{});
    return present->object() == nullptr ? nullptr : present;
}

void set_if_absent(json::Value* object, std::string_view name, json::Value value) {
    if (object != nullptr && object->find(name) == nullptr) object->set(name, std::move(value));
}

void write_runner(json::Value& document, const RunnerConfig& runner) {
    auto* object = object_at(document, "runner");
    set_if_absent(object, "name", name_of(runner));
    if (std::holds_alternative<LoadBalanceRunner>(runner) || std::holds_alternative<LacpRunner>(runner))
        set_if_absent(object, "tx_hash", json::Array{"eth", "ipv4", "ipv6"});
    if (std::holds_alternative<ActiveBackupRunner>(runner)) {
        set_if_absent(object_at(document, "notify_peers"), "count", 1);
        set_if_absent(object_at(document, "mcast_rejoin"), "count", 1);
    }
}

void write_watches(json::Value& document, const TeamConfig& team) {
    auto* ports = document.find("ports");
    if (!team.link_watches.empty() || ports == nullptr || ports->object() == nullptr) return;
    for (auto& port : *ports->object())
        if (port.value.object() != nullptr && port.value.find("link_watch") == nullptr)
            port.value.set("link_watch", json::Object{{"name", "ethtool"}});
}

} // namespace

json::Value with_defaults(json::Value document, const TeamConfig& team) {
    if (!team.device.empty()) document.set("device", team.device);
    write_runner(document, team.runner);
    write_watches(document, team);
    return document;
}

} // namespace config

json::Value with_port_configuration(json::Value document, std::string_view port, json::Value port_object) {
    auto* ports = document.find("ports");
    if (ports == nullptr) ports = &document.set("ports", json::Object{});
    ports->set(port, std::move(port_object));
    return document;
}

json::Value actual_configuration(json::Value document, const std::vector<std::string>& present_ports) {
    auto* ports = document.find("ports");
    if (ports == nullptr && !present_ports.empty()) ports = &document.set("ports", json::Object{});
    if (ports == nullptr) return document;
    for (const auto& name : present_ports)
        if (ports->find(name) == nullptr) ports->set(name, json::Object{});
    if (auto* members = ports->object())
        std::erase_if(*members, [&present_ports](const json::Member& member) {
            return std::ranges::find(present_ports, member.key) == present_ports.end();
        });
    return document;
}

} // namespace teamo
