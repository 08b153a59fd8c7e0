// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/links/announcer.h"

#include "announce/announcement_frames.h"
#include "kernel/files/files.h"
#include "kernel/netlink/addresses.h"

#include <algorithm>
#include <set>
#include <utility>

namespace teamo {
namespace {

bool is_bridge(const Link& link) { return link.kind == "bridge"; }

/// Devices whose addresses are reachable through the team, and the device to send their frames by: the team,
/// all devices above it (VLANs, macvlans), and bridges whose ports these are. Frames sent by a bridge itself
/// would be flooded to its other ports. Not a VRF: its addresses are reached by the MAC address of the team.
std::vector<std::pair<const Link*, IfIndex>> speakers(const TeamContext& context, IfIndex team,
                                                      IfIndex inner) {
    std::vector<std::pair<const Link*, IfIndex>> list;
    const auto* device = context.link(team);
    if (device == nullptr) return list;
    list.emplace_back(device, team);
    const auto add = [&list](const Link& link, IfIndex outlet) {
        if (std::ranges::find(list, &link, [](const auto& entry) { return entry.first; }) == list.end())
            list.emplace_back(&link, outlet);
    };
    std::size_t known = 0;
    while (known < list.size()) { // it grows meanwhile
        const auto [lower, outlet] = list[known++];
        if (const auto* bridge = context.link(lower->master); bridge != nullptr && is_bridge(*bridge))
            add(*bridge, outlet);
        for (const auto* link : context.links_on(lower->index))
            if (link->index != inner) add(*link, link->index);
    }
    return list;
}

/// Addresses of macvlans in other namespaces, which are in the lists of the devices below them, and the
/// device to send their frames by. The list of a device has those of the VLANs on it too, which come first.
std::vector<std::pair<MacAddress, IfIndex>>
speakers_elsewhere(const TeamContext& context, const std::vector<std::pair<const Link*, IfIndex>>& speakers) {
    std::set<MacAddress> found;
    std::vector<std::pair<MacAddress, IfIndex>> elsewhere;
    if (speakers.empty()) return elsewhere;
    // The team's list has those of all devices above it.
    const auto team = context.control.read(speakers.front().second);
    if (team && !may_list_addresses(*team)) return elsewhere;
    for (const auto& [device, outlet] : std::vector(speakers.rbegin(), speakers.rend())) {
        if (is_bridge(*device)) continue; // what it lists are stations that it has learned
        for (const auto& address : read_unicast_list(device->index).value_or(std::vector<MacAddress>()))
            if (context.links_with(address).empty() && found.insert(address).second)
                elsewhere.emplace_back(address, outlet);
    }
    return elsewhere;
}

/// Without groups.
Result<announce::Speaker> speaker_of(NetlinkSocket& requests, const Link& device) {
    announce::Speaker speaker;
    speaker.mac = device.address;
    for (const auto& address : TEAMO_TRY(read_addresses(requests, device.index)))
        if (!address.tentative) (address.ip.ipv6 ? speaker.ipv6 : speaker.ipv4).push_back(address.ip);
    const auto forwarding = read_file(fmt::format("/proc/sys/net/ipv6/conf/{}/forwarding", device.name), 64);
    speaker.router = forwarding && forwarding->starts_with('1');
    return speaker;
}

} // namespace

/// Sends frames, and in the end says in one line what has failed.
class Announcer::Sender {
public:
    explicit Sender(TeamContext& context) : context_(context) {}
    Sender(const Sender&) = delete;
    Sender& operator=(const Sender&) = delete;
    ~Sender() {
        if (failed_ != 0)
            context_.log(Level::warning,
                         fmt::format("{} addresses or groups are not announced; {}", failed_, why_));
    }

