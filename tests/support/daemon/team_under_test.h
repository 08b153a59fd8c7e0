// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "support/daemon/control_socket.h"
#include "support/daemon/process.h"

#include <optional>
#include <string>
#include <vector>

namespace teamo::test {

/// The built programs; the environment's TEAMO_DAEMON and TEAMO_TEAMOCTL win.
std::string daemon_program();
std::string teamoctl_program();

/// A configuration in a file that the daemon can be given.
class ConfigFile {
public:
    explicit ConfigFile(std::string_view text);
    const std::string& path() const { return path_; }

private:
    std::string path_; ///< in the test's own /run, which ends with it
};

/// The daemon with `arguments` behind the options for all (below).
std::vector<std::string> daemon_command(const std::vector<std::string>& arguments);
/// The daemon with `arguments`, to its end: for what it refuses and for -e, -k, -v, --check.
Output daemon(const std::vector<std::string>& arguments, milliseconds patience = 10s);
/// The same for a file with that text, given with -f.
Output daemon_on(std::string_view config, std::vector<std::string> arguments = {},
                 milliseconds patience = 10s);

/// One team's daemon in the foreground, in this process's network namespace. Its log is shown when the
/// test has failed. Options for all come from the environment's TEAMO_DAEMON_OPTIONS; without it they are
/// "--datapath bpf", in the lab "--datapath team", and never what the kernel happens to have. A test's own
/// --datapath wins.
class TeamUnderTest {
public:
    /// Returns once its control socket answers; throws SetupError with its log where it does not.
    explicit TeamUnderTest(std::string_view config, const std::vector<std::string>& arguments = {},
                           std::string device = "team0");
    /// Not started yet.
    struct Later {
        explicit Later(int /*so that {} is none*/) {}
    };
    inline static const Later later{0};
    TeamUnderTest(std::string_view config, Later /*tag*/, std::string device = "team0");
    TeamUnderTest(const TeamUnderTest&) = delete;
    TeamUnderTest& operator=(const TeamUnderTest&) = delete;
    ~TeamUnderTest();

    /// Starts again after kill() or stop(); the options of the first start are not repeated.
    void start(const std::vector<std::string>& arguments = {});
    /// The same under watch. False: it ended before it answered.
    bool try_to_start(WatchedCalls& calls, const std::vector<std::string>& arguments = {});
    /// kill -9: what it had no chance to clean up stays.
    void kill();
    /// Ends it with the signal; its exit status, or none where it does not end.
    std::optional<int> stop(int signal = SIGTERM);
    void signal(int number) const;
    bool running();
    /// How it ended; none: it runs, or was never started.
    std::optional<int> ended() { return process_ ? process_->wait(0ms) : std::nullopt; }
    pid_t pid() const { return process_->pid(); }
    /// All it has logged, over all its starts.
    std::string log() const;

    bool answers() const;
    /// What `teamdctl TEAM state item get PATH` prints; "" where there is no such item.
    std::string item(const std::string& path) const;
    void set_item(const std::string& path, const std::string& value) const;
    /// Waits until the item has that value; "" where there shall be none.
    testing::AssertionResult await_item(const std::string& path, const std::string& value,
                                        milliseconds patience = long_enough) const;
    /// Waits until the watches of that port say that its link is up, or that it is down.
    testing::AssertionResult await_link(const std::string& port, bool up = true,
                                        milliseconds patience = long_enough) const;
    /// What they say now.
    bool link_is_up(const std::string& port) const;
    /// Debian's teamdctl and our teamoctl with these words after the team's name.
    Output teamdctl(const std::vector<std::string>& words,
                    const std::vector<std::string>& options = {}) const;
    Output teamoctl(const std::vector<std::string>& words,
                    const std::vector<std::string>& options = {}) const;

private:
    void run(const std::vector<std::string>& arguments, WatchedCalls* calls);

    std::string device_;
    ConfigFile config_;
    std::string earlier_log_;
    std::optional<Process> process_;
};

} // namespace teamo::test
