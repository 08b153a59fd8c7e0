// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/fleet.h"

#include "daemon/links/lacp_frames.h"
#include "daemon/team/ignored_settings.h"
#include "datapath/forward_programs.h"
#include "kernel/files/files.h"

#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace teamo {
namespace {

constexpr std::string_view suffix = ".conf";
/// The file for all bonds of others without a file of their own.
constexpr std::string_view all_bonds = "attach";
/// Less than a second, which a partner at fast rate expects (IEEE 802.1AX-2020, 6.4.4).
constexpr std::chrono::milliseconds lacp_pause{900};
constexpr std::chrono::minutes longest_wait{2};
/// A daemon that has the team may be restarting: it must find it free.
constexpr std::chrono::milliseconds restart_time{500};
/// For what has no event: the target of a symbolic link in the folder, a process of another PID namespace, a
/// lock that could not be taken.
constexpr std::chrono::seconds slow_net{30};

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
    fleet->shared_ = TEAMO_TRY(ProcessParts::make(log, loop));
    fleet->soon_ = TEAMO_TRY(Deferred::make(loop, Priority::client, [self] { self->step(); }));
    fleet->later_ = TEAMO_TRY(Timer::make(loop, [self] { self->soon_->soon(); }));
    fleet->lacp_timer_ = TEAMO_TRY(Timer::make(loop, [self] { self->continue_waiting(); }));
    remove_file(control::refused_teams_path); // of a process that was killed
    TEAMO_TRY(fleet->read_folder());
    fleet->continue_waiting();
    return fleet;
}

void Fleet::scan() {
    if (const auto read = read_folder(); !read)
        log_(Level::error, fmt::format("nothing is changed: {}", read.error().text));
    soon_->soon(); // also to say that the reload is over
}

Result<> Fleet::read_folder() {
    auto names = TEAMO_TRY(teams_in(options_.folder));
    const auto for_all = is_for_all(names);
    if (!for_all && bonds_) {
        log_(Level::error, fmt::format("nothing is changed: {}", for_all.error().text),
             message_id::config_refused);
    } else if (!for_all.value_or(false)) {
        bonds_.reset();
    } else if (!bonds_) {
        bonds_ = TEAMO_TRY(Observer::make(*shared_->devices, log_, [this] { follow_bonds(); }));
        bonds_->listen();
    }
    if (bonds_) names.erase(std::string(all_bonds));
    watch_folder();
    // Names and marks of devices that are down change without an event.
    TEAMO_TRY(shared_->devices->refresh());
    settled_ = false;
    for (const auto& name : names)
        teams_.try_emplace(name, name, options_.log_output);
    for (auto& [name, entry] : teams_) {
        entry.has_file = names.contains(name);
        entry.gone = !entry.has_file;
        if (entry.has_file || !bonds_) entry.left = false;
        entry.due = true;
        entry.patience.reset();
        entry.not_before = {};
        entry.failure.clear();
    }
    if (bonds_) {
        find_left_bonds();
        follow_bonds();
    }
    soon_->soon();
    return {};
}

/// Whether there is a file for all bonds among `names`. An error: nobody can tell, for example because it is
/// a link to a file that is not there.
Result<bool> Fleet::is_for_all(const std::set<std::string>& names) const {
    if (!names.contains(std::string(all_bonds))) return false;
    const auto path = path_of(all_bonds);
    const auto text = within("configuration", read_file(path));
    return is_for_all_bonds(TEAMO_TRY(text), path);
}

/// Nothing waits for a bond that went after its daemon was killed, but its slaves must be as they were. One
/// with another name now is continued under that name (TeamRun::attach).
void Fleet::find_left_bonds() {
    const auto has_entry = [this](std::string_view team) { return teams_.contains(std::string(team)); };
    for (const auto& [name, bond] : read_attached(has_entry))
        if (find_link(bonds_->links(), bond) == nullptr && !running_by(usual_pid_path(name)))
            teams_.try_emplace(name, name, options_.log_output).first->second.left = true;
}

