// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/links/lacp_frames.h"

#include "runtime/journal.h"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>

namespace teamo {
namespace {

constexpr std::size_t longest_frame = 1600;

/// False: passes by itself, within a second or two.
bool lasts(const lacp::PortStatus& status) {
    using enum lacp::NotSelected;
    switch (status.not_selected) {
    case half_duplex:
    case looped:
    case partner_silent:
    case other_system:
    case other_key:
    case other_own_key:
    case individual:
    case other_policy:
    case held: return true;
    case out_of_sync: return status.partner_churn == lacp::ChurnState::churn;
    default: return false;
    }
}

} // namespace

Result<std::unique_ptr<LacpFrames>> LacpFrames::make(TeamContext& context,
                                                     std::function<lacp::System*()> system) {
    std::unique_ptr<LacpFrames> frames(new LacpFrames(context, std::move(system)));
    frames->timer_ = TEAMO_TRY(Timer::make(context.loop, [self = frames.get()] { self->keep_time(); }));
    return frames;
}

void LacpFrames::listen(const std::vector<Port>& ports) {
    if (system_() == nullptr) return;
    for (const auto& port : ports)
        if (const auto wire = wires_.find(port.index); wire != wires_.end())
            wire->second.port = port;
        else
            open(port);
}

void LacpFrames::forget_others(const std::vector<Port>& ports) {
    const auto is_gone = [&](const auto& entry) {
        return std::ranges::find(ports, entry.first, &Port::index) == ports.end();
    };
    std::erase_if(wires_, is_gone);
    std::erase_if(refused_, is_gone);
}

void LacpFrames::open(const Port& port) {
    auto socket = context_.shared.sockets.open(port.index, "lacp",
                                               {.protocol = lacp::ether_slow, .group = lacp::slow_protocols});
    auto io = socket ? Io::make(context_.loop, (*socket)->fd(), EPOLLIN, Priority::timer,
                                [this, index = port.index](std::uint32_t) {
                                    if (read(index)) context_.request_pass();
                                })
                     : tl::unexpected(socket.error());
    if (!io)
        return refused_[port.index](context_.log, Level::error, fmt::format("port {}: no LACP: ", port.name),
                                    io.error().text);
    io->limit();
    refused_.erase(port.index);
    wires_.insert_or_assign(port.index,
                            Wire{.port = port, .socket = std::move(*socket), .io = std::move(*io)});
}

bool LacpFrames::read(IfIndex port) {
    auto* system = system_();
    const auto wire = wires_.find(port);
    if (system == nullptr || wire == wires_.end()) return false;
    bool changed = false;
    std::array<std::byte, longest_frame> buffer{};
    for (int count = 0; count < PortSocket::frames_at_once; ++count) {
        const auto frame = wire->second.socket->receive(buffer);
        if (!frame) break;
        changed = system->receive(port, *frame, Clock::now()) || changed;
    }
    return changed;
}

bool LacpFrames::read_all() {
    bool changed = false;
    for (const auto& [port, wire] : wires_)
        changed = read(port) || changed;
    return changed;
}

void continue_lacp(const std::string& team, const Links& links, PacketSocket& socket) {
    const auto* device = find_team(links, team);
    if (device == nullptr || device->kind == bond_kind) return;
    const auto journal = read_journal(team).value_or(std::nullopt);
    if (!journal) return;
    for (const auto& port : journal->ports) {
        const auto* link = find_link(links, port.index);
        if (port.state != PortState::joined || port.lacp.partner == lacp::PortInfo{} || link == nullptr ||
            port_mark_of(*link) != PortMark{team, port.slot} || port.carrier_losses != link->carrier_losses)
            continue;
        const lacp::Lacpdu pdu{.actor = port.lacp.actor, .partner = port.lacp.partner};
        // If this fails: it is sent again soon.
        static_cast<void>(socket.send(port.index, lacp::build_frame(pdu, port.address)));
    }
}

void LacpFrames::keep_time() {
    auto* system = system_();
    if (system == nullptr) return;
    const bool read = read_all(); // before a timeout is believed
    if (system->step(Clock::now()) || read)
        context_.request_pass(); // which sends, after the tables
    else
        send_due();
}

void LacpFrames::send_due() {
    auto* system = system_();
    if (system == nullptr) return;
    auto now = Clock::now();
    for (const auto& outgoing : system->due(now))
        send(*system, outgoing);
    for (auto& [port, wire] : wires_)
        if (system->has(port)) log_reason(wire, system->status(port, now));
    now = Clock::now();
    if (const auto deadline = system->deadline(now))
        timer_->at(*deadline);
    else
        timer_->stop();
}

void LacpFrames::send(lacp::System& system, const lacp::Outgoing& outgoing) {
    const auto found = wires_.find(outgoing.port);
    if (found == wires_.end()) return system.note_result(outgoing, false, Clock::now());
    auto& wire = found->second;
    const auto frame =
        std::visit([&](const auto& one) { return lacp::build_frame(one, wire.port.source); }, outgoing.frame);
    const auto sent = wire.socket->send(frame);
    system.note_result(outgoing, sent.has_value(), Clock::now());
    if (sent)
        wire.failure.clear();
    else if (!outgoing.is_last)
        wire.failure(context_.log, Level::warning, fmt::format("port {}: no LACPDU sent: ", wire.port.name),
                     sent.error().text);
}

void LacpFrames::log_reason(Wire& wire, const lacp::PortStatus& status) {
    auto partner = status.partner;
    partner.state = 0;
    const std::tuple now(status.not_selected, status.fallback, partner);
    if (now == wire.logged) return;
    const auto& name = wire.port.name;
    if (status.not_selected == lacp::NotSelected::none) {
        wire.logged = now;
        if (status.fallback)
            context_.log.port(Level::notice, name, " carries without a LACP partner (fallback)");
        else
            context_.log.port(Level::info, name,
                              fmt::format(": LACP partner {}, key {}, port {}",
                                          text_of(status.partner.system.address), status.partner.key,
                                          status.partner.port.number));
    } else if (lasts(status)) {
        wire.logged = now;
        context_.log.port(Level::warning, name, " is not used: " + status.reason);
    }
}

} // namespace teamo
