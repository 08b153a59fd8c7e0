// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config/check_document.h"
#include "config/check_names.h"
#include "config/config_file.h"
#include "config/make_team.h"
#include "config/write_back.h"
#include "json/parse.h"

namespace teamo {
namespace {

ConfigurationRead read(json::Value document, std::string_view device) {
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
    auto written_back = config::with_defaults(std::move(document), team);
    return {Configuration{std::move(team), std::move(written_back)}, diagnostics.take()};
}

} // namespace

ConfigurationRead read_configuration(std::string_view text, std::string_view device) {
    auto document = json::parse(text);
    if (document) return read(std::move(*document), device);
    return {std::nullopt, {{.place = document.error().place, .pointer = "", .text = document.error().text}}};
}

ConfigurationRead read_configuration(json::Value document, std::string_view device) {
    auto made = read(std::move(document), device);
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

} // namespace teamo
