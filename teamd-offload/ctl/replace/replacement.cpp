// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/replace/replacement.h"

#include "base/clock.h"
#include "bus/units.h"
#include "ctl/replace/tcp_counters.h"
#include "kernel/files/files.h"
#include "kernel/netlink/bond_options.h"
#include "kernel/netlink/ip_settings.h"
#include "kernel/netlink/links.h"
#include "json/write.h"

#include <net/if.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <thread>

namespace teamo::ctl {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto patience = 30s;
constexpr auto poll_interval = 20ms;
/// What the bond was given is then sent.
constexpr auto queues_empty = 200ms;

/// Steps that take back what was done, the last first, unless keep() is called.
class Undo {
public:
    Undo() = default;
    Undo(const Undo&) = delete;
    Undo& operator=(const Undo&) = delete;
    ~Undo() {
        std::for_each(steps_.rbegin(), steps_.rend(), [](const auto& step) { step(); });
    }
    void add(std::function<void()> step) { steps_.push_back(std::move(step)); }
    void keep() { steps_.clear(); }

private:
    std::vector<std::function<void()>> steps_;
};

/// Between two devices there is no good place to stop: signals that would end this process wait, also the one
/// of a terminal that is lost.
class SignalsWait {
public:
    SignalsWait() {
        sigset_t waiting;
        sigemptyset(&waiting);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP})
            sigaddset(&waiting, signal);
        ::sigprocmask(SIG_BLOCK, &waiting, &former_);
    }
    SignalsWait(const SignalsWait&) = delete;
    SignalsWait& operator=(const SignalsWait&) = delete;
    ~SignalsWait() { ::sigprocmask(SIG_SETMASK, &former_, nullptr); }

private:
    sigset_t former_{};
};

std::uint64_t tcp_counter(std::string_view counter) {
    return parse_tcp_counter(read_file("/proc/net/snmp").value_or(""), counter);
}

/// Runs the daemon's program. It returns when the team runs (-d), or has stopped.
Result<> run_daemon(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), find_program("teamd-offload"));
    if (arguments[0].empty()) return fail(ENOENT, "teamd-offload is not installed");
    const auto words = pointers_to(arguments);
    // It does not inherit what waits here (SignalsWait).
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t child = 0;
    const int error = ::posix_spawn(&child, words[0], nullptr, &attributes, words.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    if (error != 0) return fail_errno(error, arguments[0]);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    return fail(ECHILD, fmt::format("{} failed; see its messages above", arguments[0]));
}

std::string unit_of(const std::string& team) { return fmt::format("teamd-offload@{}.service", team); }

Result<> start_daemon(const Replacement& wanted) {
    if (wanted.by_systemd) return start_unit(unit_of(wanted.team));
    return run_daemon({"-d", "-t", wanted.team, "-f", wanted.file});
}

void stop_daemon(const Replacement& wanted) {
    if (wanted.by_systemd)
        static_cast<void>(stop_unit(unit_of(wanted.team)));
    else
        static_cast<void>(run_daemon({"-k", "-t", wanted.team}));
}

/// Settings of IP that a device has besides addresses and routes.
fs::path sysctls(std::string_view family, const std::string& device) {
    return fs::path("/proc/sys/net") / family / "conf" / device;
}

void copy_sysctls(const std::string& from, const std::string& to) {
    for (const auto* family : {"ipv4", "ipv6"})
        for (const auto& name : sysfs::names_in(sysctls(family, from))) {
            const auto value = sysfs::first_line(sysctls(family, from) / name);
            const auto target = sysctls(family, to) / name;
            // Some cannot be written, for example a secret that is not set.
            if (!value.empty() && value != sysfs::first_line(target))
                static_cast<void>(write_into(target.string(), value));
        }
}

/// The ports that leave the bond first, and those that carry meanwhile.
struct Order {
    std::vector<const Link*> first, last;
    std::size_t first_with_link = 0;
};

/// Where the kernel shows what bonding does with a bond or with one of its ports.
fs::path bonding(const std::string& device, std::string_view file) {
    return fs::path("/sys/class/net") / device / file;
}

