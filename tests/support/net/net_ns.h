// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/handle.h"

#include <string>
#include <string_view>
#include <utility>

namespace teamo::test {

/// Sets lo of the calling thread's namespace up. False if it cannot: errno.
[[nodiscard]] bool bring_loopback_up();

/// A network namespace without a name. It exists as long as this value, a process in it, or a socket in it.
/// The test process itself is in the namespace where the daemon runs (world.h).
class NetNs {
public:
    /// A new namespace with lo up, and without duplicate address detection, so that IPv6 addresses are usable
    /// at once.
    static NetNs create();
    /// The namespace of the calling thread.
    static NetNs current();

    int fd() const { return fd_.get(); }
    /// For `ip link set … netns PATH`; valid in every process of this test.
    std::string path() const;

    /// Runs `action` with the calling thread inside; sockets made there stay there.
    template <class Action>
    auto inside(Action&& action) const {
        const Visit visit(fd());
        return std::forward<Action>(action)();
    }

    /// Runs ip(8) commands, one a line, without the word "ip". Throws SetupError with ip's own words.
    void ip(std::string_view lines) const;

private:
    explicit NetNs(UniqueFd fd) : fd_(std::move(fd)) {}

    class Visit {
    public:
        explicit Visit(int to);
        Visit(const Visit&) = delete;
        Visit& operator=(const Visit&) = delete;
        ~Visit();

    private:
        UniqueFd home_;
    };

    UniqueFd fd_;
};

} // namespace teamo::test
