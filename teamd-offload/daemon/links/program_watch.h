// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Sees to it that our BPF programs stay on the devices of the team, and says so when another program has
// removed them or taken their place (docs/adr/0034), and that what others accept reaches the team
// (docs/adr/0035).
#pragma once

#include "daemon/context/loop.h"
#include "daemon/context/team_context.h"
#include "kernel/netlink/netlink_socket.h"
#include "plan/team/repair.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace teamo {

class ProgramWatch {
public:
    static Result<std::unique_ptr<ProgramWatch>> make(TeamContext& context);

    /// Every second: what has no event (tcx, netkit); with `next` also one device after the other, for lost
    /// events.
    void poll(bool next);

    std::vector<ProgramStatus> status() const;

private:
    explicit ProgramWatch(TeamContext& context) : context_(context) {}
    void note(const SeenHooks& seen);
    void check_changed();
    void catch_accepted();
    void watch_rules(bool on);
    bool is_to_check(IfIndex device) const;
    void report(const std::vector<LostProgram>& lost) const;
    void report_others();

    TeamContext& context_;
    Broadcast<SeenHooks>::Listener listener_;
    std::optional<Deferred> check_soon_;
    std::set<IfIndex> changed_;
    std::size_t polled_ = 0;

    // Of nftables, while it brings frames to the team.
    std::optional<NetlinkSocket> rule_events_;
    std::optional<Io> rule_io_;
    std::optional<std::map<IfIndex, std::string>> shadowed_; ///< ports by name; none: look again
    std::optional<Patience> patience_;                       ///< after a refusal
    LogOnce refusal_;
    std::set<std::string> others_; ///< programs of others before ours, as logged
};

} // namespace teamo
