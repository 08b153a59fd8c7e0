// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The screen of `top`; pure.
#pragma once

#include "ctl/report/live.h"

#include <deque>
#include <map>
#include <string>

namespace teamo::ctl {

enum class TopOrder : std::uint8_t { configured, sent, received };

/// What the keys have chosen.
struct TopView {
    TopOrder order = TopOrder::configured;
    bool workers = true, events = true;
    std::size_t columns = 80, rows = 24;
};

/// What has happened between two readings, a line each: ports that stopped or began to carry, a new active
/// port, repaired offloads and interrupts, moved buckets.
std::vector<std::string> top_events(const TeamState& earlier, const TeamState& later);

/// At most `rows` lines of at most `columns` characters. The rates are those between the readings.
/// `events`: latest first.
std::string top_text(const Reading& earlier, const Reading& later, const std::deque<std::string>& events,
                     const TopView& view);

/// By name; none: the daemon does not answer.
using TeamReadings = std::map<std::string, std::optional<Reading>>;

/// The same for all teams, a line for each.
std::string top_text_of_teams(const TeamReadings& earlier, const TeamReadings& later, const TopView& view);

} // namespace teamo::ctl
