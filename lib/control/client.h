// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/handle.h"
#include "base/result.h"
#include "control/usock_message.h"

#include <chrono>

namespace teamo::control {

/// A connection of teamoctl to a team's daemon over its unix socket. Also works with teamd.
class Client {
public:
    /// ENOENT, ECONNREFUSED: no daemon for that team.
    static Result<Client> connect(std::string_view team, std::string_view run_directory = "/run/teamd");

    /// Sends one request and waits for its reply; ETIMEDOUT after `patience` (libteamdctl: 5 s).
    Result<Reply> call(const Request& request, std::chrono::milliseconds patience = std::chrono::seconds{5});

private:
    explicit Client(UniqueFd socket) : socket_(std::move(socket)) {}
    UniqueFd socket_;
};

} // namespace teamo::control
