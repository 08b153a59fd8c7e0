// SPDX-License-Identifier: LGPL-2.1-or-later
#include "demo/stage.h"

#include "support/daemon/control_socket.h"
#include "support/net/links.h"
#include "support/net/socket_address.h"
#include "support/traffic/traffic.h"

#include <net/if.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

namespace teamo::demo {

using test::Cabling;
using test::SetupError;

namespace {

/// The far end is a team too: a static aggregate on both ends, as with a switch.
constexpr std::string_view far_config = R"({"device": "far0",
    "runner": {"name": "loadbalance", "tx_hash": ["eth"]},
    "ports": {"p1": {}, "p2": {}, "p3": {}, "p4": {}}})";

/// A GSO packet must fit into the token bucket, or tbf would segment it.
constexpr std::string_view line_rate = "rate 1gbit burst 128kb latency 20ms";

std::string device_of(unsigned client) { return fmt::format("client{}", client + 1); }

/// Asks the control sockets in /run, which both ends share.
bool is_up(std::string_view team, const std::string& port) {
    const auto socket = test::ControlSocket::to(team);
    const auto path = fmt::format("ports.{}.link_watches.up", port);
    return socket && test::payload_of(socket->ask("StateItemValueGet", {path})) == "true";
}

} // namespace

Held::Held(const test::Process& process) : process_(process) { process_.signal(SIGSTOP); }
Held::~Held() { process_.signal(SIGCONT); }

Stage::Stage(const std::string& config)
    : wires_(cables, test::FarSide::open),
      far_switch_(test::socket_in(wires_.peer(), AF_INET, SOCK_DGRAM)),
      far_config_(far_config),
      team_((shape(), config), {"--datapath", "auto"}) {
    start_far_end();
    wires_.address();
    for (unsigned number = 0; number < client_count; ++number)
        if (!test::reaches(host(), address_of(number)))
            throw SetupError("client " + address_of(number) + " does not answer");
}

std::string Stage::address_of(unsigned client) { return fmt::format("10.0.0.{}", 11 + client); }

void Stage::shape() const {
    for (unsigned number = 1; number <= cables; ++number) {
        test::must(wires_.host(),
                   fmt::format("tc qdisc add dev {} root tbf {}", Cabling::port(number), line_rate));
        test::must(wires_.peer(),
                   fmt::format("tc qdisc add dev {} root tbf {}", Cabling::far_end(number), line_rate));
    }
}

void Stage::start_far_end() {
    const auto& peer = wires_.peer();
    others_.push_back(
        test::Process::start({.argv = {test::daemon_program(), "-f", far_config_.path()}, .in = &peer}));
    const auto is_there = [&peer] {
        return test::exists(peer, "far0") && test::look(peer, "far0").altnames.size() == 1;
    };
    if (!test::eventually("the far end's team", is_there))
        throw SetupError("far end: " + others_.back().err());
    peer.ip("link set far0 up");
    for (unsigned number = 0; number < client_count; ++number)
        add_client(number);
}

void Stage::add_client(unsigned number) {
    clients_.push_back(test::NetNs::create());
    const auto& client = clients_.back();
    wires_.peer().ip(
        fmt::format("link add {0} link far0 address 02:00:00:00:00:{1:02x} type macvlan mode bridge\n"
                    "link set {0} netns {2}",
                    device_of(number), number + 1, client.path()));
    client.ip(fmt::format("link set {0} up\naddr add {1}/24 dev {0}", device_of(number), address_of(number)));
    others_.push_back(test::Process::start({.argv = {"iperf3", "-s", "--forceflush"}, .in = &client}));
    const auto& server = others_.back();
    if (!test::eventually("", [&server] { return server.out().find("listening") != std::string::npos; }))
        throw SetupError("iperf3 does not listen: " + server.err());
}

unsigned Stage::index_of(unsigned port) const { return test::look(host(), Cabling::port(port)).index; }

std::uint64_t Stage::daemon_sleeps() const {
    constexpr std::string_view key = "voluntary_ctxt_switches:";
    std::ifstream status(fmt::format("/proc/{}/status", team_.pid()));
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(key)) return std::stoull(line.substr(key.size()));
    throw SetupError("the daemon does not run");
}

/// Uses one system call. Starting ip(8) would compete with the programs that handle the link event: on two
/// busy CPUs a pull with ip(8) lost 55 packets (median of 20), with this call 1 to 14 (medians of 20 to 30).
void Stage::set_far_end(unsigned cable, bool up) const {
    ifreq request{};
    Cabling::far_end(cable).copy(request.ifr_name, sizeof request.ifr_name - 1);
    request.ifr_flags = up ? IFF_UP : 0;
    if (::ioctl(far_switch_.get(), SIOCSIFFLAGS, &request) < 0)
        throw SetupError(fmt::format("{}: {}", Cabling::far_end(cable), std::strerror(errno)));
}

std::vector<test::Counters> Stage::sent() const {
    std::vector<test::Counters> ports;
    for (unsigned number = 1; number <= cables; ++number)
        ports.push_back(test::counters(host(), Cabling::port(number)));
    return ports;
}

test::Counters Stage::arrived() const {
    test::Counters sum;
    for (unsigned number = 0; number < client_count; ++number) {
        const auto one = test::counters(client(number), device_of(number));
        sum.rx_bytes += one.rx_bytes;
        sum.rx_packets += one.rx_packets;
    }
    return sum;
}

unsigned Stage::busiest_port(test::milliseconds over) const {
    const auto before = sent();
    std::this_thread::sleep_for(over);
    const auto after = sent();
    std::vector<std::uint64_t> packets;
    for (std::size_t port = 0; port < cables; ++port)
        packets.push_back((after[port] - before[port]).tx_packets);
    return static_cast<unsigned>(std::ranges::max_element(packets) - packets.begin()) + 1;
}

void Stage::keep_tso(bool keep) const {
    // Not with ethtool -K: the daemon would repair that.
    const std::string contract = keep ? "{}" : R"({"offload": {"tso": "off"}})";
    for (unsigned number = 1; number <= cables; ++number) {
        const auto done = team_.teamoctl({"port", "config", "update", Cabling::port(number), contract});
        if (done.status != 0) throw SetupError(done.err);
    }
}

unsigned Stage::carrying() const {
    unsigned count = 0;
    for (unsigned number = 1; number <= cables; ++number)
        if (is_up("team0", Cabling::port(number)) && is_up("far0", Cabling::far_end(number))) ++count;
    return count;
}

void Stage::await_carrying(unsigned ports) const {
    if (!test::becomes(ports, [this] { return carrying(); }))
        throw SetupError(fmt::format("{} ports carry, expected {}:\n{}", carrying(), ports, team_.log()));
}

} // namespace teamo::demo
