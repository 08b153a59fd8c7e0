// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Every TCP and UDP socket of every process in one read (bpf/sockets.bpf.c), in all network namespaces.
#pragma once

#include "base/result.h"
#include "model/workers.h"

#include <memory>
#include <vector>

namespace teamo {

class SocketReader {
public:
    /// Loads the program. EPERM and others: this kernel, or its administrator, does not have it.
    static Result<SocketReader> open();

    SocketReader(SocketReader&&) noexcept;
    SocketReader& operator=(SocketReader&&) noexcept;
    ~SocketReader();

    /// By process and cookie, each pair once; processes that this process's /proc would show. Of UDP it
    /// knows that a socket is there, and the CPU of one that is connected, but no counts.
    Result<std::vector<SocketTraffic>> read() const;

private:
    struct Program;
    explicit SocketReader(std::unique_ptr<Program> program);

    std::unique_ptr<Program> program_;
};

} // namespace teamo
