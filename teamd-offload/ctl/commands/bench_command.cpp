// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/bench/json.h"
#include "ctl/bench/load/server.h"
#include "ctl/bench/options.h"
#include "ctl/bench/output.h"
#include "ctl/bench/run/engine.h"
#include "ctl/bench/run/peer.h"
#include "ctl/commands.h"
#include "kernel/ethtool/ethtool.h"
#include "kernel/files/files.h"
#include "kernel/netlink/links.h"

#include "json/write.h"
#include <net/if.h>

#include <csignal>

namespace teamo::ctl {
namespace {

CommandResult show_results(const Options& options, const bench::Options& wanted,
                           const bench::Results& results) {
    if (!wanted.html.empty()) {
        const auto report = TEAMO_TRY(bench::html_of(results));
        TEAMO_TRY(replace_file(wanted.html, report, 0644));
    }
    put(options.json ? json::write(bench::to_json(results), {.indent = options.oneline ? 0 : 4}) + "\n"
                     : bench::text_of(results));
    return {};
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

Result<bench::RunningTeam> running_team(Session& session) {
    const auto state = TEAMO_TRY(session.state());
    auto links = TEAMO_TRY(LinkControl::open());
    auto ethtool = TEAMO_TRY(Ethtool::open());
    bench::RunningTeam team{.tso = true, .datapath = state.datapath};
    const IfIndex device{::if_nametoindex(session.team().c_str())};
    team.mtu = TEAMO_TRY(links.read(device)).mtu;
    for (const auto& port : state.ports) {
        team.ports[port.name] = port.ifindex;
        const auto speed = static_cast<double>(port.link.speed.value_or(0));
        team.link_mbits = team.ports.size() == 1 ? speed : std::min(team.link_mbits, speed);
        const auto features = TEAMO_TRY(ethtool.read_features(port.ifindex));
        team.tso = team.tso && features.active.contains(tso);
    }
    if (team.ports.empty()) return fail(ENODEV, "the team has no ports");
    return team;
}

} // namespace

CommandResult bench_self(const Options& options, Arguments) {
    const auto wanted = TEAMO_TRY(bench::options_from(options.values));
    if (wanted.ports == 0)
        return fail(EINVAL,
                    "how many ports? teamoctl bench --self PORTS; or teamoctl TEAM bench --peer ADDRESS");
    return show_results(options, wanted, TEAMO_TRY(bench::measure_self(wanted)));
}

CommandResult bench_team(Session& session, Arguments) {
    const auto wanted = TEAMO_TRY(bench::options_from(session.options().values));
    if (wanted.peers.empty())
        return fail(EINVAL, "against which machine? --peer=ADDRESS, where \"teamoctl bench serve\" runs");
    const auto team = TEAMO_TRY(running_team(session));
    return show_results(session.options(), wanted, TEAMO_TRY(bench::measure_peer(wanted, team)));
}

CommandResult bench_serve(const Options& options, Arguments) {
    const auto wanted = TEAMO_TRY(bench::serve_options_from(options.values));
    const EndSignals signals;
    const auto server =
        TEAMO_TRY(bench::Server::start({.port = wanted.port, .allowed = wanted.allowed, .most = 256}));
    signals.await();
    return {};
}

} // namespace teamo::ctl
