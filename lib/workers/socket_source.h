// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "workers/socket_reader.h"

#include <optional>
#include <string>

namespace teamo {

/// The processes' sockets by the best way that this kernel has: BPF, else descriptor by descriptor.
class SocketSource {
public:
    static SocketSource open();

    Result<std::vector<SocketTraffic>> read() const;
    /// What it cannot see, and why, for people; empty: nothing.
    const std::string& limitations() const { return limitations_; }

private:
    std::optional<SocketReader> reader_;
    std::string limitations_;
};

} // namespace teamo
