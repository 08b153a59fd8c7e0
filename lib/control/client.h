// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/handle.h"
#include "base/result.h"
#include "bus/system_bus.h"
#include "control/usock_message.h"
#include "json/value.h"

#include <chrono>

namespace teamo::control {

/// A connection of teamoctl to a team's daemon over its unix socket or D-Bus. Also works with teamd.
class Client {
public:
    /// ENOENT, ECONNREFUSED: no daemon for that team.
    static Result<Client> connect(std::string_view team, std::string_view run_directory = "/run/teamd");

    /// By the name org.libteam.teamd.TEAM on the system bus.
    static Result<Client> connect_by_bus(const std::string& team);

    /// Sends one request and waits for its reply; ETIMEDOUT after `patience` (libteamdctl: 5 s).
    Result<Reply> call(const Request& request, std::chrono::milliseconds patience = std::chrono::seconds{5});
    /// The text of the reply. EINVAL: the daemon refused, with its message and code.
    Result<std::string> text(const Request& request,
                             std::chrono::milliseconds patience = std::chrono::seconds{5});
    /// A reply that is a document. EPROTO: it is none.
    Result<json::Value> document(const Request& request,
                                 std::chrono::milliseconds patience = std::chrono::seconds{5});

private:
    explicit Client(UniqueFd socket) : socket_(std::move(socket)) {}
    Client(Bus bus, std::string name) : bus_(std::move(bus)), name_(std::move(name)) {}
    UniqueFd socket_;
    Bus bus_;          ///< none: by the socket
    std::string name_; ///< on the bus
};

} // namespace teamo::control
