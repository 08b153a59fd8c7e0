// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/irqbalance_bans.h"

#include "json/fields.h"
#include "json/parse.h"
#include "json/write.h"

#include <algorithm>

namespace teamo {
namespace {

json::Array value_of(const BannedIrqs& irqs) {
    json::Array list;
    for (const auto irq : irqs)
        list.emplace_back(static_cast<std::int64_t>(irq));
    return list;
}

BannedIrqs irqs_of(const json::Value& list) {
    BannedIrqs irqs;
    if (list.array() == nullptr) return irqs;
    for (const auto& entry : *list.array())
        if (const auto* irq = entry.integer(); irq != nullptr && *irq >= 0 && *irq < most_irqs)
            irqs.insert(static_cast<unsigned>(*irq));
    return irqs;
}

} // namespace

std::string text_of(const BansAsked& asked) {
    json::Value value(json::Object{});
    value.set("pid", static_cast<std::int64_t>(asked.pid));
    value.set("found", value_of(asked.found));
    json::Value teams(json::Object{});
    for (const auto& [team, irqs] : asked.teams)
        teams.set(team, value_of(irqs));
    value.set("teams", std::move(teams));
    return json::write(value) + "\n";
}

Result<BansAsked> parse_bans_asked(std::string_view text) {
    const auto value = json::parse(text);
    if (!value) return fail(EBADMSG, value.error().text);
    BansAsked asked;
    const auto* pid = value->find("pid");
    if (pid == nullptr || pid->integer() == nullptr) return fail(EBADMSG, "no \"pid\" in the file");
    asked.pid = static_cast<pid_t>(*pid->integer());
    asked.found = irqs_of(json::child(*value, "found"));
    for (const auto& team : json::object(*value, "teams"))
        asked.teams[team.key] = irqs_of(team.value);
    return asked;
}

BannedIrqs bans_wanted(const BannedIrqs& current, const BansAsked& asked, const std::string& team,
                       const BannedIrqs& wanted) {
    auto bans = current;
    if (const auto before = asked.teams.find(team); before != asked.teams.end())
        for (const auto irq : before->second) {
            const bool others = std::ranges::any_of(asked.teams, [&](const auto& other) {
                return other.first != team && other.second.contains(irq);
            });
            if (!others && !asked.found.contains(irq)) bans.erase(irq);
        }
    bans.insert(wanted.begin(), wanted.end());
    return bans;
}

} // namespace teamo
