// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Devices that exist and could not become ports: why, and when to try again.
#pragma once

#include "base/result.h"
#include "daemon/context/log.h"
#include "daemon/context/team_context.h"
#include "model/status.h"
#include "plan/team/membership.h"
#include "plan/team/repair.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace teamo {

class Refusals {
public:
    explicit Refusals(TeamContext& context) : context_(context) {}

    /// Logged once. Tried again for ever: at once when another program has released the device, or when there
    /// is another one of that name; soon if the reason passes by itself, and every 30 s whatever it was.
    void note(const std::string& port, IfIndex device, const Error& refusal);
    bool has(const std::string& port) const { return refused_.contains(port); }
    bool is_worth_trying(const std::string& port, const Link& link) const;
    /// Users in other namespaces come and go without an event here.
    /// Forgets a refusal whose reason was a user in another namespace that has gone. True: there was one.
    bool poll();
    void forget(const std::string& port) { refused_.erase(port); }
    void forget_if(const std::function<bool(const std::string& port, IfIndex device)>& is_over);
    void clear() { refused_.clear(); }
    std::optional<Clock::time_point> deadline() const;
    void add_to(std::vector<RefusedStatus>& list) const;

    /// What the datapath takes from a port.
    Takes takes() const;

private:
    struct Refused {
        /// A change of these is worth a try: another device of that name, another master, other marks, other
        /// users.
        struct State {
            IfIndex device{}, master{};
            std::vector<std::string> altnames{};
            std::vector<IfIndex> users{};
            bool operator==(const State&) const = default;
        } state;
        LogOnce message;
        bool has_user_elsewhere = false;
        Patience patience{};
    };

    Refused::State state_of(const Link& link) const;
    bool is_free_elsewhere(const Link& link) const;

    TeamContext& context_;
    std::map<std::string, Refused> refused_; ///< by name
};

} // namespace teamo
