// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "control/client.h"
#include "control/refused_teams.h"
#include "ctl/report/state.h"
#include "ctl/waits.h"
#include "kernel/files/process_files.h"
#include "json/value.h"

#include <algorithm>
#include <chrono>
#include <future>

namespace teamo::ctl {

struct Options {
    bool help = false;
    int verbosity = 0;                             ///< how often -v was given
    bool oneline = false;                          ///< JSON without line breaks
    bool json = false;                             ///< JSON instead of text, not for the commands of teamdctl
    bool dry_run = false;                          ///< show the effect, change nothing
    bool once = false;                             ///< one reading, then the end
    bool force = false;                            ///< also where it does harm
    std::optional<std::chrono::seconds> timeout;   ///< how long to wait
    std::optional<std::string> measure;            ///< a port to measure whatever its load is
    bool usock = false, dbus = false, zmq = false; ///< the forced interface
    std::vector<std::string> words;                ///< team device, command, arguments
    Waits* waits = nullptr;                        ///< of main(): each command has it
    bool waiting = false;                          ///< of main(): also while the daemon waits for its bond
};

/// Writes to stdout. If the disk is full, fmt::print() throws; main() checks the stream's error instead.
void put(std::string_view text);
/// Writes a line to stderr.
void warn(std::string_view line);
/// Prints as teamdctl does: sorted, indented by 4 or with -o in one line.
void print(const Options& options, const json::Value& document);

/// What a daemon does whose device is not there.
inline constexpr std::string_view without_device =
    "its daemon waits for a bond of that name, or is in another network namespace";

/// The own name of a device, by this or by an alternative name. ENODEV: no such device.
Result<std::string> device_name(std::string_view given);

/// How long a daemon may take for an answer: TEAMOCTL_TIMEOUT, for machines where the kernel's lock of all
/// devices is held for seconds, such as by the end of many network namespaces.
std::chrono::seconds usual_patience();
/// The same for this request: at least 60 seconds if ports may join or leave.
std::chrono::seconds patience_for(const control::Request& request);

/// The teams with a daemon, by the sockets of /run/teamd; sorted.
Result<std::vector<std::string>> running_teams();
/// Those that the process for all teams could not start, without those that run.
Result<std::vector<control::RefusedTeam>> refused_teams(const std::vector<std::string>& running);

/// Two states a second apart, and the rates between them.
struct Sample {
    TeamState before, state;
    std::chrono::duration<double> between{0}; ///< from one to the other
    Rates rates;
};

/// One team and the connection to its daemon. open() checks that the daemon controls this team.
class Session {
public:
    /// `given`: its name or an alternative one.
    static Result<Session> open(const std::string& given, const Options& options);

    const std::string& team() const { return team_; }
    const Options& options() const { return options_; }
    Waits& waits() const { return *options_.waits; }

    /// The payload of the reply. A refusal is an Error with the daemon's reason, without team and command:
    /// main() adds them to every error.
    Result<std::string> call(const control::Request& request);
    /// The same for a payload that is JSON.
    Result<json::Value> document(const control::Request& request);
    /// The daemon's state; ENOTSUP if the daemon is a teamd.
    Result<TeamState> state();
    /// Takes a second. Does not use the daemon's own rates: they are as old as its interval.
    Result<Sample> sample();
    void print(const json::Value& document) const { ctl::print(options_, document); }
    /// Prints the document with --json, else the text.
    void print(const json::Value& document, std::string_view text) const;

private:
    Session(std::string team, Options options, control::Client client)
        : team_(std::move(team)), options_(std::move(options)), client_(std::move(client)) {}
    Result<> check_device();

    std::string team_;
    Options options_;
    control::Client client_;
};

/// What was found about each team, or why it does not run or answer; sorted.
template <class Value>
struct Answers {
    std::vector<std::pair<std::string, Result<Value>>> of_teams;
    std::vector<control::RefusedTeam> refused; ///< those of them that could not be started
};

/// What `ask` finds about each of running_teams(). All are asked at once: one whose daemon does not answer
/// delays nobody else.
template <class Value>
Result<Answers<Value>> ask_all_teams(const Options& options, Result<Value> (*ask)(Session&)) {
    raise_descriptor_limit(); // a dozen for each team
    const auto waiting = options.waits->slow("waits for the daemons of all teams", usual_patience());
    const auto answer_of = [&options, ask](const std::string& team) -> Result<Value> {
        auto session = TEAMO_TRY(Session::open(team, options));
        return within(team, ask(session));
    };
    std::vector<std::pair<std::string, std::future<Result<Value>>>> asked;
    const auto running = TEAMO_TRY(running_teams());
    for (const auto& team : running)
        asked.emplace_back(team, std::async(std::launch::async, answer_of, team));
    std::vector<std::pair<std::string, Result<Value>>> answers;
    for (auto& [team, answer] : asked)
        answers.emplace_back(team, answer.get());
    auto refused = TEAMO_TRY(refused_teams(running));
    for (const auto& one : refused)
        answers.emplace_back(one.team, within(one.team, Error{ENOENT, "does not run: " + one.why}));
    std::ranges::sort(answers, {}, [](const auto& answer) { return answer.first; });
    return Answers<Value>{.of_teams = std::move(answers), .refused = std::move(refused)};
}

} // namespace teamo::ctl
