// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "workers/socket_reader.h"

#include <optional>
#include <string>

namespace teamo {

/// Reads the processes' sockets in the best way that this kernel has: BPF, otherwise descriptor by
/// descriptor.
class SocketSource {
public:
    static SocketSource open();

    Result<std::vector<SocketTraffic>> read() const;
    /// What it cannot see and why, as a message for the administrator; empty: no limitations.
    const std::string& limitations() const { return limitations_; }

private:
    std::optional<SocketReader> reader_;
    std::string limitations_;
};

} // namespace teamo
