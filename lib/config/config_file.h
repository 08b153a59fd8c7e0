// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Reads a team's configuration from text: as TeamConfig, and as the JSON document that the control socket
// dumps. Every error has its place in the text.
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
    /// teamd silently ignores the value: an error for --check, a warning in the daemon.
    bool tolerated = false;
    bool operator==(const Diagnostic&) const = default;
};

/// "FILE:LINE:COL: error: /json/pointer: text"
std::string text_of(const Diagnostic& diagnostic, std::string_view file);

/// "/json/pointer: text"
std::string text_of(const Diagnostic& diagnostic);

/// A configuration and the document it was read from. The document keeps unknown keys, and teamd's defaults
/// are written back into it (device, runner.name, runner.tx_hash, notify_peers.count and mcast_rejoin.count
/// for activebackup, link_watch of ports without one).
struct Configuration {
    TeamConfig team;
    json::Value document;
    bool operator==(const Configuration&) const = default;
};

/// A configuration with its errors and warnings. No configuration if the text is not a JSON object, or if
/// teamd would not start with a value either.
struct ConfigurationRead {
    std::optional<Configuration> configuration;
    std::vector<Diagnostic> diagnostics; ///< sorted by place
    /// Tolerated ones count too. Null: there is none.
    const Diagnostic* first_error() const;
    /// Why there is no configuration: the first error that is not tolerated. May be null.
    const Diagnostic* refusal() const;
    /// Whether --check must fail.
    bool has_errors() const { return first_error() != nullptr; }
};

/// `device`: teamd's -t. It overrides the document's device and is written back; empty if not given.
/// `attach`: as if the key were true. `datapath`: that of option --datapath, in the place of the document's.
ConfigurationRead read_configuration(std::string_view text, std::string_view device = {}, bool attach = false,
                                     std::optional<DatapathChoice> datapath = {});

/// Whether the key "attach" is "*": for each bond of the machine. read_configuration() takes it as true.
/// EINVAL: the text is not JSON. `file`: its name in messages.
Result<bool> is_for_all_bonds(std::string_view text, std::string_view file);

/// The same for a document in memory, for example after a change over the control socket.
ConfigurationRead read_document(json::Value document, std::string_view device = {},
                                std::optional<DatapathChoice> datapath = {});

/// One port's configuration as `teamdctl port config update` sends it: a JSON object. It does not contain the
/// team's link watches; read_configuration() adds those.
Result<json::Value> parse_port_configuration(std::string_view text);

/// Replaces the port's object as a whole, as teamd does (no merge). The name is literal: "eth1.100" is one
/// key.
json::Value with_port_configuration(json::Value document, std::string_view port, json::Value port_object);

/// What `config dump actual` shows: exactly the ports of the team, each with its object ({} if it has none).
json::Value actual_configuration(json::Value document, const std::vector<std::string>& present_ports);

} // namespace teamo
