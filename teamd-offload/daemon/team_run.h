// SPDX-License-Identifier: LGPL-2.1-or-later
//
// One team as the process serves it: its files, its sockets, its bus name, and the team itself while there is
// a device for it.
#pragma once

#include "control/refused_teams.h"
#include "daemon/control_server.h"
#include "daemon/dbus_server.h"
#include "daemon/process.h"
#include "daemon/team/reload.h"
#include "daemon/team/team.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace teamo {

/// teamd's exit statuses of a team that has ended.
inline constexpr int ended_well = 0, could_not_start = 1, lost_team = 2;
/// sysexits.h, EX_TEMPFAIL: the same start may succeed in a moment (the unit does not try again after 1).
inline constexpr int try_again = 75;

inline constexpr const char* run_directory = "/run/teamd";
std::string usual_pid_path(std::string_view team);
/// A lock of the process that runs all teams, while another one has this team: it takes the team over next.
std::string next_path(std::string_view team);
using control::all_pid_path;

/// Logs why a team cannot start. Returns its exit status.
int log_refusal(const Log& log, const Error& error, std::string_view id = message_id::none);

/// A configuration that has a device, the options with absolute paths, and what is to be warned of. EINVAL:
/// the text is refused, or a bond to attach to has no name.
struct Prepared {
    Configuration configuration;
    Options options;
};
Result<Prepared> prepare(Options options, std::string_view text, Log& log);

class TeamRun {
public:
    struct Events {
        /// The set of ports that carry has changed, or the bond has come or gone.
        std::function<void()> changed;
        /// The team cannot go on, with its exit status. Not from within a call of this class.
        std::function<void(int status)> ended;
        /// Another process wants the team: soon stop() it so that it is adopted. None: refused.
        std::function<void()> wanted{};
    };

    /// Takes the team, or waits for the bond. On failure everything is as it was. `log` and `shared`
    /// must outlive it.
    static Result<std::unique_ptr<TeamRun>> start(Prepared prepared, PidFile pid_file, Log& log,
                                                  sd_event* loop, ProcessParts& shared, Events events);

    /// Reads the configuration file again.
    void reload();
    /// Ends the team. `restarts`: another daemon follows at once, which adopts the devices. `well`: it was
    /// asked to, so its metrics go too.
    void stop(bool restarts, bool well);
    /// In one line, for the log and systemctl status.
    std::string describe();

private:
    TeamRun(Prepared prepared, PidFile pid_file, Log& log, sd_event* loop, ProcessParts& shared,
            Events events)
        : pid_file_(std::move(pid_file)),
          options_(std::move(prepared.options)),
          configuration_(std::move(prepared.configuration)),
          log_(log),
          loop_(loop),
          shared_(shared),
          events_(std::move(events)) {}
    Result<> open();
    Result<> open_team();
    Result<> attach();
    void take_journal_of_former_name(const Link& bond);
    void follow_bond();
    control::Reply answer_waiting(const control::Request& request);
    Options options_of_file() const;
    Result<> replace_configuration(Reload reload, std::string_view file);
    Result<> serve();
    control::Reply answer(const control::Request& request);
    TeamStatus summary();
    void notify();
    Result<> begin_metrics();
    void write_metrics();

    PidFile pid_file_;
    Options options_;
    Configuration configuration_; ///< of the next team
    Log& log_;
    sd_event* loop_;
    ProcessParts& shared_;
    Events events_;
    std::unique_ptr<Team> team_;         ///< nullptr: there is no bond to attach to
    std::unique_ptr<Observer> awaiting_; ///< sees when there is one
    std::optional<Deferred> bond_changed_;
    LogOnce no_bond_; ///< the device of that name is none
    bool lost_bond_ = false;
    bool ending_ = false;
    // Destroyed before the team that they refer to.
    std::unique_ptr<ControlServer> server_;
    std::unique_ptr<DbusServer> dbus_;
    std::optional<Timer> metrics_timer_;
    LogOnce metrics_failure_;
};

} // namespace teamo