/// True if the bond transmits by this port, with active-backup after a failover. With 802.3ad only by the
/// ports of one aggregator.
bool carries(const Link& bond, const Link& port) {
    if (!port.has_link() || !port.bond_uses_link) return false;
    const auto active = sysfs::number(bonding(bond.name, "bonding/ad_aggregator"));
    return !active || sysfs::number(bonding(port.name, "bonding_slave/ad_aggregator_id")) == active;
}

Result<Order> order_of(const Links& links, const Link& bond) {
    Order order;
    std::vector<const Link*> carrying;
    for (const auto& [index, link] : links)
        if (link.master == bond.index) (carries(bond, link) ? carrying : order.first).push_back(&link);
    // The backup ports first: the active one carries all.
    const auto active = sysfs::first_line(bonding(bond.name, "bonding/active_slave"));
    const auto stays = std::ranges::find(carrying, active, &Link::name);
    const auto least = std::max<std::size_t>(
        1, static_cast<std::size_t>(sysfs::number(bonding(bond.name, "bonding/min_links")).value_or(0)));
    if (carrying.size() < least + 1)
        return fail(
            ENOTSUP,
            fmt::format("{0} needs {1} of the {2} ports that carry; one more must carry while they move",
                        bond.name, least, carrying.size()));
    std::size_t number = std::min(carrying.size() / 2, carrying.size() - least);
    if (stays != carrying.end()) {
        std::iter_swap(stays, carrying.end() - 1);
        number = carrying.size() - 1;
    }
    const auto half = carrying.begin() + static_cast<std::ptrdiff_t>(number);
    order.first.insert(order.first.end(), carrying.begin(), half);
    order.last = {half, carrying.end()};
    order.first_with_link = number;
    return order;
}

/// What stands on the bond would lose its device.
Result<> check_uppers(const Links& links, const Link& bond) {
    if (const auto master = links.find(bond.master); master != links.end())
        return fail(ENOTSUP,
                    fmt::format("{} is a port of {}; take it out first", bond.name, master->second.name));
    for (const auto& [index, link] : links)
        if (link.lower == bond.index && !link.lower_elsewhere)
            return fail(ENOTSUP, fmt::format("{} ({}) is on top of {}, and cannot move to another device; "
                                             "remove it first",
                                             link.name, link.kind, bond.name));
    // Others that the kernel removes with it, for example a VXLAN.
    constexpr std::string_view upper = "upper_";
    for (const auto& name : sysfs::names_in(bonding(bond.name, "")))
        if (name.starts_with(upper))
            return fail(ENOTSUP, fmt::format("{} is on top of {}, and cannot move to another device; "
                                             "remove it first",
                                             name.substr(upper.size()), bond.name));
    return {};
}

/// What a team has no counterpart for, so that the other end would see another device.
Result<> check_identity(const Link& bond) {
    if (sysfs::first_line(bonding(bond.name, "bonding/fail_over_mac")).starts_with("active"))
        return fail(ENOTSUP, fmt::format("{} has fail_over_mac active: its MAC address would change; replace "
                                         "it by hand",
                                         bond.name));
    const auto system = sysfs::first_line(bonding(bond.name, "bonding/ad_actor_system"));
    if (!system.empty() && system != "00:00:00:00:00:00")
        return fail(ENOTSUP,
                    fmt::format("{} has the ad_actor_system {}; the LACP system of a team is always its MAC "
                                "address, so the partner would see another system; replace the bond by hand",
                                bond.name, system));
    return {};
}

/// Waits for the daemon, and until so many ports carry. Returns how many do.
Result<std::size_t> await_ports(const std::string& team, const Options& options, std::size_t wanted) {
    const auto until = Clock::now() + patience;
    std::size_t carrying = 0;
    for (;;) {
        auto session = Session::open(team, options);
        const auto state = session ? session->state() : tl::unexpected(session.error());
        if (state) {
            carrying = static_cast<std::size_t>(std::ranges::count_if(state->ports, &PortStatus::transmits));
            const std::size_t enough =
                state->runner == "activebackup" ? std::min<std::size_t>(wanted, 1) : wanted;
            if (carrying >= enough) return carrying;
        }
        if (Clock::now() >= until && !state) return tl::unexpected(state.error());
        if (Clock::now() >= until) return carrying;
        std::this_thread::sleep_for(poll_interval);
    }
}

