// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Text in, a team's configuration out: typed (TeamConfig) and as the JSON document that the control
// socket dumps, with everything that was wrong named by place.
#pragma once

#include "base/result.h"
#include "model/config.h"
#include "json/value.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teamo {

struct Diagnostic {
    enum class Severity : std::uint8_t { error, warning };
    Severity severity = Severity::error;
    json::Place place;
    std::string pointer; ///< RFC 6901; empty is the whole document
    std::string text;
    /// What teamd takes for absent without a word: an error for --check, a warning in a run.
    bool tolerated = false;
    bool operator==(const Diagnostic&) const = default;
};

/// "FILE:LINE:COL: error: /json/pointer: text"
std::string text_of(const Diagnostic& diagnostic, std::string_view file);

/// A configuration as read: what it means, and the document it came from. The document keeps unknown
/// keys, and has teamd's defaults written back into it (device, runner.name, runner.tx_hash,
/// notify_peers.count and mcast_rejoin.count for activebackup, link_watch of ports where there is none).
struct Configuration {
    TeamConfig team;
    json::Value document;
    bool operator==(const Configuration&) const = default;
};

/// What was read, and what is to be said about it. No configuration where the text is no JSON object
/// or a value has no meaning that teamd would start with either.
struct ConfigurationRead {
    std::optional<Configuration> configuration;
    std::vector<Diagnostic> diagnostics; ///< in the order of their places
    /// Whether --check must fail: any error, a tolerated one too.
    bool has_errors() const;
};

/// `device` is teamd's -t: it wins over the document's and is written back into it; empty where not given.
ConfigurationRead read_configuration(std::string_view text, std::string_view device = {});
// A string converts to json::Value too; it is a text all the same.
inline ConfigurationRead read_configuration(const std::string& text, std::string_view device = {}) {
    return read_configuration(std::string_view(text), device);
}
inline ConfigurationRead read_configuration(const char* text, std::string_view device = {}) {
    return read_configuration(std::string_view(text), device);
}

/// The same from a document in memory, as after a change over the control socket.
ConfigurationRead read_configuration(json::Value document, std::string_view device = {});

/// One port's configuration as `teamdctl port config update` sends it: a JSON object. The team's own link
/// watches are not in it: they are added by read_configuration once it stands in the document.
Result<json::Value> parse_port_configuration(std::string_view text);

/// The document with the port's object replaced whole, as teamd does (not merged). The name is taken
/// literally: "eth1.100" is one key.
json::Value with_port_configuration(json::Value document, std::string_view port, json::Value port_object);

/// What `config dump actual` shows: the ports that are there, each with its object ({} where it has none),
/// and no others.
json::Value actual_configuration(json::Value document, const std::vector<std::string>& present_ports);

} // namespace teamo
