// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/handle.h"
#include "support/eventually.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teamo::test {

/// teamd's control socket, spoken to byte by byte: written from the protocol, apart from the daemon's code.
class ControlSocket {
public:
    /// None where nobody listens.
    static std::optional<ControlSocket> to(std::string_view team);

    /// Sends one record as it is; false where the other side takes no more now.
    bool send(std::string_view record) const;
    /// The next record, or none within `patience`.
    std::optional<std::string> receive(milliseconds patience = long_enough) const;
    /// "REQUEST\n<method>\n<argument>\n…" and what came back, or none.
    std::optional<std::string> ask(std::string_view method, const std::vector<std::string>& arguments = {},
                                   milliseconds patience = long_enough) const;

private:
    explicit ControlSocket(UniqueFd socket) : socket_(std::move(socket)) {}
    UniqueFd socket_;
};

/// The payload of a REPLY_SUCCESS, else none.
std::optional<std::string> payload_of(const std::optional<std::string>& reply);

} // namespace teamo::test
