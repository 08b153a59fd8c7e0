// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/team/team_datapath.h"

#include "datapath/master_device.h"
#include "datapath/team/hash_program.h"
#include "model/observation.h"

#include <algorithm>
#include <span>
#include <utility>

namespace teamo {
namespace {

const std::string team_kind = "team";
/// drivers/net/team/team_core.c: __team_no_mode
const std::string no_mode = "*NOMODE*";

/// The driver's names, by TransmitMode.
constexpr std::array mode_names{"loadbalance", "roundrobin", "random", "broadcast", "activebackup"};

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

} // namespace

bool knows_team_driver() { return true; }

Result<std::unique_ptr<Datapath>> TeamDatapath::open(TransmitMode mode, DevicePrograms& hooks) {
    auto links = TEAMO_TRY(LinkControl::open());
    auto counters = TEAMO_TRY(SlaveCounters::open());
    // Also loads the module.
    const bool receives_apart = mode == TransmitMode::hash && links.knows_kind(team_kind).value_or(false) &&
                                TeamDriver::has_rx_enabled();
    std::unique_ptr<TeamDatapath> datapath(
        new TeamDatapath(mode, hooks, std::move(links), std::move(counters), receives_apart));
    if (mode == TransmitMode::hash) {
        // Without BPF the daemon alone handles lost links.
        auto programs = ForwardPrograms::load(TEAMO_EXIT_DRIVER, HashKind::by_flow);
        if (programs && programs->see_links()) datapath->avoidance_.emplace(std::move(*programs));
    }
    return std::unique_ptr<Datapath>(std::move(datapath));
}

LinkSight TeamDatapath::link_sight() const {
    if (mode_ == TransmitMode::activebackup)
        return {.sees = false,
                .reason = "the kernel's team driver uses only the active port, which the daemon chooses"};
    if (mode_ == TransmitMode::hash && !avoidance_)
        return {.sees = false, .reason = "the kernel refuses a BPF program that reads the ports' devices"};
    return {.sees = true, .reason = {}};
}

Result<TeamDevice> TeamDatapath::create_device(LinkControl& links, const std::string& name,
                                               const MacAddress& address) {
    return create_master_device(links, name, team_kind, links.create(team_kind, name, address));
}

Result<std::optional<TeamDevice>> TeamDatapath::find_device(const Links& links, const std::string& name,
                                                            bool take_over) const {
    return find_master_device(links, name, team_kind, take_over);
}

Result<> TeamDatapath::attach_team(const TeamDevice& device, const Tables& tables) {
    TEAMO_TRY(mark_master_device(links_, device.team));
    driver_ = TEAMO_TRY(TeamDriver::open(device.team));
    team_ = device.team;
    return apply(tables);
}

Result<bool> TeamDatapath::lacks_program(IfIndex port) const {
    return avoidance_ && !TEAMO_TRY(hooks_.has(port, Hook::egress, Duty::avoid_lost_link));
}

/// While clsact is made, the kernel drops what the device transmits, for some 20 ms (net/sched/sch_api.c:
/// qdisc_graft). A port that carries already, because another program made it one, gives its buckets to
/// another port first; apply() maps them again.
void TeamDatapath::relieve(IfIndex port) {
    const auto links = links_.read_all();
    if (!links || !links->contains(port) || links->at(port).master != team_) return;
    const auto other = std::ranges::find_if(*links, [&](const auto& entry) {
        return entry.first != port && entry.second.master == team_ && entry.second.has_link();
    });
    if (other == links->end()) return;
    applied_.reset();
    // Refused for a port that is not enabled; then packets are lost.
    if (map_buckets([&](std::uint32_t) { return other->first; }))
        static_cast<void>(driver_->set({.name = "lb_tx_method"}, std::string("hash_to_port_mapping")));
}

Result<> TeamDatapath::attach_port(IfIndex port, Slot /*slot*/) {
    if (avoidance_) {
        if (TEAMO_TRY(hooks_.makes_clsact(port, Hook::egress, Duty::avoid_lost_link))) relieve(port);
        TEAMO_TRY(hooks_.attach(port, Hook::egress, Duty::avoid_lost_link, Order::first,
                                avoidance_->avoid_lost_link()));
    }
    TEAMO_TRY(enslave(links_, port, team_));
    counters_.begin(port);
    return {};
}

Result<> TeamDatapath::detach_port(IfIndex port, bool made_clsact) {
    counters_.forget(port);
    // A filter of a BPF team whose device is gone would drop all packets that arrive.
    auto detached = hooks_.detach_all(port, made_clsact);
    auto released = release_slave(links_, port, team_);
    return released ? detached : released;
}

Result<> TeamDatapath::set_mode(TransmitMode mode) {
    const TeamOption option{.name = "mode"};
    const std::string wanted = mode_names[static_cast<std::size_t>(mode)];
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

/// The driver drops what a port receives that is not enabled. With a hash a port that stands by is enabled
/// too: no bucket is mapped to it, so it does not transmit.
SlotSet TeamDatapath::enabled_slots(const Tables& tables) {
    auto slots = tables.transmit;
    if (tables.mode == TransmitMode::hash && tables.transmit != 0)
        for (const auto slot : tables.standby)
            if (slot) slots |= bit(slot) & tables.receive;
    return slots;
}

TeamDatapath::WayOptions TeamDatapath::way_options(IfIndex port) const {
    return {driver_->get({.name = "enabled", .port = port}),
            driver_->get({.name = "rx_enabled", .port = port}),
            driver_->get({.name = "tx_enabled", .port = port})};
}

/// The driver reports only the option that was set, and not those that it changes with it. So libteam's
/// copies of the three are compared only with what they were.
Result<> TeamDatapath::set_ways(Ways& ways, IfIndex port, bool receives, bool transmits) {
    const auto options = way_options(port);
    if (ways.port != port) {
        const auto is_set = [&](std::size_t option) { return options[option] == TeamValue(true); };
        ways = {.port = port, .receives = is_set(1), .transmits = is_set(2), .options = options};
    }
    if (!ways.written && ways.receives == receives && ways.transmits == transmits && ways.options == options)
        return {};
    ways.written = true;
    ways.receives = receives;
    ways.transmits = transmits;
    if (receives == transmits) return driver_->write({.name = "enabled", .port = port}, receives);
    TEAMO_TRY(driver_->write({.name = "tx_enabled", .port = port}, transmits));
    return driver_->write({.name = "rx_enabled", .port = port}, receives);
}

/// With a hash, on a kernel that enables the two ways apart: a port can receive without transmitting. Ports
/// that do not transmit come first: after a loss, that is the only write until traffic flows again.
Result<> TeamDatapath::set_each_way(const Tables& tables) {
    for (const bool transmits : {false, true})
        TEAMO_TRY(for_each_port(tables, [&](Slot slot, IfIndex port) -> Result<> {
            if (((tables.transmit & bit(slot)) != 0) != transmits) return {};
            return set_ways(ways_[slot.value], port, transmits || (tables.receive & bit(slot)) != 0,
                            transmits);
        }));
    if (std::ranges::none_of(ways_, &Ways::written)) return {};
    TEAMO_TRY(take_events());
    for (auto& ways : ways_)
        if (std::exchange(ways.written, false)) ways.options = way_options(ways.port);
    return {};
}

/// Sets which ports are enabled, and with activebackup which one is active. With activebackup a new port is
/// enabled before the old one is disabled. In other modes ports are disabled first: after a loss, that is the
/// only write until traffic flows again.
Result<> TeamDatapath::set_carrying(const Tables& tables) {
    if (receives_apart_) return set_each_way(tables);
    const auto enable = [&](bool what) {
        return for_each_port(tables, [&](Slot slot, IfIndex port) -> Result<> {
            if (((enabled_slots(tables) & bit(slot)) != 0) != what) return {};
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

Result<> TeamDatapath::map_buckets(const std::function<IfIndex(std::uint32_t bucket)>& port_of) {
    // The driver clears the buckets of a port that was disabled, and reports that by an event. libteam's
    // socket holds some 400 events; the driver makes a change whose event finds no room, and answers with an
    // error.
    TEAMO_TRY(take_events());
    for (std::uint32_t bucket = 0; bucket < bucket_count; ++bucket)
        if (const auto port = port_of(bucket))
            TEAMO_TRY(driver_->set({.name = "lb_tx_hash_to_port_mapping", .place = bucket}, port.value));
    return {};
}

Result<> TeamDatapath::apply(const Tables& tables) {
    ports_ = tables.ports;
    if (!driver_) return {}; // a start that failed before attach_team()
    if (const auto lost = applied_ ? applied_->transmit & ~tables.transmit : 0; lost != 0)
        // At once, before libteam reads the driver's events, which takes a while. Failures are retried below.
        static_cast<void>(set_carrying(tables));
    const auto taken = take_events(); // a failure does not keep a port that must stop
    if (taken && applied_ == tables) return {};
    applied_.reset();
    TEAMO_TRY(set_mode(tables.mode));
    TEAMO_TRY(set_carrying(tables));
    TEAMO_TRY(taken);
    TEAMO_TRY(set_team_options(tables));
    if (tables.mode == TransmitMode::hash)
        TEAMO_TRY(
            map_buckets([&](std::uint32_t bucket) { return tables.ports[leaves_by(tables, bucket).value]; }));
    TEAMO_TRY(set_port_options(tables));
    if (avoidance_) TEAMO_TRY(avoidance_->apply(tables));
    applied_ = tables;
    return {};
}

Result<std::array<PortCounters, max_ports + 1>> TeamDatapath::read_counters() {
    return counters_.read(ports_);
}

/// Opens the meter at the first call, so that teams without balancing do not pay for it.
Result<BucketMeter*> TeamDatapath::meter() {
    if (!team_ || !applied_ || applied_->mode != TransmitMode::hash)
        return fail(EAGAIN, "the team does not hash yet");
    if (meter_refused_) return tl::unexpected(*meter_refused_); // the kernel will not change its mind
    if (!meter_) {
        auto opened = BucketMeter::open(team_, hooks_);
        if (!opened) {
            if (!is_passing(opened.error())) meter_refused_ = opened.error();
            return tl::unexpected(opened.error());
        }
        meter_ = std::move(*opened);
    }
    meter_->set_fields(applied_->hash_fields);
    return &*meter_;
}

Result<BucketCounters> TeamDatapath::read_bucket(std::uint8_t bucket) {
    const auto* meter = TEAMO_TRY(this->meter());
    return meter->read(bucket);
}

Result<AllBucketCounters> TeamDatapath::read_buckets() {
    const auto* meter = TEAMO_TRY(this->meter());
    return meter->read_all();
}

std::optional<int> TeamDatapath::event_fd() const {
    return driver_ ? std::optional(driver_->event_fd()) : std::nullopt;
}

Result<> TeamDatapath::take_events() {
    const auto any = driver_->take_events();
    if (!any || *any) applied_.reset();
    return any ? Result<>() : tl::unexpected(any.error());
}

} // namespace teamo
