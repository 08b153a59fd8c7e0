// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Reads all TCP and UDP sockets of all processes at once (bpf/sockets.bpf.c), in all network namespaces.
#pragma once

#include "base/result.h"
#include "model/workers.h"

#include <memory>
#include <vector>

namespace teamo {

class SocketReader {
public:
    /// Loads the program. EPERM and others: this kernel or its settings do not allow it.
    static Result<SocketReader> open();

    SocketReader(SocketReader&&) noexcept;
    SocketReader& operator=(SocketReader&&) noexcept;
    ~SocketReader();

    /// Ordered by process and cookie, each pair once. Covers processes of this PID namespace and those below.
    /// A UDP socket has no counts, and a CPU only if it is connected.
    Result<std::vector<SocketTraffic>> read() const;

private:
    struct Program;
    explicit SocketReader(std::unique_ptr<Program> program);

    std::unique_ptr<Program> program_;
};

} // namespace teamo