/// Each bond that another program has made and that has no file of its own, also not by an alternative name.
void Fleet::follow_bonds() {
    bonds_->take_removed();
    const auto has_file = [this](const std::string& name) {
        const auto team = teams_.find(name);
        return team != teams_.end() && team->second.has_file;
    };
    std::set<std::string> found;
    for (const auto& [index, link] : bonds_->links())
        if (link.kind == bond_kind && !team_of_device(link) && !has_file(link.name) &&
            std::ranges::none_of(link.altnames, has_file))
            found.insert(link.name);
    bool changed = false;
    for (const auto& name : found)
        changed = teams_.try_emplace(name, name, options_.log_output).second || changed;
    for (auto& [name, entry] : teams_) {
        if (found.contains(name)) entry.left = false;
        const bool gone = !entry.has_file && !entry.left && !found.contains(name);
        changed = changed || gone != entry.gone;
        if (gone != entry.gone) entry.due = true;
        entry.gone = gone;
    }
    if (changed) soon_->soon();
}

std::string Fleet::path_of(std::string_view name) const {
    return fmt::format("{}/{}{}", options_.folder, name, suffix);
}

std::string Fleet::file_of(const std::string& name, const Entry& entry) const {
    return path_of(entry.has_file ? std::string_view(name) : all_bonds);
}

/// One team in each turn of the loop, so that those that run answer and the watchdog is fed. Those that were
/// refused least often come first.
void Fleet::step() {
    if (ending_) return;
    auto next = teams_.end();
    // Of two names of a bond the former is left first.
    const auto rank = [](const Entry& entry) {
        return std::pair(!entry.gone, entry.patience ? entry.patience->times() : 0);
    };
    for (auto team = teams_.begin(); team != teams_.end(); ++team)
        if (team->second.due && team->second.not_before <= Clock::now() &&
            (next == teams_.end() || rank(team->second) < rank(next->second)))
            next = team;
    if (next == teams_.end()) {
        settled_ = true;
        ForwardPrograms::drop_ahead();
        // Not for ever, if one team fails again and again.
        const auto may_need_kept = [](const auto& team) { return team.second.due && !team.second.tried; };
        if (std::ranges::none_of(teams_, may_need_kept) || Clock::now() - begun_ > longest_wait)
            shared_->sockets.drop_rest();
        tell_refused();
        set_timer();
        return changed_();
    }
    const auto is_to_start = [](const auto& team) { return team.second.due && !team.second.run; };
    ForwardPrograms::load_ahead(std::ranges::count_if(teams_, is_to_start) > 1);
    tend(next->first, next->second);
    if (next->second.gone) teams_.erase(next);
    soon_->soon();
}

void Fleet::tend(const std::string& name, Entry& entry) {
    entry.due = false;
    const bool has_other_file = entry.run && entry.path != file_of(name, entry);
    if (entry.run && (entry.gone || entry.ended || has_other_file)) {
        entry.run->stop(/*restarts=*/false, /*well=*/entry.gone);
        entry.run.reset();
    }
    if (entry.run && std::exchange(entry.wanted, false)) {
        entry.run->stop(/*restarts=*/true, /*well=*/false);
        entry.run.reset();
        static_cast<void>(await_turn(name, entry)); // the next attempt says why not
        return try_again_later(entry);
    }
    if (entry.gone) return;
    if (entry.run) return entry.run->reload();
    if (entry.left) return put_back(name, entry);
    const auto started = start(name, entry);
    entry.tried = started || !is_passing(started.error());
    if (started) {
        entry.log(Level::info, entry.run->describe());
        entry.failure.clear();
        return;
    }
    const auto& error = started.error();
    entry.failure(entry.log, entry.next ? Level::notice : Level::error, "", error.text,
                  error.number == EINVAL ? message_id::config_refused : message_id::none);
    // What does not pass by itself waits for a reload.
    if (entry.elsewhere || is_passing(error)) try_again_later(entry);
}

