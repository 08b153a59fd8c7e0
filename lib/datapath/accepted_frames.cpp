// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/accepted_frames.h"

namespace teamo {

Result<> AcceptedFrames::begin(IfIndex inner) {
    inner_ = inner;
    is_left_by_former_ = TEAMO_TRY(hooks_.has(inner_, Hook::egress, Duty::recheck));
    return {};
}

Result<NetlinkSocket*> AcceptedFrames::socket() {
    if (!socket_) socket_ = TEAMO_TRY(NetlinkSocket::open(NETLINK_NETFILTER));
    return &*socket_;
}

Result<bool> AcceptedFrames::is_whole() {
    if (written_.empty()) return !is_left_by_former_;
    auto* connected = TEAMO_TRY(socket());
    return TEAMO_TRY(count_forward_rules(*connected, table_)) == written_.size();
}

Result<> AcceptedFrames::follow(const std::map<IfIndex, std::string>& ports, std::uint16_t left_protocol) {
    Chains chains;
    for (const auto& [port, name] : ports)
        chains[port] = {.device = name, .to = inner_, .left_protocol = left_protocol};
    const bool whole = TEAMO_TRY(is_whole());
    if (whole && chains == written_) return {};
    if (!whole) written_.clear(); // another program has removed them
    return write(std::move(chains));
}

Result<> AcceptedFrames::write(Chains chains) {
    // No frame comes by nftables that the program does not see.
    if (!chains.empty()) {
        const auto attached = hooks_.attach(inner_, Hook::egress, Duty::recheck, Order::first, recheck_);
        if (!attached && attached.error().number != ENODEV) return attached;
        if (!attached) chains.clear(); // the team was deleted: there is nowhere to forward to
    }
    auto* connected = TEAMO_TRY(socket());
    std::vector<ForwardChain> list;
    for (const auto& [port, chain] : chains)
        list.push_back(chain);
    TEAMO_TRY(replace_forward_table(*connected, table_, list));
    written_ = std::move(chains);
    is_left_by_former_ = false;
    return written_.empty() ? hooks_.detach(inner_, Hook::egress, Duty::recheck) : Result<>();
}

Result<> AcceptedFrames::remove(IfIndex port) {
    if (!written_.contains(port) && !is_left_by_former_) return {};
    auto chains = written_;
    chains.erase(port);
    return write(std::move(chains));
}

} // namespace teamo
