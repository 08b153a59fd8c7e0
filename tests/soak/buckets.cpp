// SPDX-License-Identifier: LGPL-2.1-or-later
#include "soak/buckets.h"

#include "support/net/cabling.h"

#include <fmt/format.h>

namespace teamo::soak {
namespace {

std::vector<std::string> ports_of(const Document& state) {
    std::vector<std::string> list;
    if (const auto* ports = find(state, "/balance/buckets/port"); ports != nullptr && ports->IsArray())
        for (const auto& port : ports->GetArray())
            list.emplace_back(port.GetString());
    return list;
}

/// Moves of which the state document says nothing that can be, or that still wait.
std::string wrong_moves(const Document& state) {
    const auto* moves = find(state, "/balance/moves");
    if (moves == nullptr || !moves->IsArray()) return {};
    const std::set<std::string> ends{"in a gap", "forced", "given up"};
    for (const auto& move : moves->GetArray())
        if (const std::string end = move["end"].GetString(); !ends.contains(end))
            return fmt::format("the move of bucket {} from {} to {} is {}", move["bucket"].GetUint(),
                               move["from"].GetString(), move["to"].GetString(), end);
    return {};
}

} // namespace

void Buckets::note(const Action& action) {
    if (!follows_links_) return ports_.clear();
    switch (action.fault) {
    case Fault::cable:
    case Fault::flaps:
    case Fault::move:
    case Fault::replace:
    case Fault::rename:
    case Fault::member: touched_.insert(test::Cabling::port(action.port)); break;
    case Fault::reload: ports_.clear(); break; // another hash, or no balancing
    default: break;
    }
}

std::string Buckets::wrong(const Document& state, const Model& model, pid_t process) const {
    if (!is_balanced(model.configuration)) return {};
    if (auto wrong = wrong_moves(state); !wrong.empty()) return wrong;
    const auto now = ports_of(state);
    if (process != process_ || ports_.empty() || now.empty()) return {};
    const auto reported = number_of(state, "/balance/moved") - moved_;
    std::uint64_t left = 0;
    std::string which;
    for (std::size_t bucket = 0; bucket < now.size(); ++bucket) {
        const auto& was = ports_.at(bucket);
        if (now[bucket] == was || was.empty() || touched_.contains(was)) continue;
        ++left;
        which += fmt::format(" {} ({} to {})", bucket, was, now[bucket]);
    }
    return left <= reported ? ""
                            : fmt::format("{} buckets left a port that carries, and {} moves are reported:{}",
                                          left, reported, which);
}

void Buckets::keep(const Document& state, const Model& model, pid_t process) {
    touched_.clear();
    if (!is_balanced(model.configuration)) return ports_.clear();
    const auto moved = number_of(state, "/balance/moved");
    if (process == process_ && !ports_.empty()) reported_ += moved - moved_;
    ports_ = ports_of(state);
    moved_ = moved;
    process_ = process;
}

} // namespace teamo::soak