/// There is no bond: the team ends as soon as it has begun.
void Fleet::put_back(const std::string& name, Entry& entry) {
    const auto started = start(name, entry);
    if (started) {
        entry.run->stop(/*restarts=*/false, /*well=*/true);
        entry.run.reset();
    } else if (entry.elsewhere || is_passing(started.error())) {
        return try_again_later(entry);
    } else {
        entry.log(Level::error, started.error().text);
    }
    entry.left = false;
    entry.due = true; // it may be back
    if (bonds_) follow_bonds();
}

/// Another daemon has the team; by the lock it knows, when it ends, that the team goes on here. An error: it
/// does not, because of its configuration.
Result<> Fleet::await_turn(const std::string& name, Entry& entry) {
    entry.elsewhere = true;
    const auto path = file_of(name, entry);
    const auto accepted = [&]() -> Result<Accepted> {
        const auto text = TEAMO_TRY(within("configuration", read_file(path)));
        return accept(read_configuration(text, name, options_.attach, options_.datapath), path);
    }();
    if (!accepted) {
        entry.next.reset();
        return tl::unexpected(accepted.error());
    }
    if (entry.next) return {};
    if (auto lock = LockFile::try_take(next_path(name)).value_or(std::nullopt))
        entry.next.emplace(std::move(*lock));
    return {};
}

/// The end of the process that has the team is an event.
void Fleet::watch_process(const std::string& name, Entry& entry) {
    const auto path = usual_pid_path(name);
    const auto pid = running_by(path);
    entry.ends.reset();
    entry.process.reset();
    if (!pid) return;
    entry.process.reset(static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0)));
    if (!entry.process || running_by(path) != pid) return; // else the PID may be another process's by now
    const auto ended = [this, &entry](std::uint32_t /*events*/) {
        entry.ends.reset();
        entry.due = true;
        entry.not_before = Clock::now() + restart_time;
        soon_->soon();
    };
    if (auto watch = Io::make(loop_, entry.process.get(), EPOLLIN, Priority::client, ended))
        entry.ends.emplace(std::move(*watch));
}

/// There may be no inotify watch left (fs.inotify.*).
void Fleet::watch_folder() {
    if (folder_) return;
    constexpr std::uint32_t events = IN_CREATE | IN_CLOSE_WRITE | IN_ATTRIB | IN_MOVED_TO | IN_MOVED_FROM |
                                     IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF;
    auto watch =
        Inotify::make(loop_, options_.folder, events,
                      [this](std::uint32_t what, std::string_view file) { changed_file(what, file); });
    if (watch) folder_.emplace(std::move(*watch));
}

/// A promise to take a team over must be true; all else waits for a reload.
void Fleet::changed_file(std::uint32_t events, std::string_view file) {
    if ((events & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)) != 0) folder_.reset();
    for (auto& [name, entry] : teams_) {
        const bool concerns =
            file.empty() || file_of(name, entry) == fmt::format("{}/{}", options_.folder, file);
        if (!entry.elsewhere || !concerns) continue;
        entry.due = true;
        // It may still be written; and a process that has just ended may be restarting.
        if (entry.ends)
            entry.not_before = (events & IN_CREATE) != 0 ? Clock::now() + restart_time : Clock::time_point();
        soon_->soon();
    }
}

/// A killed process had these teams; the turn of the last one may come after its partners' timeout.
void Fleet::continue_waiting() {
    bool waits = false;
    // Not for ever, if no start succeeds.
    if (Clock::now() - begun_ > longest_wait) return;
    for (const auto& [name, entry] : teams_) {
        if (entry.tried || running_by(usual_pid_path(name))) continue;
        continue_lacp(name, shared_->devices->links(), shared_->frames);
        waits = true;
    }
    if (waits) lacp_timer_->after(lacp_pause);
}

