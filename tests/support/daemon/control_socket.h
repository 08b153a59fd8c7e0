// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/handle.h"
#include "support/eventually.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teamo::test {

/// A client of teamd's control socket, written from the protocol and independent of the daemon's code.
class ControlSocket {
public:
    /// None if no daemon listens.
    static std::optional<ControlSocket> to(std::string_view team);

    /// Sends one record unchanged; false if the other side accepts no more now.
    bool send(std::string_view record) const;
    /// The next record, or none within `patience`.
    std::optional<std::string> receive(milliseconds patience = long_enough) const;
    /// Sends "REQUEST\n<method>\n<argument>\n…"; returns the reply, or none.
    std::optional<std::string> ask(std::string_view method, const std::vector<std::string>& arguments = {},
                                   milliseconds patience = long_enough) const;

private:
    explicit ControlSocket(UniqueFd socket) : socket_(std::move(socket)) {}
    UniqueFd socket_;
};

/// The payload of a REPLY_SUCCESS, else none.
std::optional<std::string> payload_of(const std::optional<std::string>& reply);

} // namespace teamo::test
