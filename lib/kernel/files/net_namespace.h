// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Network namespaces without a name: one exists as long as a descriptor of it, a thread or a socket in it.
#pragma once

#include "base/handle.h"
#include "base/result.h"

namespace teamo {

class NetNamespace {
public:
    /// A new one, whose loopback device is up.
    static Result<NetNamespace> create();

    int fd() const { return fd_.get(); }

    /// Moves the calling thread to the namespace until the object is destroyed. A socket that is opened there
    /// stays there.
    class Visit {
    public:
        explicit Visit(UniqueFd home) : home_(std::move(home)) {}
        Visit(Visit&&) noexcept = default;
        Visit& operator=(Visit&&) = delete;
        ~Visit();

    private:
        UniqueFd home_;
    };
    Result<Visit> visit() const;

private:
    explicit NetNamespace(UniqueFd fd) : fd_(std::move(fd)) {}
    UniqueFd fd_;
};

} // namespace teamo
