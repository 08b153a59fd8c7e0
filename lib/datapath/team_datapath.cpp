// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/team_datapath.h"

#include "datapath/hash_program.h"
#include "kernel/netlink/counters.h"
#include "kernel/netlink/traffic_control.h"
#include "model/observation.h"

#include <algorithm>
#include <span>

namespace teamo {
namespace {

constexpr std::string_view kind = "team";
/// drivers/net/team/team_core.c: __team_no_mode
const std::string no_mode = "*NOMODE*";

const char* mode_name(TransmitMode mode) {
    switch (mode) {
    case TransmitMode::hash: return "loadbalance";
    case TransmitMode::roundrobin: return "roundrobin";
    case TransmitMode::random: return "random";
    case TransmitMode::broadcast: return "broadcast";
    case TransmitMode::activebackup: return "activebackup";
    }
    return "";
}

std::vector<std::byte> bytes_of(const std::vector<sock_filter>& program) {
    const auto bytes = std::as_bytes(std::span(program));
    return {bytes.begin(), bytes.end()};
}

/// Calls `action` for every slot that has a port, until one fails.
template <class Action>
Result<> for_each_port(const Tables& tables, Action action) {
    for (std::uint8_t number = 1; number <= max_ports; ++number)
        if (const auto port = tables.ports[number]) TEAMO_TRY(action(Slot{number}, port));
    return {};
}

PortCounters operator-(const PortCounters& now, const PortCounters& before) {
    return {.tx_packets = now.tx_packets - before.tx_packets,
            .tx_bytes = now.tx_bytes - before.tx_bytes,
            .rx_packets = now.rx_packets - before.rx_packets,
            .rx_bytes = now.rx_bytes - before.rx_bytes,
            .rx_dropped = now.rx_dropped - before.rx_dropped};
}

} // namespace

Result<std::unique_ptr<TeamDatapath>> TeamDatapath::open() {
    auto links = TEAMO_TRY(LinkControl::open());
    auto stats = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    return std::unique_ptr<TeamDatapath>(new TeamDatapath(std::move(links), std::move(stats)));
}

LinkSight TeamDatapath::link_sight() const {
    return {.sees = false, .reason = "the kernel's team driver sends by a port until the port is disabled"};
}

Result<TeamDevice> TeamDatapath::create_device(LinkControl& links, const std::string& name,
                                               const MacAddress& address) {
    const auto refuse = [&name](Error error) {
        return within(fmt::format("cannot create device {}", name), std::move(error));
    };
    if (auto made = links.create_team(name, address); !made) {
        if (made.error().number == EOPNOTSUPP)
            return refuse({EOPNOTSUPP, "this kernel has no team driver; use --datapath bpf"});
        return refuse(std::move(made.error()));
    }
    const auto all = TEAMO_TRY(links.read_all());
    const auto* team = find_link(all, name);
    if (team == nullptr) return refuse({ENODEV, "it disappeared while it was created"});
    auto marked = links.set_alias(team->index, fmt::format("{} (teamd-offload)", name));
    if (marked) marked = links.add_altname(team->index, team_mark(name));
    if (!marked) {
        static_cast<void>(links.remove(team->index)); // the first failure is reported
        return refuse(std::move(marked.error()));
    }
    return TeamDevice{.team = team->index, .inner = {}, .kind = std::string(kind)};
}

Result<std::optional<TeamDevice>> TeamDatapath::find_device(const Links& links, const std::string& name,
                                                            bool take_over) const {
    const auto* team = find_link(links, name);
    if (team == nullptr) return std::optional<TeamDevice>();
    const bool ours = find_altname(links, team_mark(name)) == team;
    if (team->kind != kind)
        return fail(EEXIST, fmt::format("device {0} exists and is not of the team driver; remove it (ip link "
                                        "del {0}), or start with -r to replace it",
                                        name));
    if (!ours && !take_over)
        return fail(EEXIST, fmt::format("device {0} exists and is not a team of teamd-offload; start with -o "
                                        "to take it over, or with -r to replace it",
                                        name));
    return std::optional(TeamDevice{.team = team->index, .inner = {}, .kind = std::string(kind)});
}

Result<> TeamDatapath::attach_team(const TeamDevice& device, const Tables& tables) {
    const auto link = TEAMO_TRY(links_.read(device.team));
    const auto mark = team_mark(link.name);
    if (std::ranges::find(link.altnames, mark) == link.altnames.end()) // taken over from another program
        TEAMO_TRY(links_.add_altname(device.team, mark));
    driver_ = TEAMO_TRY(TeamDriver::open(device.team));
    team_ = device.team;
    return apply(tables);
}

Result<> TeamDatapath::attach_port(IfIndex port) {
    const auto link = TEAMO_TRY(links_.read(port));
    if (link.master != team_) TEAMO_TRY(links_.set_master(port, team_));
    if (const auto counted = read_link_stats(stats_, port)) baselines_[port] = *counted;
    return {};
}

Result<> TeamDatapath::detach_port(IfIndex port, bool made) {
    baselines_.erase(port);
    // A filter of a BPF team whose device is gone would drop all packets that arrive.
    TEAMO_TRY(detach_ingress(port, made));
    const auto link = links_.read(port);
    // Do not touch a port that has another master now. If the team is gone, there is nothing to undo.
    if (!link || !team_ || link->master != team_) return {};
    return links_.set_master(port, {});
}

Result<> TeamDatapath::set_mode(TransmitMode mode) {
    const TeamOption option{.name = "mode"};
    const std::string wanted = mode_name(mode);
    const auto now = driver_->get(option);
    if (now == TeamValue(wanted)) return {};
    auto set = driver_->set(option, wanted);
    if (!set && now)
        // EBUSY in a mode: the team has ports, which is permanent (EEXIST). EBUSY without a mode may pass.
        return fail(set.error().number == EBUSY && *now != TeamValue(no_mode) ? EEXIST : set.error().number,
                    fmt::format("the team is in mode {} and cannot change to {} ({}); start with -r to "
                                "recreate it",
                                std::get<std::string>(*now), wanted, set.error().text));
    // Each mode has its own options: read them.
    return set ? take_events() : set;
}

Result<> TeamDatapath::set_team_options(const Tables& tables) {
    const auto milliseconds_of = [](const Repetition& repetition) {
        return static_cast<std::uint32_t>(repetition.interval.count());
    };
    std::vector<std::pair<TeamOption, TeamValue>> wanted{
        {{.name = "notify_peers_count"}, tables.notify_peers.count},
        {{.name = "notify_peers_interval"}, milliseconds_of(tables.notify_peers)},
        {{.name = "mcast_rejoin_count"}, tables.mcast_rejoin.count},
        {{.name = "mcast_rejoin_interval"}, milliseconds_of(tables.mcast_rejoin)}};
    if (tables.mode == TransmitMode::hash) {
        wanted.push_back({{.name = "bpf_hash_func"}, bytes_of(hash_program(tables.hash_fields))});
        wanted.push_back({{.name = "lb_tx_method"}, std::string("hash_to_port_mapping")});
    }
    for (const auto& [option, value] : wanted)
        TEAMO_TRY(driver_->set(option, value));
    return {};
}

Result<> TeamDatapath::set_port_options(const Tables& tables) {
    return for_each_port(tables, [&](Slot slot, IfIndex port) -> Result<> {
        const auto& settings = tables.settings[slot.value];
        TEAMO_TRY(driver_->set({.name = "priority", .port = port}, settings.prio));
        TEAMO_TRY(driver_->set({.name = "queue_id", .port = port}, settings.queue_id));
        // While the link watches agree with the driver's own view of the link, use that: it works without a
        // daemon.
        if (settings.user_linkup)
            TEAMO_TRY(driver_->set({.name = "user_linkup", .port = port}, *settings.user_linkup));
        return driver_->set({.name = "user_linkup_enabled", .port = port}, settings.user_linkup.has_value());
    });
}

/// Sets which ports are enabled, and with activebackup which one is active. With activebackup a new port is
/// enabled before the old one is disabled. In other modes ports are disabled first: after a loss, that is the
/// only write until traffic flows again.
Result<> TeamDatapath::set_carrying(const Tables& tables) {
    const auto enable = [&](bool what) {
        return for_each_port(tables, [&](Slot slot, IfIndex port) -> Result<> {
            if (((tables.transmit & bit(slot)) != 0) != what) return {};
            return driver_->set({.name = "enabled", .port = port}, what);
        });
    };
    if (tables.mode != TransmitMode::activebackup) {
        TEAMO_TRY(enable(false));
        return enable(true);
    }
    // Active port first: when a port is enabled, the driver notifies the neighbours through the active port.
    auto done = for_each_port(tables, [&](Slot slot, IfIndex port) -> Result<> {
        if ((tables.transmit & bit(slot)) == 0) return {};
        return driver_->set({.name = "activeport"}, port.value);
    });
    if (done) done = enable(true);
    return done ? enable(false) : done;
}

Result<> TeamDatapath::set_mapping(const Tables& tables) {
    if (tables.mode != TransmitMode::hash) return {};
    // The driver clears the buckets of a port that was disabled, and reports that by an event.
    TEAMO_TRY(take_events());
    for (std::uint32_t bucket = 0; bucket < bucket_count; ++bucket) {
        const auto port = tables.ports[leaves_by(tables, bucket).value];
        if (port)
            TEAMO_TRY(driver_->set({.name = "lb_tx_hash_to_port_mapping", .place = bucket}, port.value));
    }
    return {};
}

Result<> TeamDatapath::apply(const Tables& tables) {
    ports_ = tables.ports;
    if (const auto lost = applied_ ? applied_->transmit & ~tables.transmit : 0; lost != 0)
        // At once, before libteam reads the driver's events, which takes a while. Failures are retried below.
        static_cast<void>(set_carrying(tables));
    TEAMO_TRY(take_events());
    if (applied_ == tables) return {};
    applied_.reset();
    TEAMO_TRY(set_mode(tables.mode));
    TEAMO_TRY(set_carrying(tables));
    TEAMO_TRY(set_team_options(tables));
    TEAMO_TRY(set_mapping(tables));
    TEAMO_TRY(set_port_options(tables));
    applied_ = tables;
    return {};
}

Result<std::array<PortCounters, max_ports + 1>> TeamDatapath::read_counters() {
    std::array<PortCounters, max_ports + 1> counters{};
    for (std::size_t slot = 1; slot < ports_.size(); ++slot) {
        if (!ports_[slot]) continue;
        const auto counted = read_link_stats(stats_, ports_[slot]);
        if (!counted) continue; // it is being removed
        counters[slot] = *counted - baselines_[ports_[slot]];
    }
    return counters;
}

/// Opens the meter at the first call, so that teams without balancing do not pay for it.
Result<BucketCounters> TeamDatapath::read_bucket(std::uint8_t bucket) {
    if (!team_ || !applied_ || applied_->mode != TransmitMode::hash)
        return fail(EAGAIN, "the team does not hash yet");
    if (!meter_) meter_ = TEAMO_TRY(BucketMeter::open(team_));
    meter_->set_fields(applied_->hash_fields);
    return meter_->read(bucket);
}

std::optional<int> TeamDatapath::event_fd() const {
    return driver_ ? std::optional(driver_->event_fd()) : std::nullopt;
}

Result<> TeamDatapath::take_events() {
    if (TEAMO_TRY(driver_->take_events())) applied_.reset();
    return {};
}

} // namespace teamo
