// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config/config_file.h"

#include "config/steps.h"
#include "json/parse.h"

#include <algorithm>

namespace teamo {
namespace {

/// The member of that name; an empty object is added if it is missing.
json::Value& member_of(json::Value& holder, std::string_view name) {
    auto* present = holder.find(name);
    return present == nullptr ? holder.set(name, json::Object{}) : *present;
}

/// Does nothing to a value that is not an object.
void set_if_absent(json::Value& object, std::string_view name, json::Value value) {
    if (object.object() != nullptr && object.find(name) == nullptr) object.set(name, std::move(value));
}

/// Adds the defaults that teamd adds to its own document, so that `config dump` shows them. Existing values
/// stay, also invalid ones.
json::Value with_defaults(json::Value document, const TeamConfig& team) {
    if (!team.device.empty()) document.set("device", team.device);
    if (team.attach) return document; // what the bond decides is not in it
    auto& runner = member_of(document, "runner");
    set_if_absent(runner, "name", name_of(team.runner));
    if (std::holds_alternative<LoadBalanceRunner>(team.runner) || is_lacp(team.runner))
        set_if_absent(runner, "tx_hash", json::Array{"eth", "ipv4", "ipv6"});
    if (std::holds_alternative<ActiveBackupRunner>(team.runner))
        for (const auto* announcement : {"notify_peers", "mcast_rejoin"})
            set_if_absent(member_of(document, announcement), "count", 1);
    auto* ports = document.find("ports");
    if (!team.link_watches.empty() || ports == nullptr || ports->object() == nullptr) return document;
    for (auto& port : *ports->object())
        set_if_absent(port.value, "link_watch", json::Object{{"name", "ethtool"}});
    return document;
}

bool is_for_all_bonds(const json::Value& document) {
    const auto* attach = document.find("attach");
    return attach != nullptr && *attach == json::Value("*");
}

ConfigurationRead read(json::Value document, std::string_view device,
                       std::optional<DatapathChoice> datapath) {
    config::Diagnostics diagnostics;
    if (document.object() == nullptr) {
        diagnostics.error({"", document.place()},
                          fmt::format("a configuration must be an object, not {}", type_of(document)));
        return {std::nullopt, diagnostics.take()};
    }
    config::check_document(document, diagnostics);
    config::check_names(document, device, diagnostics);
    if (diagnostics.is_refused()) return {std::nullopt, diagnostics.take()};

    auto team = config::make_team(document, device);
    if (datapath) team.datapath = *datapath;
    config::check_team(document, team, diagnostics);
    if (diagnostics.is_refused()) return {std::nullopt, diagnostics.take()};
    auto written_back = with_defaults(std::move(document), team);
    return {Configuration{std::move(team), std::move(written_back)}, diagnostics.take()};
}

} // namespace

Result<bool> is_for_all_bonds(std::string_view text, std::string_view file) {
    const auto document = json::parse(text);
    if (document) return is_for_all_bonds(*document);
    const Diagnostic why{.place = document.error().place, .pointer = "", .text = document.error().text};
    return fail(EINVAL, text_of(why, file));
}

ConfigurationRead read_configuration(std::string_view text, std::string_view device, bool attach,
                                     std::optional<DatapathChoice> datapath) {
    auto document = json::parse(text);
    attach = attach || (document && is_for_all_bonds(*document));
    if (document && attach && document->object() != nullptr) document->set("attach", true);
    if (document) return read(std::move(*document), device, datapath);
    return {std::nullopt, {{.place = document.error().place, .pointer = "", .text = document.error().text}}};
}

ConfigurationRead read_document(json::Value document, std::string_view device,
                                std::optional<DatapathChoice> datapath) {
    auto made = read(std::move(document), device, datapath);
    // Parts of the document may come from different texts, so line numbers would mislead.
    for (auto& diagnostic : made.diagnostics)
        diagnostic.place = {};
    return made;
}

Result<json::Value> parse_port_configuration(std::string_view text) {
    auto object = json::parse(text);
    if (!object)
        return fail(EINVAL, fmt::format("{}:{}: {}", object.error().place.line, object.error().place.column,
                                        object.error().text));
    if (object->object() == nullptr)
        return fail(EINVAL,
                    fmt::format("a port's configuration must be an object, not {}", type_of(*object)));
    return std::move(*object);
}

json::Value with_port_configuration(json::Value document, std::string_view port, json::Value port_object) {
    member_of(document, "ports").set(port, std::move(port_object));
    return document;
}

json::Value actual_configuration(json::Value document, const std::vector<std::string>& present_ports) {
    if (present_ports.empty() && document.find("ports") == nullptr) return document;
    auto& ports = member_of(document, "ports");
    for (const auto& name : present_ports)
        if (ports.find(name) == nullptr) ports.set(name, json::Object{});
    if (auto* members = ports.object())
        std::erase_if(*members, [&present_ports](const json::Member& member) {
            return std::ranges::find(present_ports, member.key) == present_ports.end();
        });
    return document;
}

} // namespace teamo
