// SPDX-License-Identifier: LGPL-2.1-or-later
#include "soak/world.h"

#include "soak/records.h"
#include "support/traffic/frames.h"
#include "support/traffic/packet_socket.h"

#include <csignal>
#include <fstream>

namespace teamo::soak {

using namespace test;

namespace {

constexpr unsigned rate = 1'000;

std::string far(unsigned port) { return Cabling::far_end(port); }
} // namespace

std::string settings(const NetNs& in, const std::string& device) {
    const auto seen = look(in, device);
    auto text = settings_text(seen.address, seen.mtu, seen.up(), seen.flags.contains("PROMISC"),
                              seen.flags.contains("ALLMULTI"));
    for (const auto& name : seen.altnames)
        text += fmt::format(" altname {}", name);
    return text + "\n" +
           must(in, fmt::format("tc qdisc show dev {0} clsact; cat /proc/sys/net/ipv6/conf/{0}/disable_ipv6 "
                                "2>/dev/null || echo its MTU does not allow IPv6",
                                device));
}

World::World(Runner runner)
    : runner_(runner),
      wires_(ports, runner == Runner::lacp ? FarSide::open : FarSide::lag_switch),
      team_(configuration(runner, 0), TeamUnderTest::later) {
    if (runner == Runner::lacp) {
        partner_.emplace(wires_, std::vector{1U, 2U, 3U, 4U}, partner_name);
        partner_->address();
    }
    // Each is another, so that the journal cannot take one for another.
    wires_.host().ip("link set eth1 mtu 1400 address 02:00:00:00:01:01\nlink set eth2 allmulticast on\n"
                     "link set eth3 mtu 1480 up");
    for (unsigned port = 1; port <= ports; ++port)
        before_[port - 1] = settings(wires_.host(), Cabling::port(port));
    team_.start();
    file_ = team_.item("setup.config_file");
    attend();
    for (unsigned port = 1; port <= ports; ++port)
        if (const auto up = team_.await_link(Cabling::port(port)); !up) throw SetupError(up.message());
    renew_streams();
}

void World::renew_streams() {
    out_.reset();
    in_.reset();
    out_.emplace(Stream::Way{.from = &wires_.host(), .to = &client(), .address = client_v4, .rate = rate});
    in_.emplace(Stream::Way{.from = &client(), .to = &wires_.host(), .address = team_v4, .rate = rate});
}

void World::attend() {
    // As systemd does. Only a watched daemon may end by itself: it was to be killed, or a call was refused.
    for (int times = 0; !team_.running() && calls_ && times < 3; ++times) {
        if (const auto wrong = wrong_devices(false); !wrong.empty()) throw SetupError(wrong);
        team_.start();
        calls_.reset();
    }
    if (must(wires_.host(), "ip -4 -o addr show dev team0").empty())
        wires_.host().ip(fmt::format("link set team0 up\naddr add {}/24 dev team0", team_v4));
    if (const auto address = look(wires_.host(), "team0").address; address != known_address_) {
        client().ip(fmt::format("neigh replace {} lladdr {} dev {} nud permanent", team_v4, address,
                                client_device()));
        known_address_ = address;
    }
}

void World::kill() {
    team_.kill();
    if (const auto wrong = wrong_devices(false); !wrong.empty()) throw SetupError(wrong);
}

std::string World::wrong_devices(bool settled) {
    auto wrong = wrong_pair(wires_.host(), ipv6_switched_on_ && !settled);
    if (settled && wrong.empty()) ipv6_switched_on_ = false;
    return wrong;
}

void World::end_others() {
    bystander_.stop();
    if (!partner_) return;
    if (const auto status = partner_->team().stop(); status != 0)
        throw SetupError(
            fmt::format("SIGTERM: the exit status of the LACP partner is {}", status.value_or(-1)));
}

void World::unwatch() {
    if (!calls_) return;
    kill();
    team_.start();
    calls_.reset();
}

void World::perform(const Action& action, const Model& before) {
    const auto port = Cabling::port(action.port);
    const auto& now = before.at(action.port);
    switch (action.fault) {
    case Fault::cable: now.plugged ? wires_.pull(action.port) : wires_.plug(action.port); break;
    case Fault::flaps: {
        std::string lines;
        for (unsigned times = 0; times <= action.amount; ++times)
            lines += fmt::format("link set {0} down\nlink set {0} up\n", far(action.port));
        wires_.peer().ip(lines);
        break;
    }
    case Fault::kill:
        kill();
        team_.start();
        calls_.reset();
        break;
    case Fault::stop: stop(action.amount); break;
    case Fault::freeze: team_.signal(SIGSTOP); break;
    case Fault::thaw: team_.signal(SIGCONT); break;
    case Fault::move:
        if (now.here) {
            wires_.host().ip(fmt::format("link set {} netns {}", port, elsewhere_.path()));
        } else {
            elsewhere_.ip(fmt::format("link set {} netns {}", port, wires_.host().path()));
            // The kernel sets a device down that it moves, and the daemon leaves one that is no port.
            if (!now.wanted) before_[action.port - 1] = settings(wires_.host(), port);
        }
        break;
    case Fault::replace: replace(action, before.frozen || !now.wanted); break;
    case Fault::rename:
        wires_.host().ip(fmt::format("link set {0} name other\nlink set other name {0}", port));
        break;
    case Fault::member: set_member(port, !now.wanted); break;
    case Fault::reload:
        std::ofstream(file_) << configuration(runner_, action.amount);
        insist({"config", "reload"}, [] { return false; });
        break;
    case Fault::flood:
        if (now.plugged) flood(action.port, action.amount);
        break;
    case Fault::overrun: overrun(action.amount); break;
    case Fault::refused_call:
    case Fault::killed_call:
        kill();
        start_watched(action.fault == Fault::killed_call, 1 + action.amount);
        break;
    case Fault::feature: must(wires_.host(), fmt::format("ethtool -K {} tso off", port)); break;
    case Fault::mtu: wires_.host().ip(fmt::format("link set team0 mtu {}", 1500 - action.amount)); break;
    case Fault::address:
        wires_.host().ip(fmt::format("link set team0 address 02:00:00:00:aa:{:02x}", action.amount));
        break;
    case Fault::down_up: wires_.host().ip("link set team0 down\nlink set team0 up"); break;
    case Fault::deaf_client: add_deaf_client(action.amount); break;
    case Fault::bucket: move_bucket(action.amount, port); break;
    // A port without clsact has nothing of these.
    case Fault::filters:
        static_cast<void>(
            sh(wires_.host(), fmt::format("tc {} dev {} {}", action.amount == 0 ? "filter del" : "qdisc del",
                                          port, action.amount == 0 ? "ingress" : "clsact")));
        break;
    case Fault::in_front:
        static_cast<void>(
            sh(wires_.host(),
               fmt::format("tc filter add dev {0} ingress prio 1 protocol ip u32 match u32 0 0 classid 1:1 "
                           "&& sleep 0.0{1:02} && tc filter del dev {0} ingress prio 1",
                           port, action.amount)));
        break;
    case Fault::sysctl:
        // A port whose MTU is below IPv6's has no such file.
        must(wires_.host(),
             fmt::format("cd /proc/sys/net/ipv6/conf; [ ! -e {0} ] || echo 0 > {0}/disable_ipv6",
                         action.amount == 0 ? "all" : port));
        ipv6_switched_on_ |= action.amount == 0;
        break;
    case Fault::count: break;
    }
}

void World::replace(const Action& action, bool untouched) {
    wires_.host().ip(fmt::format("link del {}", Cabling::port(action.port)));
    const auto generation = action.amount == 0 ? 0 : ++generation_;
    wires_.add_cable(action.port, generation);
    // The partner brings a new port up: a cable that is pulled next must stay pulled.
    const auto item = fmt::format("ports.{}.link.up", far(action.port));
    if (partner_ && !eventually("", [&] { return !partner_->team().item(item).empty(); }))
        throw SetupError(fmt::format("the partner does not take {}", far(action.port)));
    // Otherwise the daemon may have changed it before it is read.
    before_[action.port - 1] = untouched ? settings(wires_.host(), Cabling::port(action.port)) : "";
}

void World::stop(unsigned amount) {
    unwatch();
    if (const auto status = team_.stop(); status != 0)
        throw SetupError(fmt::format("SIGTERM: the daemon's exit status is {}", status.value_or(-1)));
    for (unsigned each = 1; each <= ports; ++each)
        if (const auto is = settings(wires_.host(), Cabling::port(each)); !before(each).empty())
            if (is != before(each))
                throw SetupError(
                    fmt::format("{} is not restored: {}, not {}", Cabling::port(each), is, before(each)));
    if (amount % 2 == 1) {
        start_watched(true, 1 + amount / 2);
    } else {
        team_.start();
        calls_.reset();
    }
    attend();
}

void World::start_watched(bool kills, unsigned step) {
    calls_ = std::make_unique<WatchedCalls>();
    constexpr std::array errors{EBUSY, EAGAIN, ENOMEM, EINTR};
    if (kills)
        calls_->kill_before(step);
    else
        calls_->refuse(step, errors[step % errors.size()]);
    if (!team_.try_to_start(*calls_)) attend();
}

void World::insist(const std::vector<std::string>& words, const std::function<bool()>& is_done) {
    std::string refusal;
    const bool done = static_cast<bool>(eventually("", [&] {
        attend();
        const auto said = team_.teamoctl(words);
        refusal = said.err;
        if (said.status != 0 && !calls_ && !is_done()) throw SetupError(refusal);
        return said.status == 0 || is_done();
    }));
    if (!done) throw SetupError(refusal);
}

void World::set_member(const std::string& port, bool wanted) {
    insist({"port", wanted ? "add" : "remove", port}, [&] {
        // One that has not joined yet is no port either, and would join.
        return wanted ? !team_.item(fmt::format("ports.{}.link.up", port)).empty() : is_removed_by_hand(port);
    });
}

/// The port carries as soon as the daemon has seen its link.
void World::move_bucket(unsigned bucket, const std::string& port) {
    if (runner_ == Runner::activebackup) return; // it has no buckets
    std::string refusal;
    if (const auto done = eventually("",
                                     [&] {
                                         attend();
                                         const auto said = team_.teamoctl(
                                             {"balance", "move", std::to_string(bucket), port});
                                         refusal = said.err;
                                         return said.status == 0;
                                     });
        !done)
        throw SetupError(refusal);
}

void World::flood(unsigned port, unsigned frames) const {
    const PacketSocket there(wires_.peer(), far(port));
    const auto frame = arp_request(mac("02:00:00:00:00:02"), "10.0.0.3", "10.0.0.9");
    for (unsigned sent = 0; sent < frames; ++sent)
        there.send(frame);
}

void World::overrun(unsigned events) {
    team_.signal(SIGSTOP);
    constexpr unsigned full = 16'000; // 2,300 bytes each; the socket has 32 MiB (netlink_socket.cpp)
    constexpr unsigned batch = 1'000; // a busy machine takes a minute for all
    for (unsigned sent = 0; sent < full + events; sent += batch) {
        std::string lines;
        for (unsigned times = sent; times < std::min(sent + batch, full + events); ++times)
            lines += fmt::format("link set lo alias {}\n", times);
        wires_.host().ip(lines);
    }
    team_.signal(SIGCONT);
}

void World::add_deaf_client(unsigned requests) {
    attend();
    auto client = ControlSocket::to("team0");
    if (!client) return; // a watched daemon may have been killed
    for (unsigned sent = 0; sent < requests && client->send("REQUEST\nStateDump\n"); ++sent) {
    }
    deaf_.push_back(std::move(*client));
    constexpr std::size_t most = 3;
    if (deaf_.size() > most) deaf_.pop_front();
}

} // namespace teamo::soak
