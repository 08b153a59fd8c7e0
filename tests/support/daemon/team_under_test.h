// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "support/daemon/control_socket.h"
#include "support/daemon/process.h"

#include <optional>
#include <string>
#include <vector>

namespace teamo::test {

/// The built programs, or those that TEAMO_DAEMON and TEAMO_TEAMOCTL name.
std::string daemon_program();
std::string teamoctl_program();
/// How many lines of a log have these words.
std::size_t lines_with(const std::string& log, std::string_view words);

/// A configuration file.
class ConfigFile {
public:
    explicit ConfigFile(std::string_view text);
    const std::string& path() const { return path_; }

private:
    std::string path_; ///< in the test's own /run, which vanishes with the test
};

/// The daemon's command line: the default options (below), then `arguments`.
std::vector<std::string> daemon_command(const std::vector<std::string>& arguments);
/// Runs the daemon to its end: for starts that it refuses, and for -e, -k, -v, --check.
Output daemon(const std::vector<std::string>& arguments, milliseconds patience = 10s);
/// The same with -f and a file with this text.
Output daemon_on(std::string_view config, std::vector<std::string> arguments = {},
                 milliseconds patience = 10s);

/// The daemon of one team in the foreground, in this process's network namespace. Prints its log if the test
/// has failed. TEAMO_DAEMON_OPTIONS contains the default options; without it they are "--datapath bpf", in
/// the lab
/// "--datapath team", so that they do not depend on the kernel. A --datapath of the test overrides them.
class TeamUnderTest {
public:
    /// Returns when its control socket answers; throws SetupError with its log otherwise.
    explicit TeamUnderTest(std::string_view config, const std::vector<std::string>& arguments = {},
                           std::string device = "team0", const NetNs* in = nullptr);
    /// Not started yet.
    struct Later {
        explicit Later(int /*so that {} is none*/) {}
    };
    inline static const Later later{0};
    TeamUnderTest(std::string_view config, Later /*tag*/, std::string device = "team0");
    TeamUnderTest(const TeamUnderTest&) = delete;
    TeamUnderTest& operator=(const TeamUnderTest&) = delete;
    ~TeamUnderTest();

    /// Starts again after kill() or stop(), without the options of the first start.
    void start(const std::vector<std::string>& arguments = {});
    /// The same with watched system calls. False if it ended before it answered.
    bool try_to_start(WatchedCalls& calls, const std::vector<std::string>& arguments = {});
    /// kill -9: the daemon cannot clean up.
    void kill();
    /// Ends it with the signal; returns its exit status, or none if it does not end.
    std::optional<int> stop(int signal = SIGTERM);
    void signal(int number) const;
    bool running();
    /// Its exit status; none if it runs or was never started.
    std::optional<int> ended() { return process_ ? process_->wait(0ms) : std::nullopt; }
    pid_t pid() const { return process_->pid(); }
    /// Its log since the first start.
    std::string log() const;

    bool answers(milliseconds patience = patient(long_enough)) const;
    /// The payload of the control socket's reply; none if it is an error, or no daemon listens.
    std::optional<std::string> ask(std::string_view method,
                                   const std::vector<std::string>& arguments = {}) const;
    /// The output of `teamdctl TEAM state item get PATH`; "" if there is no such item.
    std::string item(const std::string& path) const;
    void set_item(const std::string& path, const std::string& value) const;
    /// Waits until the item has this value; "": until it does not exist.
    testing::AssertionResult await_item(const std::string& path, const std::string& value,
                                        milliseconds patience = long_enough) const;
    /// Waits until the link watches of this port report up or down.
    testing::AssertionResult await_link(const std::string& port, bool up = true,
                                        milliseconds patience = long_enough) const;
    /// What the link watches report now.
    bool link_is_up(const std::string& port) const;
    /// Runs Debian's teamdctl or our teamoctl with these words after the team's name.
    Output teamdctl(const std::vector<std::string>& words,
                    const std::vector<std::string>& options = {}) const;
    Output teamoctl(const std::vector<std::string>& words,
                    const std::vector<std::string>& options = {}) const;

private:
    void run(const std::vector<std::string>& arguments, WatchedCalls* calls);

    std::string device_;
    const NetNs* in_ = nullptr; ///< null: the namespace of the test
    ConfigFile config_;
    std::string earlier_log_;
    std::optional<Process> process_;
};

} // namespace teamo::test
