// SPDX-License-Identifier: LGPL-2.1-or-later
#include "offloads/offload_trial.h"

#include "kernel/files/files.h"
#include "runtime/journal.h"
#include "json/parse.h"
#include "json/write.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>

namespace teamo {
namespace {

/// A trial ends if its client sends no request for so long.
constexpr std::chrono::seconds longest_trial_silence{5};

/// What `ethtool -K DEVICE tso` switches (NETIF_F_ALL_TSO).
constexpr std::array<std::string_view, 4> tso_features{
    "tx-tcp-segmentation", "tx-tcp6-segmentation", "tx-tcp-ecn-segmentation", "tx-tcp-mangleid-segmentation"};

std::string path_of(std::string_view team) { return fmt::format("{}/{}.tso", journal_directory, team); }

/// The features that a trial switches, with their state: TSO for IPv4 and IPv6, and the others that are on.
FeatureSettings switched_by_trial(const Features& features) {
    FeatureSettings settings;
    for (const auto name : tso_features) {
        const bool on = features.active.contains(name);
        const bool plain = name == tso_features[0] || name == tso_features[1];
        if (features.changeable.contains(name) && (on || plain)) settings.emplace(name, on);
    }
    return settings;
}

FeatureSettings all(const FeatureSettings& names, bool on) {
    auto settings = names;
    for (auto& entry : settings)
        entry.second = on;
    return settings;
}

std::string text_of(const OffloadTrial::Tried& tried) {
    json::Object before;
    for (const auto& [name, on] : tried.before)
        before.push_back({name, on});
    return json::write(json::Object{{"before", std::move(before)},
                                    {"ifindex", tried.index.value},
                                    {"name", tried.name},
                                    {"network_namespace", std::to_string(network_namespace())}});
}

/// None: the file is of another network namespace, or truncated.
std::optional<OffloadTrial::Tried> parse_tried(std::string_view text) {
    const auto document = json::parse(text);
    if (!document) return std::nullopt;
    const auto* space = document->find("network_namespace");
    const auto* index = document->find("ifindex");
    const auto* name = document->find("name");
    const auto* before = document->find("before");
    if (!space || !index || !name || !before || !space->string() || !index->integer() || !name->string() ||
        !before->object() || *space->string() != std::to_string(network_namespace()))
        return std::nullopt;
    OffloadTrial::Tried tried{.index = IfIndex{static_cast<std::uint32_t>(*index->integer())},
                              .name = *name->string(),
                              .before = {}};
    for (const auto& member : *before->object())
        if (const auto* on = member.value.boolean()) tried.before.emplace(member.key, *on);
    return tried;
}

Result<> keep(std::string_view team, const OffloadTrial::Tried& tried) {
    if (::mkdir(std::string(journal_directory).c_str(), 0755) < 0 && errno != EEXIST)
        return fail_errno(errno, journal_directory);
    return replace_file(path_of(team), text_of(tried));
}

} // namespace

Result<std::unique_ptr<OffloadTrial>> OffloadTrial::make(sd_event* loop, const Log& log, Ethtool& ethtool,
                                                         std::string team) {
    std::unique_ptr<OffloadTrial> trial(new OffloadTrial(log, ethtool, std::move(team)));
    auto limit = Timer::make(loop, [self = trial.get()] {
        self->log_(Level::info,
                   fmt::format("port {}: no request from the benchmark for {} s; TSO is restored",
                               self->tried_ ? self->tried_->name : "", longest_trial_silence.count()));
        self->end();
    });
    if (!limit) return tl::unexpected(limit.error());
    trial->limit_.emplace(std::move(*limit));
    trial->end_leftover();
    return trial;
}

void OffloadTrial::end_leftover() {
    const auto text = read_file(path_of(team_));
    if (!text) return;
    tried_ = parse_tried(*text);
    if (!tried_) return;
    log_(Level::notice,
         fmt::format("port {}: an earlier daemon was killed while TSO was measured; restoring it",
                     tried_->name));
    end();
}

Result<> OffloadTrial::begin(IfIndex port, const std::string& name) {
    const auto features = ethtool_.read_features(port);
    if (!features) return tl::unexpected(features.error());
    Tried tried{.index = port, .name = name, .before = switched_by_trial(*features)};
    if (tried.before.empty()) return fail(EOPNOTSUPP, name + " has no TSO that can be switched");
    if (auto kept = keep(team_, tried); !kept) return kept;
    log_(Level::debug, fmt::format("port {}: TSO is measured", name));
    tried_ = std::move(tried);
    return {};
}

Result<> OffloadTrial::request(IfIndex port, const std::string& name, TrialState state) {
    if (state == TrialState::end) {
        end(port);
        return {};
    }
    if (tried_ && tried_->index != port) return fail(EBUSY, tried_->name + " is being measured");
    if (!tried_)
        if (auto begun = begin(port, name); !begun) return begun;
    limit_->after(longest_trial_silence);
    const auto wanted = all(tried_->before, state == TrialState::on);
    const auto now = ethtool_.set_features(port, wanted);
    if (now && missing(*now, wanted).empty()) return {};
    const auto refused =
        now ? Error{EOPNOTSUPP, fmt::format("the driver of {} does not switch TSO {}", name, name_of(state))}
            : now.error();
    end();
    return tl::unexpected(refused);
}

void OffloadTrial::end(IfIndex port) {
    if (!tried_ || (port && !held(port))) return;
    limit_->stop();
    const auto now = ethtool_.set_features(tried_->index, tried_->before);
    if (!now && now.error().number != ENODEV)
        log_(Level::warning, fmt::format("port {}: cannot restore TSO after its measurement: {}",
                                         tried_->name, now.error().text));
    else if (now && !missing(*now, tried_->before).empty())
        log_(Level::warning,
             fmt::format("port {}: its driver does not restore TSO; check with ethtool -k", tried_->name));
    tried_.reset();
    remove_file(path_of(team_));
}

} // namespace teamo
