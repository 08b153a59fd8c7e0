// SPDX-License-Identifier: LGPL-2.1-or-later
//
// teamo-soak SECONDS [SEED]: random faults, and after each the state of the world is checked. The seed
// decides the faults; SOAK_SEED=N SOAK_ACTIONS=M repeats the first M of them.
#include "soak/buckets.h"
#include "soak/growth.h"
#include "soak/invariants.h"
#include "soak/records.h"
#include "soak/silence.h"
#include "support/net/world.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace teamo::soak {
namespace {

using namespace test;

/// Rounds of waiting for a daemon that has been killed, frozen or flooded; a sanitized one is slow.
constexpr milliseconds settles_within = 20s;
/// In checks.
constexpr unsigned often = 20;

class Soak {
public:
    explicit Soak(std::uint64_t seed)
        : seed_(seed), script_(seed), world_(runner_of(seed)), buckets_(runner_of(seed)) {}

    int run(milliseconds how_long, std::uint64_t actions) {
        try {
            while (since(start_) < how_long && done_.size() < actions)
                step();
            end();
        } catch (const std::exception& error) {
            return report(error.what());
        }
        fmt::print("{}, {} checks, {} reported moves of buckets\n", text(), checks_, buckets_.reported());
        return EXIT_SUCCESS;
    }

private:
    void step() {
        const auto action = script_.next();
        done_.push_back(action);
        world_.perform(action, model_);
        model_ = after(model_, action);
        buckets_.note(action);
        if (action.last) check();
    }

    void check() {
        must_become_right([&] { return wrong(); }, settles_within);
        if (const auto state = state_of_team()) buckets_.keep(*state, model_, world_.team().pid());
        ++checks_;
        must_become_right([&] { return wrong_growth(); });
        constexpr unsigned seldom = 500;
        if (checks_ % often == 0) {
            fmt::print("{}\n", text());
            std::fflush(stdout);
        }
        const bool any = model_.carries(1) || model_.carries(2) || model_.carries(3) || model_.carries(4);
        if (checks_ % seldom == 0 && any) world_.renew_streams();
    }

    std::string wrong() {
        world_.attend();
        if (!world_.team().running()) return "the daemon does not run";
        const auto state = state_of_team();
        if (!state) return "the daemon does not show its state";
        if (auto wrong = wrong_state(world_, model_, *state); !wrong.empty()) return wrong;
        if (auto wrong = world_.wrong_devices(true); !wrong.empty()) return wrong;
        if (auto wrong = buckets_.wrong(*state, model_, world_.team().pid()); !wrong.empty()) return wrong;
        // What follows changes nothing, and each of its requests takes a pass: no device and no file may
        // change.
        const Silence silence(world_.wires().host(), {journal_file, Bystander::journal_file});
        if (auto wrong = wrong_traffic(world_, model_, *state); !wrong.empty()) return wrong;
        if (auto wrong = world_.bystander().wrong(); !wrong.empty()) return wrong;
        if (checks_ % often == 0) std::this_thread::sleep_for(400ms); // for what a timer does
        return silence.broken();
    }

    std::string wrong_growth() {
        auto of_others = world_.deaf_clients();
        // Sockets of a port: for LLDP, and for LACP. Programs: the receive program, and the guard.
        const unsigned of_port =
            (world_.runner() == Runner::lacp ? 3 : 2) + (is_guarded(model_.configuration) ? 1 : 0);
        for (unsigned port = 1; port <= ports; ++port)
            of_others += model_.is_member(port) ? of_port : 0;
        auto wrong = growth_.wrong({.process = world_.team().pid(),
                                    .faults = done_.size(),
                                    .of_others = of_others,
                                    .guarded = is_guarded(model_.configuration)});
        if (!wrong.empty()) return wrong;
        wrong = growth_of_other_.wrong({.process = world_.bystander().pid(), .faults = done_.size()});
        return wrong.empty() ? "" : "the other team: " + wrong;
    }

    /// All ports come home and are ports; then the daemon ends, and nothing may be left.
    void end() {
        const auto perform = [&](Fault fault, unsigned port) {
            const Action action{.fault = fault, .port = port};
            world_.perform(action, model_);
            model_ = after(model_, action);
        };
        if (model_.frozen) perform(Fault::thaw, 1);
        for (unsigned port = 1; port <= ports; ++port) {
            if (!model_.at(port).here) perform(Fault::move, port);
            if (!model_.at(port).plugged) perform(Fault::cable, port);
        }
        world_.unwatch();
        check();
        if (const auto status = world_.team().stop(); status != 0)
            throw SetupError(fmt::format("SIGTERM: the exit status is {}", status.value_or(-1)));
        world_.end_others();
        must_be(wrong_end(world_));
    }

    std::string text() const {
        return fmt::format("{} faults, {} s; {}; the other team: {}", done_.size(),
                           since(start_).count() / 1000, growth_.text(), growth_of_other_.text());
    }

    /// For what a daemon in the middle of its work shows for a moment: a request, an event, a timer.
    template <class Look>
    static void must_become_right(Look look, milliseconds within = long_enough) {
        std::string wrong;
        if (!eventually("", [&] { return (wrong = look()).empty(); }, within)) throw SetupError(wrong);
    }

    static void must_be(const std::string& wrong) {
        if (!wrong.empty()) throw SetupError(wrong);
    }

    int report(const std::string& what) {
        constexpr std::size_t shown = 20, tail = 6'000;
        fmt::print("\nafter fault {}: {}\nrepeat it with SOAK_SEED={} SOAK_ACTIONS={}\nthe last faults:\n",
                   done_.size(), what, seed_, done_.size());
        for (auto at = done_.size() > shown ? done_.size() - shown : 0; at < done_.size(); ++at)
            fmt::print("  {} {}\n", at + 1, text_of(done_[at]));
        const auto log = world_.team().log();
        fmt::print("---- the end of the daemon's log\n{}---- devices\n{}",
                   log.substr(log.size() > tail ? log.size() - tail : 0),
                   sh(world_.wires().host(), "ip -d link; cat /run/teamd-offload/team0.json").out);
        fmt::print("---- the state document\n{}\n", world_.team().teamdctl({"state", "dump"}).out);
        return EXIT_FAILURE;
    }

    std::uint64_t seed_;
    Script script_;
    World world_;
    Model model_;
    Growth growth_, growth_of_other_;
    Buckets buckets_;
    std::vector<Action> done_;
    std::uint64_t checks_ = 0;
    SteadyClock::time_point start_ = SteadyClock::now();
};

std::uint64_t number_from(const char* text, std::uint64_t otherwise) {
    return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

} // namespace
} // namespace teamo::soak

int main(int argc, char** argv) {
    using namespace teamo::soak;
    constexpr std::uint64_t two_hours = 7'200;
    const auto seconds = number_from(argc > 1 ? argv[1] : nullptr, two_hours);
    const auto seed =
        number_from(argc > 2 ? argv[2] : std::getenv("SOAK_SEED"), std::random_device()() % 1'000'000);
    const auto actions = number_from(std::getenv("SOAK_ACTIONS"), ~std::uint64_t{0});
    fmt::print("seed {}\n", seed);
    std::fflush(stdout);
    teamo::test::enter_private_world();
    teamo::test::furnish_world();
    try {
        return Soak(seed).run(std::chrono::seconds(seconds), actions);
    } catch (const std::exception& error) {
        fmt::print("{}\n", error.what());
        return EXIT_FAILURE;
    }
}
