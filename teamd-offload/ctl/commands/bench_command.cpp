// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/bench/html/report.h"
#include "ctl/bench/json.h"
#include "ctl/bench/load/server.h"
#include "ctl/bench/options.h"
#include "ctl/bench/run/engine.h"
#include "ctl/bench/run/peer.h"
#include "ctl/bench/summary.h"
#include "ctl/bench/text.h"
#include "ctl/commands.h"
#include "kernel/ethtool/ethtool.h"
#include "kernel/files/device_files.h"
#include "kernel/files/files.h"
#include "kernel/netlink/links.h"

#include "json/parse.h"
#include "json/write.h"

#include <fmt/ranges.h>
#include <net/if.h>

#include <csignal>
#include <filesystem>
#include <set>

namespace teamo::ctl {
namespace {

using OptionalPrices = std::optional<bench::Prices>;

Result<json::Value> document_in(const std::string& file) {
    constexpr std::size_t most_bytes = std::size_t{1} << 30; // the paper's profile has 20 MB with two CPUs
    const auto text = TEAMO_TRY(read_file(file, most_bytes));
    auto document = json::parse(text, {.bytes = text.size()});
    if (!document)
        return fail(EINVAL, fmt::format("{}:{}:{}: {}", file, document.error().place.line,
                                        document.error().place.column, document.error().text));
    return std::move(*document);
}

/// Before anything is measured: an error in the file costs no time then.
Result<OptionalPrices> prices_of(const bench::Options& wanted) {
    if (wanted.prices.empty()) return OptionalPrices{};
    auto prices = bench::prices_from(TEAMO_TRY(document_in(wanted.prices)));
    if (!prices) return within(wanted.prices, std::move(prices.error()));
    return OptionalPrices(std::move(*prices));
}

/// Before anything is measured: where the report cannot be written, no time is lost.
Result<> check_report(const bench::Options& wanted) {
    if (!wanted.html.empty()) TEAMO_TRY(bench::report_target(wanted.html));
    return {};
}

/// Of earlier runs, as --json printed them.
Result<std::vector<bench::Results>> results_in(Arguments files) {
    std::vector<bench::Results> all;
    for (const auto& file : files) {
        auto results = bench::from_json(TEAMO_TRY(document_in(file)));
        if (!results) return within(file, std::move(results.error()));
        all.push_back(std::move(*results));
    }
    return all;
}

CommandResult show_results(const Options& options, const bench::Options& wanted, const OptionalPrices& prices,
                           const bench::Results& results) {
    put(options.json ? json::write(bench::to_json(results), {.indent = options.oneline ? 0 : 4}) + "\n"
                     : bench::results_text(results, prices));
    if (wanted.html.empty()) return {};
    const auto file = TEAMO_TRY(bench::report_target(wanted.html));
    TEAMO_TRY(replace_file(file, bench::html_report(results, prices), 0644));
    return {};
}

/// Of results that were just measured. A text shows the failures, JSON goes to a program.
CommandResult show_measured(const Options& options, const bench::Options& wanted,
                            const OptionalPrices& prices, const bench::Results& results) {
    TEAMO_TRY(show_results(options, wanted, prices, results));
    const auto failed = bench::failed_lines(results);
    if (options.json)
        for (const auto& line : failed)
            warn(line);
    return failed.empty() ? ExitStatus::success : ExitStatus::failure;
}

/// Blocks SIGINT and SIGTERM in this thread and those that it starts, and waits for one of them.
class EndSignals {
public:
    EndSignals() {
        ::sigemptyset(&signals_);
        ::sigaddset(&signals_, SIGINT);
        ::sigaddset(&signals_, SIGTERM);
        ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    }
    void await() const {
        int signal = 0;
        ::sigwait(&signals_, &signal);
    }

private:
    sigset_t signals_{};
};

/// "igb, virtio_net": the drivers of the ports, each once.
std::string drivers_of(LinkControl& links, const std::vector<PortStatus>& ports) {
    std::set<std::string> names;
    for (const auto& port : ports) {
        const auto link = links.read(port.ifindex);
        const auto folder = link ? find_device_folder(*link) : tl::unexpected(link.error());
        if (!folder) continue;
        std::error_code none;
        const auto driver = std::filesystem::canonical(folder->device / "driver", none);
        names.insert(none ? link->kind : driver.filename().string());
    }
    names.erase("");
    return fmt::format("{}", fmt::join(names, ", "));
}

/// Sets what the links carry. A backup carries nothing, and a broadcast is the same on all ports.
void set_speed(bench::RunningTeam& team, const TeamState& state) {
    double slowest = 0;
    unsigned carrying = 0;
    for (const auto& port : state.ports) {
        if (!port.transmits) continue;
        const auto speed = static_cast<double>(port.link.speed.value_or(0));
        slowest = ++carrying == 1 ? speed : std::min(slowest, speed);
    }
    team.link_mbits = slowest;
    team.mbits = slowest * (state.runner == "broadcast" ? 1 : carrying);
}

Result<bench::RunningTeam> running_team(Session& session) {
    const auto state = TEAMO_TRY(session.state());
    auto links = TEAMO_TRY(LinkControl::open());
    auto ethtool = TEAMO_TRY(Ethtool::open());
    bench::RunningTeam team{.tso = true, .datapath = state.datapath};
    const IfIndex device{::if_nametoindex(session.team().c_str())};
    team.mtu = TEAMO_TRY(links.read(device)).mtu;
    team.driver = drivers_of(links, state.ports);
    for (const auto& port : state.ports) {
        team.ports[port.name] = port.ifindex;
        const auto features = TEAMO_TRY(ethtool.read_features(port.ifindex));
        team.tso = team.tso && features.active.contains(tso);
    }
    if (team.ports.empty()) return fail(ENODEV, "the team has no ports");
    set_speed(team, state);
    if (control::counts_by_program(state)) // otherwise cards may count
        team.read_counters = [&session]() -> Result<std::map<std::string, PortCounters>> {
            std::map<std::string, PortCounters> counted;
            for (const auto& port : TEAMO_TRY(session.state()).ports)
                counted[port.name] = port.counters;
            return counted;
        };
    return team;
}

} // namespace

CommandResult bench_self(const Options& options, Arguments) {
    const auto wanted = TEAMO_TRY(bench::options_from(options.values));
    if (wanted.ports == 0)
        return fail(EINVAL,
                    "how many ports? teamoctl bench --self PORTS; or teamoctl TEAM bench --peer ADDRESS");
    TEAMO_TRY(check_report(wanted));
    const auto prices = TEAMO_TRY(prices_of(wanted));
    return show_measured(options, wanted, prices, TEAMO_TRY(bench::measure_self(wanted)));
}

CommandResult bench_team(Session& session, Arguments) {
    const auto wanted = TEAMO_TRY(bench::options_from(session.options().values));
    if (wanted.peers.empty())
        return fail(EINVAL, "against which machine? --peer=ADDRESS, where \"teamoctl bench serve\" runs");
    TEAMO_TRY(check_report(wanted));
    const auto prices = TEAMO_TRY(prices_of(wanted));
    const auto team = TEAMO_TRY(running_team(session));
    return show_measured(session.options(), wanted, prices, TEAMO_TRY(bench::measure_peer(wanted, team)));
}

CommandResult bench_serve(const Options& options, Arguments) {
    const auto wanted = TEAMO_TRY(bench::serve_options_from(options.values));
    const EndSignals signals;
    const auto server =
        TEAMO_TRY(bench::Server::start({.port = wanted.port, .allowed = wanted.allowed, .most = 256}));
    signals.await();
    return {};
}

CommandResult bench_report(const Options& options, Arguments words) {
    const auto wanted = TEAMO_TRY(bench::options_from(options.values));
    const auto prices = TEAMO_TRY(prices_of(wanted));
    return show_results(options, wanted, prices, TEAMO_TRY(results_in(words)).front());
}

CommandResult bench_table(const Options&, Arguments words) {
    put(bench::markdown_table(TEAMO_TRY(results_in(words))));
    return {};
}

CommandResult bench_compare(const Options&, Arguments words) {
    const auto runs = TEAMO_TRY(results_in(words));
    put(bench::disagreements_text(runs.front(), runs.back()));
    return {};
}

} // namespace teamo::ctl
