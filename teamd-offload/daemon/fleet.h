// SPDX-License-Identifier: LGPL-2.1-or-later
//
// All teams of a folder in one process (docs/adr/0041).
#pragma once

#include "control/refused_teams.h"
#include "daemon/team_run.h"
#include "kernel/files/files.h"
#include "plan/team/repair.h"

#include <map>
#include <memory>
#include <set>
#include <string>

namespace teamo {

/// Each NAME.conf of a folder is the team NAME, with a log, sockets, journal and bus name of its own. What
/// fails with one team is that team's: it is tried again, as systemd restarts a unit.
class Fleet {
public:
    /// `options`: of all teams. `changed`: there is another description, or it is settled. `log` must outlive
    /// it. An error: the folder cannot be read.
    static Result<std::unique_ptr<Fleet>> make(Options options, Log& log, sd_event* loop,
                                               std::function<void()> changed);

    /// Reads the folder: starts teams whose file is new, ends those whose file is gone, and changes those
    /// whose file differs. The loop does that, one team after the other.
    void scan();
    /// True if every team has been started, or refused, once.
    bool is_settled() const { return settled_; }
    /// As TeamRun::stop().
    void stop(bool restarts, bool well);
    /// In one line.
    std::string describe();

private:
    struct Entry {
        Entry(const std::string& team, LogOutput output) : log("teamd-offload", output) {
            log.set_team(team);
        }
        Log log;
        std::string path{};             ///< of the configuration, as last tried
        bool due = true;                ///< to be started, or to be changed
        bool has_file = false;          ///< of its own; otherwise it is a bond that attach.conf is for
        bool gone = false;              ///< has no file any more
        bool left = false;              ///< a bond that went after its daemon was killed: to be started once
        bool ended = false;             ///< to be started again
        bool elsewhere = false;         ///< another daemon has it
        bool wanted = false;            ///< another daemon asks for it
        bool tried = false;             ///< started in this process, or refused for good
        std::optional<LockFile> next{}; ///< while it is elsewhere
        UniqueFd process{};             ///< where it is
        std::optional<Io> ends{};       ///< that process; none: it is tried again and again
        std::optional<Patience> patience{};
        Clock::time_point not_before{}; ///< when it is tried again
        LogOnce failure{};
        std::unique_ptr<TeamRun> run{}; ///< nullptr: it did not start
    };

    Fleet(Options options, Log& log, sd_event* loop, std::function<void()> changed)
        : options_(std::move(options)), log_(log), loop_(loop), changed_(std::move(changed)) {}
    void step();
    void tend(const std::string& name, Entry& entry);
    void put_back(const std::string& name, Entry& entry);
    Result<> start(const std::string& name, Entry& entry);
    Result<> read_folder();
    std::string path_of(std::string_view name) const;
    /// The file of a team, which may be that for all bonds without one.
    std::string file_of(const std::string& name, const Entry& entry) const;
    Result<bool> is_for_all(const std::set<std::string>& names) const;
    void follow_bonds();
    void find_left_bonds();
    Result<> await_turn(const std::string& name, Entry& entry);
    void watch_process(const std::string& name, Entry& entry);
    void watch_folder();
    void changed_file(std::uint32_t events, std::string_view file);
    void try_again_later(Entry& entry);
    void continue_waiting();
    void tell_refused();
    void set_timer();

    Options options_;
    Log& log_;
    sd_event* loop_;
    std::function<void()> changed_;
    std::unique_ptr<ProcessParts> shared_;
    std::map<std::string, Entry> teams_;
    std::optional<Deferred> soon_;
    std::optional<Timer> later_, lacp_timer_;
    std::optional<Inotify> folder_;      ///< none: what is elsewhere is tried again and again
    std::unique_ptr<Observer> bonds_;    ///< nullptr: only those with a file
    std::optional<std::string> refused_; ///< as written for others
    LogOnce refused_failure_;
    bool settled_ = false;
    bool ending_ = false;
    const Clock::time_point begun_ = Clock::now();
};

} // namespace teamo
