// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/links/probes.h"

#include "kernel/packets/frame_filters.h"
#include "watch/probe_frames.h"

#include <fmt/format.h>
#include <linux/if_ether.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>

namespace teamo {
namespace {

/// TIPC reports the links that are there when it is asked; this is long enough.
constexpr std::chrono::seconds tipc_settle_time{1};
constexpr int receive_buffer = 16 << 10; ///< bytes: some dozens of answers

/// The address that the kernel makes of a MAC address (RFC 4291, appendix A).
IpAddress link_local_of(const MacAddress& mac) {
    const auto& b = mac.bytes;
    return {.ipv6 = true,
            .bytes = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, static_cast<std::uint8_t>(b[0] ^ 2), b[1], b[2], 0xff,
                      0xfe, b[3], b[4], b[5]}};
}

std::string_view name_of(const LinkWatch& watch) { return link_watch_names[watch.index()]; }

} // namespace

Result<std::unique_ptr<Probes>> Probes::make(TeamContext& context) {
    std::unique_ptr<Probes> probes(new Probes(context));
    probes->tipc_timer_ = TEAMO_TRY(Timer::make(context.loop, [&context] { context.request_pass(); }));
    return probes;
}

void Probes::open(const Key& key, Ping& ping) {
    const auto* arp = std::get_if<ArpPingWatch>(&ping.watch);
    // All protocols: a packet socket of one protocol does not get what a datapath takes at the port.
    auto socket =
        context_.shared.sockets.open(key.first, fmt::format("probe{}", key.second),
                                     {.protocol = ETH_P_ALL,
                                      .filter = arp != nullptr ? arp_filter(arp->vlanid) : neighbour_filter(),
                                      .receive_buffer = receive_buffer});
    auto io = socket ? Io::make(context_.loop, (*socket)->fd(), EPOLLIN, Priority::timer,
                                [this, key](std::uint32_t) {
                                    if (read(key, PortSocket::frames_at_once)) context_.request_pass();
                                })
                     : tl::unexpected(socket.error());
    if (!io)
        return ping.refused(context_.log, Level::error,
                            fmt::format("port {}: no link watch {}: ", ping.port, name_of(ping.watch)),
                            io.error().text);
    io->limit();
    ping.refused.clear();
    ping.socket = std::move(*socket);
    ping.io = std::move(*io);
}

/// As bond_arp_rcv() and bond_rcv_validate(): a port that does not carry also gets what the one that carries
/// sends, back from the switch.
bool Probes::is_answer(const Ping& ping, std::span<const std::byte> frame) {
    const bool hears_others = !ping.carries && ping.others_carry;
    if (const auto* watch = std::get_if<ArpPingWatch>(&ping.watch)) {
        const auto arp = parse_arp(frame);
        if (!(ping.carries ? watch->validate_active : watch->validate_inactive)) return arp.has_value();
        if (!arp || !ping.target) return false;
        const bool from_target = arp->sender == *ping.target;
        const bool own = hears_others && arp->sender == ping.source && arp->target == *ping.target;
        return (from_target && (!arp->is_reply || arp->target == ping.source)) || own;
    }
    const auto message = parse_neighbour(frame);
    return message && ping.target && message->target == *ping.target &&
           (message->is_advertisement || hears_others);
}

/// A switch that treats the ports as one link may send an answer by any of them: its destination tells whose
/// probe it answers.
bool Probes::note(const Key& key, std::span<const std::byte> frame) {
    auto& here = pings_.at(key);
    const auto answers = [&frame](Ping& ping) {
        const bool is = !ping.answered && !ping.is_done && is_answer(ping, frame);
        ping.answered |= is;
        return is;
    };
    if (frame.size() < sizeof(MacAddress)) return false;
    for (auto& [other, ping] : pings_)
        if (other != key && ping.watch == here.watch && ping.mac != here.mac &&
            std::ranges::equal(std::as_bytes(std::span(ping.mac.bytes)), frame.first(sizeof(MacAddress))))
            return answers(ping);
    return answers(here);
}

bool Probes::read(const Key& key, int most) {
    std::array<std::byte, longest_probe_answer> buffer{};
    bool found = false;
    for (int count = 0; count < most; ++count) {
        auto& socket = pings_.at(key).socket;
        const auto frame = socket ? socket->receive(buffer) : std::nullopt;
        if (!frame) break;
        found = note(key, *frame) || found;
    }
    return found;
}

void Probes::discard(const Key& key) {
    constexpr int most = 256;                     // more than the buffer holds
    if (read(key, most)) context_.request_pass(); // an answer for another port
    pings_.at(key).answered = pings_.at(key).is_done = false;
}

void Probes::note_answers(IfIndex port, PortWatch& watch) {
    const auto& watches = watch.watches();
    for (std::size_t i = 0; i < watches.size(); ++i) {
        // Until TIPC has reported its links, what is known of the port stays.
        if (const auto* tipc = std::get_if<TipcWatch>(&watches[i]); tipc != nullptr && tipc_)
            if (const bool has = tipc_->has_link(tipc->tipc_bearer); has || Clock::now() >= tipc_settled_)
                watch.note_tipc(i, has);
        const auto found = pings_.find({port, i});
        if (found == pings_.end() || found->second.watch != watches[i]) continue;
        if (std::exchange(found->second.answered, false)) watch.note_answer(i);
    }
}

