// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.h"
#include "base/ip_address.h"
#include "base/result.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace teamo {

/// The addresses of hosts by name, without waiting: glibc asks in a thread of its own (getaddrinfo_a(3)). A
/// name is asked again when that has failed, and from time to time.
class HostLookup {
public:
    /// As far as known: an address as text is known at once, a name at a later call. The last known address
    /// stays while a later question fails.
    std::optional<IpAddress> find(const std::string& host, bool ipv6, Clock::time_point now);
    /// Why the name is not known; empty: it is, or the answer is awaited.
    std::string failure(const std::string& host, bool ipv6) const;

private:
    struct Question;
    struct QuestionEnd {
        void operator()(Question* question) const;
    };
    struct Entry {
        std::optional<IpAddress> address{};
        std::string failure{};
        std::unique_ptr<Question, QuestionEnd> question{};
        Clock::time_point next{}; ///< when to ask again
        unsigned failures = 0;    ///< since the last answer
    };
    static void ask(Entry& entry, const std::string& host, bool ipv6);
    static void take_answer(Entry& entry, Clock::time_point now);

    std::map<std::pair<std::string, bool>, Entry> entries_;
};

} // namespace teamo
