// SPDX-License-Identifier: LGPL-2.1-or-later
#include "netns/balance/balance_state.h"

#include <rapidjson/document.h>

#include <algorithm>
#include <numeric>

namespace teamo::test {

unsigned BalanceState::buckets_of(const std::string& name) const {
    return static_cast<unsigned>(std::ranges::count(port, name));
}

std::vector<unsigned> BalanceState::heavy(double bytes_per_second) const {
    std::vector<unsigned> list;
    for (unsigned bucket = 0; bucket < bytes.size(); ++bucket)
        if (bytes[bucket] > bytes_per_second) list.push_back(bucket);
    return list;
}

BalanceState balance_of(const TeamUnderTest& team) {
    const auto dumped = team.ask("StateDump").value_or("no answer");
    rapidjson::Document document;
    document.Parse(dumped.c_str());
    if (document.HasParseError() || !document.HasMember("balance"))
        throw SetupError("no balance in the state: " + dumped);
    const auto& balance = document["balance"];
    BalanceState state;
    state.counted = balance["counted"].GetBool();
    state.frozen = balance["frozen"].GetBool();
    for (const auto& name : balance["buckets"]["port"].GetArray())
        state.port.emplace_back(name.GetString());
    for (const auto& bytes : balance["buckets"]["bytes_per_second"].GetArray())
        state.bytes.push_back(bytes.GetDouble());
    for (unsigned bucket = 0; bucket < state.bytes.size(); ++bucket)
        if (state.bytes[bucket] > 1000) state.busiest.push_back(bucket);
    std::ranges::stable_sort(state.busiest, std::greater<>{},
                             [&](unsigned bucket) { return state.bytes[bucket]; });
    for (const auto& [name, port] : balance["ports"].GetObject()) {
        state.load[name.GetString()] = port["bytes_per_second"].GetDouble();
        state.rate[name.GetString()] = port["rate_bytes_per_second"].GetDouble();
        state.planned[name.GetString()] = port["planned_bytes_per_second"].GetDouble();
    }
    for (const auto& move : balance["moves"].GetArray()) {
        const std::string end = move["end"].GetString();
        if (end == "pending")
            ++state.pending;
        else
            state.ends.push_back(end);
        state.moves.push_back({.bucket = move["bucket"].GetUint(),
                               .from = move["from"].GetString(),
                               .to = move["to"].GetString(),
                               .reason = move["reason"].GetString(),
                               .end = end,
                               .gain = move["gain_percent"].GetDouble(),
                               .waited = milliseconds(move["waited_ms"].GetInt64())});
    }
    return state;
}

} // namespace teamo::test
