// SPDX-License-Identifier: LGPL-2.1-or-later
#include "soak/faults.h"

#include "support/daemon/configs.h"

#include <algorithm>

namespace teamo::soak {
namespace {

struct Kind {
    Fault fault;
    const char* name;
    unsigned weight; ///< how often, relative to the others
    unsigned amounts;
};

constexpr unsigned most_flaps = 40, steps_of_a_start = 300, steps_of_a_creation = 40;

constexpr std::array kinds{
    Kind{Fault::cable, "cable", 20, 1},
    Kind{Fault::flaps, "flaps", 8, most_flaps},
    Kind{Fault::kill, "kill -9 and start", 4, 1},
    Kind{Fault::stop, "SIGTERM and start", 8, 2 * steps_of_a_creation},
    Kind{Fault::freeze, "freeze", 6, 1},
    Kind{Fault::thaw, "thaw", 0, 1},
    Kind{Fault::move, "move away or back", 10, 1},
    Kind{Fault::replace, "delete and make again", 6, 2},
    Kind{Fault::rename, "rename and back", 3, 1},
    Kind{Fault::member, "port remove or add", 8, 1},
    Kind{Fault::reload, "reload", 6, configurations},
    Kind{Fault::flood, "flood", 3, 20'000},
    Kind{Fault::overrun, "socket overrun", 1, 3'000},
    Kind{Fault::refused_call, "start with a refused call", 3, steps_of_a_start},
    Kind{Fault::killed_call, "start killed before a call", 3, steps_of_a_start},
    Kind{Fault::feature, "TSO off", 4, 1},
    Kind{Fault::mtu, "MTU of the team", 4, 600},
    Kind{Fault::address, "address of the team", 3, 250},
    Kind{Fault::down_up, "team down and up", 3, 1},
    Kind{Fault::deaf_client, "client that does not read", 2, 300},
    Kind{Fault::bucket, "balance move", 6, 256},
    Kind{Fault::filters, "filters deleted", 2, 2},
    Kind{Fault::in_front, "filter in front", 3, 40},
    Kind{Fault::sysctl, "IPv6 on", 2, 2},
};
static_assert(kinds.size() == static_cast<std::size_t>(Fault::count));

const Kind& kind_of(Fault fault) { return kinds[static_cast<std::size_t>(fault)]; }

bool restarts(Fault fault) {
    return fault == Fault::kill || fault == Fault::stop || fault == Fault::refused_call ||
           fault == Fault::killed_call;
}

/// Long stretches without a restart, in which memory and descriptors can be compared: what is lost with each
/// fault must become more than the bound. The first stretch fits into five minutes.
bool is_time_without_restarts(unsigned count) {
    constexpr unsigned restarts_at_first = 200, first_stretch = 1'000, restarts = 1'500, stretch = 4'000;
    constexpr unsigned first_end = restarts_at_first + first_stretch;
    if (count < first_end) return count >= restarts_at_first;
    return (count - first_end) % (restarts + stretch) >= restarts;
}

/// A frozen daemon can do none of these, or the request would wait for it.
bool needs_an_answer(Fault fault) {
    return fault == Fault::member || fault == Fault::reload || fault == Fault::deaf_client ||
           fault == Fault::freeze || fault == Fault::overrun || fault == Fault::stop ||
           fault == Fault::bucket;
}

/// Faults of a device need the device.
bool needs_the_port(Fault fault) {
    return fault == Fault::replace || fault == Fault::rename || fault == Fault::feature ||
           fault == Fault::member || fault == Fault::flaps || fault == Fault::flood ||
           fault == Fault::filters || fault == Fault::in_front || fault == Fault::sysctl;
}

/// The daemon answers these eight times at once within ten minutes, and then with pauses.
bool is_rare(Fault fault) { return fault == Fault::filters || fault == Fault::sysctl; }
constexpr unsigned rare = 600; ///< so many faults from one to the next

} // namespace

std::string text_of(const Action& action) {
    return fmt::format("{} eth{} {}{}", kind_of(action.fault).name, action.port, action.amount,
                       action.last ? "" : " +");
}

Model after(Model model, const Action& action) {
    auto& port = model.at(action.port);
    switch (action.fault) {
    case Fault::cable: port.plugged = !port.plugged; break;
    case Fault::flaps: port.plugged = true; break;
    case Fault::freeze: model.frozen = true; break;
    case Fault::thaw:
    case Fault::kill:
    case Fault::refused_call:
    case Fault::killed_call: model.frozen = false; break;
    case Fault::move: port.here = !port.here; break;
    case Fault::replace: port.plugged = true; break;
    case Fault::member: port.wanted = !port.wanted; break;
    case Fault::reload: model.configuration = action.amount; break;
    case Fault::mtu: model.mtu = 1500 - action.amount; break;
    case Fault::stop: // the next device is a new one, and the ports are those of the configuration
        model.mtu = 1500;
        for (auto& each : model.port)
            each.wanted = true;
        break;
    default: break;
    }
    return model;
}

Action Script::next() {
    const bool alone = is_time_without_restarts(count_++);
    const bool begins = burst_ == 0;
    if (begins) burst_ = 1 + below(4);
    Action action;
    for (bool fits = false; !fits;) {
        unsigned total = 0;
        for (const auto& kind : kinds)
            total += kind.weight;
        auto drawn = below(total);
        const auto kind = std::ranges::find_if(kinds, [&](const Kind& each) {
            if (drawn < each.weight) return true;
            drawn -= each.weight;
            return false;
        });
        action = {.fault = kind->fault, .port = 1 + below(ports), .amount = below(kind->amounts)};
        // A device that is away when its team ends keeps what it has, as nobody could restore it: it comes
        // home first.
        const auto away = std::ranges::find(model_.port, false, &Port::here);
        if (action.fault == Fault::stop && away != model_.port.end())
            action = {.fault = Fault::move, .port = 1 + static_cast<unsigned>(away - model_.port.begin())};
        const bool may_end = action.fault != Fault::stop || begins;
        fits = may_end && !(alone && restarts(action.fault)) &&
               !(model_.frozen && needs_an_answer(action.fault)) &&
               !(needs_the_port(action.fault) && !model_.at(action.port).here) &&
               !(action.fault == Fault::bucket && !model_.carries(action.port)) &&
               !(is_rare(action.fault) && count_ < next_rare_);
    }
    if (is_rare(action.fault)) next_rare_ = count_ + rare;
    // The state settles only with a daemon that runs.
    if (burst_ == 1 && (model_.frozen || action.fault == Fault::freeze)) {
        if (action.fault == Fault::freeze || !restarts(action.fault)) ++burst_;
        if (model_.frozen && !restarts(action.fault)) action = {.fault = Fault::thaw}, burst_ = 1;
    }
    action.last = --burst_ == 0;
    model_ = after(model_, action);
    return action;
}

std::string configuration(Runner runner, unsigned number) {
    std::vector<std::string> names;
    for (unsigned port = 1; port <= ports; ++port)
        names.push_back(fmt::format("eth{}", port));
    constexpr std::array hashes{R"(["eth", "ipv4", "ipv6", "l4"])", R"(["ipv4", "l4"])",
                                R"(["eth", "ipv4"])"};
    constexpr auto balancer = R"(, "tx_balancer": {"name": "basic", "balancing_interval": 2})";
    const auto keys = [&] {
        if (runner == Runner::activebackup)
            return std::string(R"({"name": "activebackup", "hwaddr_policy": "same_all"})");
        const auto name = runner == Runner::loadbalance
                              ? R"("loadbalance")"
                              : fmt::format(R"("lacp", "fast_rate": {})", number != 1);
        return fmt::format(R"({{"name": {}, "tx_hash": {}{}}})", name, hashes[number],
                           is_balanced(number) ? balancer : "");
    };
    constexpr std::array guards{"off", "full", "arp"};
    return test::team_config(
        keys(), test::ports_object(names),
        fmt::format(R"("link_watch": {{"name": "ethtool", "delay_up": {}}}, "guard": "{}", )",
                    number == 1 ? 50 : 0, guards[number]));
}

} // namespace teamo::soak
