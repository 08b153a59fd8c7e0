// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/context/journal_keeper.h"

#include "kernel/files/files.h"

#include <algorithm>

namespace teamo {

JournalKeeper::JournalKeeper(std::string team, const Log& log) : team_(std::move(team)), log_(log) {
    journal_.network_namespace = network_namespace();
}

Result<std::optional<Journal>> JournalKeeper::read() {
    std::string later;
    auto journal = read_journal(team_, &later);
    if (!later.empty()) log_(Level::warning, "the earlier state of the ports: " + later);
    if (journal || is_passing(journal.error())) return journal;
    const auto aside = set_journal_aside(team_);
    log_(Level::warning,
         fmt::format("cannot read the earlier state of the ports: {}; {}", journal.error().text,
                     aside ? "the file is kept as " + *aside : aside.error().text));
    return std::optional<Journal>();
}

Result<> JournalKeeper::keep() {
    if (journal_ == written_) return {};
    TEAMO_TRY(write_journal(team_, journal_));
    written_ = journal_;
    return {};
}

void JournalKeeper::save() {
    const auto kept = keep();
    failure_(log_, Level::error, "", kept);
    await_passing(patience_, !kept, Clock::now());
}

std::optional<Clock::time_point> JournalKeeper::deadline() const {
    return patience_ ? std::optional(patience_->next()) : std::nullopt;
}

void JournalKeeper::remove_file() {
    remove_journal(team_);
    forget_file();
}

PortBefore* JournalKeeper::port(IfIndex port) {
    const auto found = std::ranges::find(journal_.ports, port, &PortBefore::index);
    return found == journal_.ports.end() ? nullptr : &*found;
}

Result<> JournalKeeper::remember_features(IfIndex port, const FeatureSettings& before,
                                          const FeatureNames& offloads) {
    auto* was = this->port(port);
    if (was == nullptr) return fail(ENODEV, "is not a port of the team");
    was->features.insert(before.begin(), before.end());
    if (was->offloads.empty()) was->offloads = offloads;
    auto kept = keep();
    if (!kept) log_(Level::warning, kept.error().text);
    return kept;
}

SetCpus* JournalKeeper::cpus(IfIndex port) {
    auto* was = this->port(port);
    return was == nullptr ? nullptr : &was->cpus;
}

} // namespace teamo
