// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "lacp/system.h"
#include "variables.h"

#include <gmock/gmock.h>

namespace teamo::lacp {

inline constexpr MacAddress own_address{{2, 0, 0, 0, 0, 1}};

inline IfIndex port(std::uint32_t number) { return IfIndex{number}; }

/// A system whose partners are made up.
class SystemTest : public testing::Test {
protected:
    explicit SystemTest(Settings settings = {})
        : settings_([&] {
              settings.system = {.priority = 65535, .address = own_address};
              settings.fast_rate = true;
              return settings;
          }()) {}

    /// Another system, which knows nothing.
    void reset(MuxControl control) {
        settings_.control = control;
        system_.reset();
        links_.clear();
        last_.clear();
    }
    void plug(std::uint16_t number, std::uint32_t speed = 1000) {
        links_.push_back(
            {.port = port(number), .number = number, .up = true, .speed = speed, .duplex = Duplex::full});
        update();
    }
    /// Two ports without a partner, which may be held.
    void begin_fallback(LacpFallback fallback) {
        settings_.control = MuxControl::independent;
        settings_.fallback = fallback;
        plug(1);
        plug(2);
        advance(3s);
    }
    Link& link(std::uint32_t number) { return links_.at(number - 1); }
    void update() {
        system().update(links_, now);
        collect();
    }
    void advance(Clock::duration by) {
        now += by;
        system().step(now);
        collect();
    }
    void collect() {
        for (const auto& frame : system().due(now)) {
            if (const auto* pdu = std::get_if<Lacpdu>(&frame.frame)) last_[frame.port.value] = *pdu;
            ++sent_[frame.port.value];
            system().note_result(frame, true, now);
        }
    }
    struct Far {
        std::uint8_t system = 2;
        std::uint16_t key = 7, priority = 32768, port_priority = 255;
        std::initializer_list<StateBit> bits{activity,        timeout,    aggregation,
                                             synchronization, collecting, distributing};
    };
    /// A LACPDU of the partner, which has the right view of the port.
    void hear(std::uint32_t number, const Far& far) {
        const auto status = system().status(port(number), now);
        const Lacpdu pdu{.actor = with({.system = {far.priority, {{2, 0, 0, 0, 0, far.system}}},
                                        .key = far.key,
                                        .port = {far.port_priority, static_cast<std::uint16_t>(number)}},
                                       far.bits),
                         .partner = status.actor};
        hear(number, pdu);
    }
    void hear(std::uint32_t number) { hear(number, Far{}); }
    void hear(std::uint32_t number, const Lacpdu& pdu) {
        system().receive(port(number), build_frame(pdu, {}), now);
        system().step(now);
        collect();
    }
    System& system() {
        if (!system_) system_.emplace(settings_);
        return *system_;
    }
    const std::vector<IfIndex>& distributing_ports() { return system().carrying().distributing; }
    std::string reason(std::uint32_t number) { return system().status(port(number), now).reason; }

    Settings settings_;
    std::vector<Link> links_;
    Clock::time_point now = start;
    std::map<std::uint32_t, Lacpdu> last_;
    std::map<std::uint32_t, int> sent_;

private:
    std::optional<System> system_;
};

} // namespace teamo::lacp