/// The team with the first ports, which are enough.
json::Value with_ports(json::Value document, const std::vector<const Link*>& ports) {
    auto* runner = document.find("runner");
    if (runner->find("min_ports") != nullptr) runner->set("min_ports", 1);
    json::Value chosen(json::Object{});
    for (const auto* port : ports)
        chosen.set(port->name, *document.find("ports")->find(port->name));
    document.set("ports", std::move(chosen));
    return document;
}

std::string text_of(const json::Value& document) {
    return json::write(document, {.sort_keys = false}) + "\n";
}

/// A bond whose ports move to a team.
class Move {
public:
    Move(const Replacement& wanted, const Options& options, LinkControl links, Link bond)
        : wanted_(wanted), options_(options), links_(std::move(links)), bond_(std::move(bond)) {}

    Result<> start_team(const Order& order);
    Result<> move_ip(Replaced& report);
    Result<> remove_bond();
    Result<> move_the_rest(Replaced& report);

private:
    void set_meanwhile(const fs::path& file, std::string_view value, std::string_view afterwards);
    Result<> release(const Link& port);

    const Replacement& wanted_;
    const Options& options_;
    LinkControl links_;
    Link bond_, team_{};
    std::vector<std::pair<fs::path, std::string>> afterwards_; ///< sysctls and their values
    Undo undo_;                                                ///< last: its steps use the other members
};

/// Of the team or of the bond, while both have the addresses.
void Move::set_meanwhile(const fs::path& file, std::string_view value, std::string_view afterwards) {
    static_cast<void>(write_into(file.string(), value));
    afterwards_.emplace_back(file, afterwards);
    undo_.add(
        [file, former = std::string(afterwards)] { static_cast<void>(write_into(file.string(), former)); });
}

Result<> Move::release(const Link& port) {
    const auto options = read_bond_options(port.index);
    undo_.add([this, port, options] {
        auto back = links_.set_flags(port.index, 0, IFF_UP);
        if (back) back = links_.set_master(port.index, bond_.index);
        if (back && port.bond_queue != 0) back = links_.set_bond_queue(port.index, port.bond_queue);
        if (back && options) back = links_.set_bond_slave(port.index, *options);
        if (!back)
            warn(fmt::format("{} did not go back to {}: {}", port.name, bond_.name, back.error().text));
    });
    return within(fmt::format("port {}", port.name), links_.set_master(port.index, IfIndex{0}));
}

Result<> Move::start_team(const Order& order) {
    const auto before = read_file(wanted_.file);
    undo_.add([this, before] {
        if (before)
            static_cast<void>(replace_file(wanted_.file, *before, 0644));
        else
            remove_file(wanted_.file);
    });
    TEAMO_TRY(replace_file(wanted_.file, text_of(with_ports(wanted_.document, order.first)), 0644));
    for (const auto* port : order.first)
        TEAMO_TRY(release(*port));
    undo_.add([this] { stop_daemon(wanted_); });
    TEAMO_TRY(start_daemon(wanted_));
    if (const auto runs = await_ports(wanted_.team, options_, 0); !runs)
        return fail(
            ECHILD,
            fmt::format("the daemon of {0} does not start ({1}); {2}", wanted_.team, runs.error().text,
                        wanted_.by_systemd ? "see journalctl -u " + unit_of(wanted_.team) : "see its log"));
    const auto links = TEAMO_TRY(links_.read_all());
    const auto* team = find_link(links, wanted_.team);
    if (team == nullptr) return fail(ENODEV, fmt::format("{}: the daemon did not make it", wanted_.team));
    team_ = *team;
    copy_sysctls(bond_.name, team_.name);
    const auto value = [this](std::string_view family, std::string_view name) {
        return sysfs::first_line(sysctls(family, bond_.name) / name);
    };
    // Strict, the kernel would drop what arrives by the bond while the routes lead to the team already.
    const auto filter = value("ipv4", "rp_filter");
    if (filter == "1" || sysfs::first_line(sysctls("ipv4", "all") / "rp_filter") == "1") {
        set_meanwhile(sysctls("ipv4", bond_.name) / "rp_filter", "2", filter);
        set_meanwhile(sysctls("ipv4", team_.name) / "rp_filter", "2", filter);
    }
    // The bond has the same addresses, and would answer.
    set_meanwhile(sysctls("ipv6", team_.name) / "accept_dad", "0", value("ipv6", "accept_dad"));
    if (team_.mtu != bond_.mtu) TEAMO_TRY(within("mtu", links_.set_mtu(team_.index, bond_.mtu)));
    TEAMO_TRY(links_.set_flags(team_.index, IFF_UP, IFF_UP));
    const auto carrying = TEAMO_TRY(await_ports(wanted_.team, options_, order.first_with_link));
    if (carrying == 0) return fail(ETIMEDOUT, fmt::format("no port of {} carries", wanted_.team));
    return {};
}

