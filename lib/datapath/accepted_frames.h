// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Brings the frames to the team that programs of others accept on a port of a pair: they end the port's tc
// hook before our program, and the port's host would get them. nftables, which comes after that hook, sends
// them to the inner end, where teamo_recheck looks at them (docs/adr/0035).
#pragma once

#include "datapath/programs/device_programs.h"
#include "kernel/netlink/nftables.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace teamo {

class AcceptedFrames {
public:
    /// `recheck`: the descriptor of the program. `table`: of nftables.
    AcceptedFrames(DevicePrograms& hooks, int recheck, std::string table)
        : hooks_(hooks), recheck_(recheck), table_(std::move(table)) {}

    /// `inner`: the inner end of the pair. Notes what an earlier daemon has left there.
    Result<> begin(IfIndex inner);
    /// Of these ports and no others; by index, with their names. Writes only differences, also those that
    /// another program has made.
    Result<> follow(const std::map<IfIndex, std::string>& ports, std::uint16_t left_protocol);
    /// The port is one no more.
    Result<> remove(IfIndex port);

    /// Whether the frames of this port come to the team.
    bool has(IfIndex port) const { return written_.contains(port); }

private:
    using Chains = std::map<IfIndex, ForwardChain>; ///< by port

    Result<> write(Chains chains);
    Result<bool> is_whole();
    Result<NetlinkSocket*> socket();

    DevicePrograms& hooks_;
    int recheck_;
    std::string table_;
    IfIndex inner_{};
    std::optional<NetlinkSocket> socket_{}; ///< opened when it is needed: it loads nftables
    Chains written_{};
    bool is_left_by_former_ = false;
};

} // namespace teamo
