// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/run/peer.h"

#include "base/take_until.h"
#include "base/whole_number.h"
#include "bench/run/read_machine.h"
#include "bench/run/run_rounds.h"
#include "kernel/cpus/cpus.h"
#include "kernel/netlink/counters.h"
#include "kernel/netlink/nftables.h"

#include <array>
#include <cstdlib>
#include <stop_token>

namespace teamo::bench {
namespace {

Result<std::map<std::string, PortTraffic>> read_traffic(NetlinkSocket& socket, const RunningTeam& team) {
    std::map<std::string, PortTraffic> ports;
    for (const auto& [name, index] : team.ports) {
        // A card counts what is on the wire. How many skbs that was only the datapath knows.
        const auto counted = TEAMO_TRY(read_link_stats(socket, index));
        ports[name] = {.tx_bytes = counted.tx_bytes,
                       .tx_packets = counted.tx_packets,
                       .rx_bytes = counted.rx_bytes,
                       .rx_packets = counted.rx_packets};
    }
    if (!team.read_counters) return ports;
    for (const auto& [name, counted] : TEAMO_TRY(team.read_counters())) {
        const auto port = ports.find(name);
        if (port == ports.end()) continue;
        port->second.tx_skbs = counted.tx_packets;
        port->second.rx_skbs = counted.rx_packets;
    }
    return ports;
}

std::vector<Case> cases_with_peer(const RunningTeam& team, const Options& options) {
    const Case base{.datapath = team.datapath,
                    .ports = static_cast<unsigned>(team.ports.size()),
                    .tso = team.tso,
                    .clients = 4,
                    .mtu = team.mtu};
    std::vector<Case> cases;
    const auto add_ways = [&](Case what) {
        for (const auto way : all_ways) {
            what.way = way;
            cases.push_back(what);
        }
    };
    add_ways(base);
    add_ways(with_load(base, Load::file));
    cases.push_back(with_load(base, Load::request));
    auto page = with_load(base, Load::http); // the peer has the web server
    page.way = Way::receive;
    cases.push_back(page);
    if (options.profile != "paper") return cases;
    for (const std::uint32_t message : {2'048U, 4'096U, 8'192U, 16'384U, 65'536U}) {
        auto what = base;
        what.message = message;
        add_ways(what);
    }
    for (const std::uint32_t buffer : {65'536U, 262'144U, 1'048'576U}) {
        auto what = base;
        what.socket_buffer = buffer;
        add_ways(what);
    }
    return cases;
}

/// The connections take the peer's addresses in turn: a hash without ports needs several to fill all ports.
std::vector<IpAddress> addresses_for(const Options& options, std::size_t connections) {
    std::vector<IpAddress> addresses;
    for (std::size_t number = 0; number < connections; ++number)
        addresses.push_back(*parse_ip(options.peers[number % options.peers.size()]));
    return addresses;
}

/// Each once.
std::set<IpAddress> peers_of(const Options& options) {
    std::set<IpAddress> peers;
    for (const auto& peer : options.peers)
        peers.insert(*parse_ip(peer));
    return peers;
}

} // namespace

Result<Totals> read_totals_of(const IpAddress& peer, std::uint16_t port, std::chrono::milliseconds longest) {
    const auto until = Clock::now() + longest;
    const std::stop_source none;
    const auto stop = none.get_token();
    const auto connection = TEAMO_TRY(Connection::to_within(longest, peer, port, 0, Refused::is_final, stop));
    std::string text;
    std::array<char, 256> bytes{};
    if (connection.send(text_of(Order{.what = Serve::totals}), stop))
        while (const auto got = connection.receive(bytes, stop, until)) {
            text.append(bytes.data(), got);
            if (text.size() > bytes.size()) break;
        }
    std::string_view rest = text;
    const auto sent = whole_number<std::uint64_t>(take_until(rest, " "));
    const auto received = whole_number<std::uint64_t>(take_until(rest, " "));
    const auto operations = whole_number<std::uint64_t>(take_until(rest, " "));
    if (sent && received && operations)
        return Totals{.sent = *sent,
                      .received = *received,
                      .operations = *operations,
                      .cpu = std::strtod(std::string(rest).c_str(), nullptr)};
    if (Clock::now() >= until) return fail(ETIMEDOUT, text_of(peer) + " does not answer");
    return fail(EPROTO, fmt::format("{} is not served by \"teamo-bench serve\", or it does not allow this "
                                    "machine",
                                    text_of(peer)));
}

Result<Totals> read_totals_of_all(const std::set<IpAddress>& peers, std::uint16_t port,
                                  std::chrono::milliseconds longest) {
    Totals last;
    for (const auto& peer : peers)
        last = TEAMO_TRY(read_totals_of(peer, port, longest));
    return peers.size() > 1 ? Totals{} : last;
}

Result<Results> measure_peer(const Options& options, const RunningTeam& team) {
    if (options.profile == "peers" || options.profile == "binding")
        return fail(EINVAL, fmt::format("--profile={}: only with --self", options.profile));
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    const auto peers = peers_of(options);
    TEAMO_TRY(read_totals_of_all(peers, options.port));
    Results results{.machine = read_machine(), .profile = options.profile};
    results.machine.link_mbits = team.link_mbits;
    results.machine.driver = team.driver;
    const auto rules = count_nftables_rules();
    results.machine.nftables = rules ? nftables_text(*rules) : "not in this kernel";
    for (auto& what : TEAMO_TRY(only_chosen(cases_with_peer(team, options), options.only)))
        results.cases.push_back({.what = std::move(what)});
    const Ends ends{.far_addresses = addresses_for(options, 4 * team.ports.size()),
                    .port = options.port,
                    .host_cpus = TEAMO_TRY(read_online_cpus()),
                    .read_ports = [&] { return read_traffic(socket, team); },
                    .host_server = []() -> Result<Totals> { return Totals{}; },
                    .far_server = [&] { return read_totals_of_all(peers, options.port); },
                    .far_is_shared = true};
    TEAMO_TRY(run_rounds(options, results, [&](const Case&) -> Result<Ends> { return ends; }));
    for (auto& measured : results.cases)
        measured.limit = limit_of(measured, team.mbits, /*shaped=*/false);
    return results;
}

} // namespace teamo::bench