Result<> Move::move_ip(Replaced& report) {
    const auto settings = TEAMO_TRY(IpSettings::read(bond_.index));
    report.is_renewed = settings.is_renewed();
    TEAMO_TRY(settings.copy_addresses(team_.index));
    undo_.add([this] {
        if (const auto moved = IpSettings::read(team_.index))
            static_cast<void>(moved->move_routes(bond_.index));
    });
    return settings.move_routes(team_.index);
}

/// From here on there is no way back.
Result<> Move::remove_bond() {
    std::this_thread::sleep_for(queues_empty);
    TEAMO_TRY(links_.remove(bond_.index));
    undo_.keep();
    return {};
}

Result<> Move::move_the_rest(Replaced& report) {
    for (const auto& [file, value] : afterwards_)
        static_cast<void>(write_into(file.string(), value));
    if (auto named = links_.add_altname(team_.index, bond_.name); !named)
        warn(fmt::format("{} is no alternative name: {}", bond_.name, named.error().text));
    const auto text = text_of(wanted_.document);
    TEAMO_TRY(replace_file(wanted_.file, text, 0644));
    auto session = TEAMO_TRY(Session::open(wanted_.team, options_));
    TEAMO_TRY(session.call(control::ConfigReload{.file = wanted_.file, .text = text}));
    report.ports = wanted_.document.find("ports")->object()->size();
    report.carrying = TEAMO_TRY(await_ports(wanted_.team, options_, report.ports));
    if (!wanted_.by_systemd) return {};
    if (const auto enabled = enable_unit(unit_of(wanted_.team)); !enabled)
        warn(fmt::format("{} does not start at boot: {}", wanted_.team, enabled.error().text));
    return {};
}

} // namespace

Result<Replaced> replace(const Replacement& wanted, const Options& options) {
    auto control = TEAMO_TRY(LinkControl::open());
    const auto links = TEAMO_TRY(control.read_all());
    const auto* bond = find_link(links, wanted.bond);
    if (bond == nullptr || bond->kind != bond_kind)
        return fail(ENODEV, fmt::format("{}: there is no such bond", wanted.bond));
    if (find_named(links, wanted.team) != nullptr)
        return fail(EEXIST, fmt::format("{}: there is a device of this name", wanted.team));
    TEAMO_TRY(check_uppers(links, *bond));
    TEAMO_TRY(check_identity(*bond));
    const auto order = TEAMO_TRY(order_of(links, *bond));

    const SignalsWait signals;
    const auto start = Clock::now();
    const auto since_start = [start] {
        return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
    };
    const auto sent = tcp_counter("OutSegs"), again = tcp_counter("RetransSegs");
    Replaced report;
    Move move(wanted, options, std::move(control), *bond);
    TEAMO_TRY(move.start_team(order));
    TEAMO_TRY(move.move_ip(report));
    report.carried = since_start();
    TEAMO_TRY(move.remove_bond());
    TEAMO_TRY(within(
        fmt::format("{} was removed, but not all of its ports have moved to {}", bond->name, wanted.team),
        move.move_the_rest(report)));
    report.ended = since_start();
    report.segments_sent = tcp_counter("OutSegs") - sent;
    report.segments_again = tcp_counter("RetransSegs") - again;
    return report;
}

} // namespace teamo::ctl