void Fleet::try_again_later(Entry& entry) {
    const auto now = Clock::now();
    entry.due = true;
    await_passing(entry.patience, true, now);
    if (!entry.elsewhere)
        entry.not_before = entry.patience->next();
    else if (entry.ends && folder_)
        entry.not_before = now + slow_net;
    else
        entry.not_before = now + restart_time;
}

Result<> Fleet::start(const std::string& name, Entry& entry) {
    auto taken = PidFile::take(usual_pid_path(name), std::chrono::milliseconds{0});
    if (taken) {
        entry.elsewhere = false;
        entry.next.reset();
        entry.ends.reset();
        entry.process.reset();
    } else if (taken.error().number == EEXIST) {
        watch_process(name, entry);
        if (const auto usable = await_turn(name, entry); !usable) {
            auto& error = taken.error();
            error.number = usable.error().number;
            error.text += fmt::format(" After its end no daemon runs the team: {}", usable.error().text);
        }
    }
    auto pid_file = TEAMO_TRY(std::move(taken));
    auto options = options_;
    entry.path = file_of(name, entry);
    options.config_file = entry.path;
    options.team_device = name;
    const auto text = TEAMO_TRY(within("configuration", read_file(*options.config_file)));
    auto prepared = TEAMO_TRY(prepare(std::move(options), text, entry.log));
    // Of a device that another daemon had, nothing may have told the marks.
    if (entry.patience) TEAMO_TRY(shared_->devices->refresh());
    const auto ended = [this, &entry, begun = Clock::now()](int /*status*/) {
        entry.ended = true;
        settled_ = false;
        if (Clock::now() - begun > Patience::longest) entry.patience.reset();
        try_again_later(entry);
        soon_->soon();
    };
    const auto wanted = [this, &entry] {
        entry.wanted = entry.due = true;
        entry.not_before = {};
        soon_->soon();
    };
    entry.ended = entry.wanted = false;
    entry.run = TEAMO_TRY(TeamRun::start(std::move(prepared), std::move(pid_file), entry.log, loop_, *shared_,
                                         {.changed = changed_, .ended = ended, .wanted = wanted}));
    return {};
}

void Fleet::set_timer() {
    std::optional<Clock::time_point> first;
    for (const auto& [name, entry] : teams_)
        if (entry.due) first = earlier(first, entry.not_before);
    if (first)
        later_->at(*first);
    else
        later_->stop();
}

/// For those who ask about all teams: such a team has no socket.
void Fleet::tell_refused() {
    std::vector<control::RefusedTeam> list;
    for (const auto& [name, entry] : teams_)
        if (!entry.run && !entry.elsewhere && !entry.failure.text().empty())
            list.push_back({.team = name,
                            .file = file_of(name, entry),
                            .why = entry.failure.text(),
                            .retried = entry.due});
    auto text = control::refused_teams_text(list);
    if (text == refused_) return;
    auto written = replace_file(control::refused_teams_path, text, 0640);
    if (written) refused_ = std::move(text);
    refused_failure_(log_, Level::warning, "", written);
}

void Fleet::stop(bool restarts, bool well) {
    ending_ = true;
    remove_file(control::refused_teams_path);
    if (restarts) shared_->sockets.keep_all();
    for (auto& [name, entry] : teams_) {
        if (entry.run) entry.run->stop(restarts, well);
        sd_notify(0, "WATCHDOG=1"); // the loop, which says so, has ended
    }
}

std::string Fleet::describe() {
    std::size_t running = 0;
    const std::pair<const std::string, Entry>* refused = nullptr;
    for (const auto& team : teams_) {
        if (team.second.run && !team.second.ended)
            ++running;
        else if (refused == nullptr && !team.second.failure.text().empty())
            refused = &team;
    }
    auto line = fmt::format("{} of {} teams run", running, teams_.size());
    if (refused != nullptr) line += fmt::format("; {}: {}", refused->first, refused->second.failure.text());
    return line;
}

} // namespace teamo
