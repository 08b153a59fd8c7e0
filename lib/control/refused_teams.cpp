// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/refused_teams.h"

#include "json/document.h"
#include "json/parse.h"
#include "json/write.h"

namespace teamo::control {
namespace {

constexpr auto refused_team_fields = [](auto field, auto& refused) {
    field("file", refused.file);
    field("retried", refused.retried);
    field("team", refused.team);
    field("why", refused.why);
};

} // namespace

std::string refused_teams_text(const std::vector<RefusedTeam>& teams) {
    json::Array list;
    for (const auto& refused : teams)
        list.push_back(json::write_fields(refused, refused_team_fields));
    return json::write(std::move(list)) + "\n";
}

std::vector<RefusedTeam> parse_refused_teams(std::string_view text) {
    std::vector<RefusedTeam> teams;
    const auto document = json::parse(text);
    if (!document || document->array() == nullptr) return teams;
    for (const auto& each : *document->array())
        teams.push_back(json::read_fields<RefusedTeam>(each, refused_team_fields));
    return teams;
}

} // namespace teamo::control
