// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/links/failure_domains.h"

#include "kernel/files/device_files.h"
#include "kernel/packets/frame_filters.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>

namespace teamo {
namespace {

constexpr std::size_t longest_lldpdu = 9216;
/// Holds a few frames: more would be a flood.
constexpr int lldp_receive_buffer = 16 << 10;
/// A socket is not polled for so long after it was read, because senders leave a second between two frames
/// (IEEE 802.1AB-2016, txCreditMax apart), and a flood must not keep the daemon busy.
constexpr std::chrono::seconds lldp_pause{1};

} // namespace

Result<std::unique_ptr<FailureDomains>> FailureDomains::make(TeamContext& context) {
    std::unique_ptr<FailureDomains> domains(new FailureDomains(context));
    domains->timer_ = TEAMO_TRY(Timer::make(context.loop, [self = domains.get()] { self->resume(); }));
    return domains;
}

void FailureDomains::follow(const std::set<IfIndex>& ports) {
    std::erase_if(ports_, [&](const auto& entry) { return !ports.contains(entry.first); });
    for (const auto index : ports) {
        auto& port = ports_[index];
        if (!port.place) read_place(index, port);
        if (port.socket) continue;
        if (const auto done = listen(index, port); !done && done.error().number != ENODEV) {
            const auto* link = context_.link(index);
            port.failure(context_.log, Level::warning,
                         fmt::format("port {}: no LLDP: ", link == nullptr ? "" : link->name),
                         done.error().text);
        }
    }
}

void FailureDomains::note_change() {
    if (std::holds_alternative<ActiveBackupRunner>(context_.config().runner)) context_.request_pass();
}

/// Not known while /sys does not show the device: it is being renamed, or /sys shows another namespace.
void FailureDomains::read_place(IfIndex index, Port& port) {
    const auto* link = context_.link(index);
    const auto place = link == nullptr ? fail(ENODEV, "") : read_device_place(*link);
    if (!place) return; // tried again by the next pass
    port.place = domain_of(*place);
    if (*port.place != FailureDomain{}) note_change();
}

Result<> FailureDomains::listen(IfIndex index, Port& port) {
    auto socket = TEAMO_TRY(context_.shared.sockets.open(index, "lldp",
                                                         {.protocol = lldp::ether_lldp,
                                                          .group = lldp::groups.front(),
                                                          .filter = lldp_filter(),
                                                          .receive_buffer = lldp_receive_buffer}));
    for (const auto& group : std::span(lldp::groups).subspan(1))
        TEAMO_TRY(socket->add_group(group));
    port.io = TEAMO_TRY(Io::make(context_.loop, socket->fd(), EPOLLIN, Priority::timer,
                                 [this, index](std::uint32_t) { read(index); }));
    port.is_earlier = socket.get_deleter().is_earlier;
    port.socket = std::move(socket);
    port.failure.clear();
    return {};
}

void FailureDomains::read(IfIndex index) {
    const auto found = ports_.find(index);
    if (found == ports_.end() || !found->second.socket) return;
    auto& port = found->second;
    const auto now = Clock::now();
    const auto* link = context_.link(index);
    const auto before = port.neighbours.nearest(now);
    // What waited for this process may be from before a loss of the link.
    const bool is_earlier = std::exchange(port.is_earlier, false);
    const auto losses = link == nullptr ? 0 : link->carrier_losses - (is_earlier ? 1 : 0);
    std::array<std::byte, longest_lldpdu> buffer{};
    for (int count = 0; count < PortSocket::frames_at_once; ++count) {
        const auto frame = port.socket->receive(buffer);
        if (!frame) break;
        if (const auto pdu = lldp::parse_frame(*frame)) port.neighbours.note(*pdu, losses, now);
    }
    if (std::ranges::none_of(ports_, [](const auto& entry) { return entry.second.pauses; }))
        timer_->after(lldp_pause);
    port.pauses = true;
    port.io->set_events(0);
    if (const auto after = port.neighbours.nearest(now); after != before) {
        if (link != nullptr && after.is_known() && after.id != before.id)
            context_.log.port(Level::info, link->name,
                              fmt::format(" leads to {}, port {} (LLDP)", after.shown(), after.port));
        note_change();
    }
}

void FailureDomains::resume() {
    for (auto& [index, port] : ports_)
        if (std::exchange(port.pauses, false) && port.io) port.io->set_events(EPOLLIN);
}

FailureDomain FailureDomains::of(IfIndex port) const {
    const auto found = ports_.find(port);
    if (found == ports_.end()) return {};
    auto domain = found->second.place.value_or(FailureDomain{});
    domain.at = found->second.neighbours.nearest(Clock::now());
    return domain;
}

} // namespace teamo
