// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/fleet.h"

#include "kernel/files/files.h"

#include <systemd/sd-daemon.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace teamo {
namespace {

constexpr std::string_view suffix = ".conf";

/// The names of the teams that have a file there.
Result<std::set<std::string>> teams_in(const std::string& folder) {
    std::error_code error;
    std::set<std::string> names;
    for (std::filesystem::directory_iterator file(folder, error), end; !error && file != end;
         file.increment(error)) {
        const auto name = file->path().filename().string();
        if (name.ends_with(suffix) && !name.starts_with('.') && name.size() > suffix.size())
            names.insert(name.substr(0, name.size() - suffix.size()));
    }
    if (error) return fail_errno(error.value(), folder);
    return names;
}

} // namespace

Result<std::unique_ptr<Fleet>> Fleet::make(Options options, Log& log, sd_event* loop,
                                           std::function<void()> changed) {
    std::unique_ptr<Fleet> fleet(new Fleet(std::move(options), log, loop, std::move(changed)));
    auto* self = fleet.get();
    fleet->table_ = TEAMO_TRY(DeviceTable::make(log, loop));
    fleet->soon_ = TEAMO_TRY(Deferred::make(loop, Priority::client, [self] { self->step(); }));
    fleet->later_ = TEAMO_TRY(Timer::make(loop, [self] { self->soon_->soon(); }));
    fleet->scan();
    return fleet;
}

void Fleet::scan() {
    const auto names = teams_in(options_.folder);
    if (!names) return log_(Level::error, fmt::format("nothing is changed: {}", names.error().text));
    // Names and marks of devices that are down change without an event.
    static_cast<void>(table_->refresh());
    for (const auto& name : *names) {
        const auto path = fmt::format("{}/{}{}", options_.folder, name, suffix);
        teams_.try_emplace(name, name, path, options_.log_output);
    }
    for (auto& [name, entry] : teams_) {
        entry.gone = !names->contains(name);
        entry.due = true;
        entry.patience.reset();
        entry.failure.clear();
    }
    soon_->soon();
}

bool Fleet::is_waiting(const Entry& entry) const {
    return entry.patience && !entry.patience->is_over(Clock::now());
}

/// One team in each turn of the loop, so that those that run answer and the watchdog is fed.
void Fleet::step() {
    if (ending_) return;
    const auto next = std::ranges::find_if(
        teams_, [this](const auto& entry) { return entry.second.due && !is_waiting(entry.second); });
    if (next == teams_.end()) {
        settled_ = true;
        set_timer();
        return changed_();
    }
    tend(next->first, next->second);
    if (next->second.gone) teams_.erase(next);
    soon_->soon();
}

void Fleet::tend(const std::string& name, Entry& entry) {
    entry.due = false;
    if (entry.run && (entry.gone || entry.ended)) {
        entry.run->stop(/*restarts=*/false, /*well=*/entry.gone);
        entry.run.reset();
    }
    if (entry.gone) return;
    if (entry.run) {
        if (auto text = read_file(entry.path); text && *text == std::exchange(entry.text, *text)) return;
        return entry.run->reload();
    }
    const auto started = start(name, entry);
    if (started) {
        entry.log(Level::info, entry.run->describe());
        entry.failure.clear();
        return;
    }
    const auto& error = started.error();
    entry.failure(entry.log, entry.elsewhere ? Level::notice : Level::error, "", error.text,
                  error.number == EINVAL ? message_id::config_refused : message_id::none);
    // What does not pass by itself waits for a reload.
    entry.due = entry.elsewhere || is_passing(error);
    await_passing(entry.patience, entry.due, Clock::now());
}

Result<> Fleet::start(const std::string& name, Entry& entry) {
    entry.text = TEAMO_TRY(within("configuration", read_file(entry.path)));
    auto options = options_;
    options.config_file = entry.path;
    options.team_device = name;
    auto prepared = TEAMO_TRY(prepare(std::move(options), entry.text, entry.log));
    auto taken = PidFile::take(*prepared.options.pid_file, std::chrono::milliseconds{0});
    entry.elsewhere = !taken && taken.error().number == EEXIST;
    auto pid_file = TEAMO_TRY(std::move(taken));
    const auto ended = [this, &entry, begun = Clock::now()](int /*status*/) {
        entry.ended = entry.due = true;
        if (Clock::now() - begun > Patience::longest) entry.patience.reset();
        await_passing(entry.patience, true, Clock::now());
        settled_ = false;
        soon_->soon();
    };
    entry.ended = false;
    entry.run = TEAMO_TRY(TeamRun::start(std::move(prepared), std::move(pid_file), entry.log, loop_, *table_,
                                         {.changed = changed_, .ended = ended}));
    return {};
}

void Fleet::set_timer() {
    std::optional<Clock::time_point> first;
    for (const auto& [name, entry] : teams_)
        if (entry.due && entry.patience) first = earlier(first, entry.patience->next());
    if (first)
        later_->at(*first);
    else
        later_->stop();
}

void Fleet::stop(bool restarts, bool well) {
    ending_ = true;
    for (auto& [name, entry] : teams_) {
        if (entry.run) entry.run->stop(restarts, well);
        sd_notify(0, "WATCHDOG=1"); // the loop, which says so, has ended
    }
}

std::string Fleet::describe() {
    std::size_t running = 0;
    const Entry* refused = nullptr;
    for (const auto& [name, entry] : teams_) {
        if (entry.run && !entry.ended)
            ++running;
        else if (refused == nullptr && !entry.failure.text().empty())
            refused = &entry;
    }
    auto line = fmt::format("{} of {} teams run", running, teams_.size());
    if (refused != nullptr) line += fmt::format("; {}: {}", refused->path, refused->failure.text());
    return line;
}

} // namespace teamo