    void send(IfIndex outlet, std::string_view of, const std::vector<Bytes>& frames) {
        for (const auto& frame : frames)
            if (auto sent = context_.frames.send(outlet, frame); !sent && sent.error().number != ENETDOWN)
                note(of, sent.error());
    }
    void note(std::string_view of, const Error& error) {
        ++failed_;
        why_ = fmt::format("{}: {}", of, error.text);
    }

private:
    TeamContext& context_;
    std::size_t failed_ = 0;
    std::string why_;
};

Result<std::unique_ptr<Announcer>> Announcer::make(TeamContext& context) {
    std::unique_ptr<Announcer> announcer(new Announcer(context));
    for (auto* round : {&announcer->peers_, &announcer->groups_})
        round->timer =
            TEAMO_TRY(Timer::make(context.loop, [raw = announcer.get(), round] { raw->next(*round); }));
    announcer->moved_timer_ =
        TEAMO_TRY(Timer::make(context.loop, [raw = announcer.get()] { raw->next_moved(); }));
    announcer->waiting_timer_ =
        TEAMO_TRY(Timer::make(context.loop, [raw = announcer.get()] { raw->send_waiting(); }));
    return announcer;
}

void Announcer::announce(IfIndex team, IfIndex inner, Repetition peers, Repetition groups,
                         bool kernel_announces) {
    peers_.team = groups_.team = team;
    peers_.inner = groups_.inner = inner;
    peers_.left = peers;
    groups_.left = groups;
    peers_.only_without_address = kernel_announces;
    next(peers_);
    next(groups_);
}

void Announcer::next(Round& round) {
    if (round.left.count == 0) return round.timer->stop();
    send(round);
    if (--round.left.count > 0) round.timer->after(round.left.interval);
}

void Announcer::send(const Round& round) {
    auto& requests = context_.shared.requests;
    Sender sender(context_);
    const auto here = speakers(context_, round.team, round.inner);
    for (const auto& [device, outlet] : here) {
        auto speaker = speaker_of(requests, *device);
        if (!speaker) {
            sender.note(device->name, speaker.error());
            continue;
        }
        // The kernel tells VLANs and macvlans to announce themselves, but no bridge (net/bridge/br.c).
        const bool by_kernel = round.only_without_address && !is_bridge(*device);
        if (by_kernel && !(speaker->ipv4.empty() && speaker->ipv6.empty())) continue;
        if (round.what == What::peers) {
            sender.send(outlet, device->name, announce::peer_announcements(*speaker));
            continue;
        }
        // A kernel without IPv6 has no such groups.
        speaker->ipv6_groups = read_ipv6_groups(requests, device->index).value_or(std::vector<IpAddress>());
        if (const auto* ipv4 = context_.shared.ipv4_groups(device->index)) {
            speaker->ipv4_groups = ipv4->groups;
            speaker->igmp = ipv4->version;
        }
        sender.send(outlet, device->name, announce::membership_reports(*speaker));
    }
    if (round.what == What::peers)
        for (const auto& [address, outlet] : speakers_elsewhere(context_, here))
            sender.send(outlet, text_of(address), announce::peer_announcements({.mac = address}));
}

void Announcer::announce_moved(IfIndex team, IfIndex inner, const BucketSet& buckets, Repetition peers,
                               Repetition groups) {
    peers_.team = groups_.team = team;
    peers_.inner = groups_.inner = inner;
    moved_interval_ = peers.interval;
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        if (buckets.test(bucket)) moved_[bucket] = {.left = peers.count, .at = Clock::now()};
    next_moved();
    if (groups.count == 0) return;
    groups_.left = groups;
    next(groups_);
}

void Announcer::next_moved() {
    const auto now = Clock::now();
    BucketSet due;
    std::optional<Clock::time_point> next;
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
        auto& [left, at] = moved_[bucket];
        if (left > 0 && at <= now) {
            due.set(bucket);
            at = now + moved_interval_;
            --left;
        }
        if (left > 0) next = earlier(next, at);
    }
    if (next)
        moved_timer_->at(*next);
    else
        moved_timer_->stop();
    if (due.any()) send_moved(due);
}

/// What neighbours know of the host's own devices, and each address as switches learn it.
void Announcer::send_moved(const BucketSet& buckets) {
    Sender sender(context_);
    auto learned = context_.datapath->read_addresses();
    if (!learned) return sender.note(context_.name(), learned.error());
    std::erase_if(*learned, [&](const LearnedAddress& one) { return !buckets.test(one.bucket); });
    for (const auto& [device, outlet] : speakers(context_, peers_.team, peers_.inner)) {
        if (std::ranges::find(*learned, device->address, &LearnedAddress::address) == learned->end())
            continue;
        auto speaker = speaker_of(context_.shared.requests, *device);
        if (!speaker)
            sender.note(device->name, speaker.error());
        else if (!speaker->ipv4.empty() || !speaker->ipv6.empty())
            sender.send(outlet, device->name, announce::peer_announcements(*speaker));
    }
    std::erase_if(waiting_, [&](const LearnedAddress& one) { return buckets.test(one.bucket); });
    waiting_.insert(waiting_.end(), learned->begin(), learned->end());
    send_waiting();
}

/// A part of them, so that thousands do not overflow a port's queue.
void Announcer::send_waiting() {
    constexpr std::size_t most_at_once = 256;
    Sender sender(context_);
    for (std::size_t sent = 0; sent < most_at_once && !waiting_.empty(); ++sent) {
        const auto [address, vlan, bucket] = waiting_.front();
        waiting_.pop_front();
        sender.send(peers_.team, text_of(address),
                    {announce::learning_frame(address, vlan == 0 ? std::nullopt : std::optional(vlan))});
    }
    if (waiting_.empty())
        waiting_timer_->stop();
    else
        waiting_timer_->after(milliseconds(5));
}

} // namespace teamo
