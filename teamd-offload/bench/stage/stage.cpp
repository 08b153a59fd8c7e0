// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/stage/stage.h"

#include "bench/run/plan.h"
#include "kernel/files/files.h"
#include "kernel/netlink/counters.h"
#include "kernel/netlink/traffic_control.h"
#include "json/write.h"

#include <sched.h>

namespace teamo::bench {
namespace {

using namespace std::chrono_literals;

const std::string host_team = "team0", far_team = "far0";
constexpr auto bond_miimon = 100ms;

std::string near_port(unsigned number) { return fmt::format("eth{}", number); }
std::string far_port(unsigned number) { return fmt::format("p{}", number); }

/// 10.NETWORK.0.0/16: 0 is the team's, others are those of single ports. The host's `number` is 0.
IpAddress address_in(unsigned network, unsigned number) {
    return {.bytes = {10, static_cast<std::uint8_t>(network),
                      static_cast<std::uint8_t>(number == 0 ? 0 : 1 + number / 250),
                      static_cast<std::uint8_t>(1 + number % 250)}};
}

/// The runner for throughput; everything else as a team has it by default.
std::string configuration(const std::string& team, const std::vector<std::string>& ports, bool keep_tso) {
    json::Object members;
    for (const auto& name : ports)
        members.push_back({name, json::Object{}});
    json::Value document = json::Object{
        {"device", team}, {"runner", json::Object{{"name", "loadbalance"}}}, {"ports", std::move(members)}};
    // Of the team, so that it does not switch those of its own device on either.
    if (!keep_tso) document.set("offload", json::Object{{"tso", "off"}, {"gso", "off"}});
    return json::write(document, {.indent = 0});
}

/// Payload of a port's packets counted by skbs: the segments on the wire, where no queue counts them.
std::uint64_t segments(std::uint64_t bytes, std::uint64_t skbs, std::uint32_t mtu) {
    const auto payload = bytes - std::min(bytes, skbs * (ethernet_header + ip_and_tcp_headers));
    return std::max(skbs, payload / (mtu - ip_and_tcp_headers));
}

} // namespace

Case stage_of(Case what) {
    const Case plain;
    what.way = plain.way;
    what.load = plain.load;
    what.message = plain.message;
    what.socket_buffer = plain.socket_buffer;
    return what;
}

Result<std::unique_ptr<Stage>> Stage::build(const StageSetup& setup) {
    auto placement = TEAMO_TRY(place(setup.cpus, setup.what.binding));
    auto host = TEAMO_TRY(End::create());
    auto far = TEAMO_TRY(End::create());
    std::unique_ptr<Stage> stage(new Stage(std::move(host), std::move(far), setup, std::move(placement)));
    for (unsigned number = 1; number <= setup.what.ports; ++number)
        TEAMO_TRY(within(fmt::format("cable {}", number), stage->lay_cable(number)));
    TEAMO_TRY(stage->aggregate());
    TEAMO_TRY(stage->give_addresses());
    TEAMO_TRY(stage->spread_softirqs());
    TEAMO_TRY(stage->start_servers());
    return stage;
}

Result<> Stage::lay_cable(unsigned number) {
    const auto near = near_port(number), far = far_port(number);
    TEAMO_TRY(host_.links().create_pair("veth", near, far, MacAddress{}));
    const auto moved = TEAMO_TRY(host_.index_of(far));
    TEAMO_TRY(host_.links().move_to(moved, far_.network().fd()));
    const std::array ends{std::pair(&host_, near), std::pair(&far_, far)};
    for (const auto& [end, device] : ends) {
        const auto index = TEAMO_TRY(end->index_of(device));
        TEAMO_TRY(end->links().set_mtu(index, what_.mtu));
        const auto limits = TEAMO_TRY(end->links().read(index)).gso_max;
        if (limits.size != what_.gso_max)
            TEAMO_TRY(
                within("gso_max_size",
                       end->links().set_segment_limits(
                           index, {.size = what_.gso_max, .segs = limits.segs, .ipv4_size = what_.gso_max})));
        // Before 6.3 BIG TCP is for IPv6 alone, and the kernel ignores the other limit.
        constexpr std::uint32_t most_without = 65'536;
        if (what_.gso_max > most_without &&
            TEAMO_TRY(end->links().read(index)).gso_max.ipv4_size != what_.gso_max)
            return fail(ENOTSUP, "this kernel has no BIG TCP for IPv4");
        TEAMO_TRY(shape(*end, device));
    }
    near_ports_.push_back(near);
    far_ports_.push_back(far);
    return {};
}

Result<> Stage::shape(const End& end, const std::string& device) const {
    if (link_mbits_ <= 0) return {};
    constexpr double bytes_per_megabit = 125e3;
    const auto rate = static_cast<std::uint64_t>(link_mbits_ * bytes_per_megabit);
    // A GSO packet must fit into the bucket, or tbf would segment it. The queue holds 20 ms, as the ring and
    // the queue of a card do.
    const auto burst = std::max<std::uint32_t>(131'072, 2 * what_.gso_max);
    const auto limit = static_cast<std::uint32_t>(std::min<std::uint64_t>(rate / 50 + burst, 1U << 30));
    const auto index = TEAMO_TRY(end.index_of(device));
    return end.inside([&] { return add_shaper(index, {.rate = rate, .burst = burst, .limit = limit}); });
}

Result<> Stage::aggregate() {
    if (!what_.tso)
        for (const auto& port : near_ports_)
            TEAMO_TRY(host_.cut_packets_early(port));
    if (what_.over == Carrier::ports) return {};
    host_device_ = host_team;
    if (what_.over == Carrier::bond)
        TEAMO_TRY(make_bond());
    else
        TEAMO_TRY(start_team(host_, host_team, near_ports_, placement_.host, /*measured=*/true));
    // One port needs no team at the other end, and a machine with one CPU then measures that of the host
    // alone.
    if (what_.ports == 1) {
        far_device_ = far_ports_.front();
        TEAMO_TRY(far_.set_up(far_device_));
    } else {
        far_device_ = far_team;
        TEAMO_TRY(start_team(far_, far_team, far_ports_, placement_.far, /*measured=*/false));
    }
    TEAMO_TRY(await_teams());
    // Ports follow the team's MTU.
    for (const auto& [end, device] : {std::pair(&host_, host_device_), std::pair(&far_, far_device_)}) {
        const auto index = TEAMO_TRY(end->index_of(device));
        TEAMO_TRY(within("MTU", end->links().set_mtu(index, what_.mtu)));
    }
    return what_.tso ? Result<>() : host_.cut_packets_early(host_team);
}

Result<> Stage::start_team(End& end, const std::string& team, const std::vector<std::string>& ports,
                           const EndCpus& cpus, bool measured) {
    const bool teamd = measured && what_.over == Carrier::teamd;
    const std::string name = teamd ? "teamd" : "teamd-offload";
    if (teamd && !TEAMO_TRY(end.links().knows_kind("team")))
        return fail(ENOTSUP, "the kernel has no team driver");
    DaemonSetup setup{.program = find_program(name),
                      .arguments = {"-c", configuration(team, ports, !measured || what_.tso)},
                      .cpus = cpus.threads};
    if (setup.program.empty()) return fail(ENOTSUP, fmt::format("{} is not installed", name));
    if (measured && !teamd && !what_.datapath.empty()) {
        setup.arguments.emplace_back("--datapath");
        setup.arguments.push_back(what_.datapath);
    }
    daemons_.push_back(TEAMO_TRY(Daemon::start(setup, end.network())));
    return {};
}

// aggregate() starts the daemon of the host first.
bool Stage::host_has_daemon() const { return what_.over == Carrier::team || what_.over == Carrier::teamd; }
bool Stage::far_has_daemon() const { return what_.over != Carrier::ports && what_.ports > 1; }

Result<> Stage::await_teams() const {
    if (far_has_daemon()) TEAMO_TRY(daemons_.back().await_ports(far_team, far_ports_));
    if (host_has_daemon()) TEAMO_TRY(daemons_.front().await_ports(host_team, near_ports_));
    return {};
}

Result<> Stage::make_bond() {
    if (!TEAMO_TRY(host_.links().knows_kind(bond_kind))) return fail(ENOTSUP, "the kernel has no bonding");
    TEAMO_TRY(host_.links().create_bond(host_team, MacAddress{}, {.miimon = bond_miimon}));
    const auto bond = TEAMO_TRY(host_.index_of(host_team));
    for (const auto& port : near_ports_) {
        const auto index = TEAMO_TRY(host_.index_of(port));
        TEAMO_TRY(host_.links().set_master(index, bond));
    }
    return {};
}

Result<> Stage::give_addresses() {
    const auto connect = [&](unsigned network, const std::string& near, const std::string& far,
                             unsigned connections) -> Result<> {
        TEAMO_TRY(host_.set_up(near));
        TEAMO_TRY(far_.set_up(far));
        TEAMO_TRY(host_.await_link(near));
        TEAMO_TRY(far_.await_link(far));
        TEAMO_TRY(host_.add_ip(near, address_in(network, 0), 16));
        for (unsigned number = 1; number <= connections; ++number) {
            far_addresses_.push_back(address_in(network, number));
            host_addresses_.push_back(address_in(network, 0));
            TEAMO_TRY(far_.add_ip(far, far_addresses_.back(), 16));
        }
        return {};
    };
    if (what_.over != Carrier::ports)
        return connect(0, host_device_, far_device_, what_.ports * what_.clients);
    for (unsigned number = 0; number < what_.ports; ++number)
        TEAMO_TRY(connect(number + 1, near_ports_[number], far_ports_[number], what_.clients));
    return {};
}

Result<> Stage::spread_softirqs() {
    const auto all_devices = [](End& end) -> Result<std::vector<std::string>> {
        std::vector<std::string> names;
        for (const auto& [index, link] : TEAMO_TRY(end.links().read_all()))
            if (link.name != "lo") names.push_back(link.name);
        return names;
    };
    const auto at_host = TEAMO_TRY(all_devices(host_)), at_far = TEAMO_TRY(all_devices(far_));
    TEAMO_TRY(host_.receive_on(at_host, placement_.host.packets));
    return far_.receive_on(at_far, placement_.far.packets);
}

Result<> Stage::start_servers() {
    const auto connections = static_cast<unsigned>(far_addresses_.size());
    const auto start = [&](const End& end, const EndCpus& cpus, std::unique_ptr<Server>& server) {
        return end.inside([&]() -> Result<> {
            // Twice, for both ways at once; and some for connections that are just closed.
            server = TEAMO_TRY(Server::start({.port = load_port,
                                              .cpus = cpus.threads,
                                              .most = 2 * connections + 16,
                                              .congestion_control = end.congestion_control()}));
            return {};
        });
    };
    TEAMO_TRY(start(host_, placement_.host, host_server_));
    return start(far_, placement_.far, far_server_);
}

void Stage::rest() {
    host_server_.reset();
    far_server_.reset();
    for (const auto& daemon : daemons_)
        daemon.pause();
}

Result<> Stage::wake() {
    for (const auto& daemon : daemons_)
        daemon.resume();
    // A daemon does first what it missed, on a busy machine later than a round begins.
    auto ready = await_teams();
    if (ready) ready = start_servers();
    if (!ready) rest();
    return ready;
}

Ends Stage::ends() {
    const auto enter = [](const End& end) {
        return [&network = end.network()]() -> Result<> {
            if (::setns(network.fd(), CLONE_NEWNET) < 0)
                return fail_errno(errno, "cannot enter a network namespace");
            return {};
        };
    };
    const auto alone = [this](const EndCpus& end) {
        return placement_.apart ? std::optional(united(end.threads, end.packets)) : std::nullopt;
    };
    const auto time_of = [](const Daemon& daemon) { return [&daemon] { return daemon.cpu_seconds(); }; };
    Ends ends{.far_addresses = far_addresses_,
              .host_addresses = host_addresses_,
              .port = load_port,
              .congestion_control = host_.congestion_control(),
              .enter_host = enter(host_),
              .enter_far = enter(far_),
              .host_threads = placement_.host.threads,
              .far_threads = placement_.far.threads,
              .host_cpus = alone(placement_.host),
              .far_cpus = alone(placement_.far),
              .read_ports = [this] { return read_ports(); },
              .host_server = [this]() -> Result<Totals> { return host_server_->totals(); },
              .far_server = [this]() -> Result<Totals> { return far_server_->totals(); }};
    if (host_has_daemon()) ends.host_daemon = time_of(daemons_.front());
    if (far_has_daemon()) ends.far_daemon = time_of(daemons_.back());
    return ends;
}

Result<std::map<std::string, PortTraffic>> Stage::read_ports() {
    std::map<std::string, PortTraffic> ports;
    const auto near_queues = TEAMO_TRY(read_queues(host_.counters())).counters;
    const auto far_queues = TEAMO_TRY(read_queues(far_.counters())).counters;
    for (std::size_t number = 0; number < near_ports_.size(); ++number) {
        const auto index = TEAMO_TRY(host_.index_of(near_ports_[number]));
        const auto counted = TEAMO_TRY(read_link_stats(host_.counters(), index));
        PortTraffic port{.tx_bytes = counted.tx_bytes,
                         .tx_skbs = counted.tx_packets,
                         .tx_packets = segments(counted.tx_bytes, counted.tx_packets, what_.mtu),
                         .rx_bytes = counted.rx_bytes,
                         .rx_skbs = counted.rx_packets,
                         .rx_packets = segments(counted.rx_bytes, counted.rx_packets, what_.mtu)};
        if (link_mbits_ > 0) { // the token buckets count what is on the wire
            const auto far_index = TEAMO_TRY(far_.index_of(far_ports_[number]));
            if (const auto found = near_queues.find(index); found != near_queues.end())
                port.tx_packets = found->second.packets;
            if (const auto found = far_queues.find(far_index); found != far_queues.end())
                port.rx_packets = found->second.packets;
        }
        ports[near_ports_[number]] = port;
    }
    return ports;
}

} // namespace teamo::bench
