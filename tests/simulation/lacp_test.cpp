// SPDX-License-Identifier: LGPL-2.1-or-later
//
// LACP systems with lossy, delaying and duplicating cables between them, in virtual time. Whatever happens:
// no aggregate has ports of two partners, and when the cables are good every aggregate heals within the
// standard's times.
#include "lacp/system.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

namespace teamo::lacp {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr Clock::time_point start{1'000'000s};

struct End {
    std::size_t system;
    IfIndex port;
    bool operator==(const End&) const = default;
};
struct Cable {
    End ends[2];
    bool plugged = true;
};
/// How bad the cables are.
struct Weather {
    double loss = 0, duplication = 0;
    milliseconds delay{0}; ///< at most
};

class Network {
public:
    Network(std::size_t systems, std::uint64_t seed) : random_(seed) {
        for (std::size_t number = 0; number < systems; ++number) {
            Settings settings;
            settings.system.address = {{2, 0, 0, 0, 0, static_cast<std::uint8_t>(number + 1)}};
            settings.fast_rate = true;
            settings.control = number % 2 == 0 ? MuxControl::independent : MuxControl::coupled;
            settings.policy = static_cast<AggSelectPolicy>(seed % 5);
            systems_.emplace_back(settings);
            links_.emplace_back();
        }
    }

    void connect(std::size_t one, std::size_t other) {
        cables_.push_back({.ends = {add_port(one), add_port(other)}});
    }
    void set_weather(Weather weather) { weather_ = weather; }

    /// Something happens: a cable is pulled or plugged, or a system is restarted.
    void disturb() {
        if (chance(0.2)) return restart(random_() % systems_.size());
        auto& cable = cables_[random_() % cables_.size()];
        cable.plugged = !cable.plugged;
        update(cable);
    }
    void plug_all() {
        for (auto& cable : cables_) {
            cable.plugged = true;
            update(cable);
        }
    }

    void run(milliseconds time) {
        for (const auto end = now_ + time; now_ < end; now_ += 10ms) {
            while (!frames_.empty() && frames_.begin()->first <= now_) {
                const auto frame = frames_.extract(frames_.begin()).mapped();
                systems_[frame.to.system].receive(frame.to.port, frame.bytes, now_);
            }
            for (std::size_t system = 0; system < systems_.size(); ++system) {
                systems_[system].step(now_);
                send(system);
            }
            expect_one_partner_each();
        }
    }

    std::size_t distributing(std::size_t system) const {
        return systems_[system].carrying().distributing.size();
    }
    std::string reasons(std::size_t system) const {
        std::string text;
        for (const auto& link : links_[system])
            text += fmt::format("{}: {} {}\n", link.port.value, systems_[system].status(link.port, now_).mux,
                                systems_[system].status(link.port, now_).reason);
        return text;
    }

private:
    struct Flying {
        End to;
        Bytes bytes;
    };

    bool chance(double share) { return std::uniform_real_distribution<>(0, 1)(random_) < share; }

    End add_port(std::size_t system) {
        const auto number = static_cast<std::uint16_t>(links_[system].size() + 1);
        const IfIndex port{static_cast<std::uint32_t>(100 * (system + 1) + number)};
        links_[system].push_back(
            {.port = port, .number = number, .up = true, .speed = 1000, .duplex = Duplex::full});
        systems_[system].update(links_[system], now_);
        return {system, port};
    }
    void update(const Cable& cable) {
        for (const auto& end : cable.ends) {
            for (auto& link : links_[end.system])
                if (link.port == end.port) link.up = cable.plugged;
            systems_[end.system].update(links_[end.system], now_);
        }
    }
    /// As after kill -9: the new one has the memory of the old one.
    void restart(std::size_t number) {
        auto& old = systems_[number];
        System next(old.settings());
        for (const auto& link : links_[number])
            next.restore(link.port, old.memory(link.port));
        old = std::move(next);
        old.update(links_[number], now_);
    }
    void send(std::size_t system) {
        for (const auto& outgoing : systems_[system].due(now_)) {
            systems_[system].note_result(outgoing, true, now_);
            const auto bytes =
                std::visit([](const auto& frame) { return build_frame(frame, {}); }, outgoing.frame);
            for (const auto& cable : cables_)
                for (const int end : {0, 1}) {
                    if (cable.ends[end] != End{system, outgoing.port} || !cable.plugged) continue;
                    for (int copies = chance(weather_.duplication) ? 2 : 1; copies > 0; --copies)
                        if (!chance(weather_.loss))
                            frames_.emplace(now_ + delay(), Flying{cable.ends[1 - end], bytes});
                }
        }
    }
    milliseconds delay() {
        return weather_.delay == 0ms ? 0ms
                                     : milliseconds(static_cast<long>(
                                           random_() % static_cast<unsigned long>(weather_.delay.count())));
    }

    void expect_one_partner_each() const {
        for (std::size_t system = 0; system < systems_.size(); ++system) {
            std::set<SystemId> partners;
            for (const auto port : systems_[system].carrying().collecting)
                partners.insert(systems_[system].status(port, now_).partner.system);
            ASSERT_LE(partners.size(), 1U) << "system " << system;
        }
    }

    std::mt19937_64 random_;
    Weather weather_;
    std::vector<System> systems_;
    std::vector<std::vector<Link>> links_;
    std::vector<Cable> cables_;
    std::multimap<Clock::time_point, Flying> frames_;
    Clock::time_point now_ = start;
};

class LacpNetwork : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Seed, LacpNetwork, testing::Range(0, 30));

/// After a loss of LACPDUs the worst case is: expired, defaulted, then a new handshake and Wait_While.
constexpr milliseconds healing = 10s;

TEST_P(LacpNetwork, pair_heals) {
    Network network(2, static_cast<std::uint64_t>(GetParam()));
    for (int cables = 0; cables < 4; ++cables)
        network.connect(0, 1);
    for (int storm = 0; storm < 10; ++storm) {
        network.set_weather({.loss = 0.4, .duplication = 0.2, .delay = 500ms});
        for (int event = 0; event < 8; ++event) {
            network.disturb();
            network.run(700ms);
            if (HasFatalFailure()) return;
        }
        network.set_weather({});
        network.plug_all();
        network.run(healing);
        ASSERT_EQ(4U, network.distributing(0)) << network.reasons(0);
        ASSERT_EQ(4U, network.distributing(1)) << network.reasons(1);
    }
}

/// Each system has two cables to each neighbour: an aggregate can have only one of them as its partner.
TEST_P(LacpNetwork, ring_never_mixes_partners) {
    constexpr std::size_t count = 4;
    Network network(count, static_cast<std::uint64_t>(GetParam()));
    for (std::size_t system = 0; system < count; ++system)
        for (int cables = 0; cables < 2; ++cables)
            network.connect(system, (system + 1) % count);
    for (int storm = 0; storm < 4; ++storm) {
        network.set_weather({.loss = 0.3, .duplication = 0.2, .delay = 300ms});
        for (int event = 0; event < 10; ++event) {
            network.disturb();
            network.run(500ms);
            if (HasFatalFailure()) return;
        }
        network.set_weather({});
        network.plug_all();
        network.run(2 * healing);
        std::size_t carrying = 0;
        for (std::size_t system = 0; system < count; ++system)
            carrying += network.distributing(system);
        EXPECT_GE(carrying, 4U);
    }
}

} // namespace
} // namespace teamo::lacp
