// SPDX-License-Identifier: LGPL-2.1-or-later
#include "soak/invariants.h"

#include "soak/records.h"
#include "support/net/programs.h"
#include "support/net/socket_address.h"
#include "support/traffic/frames.h"
#include "support/traffic/packet_socket.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <set>
#include <sstream>

namespace teamo::soak {

using namespace test;

namespace {

/// Which ports the document has, and what each does.
std::string wrong_document(const Document& state, const Model& model, Runner runner) {
    const bool backup = runner == Runner::activebackup;
    std::set<std::string> expected, has;
    for (unsigned port = 1; port <= ports; ++port)
        if (model.is_member(port)) expected.insert(Cabling::port(port));
    if (const auto* list = find(state, "/ports"); list != nullptr && list->IsObject())
        for (const auto& each : list->GetObject())
            has.insert(each.name.GetString());
    if (has != expected)
        return fmt::format("the state document has the ports {}, not {}", testing::PrintToString(has),
                           testing::PrintToString(expected));
    std::uint64_t buckets = 0;
    unsigned carriers = 0, transmitters = 0;
    for (unsigned port = 1; port <= ports; ++port) {
        if (!model.is_member(port)) continue;
        const auto at = fmt::format("/ports/{}", Cabling::port(port));
        if (is_true(state, at + "/link_watches/up") != model.at(port).plugged)
            return fmt::format("{}: link_watches.up is not {}", Cabling::port(port), model.at(port).plugged);
        const bool transmits = is_true(state, at + "/datapath/transmits");
        carriers += model.carries(port) ? 1 : 0;
        transmitters += transmits ? 1 : 0;
        if (!backup && transmits != model.carries(port))
            return fmt::format("{}: datapath.transmits is {}", Cabling::port(port), transmits);
        if (transmits && !is_true(state, at + "/datapath/receives"))
            return fmt::format("{}: it transmits and does not receive", Cabling::port(port));
        if (backup && transmits != (text_at(state, "/runner/active_port") == Cabling::port(port)))
            return fmt::format("{}: transmits is {}, and the active port is {}", Cabling::port(port),
                               transmits, text_at(state, "/runner/active_port"));
        buckets += number_of(state, at + "/datapath/buckets");
    }
    constexpr unsigned all_buckets = 256;
    if (!backup && buckets != (carriers > 0 ? all_buckets : 0) && carriers > 0)
        return fmt::format("{} of 256 buckets have a port", buckets);
    if (backup && transmitters != (carriers > 0 ? 1U : 0U))
        return fmt::format("{} ports transmit", transmitters);
    return {};
}

/// The devices of the ports: as the state document shows them, and as a port must be.
std::string wrong_devices(const World& world, const Model& model, const Document& state) {
    const auto& host = world.wires().host();
    const auto team = look(host, "team0");
    if (team.mtu != model.mtu) return fmt::format("team0 has the MTU {}, not {}", team.mtu, model.mtu);
    if (!team.up()) return "team0 is down";
    const auto count = [&host](const std::string& device, const char* program) {
        std::istringstream words(our_programs(host, device));
        return std::count(std::istream_iterator<std::string>(words), {}, program);
    };
    std::set<std::string> marks;
    for (unsigned port = 1; port <= ports; ++port) {
        if (!model.at(port).here) continue;
        const auto device = look(host, Cabling::port(port));
        const auto marked = std::ranges::count_if(
            device.altnames, [](const std::string& name) { return name.starts_with("teamo-"); });
        const auto filtered = count(device.name, "teamo_receive");
        const auto guards = count(device.name, "teamo_guard");
        if (!model.is_member(port)) {
            if (marked != 0 || filtered + guards != 0)
                return fmt::format("{} is no port, and has {} marks and {} filters", device.name, marked,
                                   filtered + guards);
            if (const auto is = settings(host, device.name);
                !world.before(port).empty() && is != world.before(port))
                return fmt::format("{} is not as before: {}, not {}", device.name, is, world.before(port));
            continue;
        }
        if (marked != 1 || !marks.insert(device.altnames.front()).second)
            return fmt::format("{} has {} marks, or that of another", device.name, marked);
        if (filtered != 1) return fmt::format("{} has {} of our programs", device.name, filtered);
        if (guards != (is_guarded(model.configuration) ? 1 : 0))
            return fmt::format("{} has {} filters of the guard", device.name, guards);
        if (!device.up()) return fmt::format("{} is down", device.name);
        if (device.carrier() != model.at(port).plugged)
            return fmt::format("{}: its carrier is {}", device.name, device.carrier());
        if (device.mtu != team.mtu) return fmt::format("{} has the MTU {}", device.name, device.mtu);
        if (device.address != team.address)
            return fmt::format("{} has the address {}, not that of the team", device.name, device.address);
        if (must(host, fmt::format("cat /proc/sys/net/ipv6/conf/{}/disable_ipv6 2>/dev/null || echo 1",
                                   device.name)) != "1\n") // no file: its MTU does not allow IPv6
            return fmt::format("{} has IPv6", device.name);
        if (!device.flags.contains("ALLMULTI")) return fmt::format("{} lacks ALLMULTI", device.name);
        if (const auto index = number_of(state, fmt::format("/ports/{}/ifinfo/ifindex", device.name));
            index != device.index)
            return fmt::format("{} has the ifindex {}, in the state document {}", device.name, device.index,
                               index);
    }
    return {};
}

UniqueFd receiver(const NetNs& in, const std::string& address, std::uint16_t port) {
    const SocketAddress own(address, port);
    auto socket = socket_in(in, own.family(), SOCK_DGRAM);
    if (::bind(socket.get(), own.get(), own.size) < 0) throw SetupError("cannot bind " + address);
    return socket;
}

/// The different texts that arrive within `patience`, until there are `wanted`.
std::set<std::string> texts_at(const UniqueFd& socket, std::size_t wanted, milliseconds patience) {
    std::set<std::string> texts;
    const auto start = SteadyClock::now();
    while (texts.size() < wanted && since(start) < patience) {
        pollfd arrival{.fd = socket.get(), .events = POLLIN, .revents = 0};
        std::array<char, 64> text{};
        if (::poll(&arrival, 1, 10) <= 0) continue;
        if (const auto size = ::recv(socket.get(), text.data(), text.size(), MSG_DONTWAIT); size > 0)
            texts.emplace(text.data(), static_cast<std::size_t>(size));
    }
    return texts;
}

/// Many flows from the team: each bucket's port is a good one.
std::string wrong_way_out(const World& world) {
    constexpr std::uint16_t port = 6000;
    constexpr unsigned flows = 48;
    const auto there = receiver(world.client(), client_v4, port);
    const SocketAddress target(client_v4, port);
    for (unsigned flow = 0; flow < flows; ++flow) {
        const auto from = socket_in(world.wires().host(), target.family(), SOCK_DGRAM);
        const auto text = fmt::format("flow {}", flow);
        (void)::sendto(from.get(), text.data(), text.size(), 0, target.get(), target.size);
    }
    const auto came = texts_at(there, flows, 500ms);
    return came.size() == flows ? "" : fmt::format("{} of {} flows reach the client", came.size(), flows);
}

/// From the client, as the far end of a cable sends it.
Bytes frame_to_team(const World& world, std::uint16_t port, std::string_view payload) {
    return udp4({.to_mac = mac(look(world.wires().host(), "team0").address),
                 .from_mac = mac(look(world.client(), world.client_device()).address),
                 .to = team_v4,
                 .from = client_v4,
                 .to_port = port,
                 .from_port = port},
                payload);
}

/// A frame by each cable: each port that receives has our filter, and a slot that receives.
std::string wrong_way_in(World& world, const Model& model) {
    constexpr std::uint16_t port = 6001;
    const auto here = receiver(world.wires().host(), team_v4, port);
    const bool backup = world.runner() == Runner::activebackup;
    const auto active = backup ? world.team().item("runner.active_port") : "";
    std::set<std::string> sent;
    for (unsigned number = 1; number <= ports; ++number) {
        if (!model.carries(number) || (backup && Cabling::port(number) != active)) continue;
        const PacketSocket far(world.wires().peer(), Cabling::far_end(number));
        far.send(frame_to_team(world, port, Cabling::port(number)));
        sent.insert(Cabling::port(number));
    }
    const auto came = texts_at(here, sent.size(), 500ms);
    return came == sent ? ""
                        : fmt::format("frames were sent by {} and came by {}", testing::PrintToString(sent),
                                      testing::PrintToString(came));
}

/// Frames by a cable whose port does not receive: each is counted, and nothing that did not come.
std::string wrong_drops(const World& world, const Model& model, const Document& state) {
    constexpr unsigned frames = 7;
    constexpr std::uint16_t port = 6002;
    for (unsigned number = 1; number <= ports; ++number) {
        if (!model.carries(number) ||
            is_true(state, fmt::format("/ports/{}/datapath/receives", Cabling::port(number))))
            continue;
        const auto dropped =
            [&, item = fmt::format("/ports/{}/datapath/counters/rx_dropped", Cabling::port(number))] {
                const auto now = state_of_team();
                return now ? number_of(*now, item) : 0;
            };
        const auto sent = [&] { return counters(world.wires().peer(), Cabling::far_end(number)).tx_packets; };
        const auto sent_before = sent(), dropped_before = dropped();
        const PacketSocket far(world.wires().peer(), Cabling::far_end(number));
        const auto bytes = frame_to_team(world, port, Cabling::port(number));
        for (unsigned frame = 0; frame < frames; ++frame)
            far.send(bytes);
        std::uint64_t counted = 0;
        if (!eventually("", [&] { return (counted = dropped() - dropped_before) >= frames; }, 500ms))
            return fmt::format("{} does not receive, {} frames came and {} are counted as dropped",
                               Cabling::port(number), frames, counted);
        if (const auto came = sent() - sent_before; counted > came)
            return fmt::format("{}: {} frames came and {} are counted as dropped", Cabling::port(number),
                               came, counted);
        return {};
    }
    return {};
}

} // namespace

std::optional<Document> state_of_team() {
    const auto socket = ControlSocket::to("team0");
    const auto text = socket ? payload_of(socket->ask("StateDump", {}, 1s)) : std::nullopt;
    return text ? parsed(*text) : std::nullopt;
}

std::string wrong_state(World& world, const Model& model, const Document& state) {
    for (const auto& wrong : {wrong_document(state, model, world.runner()), wrong_journal(world, model)})
        if (!wrong.empty()) return wrong;
    if (auto wrong = wrong_devices(world, model, state); !wrong.empty()) return wrong;
    return wrong_files();
}

std::string wrong_traffic(World& world, const Model& model, const Document& state) {
    bool any = false;
    for (unsigned port = 1; port <= ports; ++port)
        any = any || model.carries(port);
    if (!any) return {};
    if (auto wrong = wrong_way_out(world); !wrong.empty()) return wrong;
    if (auto wrong = wrong_way_in(world, model); !wrong.empty()) return wrong;
    if (auto wrong = wrong_drops(world, model, state); !wrong.empty()) return wrong;
    if (!world.out().flows(1, 1s)) return "the stream to the client stands";
    if (!world.in().flows(1, 1s)) return "the stream from the client stands";
    return {};
}

std::string wrong_end(World& world) {
    const auto& host = world.wires().host();
    for (unsigned port = 1; port <= ports; ++port) {
        const auto is = settings(host, Cabling::port(port));
        if (const auto& was = world.before(port); !was.empty() && is != was)
            return fmt::format("{} is not restored: {}, not {}", Cabling::port(port), is, was);
        if (is.find("teamo-") != std::string::npos || is.find("clsact") != std::string::npos)
            return fmt::format("{} keeps a mark or a filter: {}", Cabling::port(port), is);
    }
    if (exists(host, "team0") || exists(host, "tmo0")) return "the team's devices are left";
    const auto files = must(host, "find /run/teamd /run/teamd-offload ! -type d");
    return files.empty() ? "" : "files are left: " + files;
}

} // namespace teamo::soak