void Probes::read_all() {
    for (const auto& [key, ping] : pings_)
        read(key, PortSocket::frames_at_once);
}

void Probes::update(const Port& port, std::size_t watch) {
    const auto& config = port.watch->watches()[watch];
    auto& ping = pings_[{port.index, watch}];
    if (ping.watch != config) ping = {.watch = config};
    ping.port = port.name;
    ping.carries = port.carries;
    ping.others_carry = port.others_carry;
    ping.is_done = port.watch->is_answered(watch);
    // An own address of each port tells the answers apart. With an IP address as the source, neighbours would
    // send the team's packets to it; and the address of a backup port should stay where it is.
    const auto* arp = std::get_if<ArpPingWatch>(&config);
    const bool is_anonymous = arp == nullptr || arp->source_host == ArpPingWatch{}.source_host;
    ping.mac = is_anonymous && !port.one_carries ? port.own : port.address;
    if (!ping.socket) open({port.index, watch}, ping);
}

/// Each device receives the answers to all ports.
void Probes::listen() {
    for (auto& [key, ping] : pings_)
        for (const auto& [other, sender] : pings_)
            if (ping.socket && sender.watch == ping.watch && ping.addresses.insert(sender.mac).second)
                if (auto added = ping.socket->add_address(sender.mac); !added) {
                    ping.unheard(context_.log, Level::warning, fmt::format("port {}: ", ping.port),
                                 added.error().text);
                    if (is_passing(added.error())) ping.addresses.erase(sender.mac); // tried again
                }
}

void Probes::follow(const std::vector<Port>& ports) {
    std::set<Key> wanted;
    bool wants_tipc = false;
    for (const auto& port : ports) {
        const auto& watches = port.watch->watches();
        for (std::size_t i = 0; i < watches.size(); ++i) {
            wants_tipc |= std::holds_alternative<TipcWatch>(watches[i]);
            if (!timing_of(watches[i])) continue;
            wanted.emplace(port.index, i);
            update(port, i);
        }
    }
    std::erase_if(pings_, [&](const auto& entry) { return !wanted.contains(entry.first); });
    listen();
    for (const auto& port : ports)
        for (const auto watch : port.watch->take_due())
            if (!send({port.index, watch}, pings_.at({port.index, watch})))
                port.watch->note_unsent(watch, Clock::now());
    pause(ports);
    follow_tipc(wants_tipc);
}

/// Once all ports have their answers, other frames would only keep the daemon busy.
void Probes::pause(const std::vector<Port>& ports) {
    const bool listens = std::ranges::any_of(pings_, [&](const auto& entry) {
        const auto port = std::ranges::find(ports, entry.first.first, &Port::index);
        return !port->watch->is_answered(entry.first.second);
    });
    for (auto& [key, ping] : pings_)
        if (ping.io && std::exchange(ping.listens, listens) != listens)
            ping.io->set_events(listens ? std::uint32_t{EPOLLIN} : 0);
}

void Probes::resolve(Ping& ping) {
    const auto find = [&](const std::string& host, bool ipv6) {
        const auto address = hosts_.find(host, ipv6, Clock::now());
        if (const auto failure = hosts_.failure(host, ipv6); !failure.empty())
            ping.unresolved(context_.log, Level::warning,
                            fmt::format("port {}: link watch {}: ", ping.port, name_of(ping.watch)),
                            fmt::format("host {}: {}", host, failure));
        return address;
    };
    if (const auto* arp = std::get_if<ArpPingWatch>(&ping.watch)) {
        ping.source = find(arp->source_host, false);
        ping.target = find(arp->target_host, false);
    } else if (const auto* nsna = std::get_if<NsnaPingWatch>(&ping.watch)) {
        ping.target = find(nsna->target_host, true);
    }
    if (ping.target) ping.unresolved.clear();
}

bool Probes::send(const Key& key, Ping& ping) {
    discard(key);
    resolve(ping);
    const auto* arp = std::get_if<ArpPingWatch>(&ping.watch);
    if (!ping.socket || !ping.target || (arp != nullptr && !ping.source)) return false;
    const auto frame = arp != nullptr
                           ? arp_probe({.mac = ping.mac, .vlan = arp->vlanid}, *ping.source, *ping.target)
                           : neighbour_probe({.mac = ping.mac}, link_local_of(ping.mac), *ping.target);
    ping.refused(context_.log, Level::warning, fmt::format("port {}: no probe sent: ", ping.port),
                 ping.socket->send(frame));
    return true;
}

void Probes::follow_tipc(bool wanted) {
    if (!wanted || tipc_) return;
    auto links = TipcLinks::open();
    auto io = links ? Io::make(context_.loop, links->fd(), EPOLLIN, Priority::link,
                               [this](std::uint32_t) {
                                   context_.request_pass();
                                   if (!tipc_ || tipc_->read()) return;
                                   tipc_io_.reset(); // closed; opened again by the next pass
                                   tipc_.reset();
                               })
                    : tl::unexpected(links.error());
    if (!io) return tipc_refused_(context_.log, Level::error, "no link watch tipc: ", io.error().text);
    tipc_ = std::move(*links);
    tipc_io_ = std::move(*io);
    tipc_settled_ = Clock::now() + tipc_settle_time;
    tipc_timer_->at(tipc_settled_);
}

} // namespace teamo
