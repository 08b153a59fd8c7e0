// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/daemon/team_under_test.h"

#include "support/daemon/state_schema.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace teamo::test {
namespace {

constexpr std::string_view datapath_option = "--datapath";

std::string from_environment(const char* name, const char* otherwise) {
    const char* set = std::getenv(name);
    return set != nullptr ? set : otherwise;
}

void append(std::vector<std::string>& words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
}

/// The default: the kernels of the lab have the team driver.
const char* usual_datapath() {
    return std::getenv("TEAMO_LAB") != nullptr ? "--datapath team" : "--datapath bpf";
}

/// Omits the default --datapath if `arguments` contain one: the daemon refuses an option given twice.
std::vector<std::string> options_for_all(const std::vector<std::string>& arguments) {
    const bool named = std::ranges::find(arguments, datapath_option) != arguments.end();
    std::istringstream words(from_environment("TEAMO_DAEMON_OPTIONS", usual_datapath()));
    std::vector<std::string> options;
    for (std::string word; words >> word;) {
        if (named && word == datapath_option)
            words >> word;
        else
            options.push_back(word);
    }
    return options;
}

std::string link_item(const std::string& port) { return fmt::format("ports.{}.link_watches.up", port); }

Output control(const std::string& program, const std::string& device, const NetNs* in,
               const std::vector<std::string>& words, const std::vector<std::string>& options) {
    std::vector<std::string> argv{program};
    append(argv, options);
    argv.push_back(device);
    append(argv, words);
    return run({.argv = argv, .in = in});
}

/// Each state that a test reads is what the schema says.
std::optional<std::string> checked_state(std::optional<std::string> state) {
    if (state) {
        EXPECT_EQ("", fault_of_state(*state)) << *state;
    }
    return state;
}

} // namespace

std::string daemon_program() { return from_environment("TEAMO_DAEMON", TEAMO_DAEMON_BUILT); }
std::string teamoctl_program() { return from_environment("TEAMO_TEAMOCTL", TEAMO_TEAMOCTL_BUILT); }

std::size_t lines_with(const std::string& log, std::string_view words) {
    std::istringstream lines(log);
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line);)
        count += line.find(words) != std::string::npos ? 1 : 0;
    return count;
}

ConfigFile::ConfigFile(std::string_view text) {
    static int number = 0;
    ::mkdir("/run/test", 0755);
    path_ = fmt::format("/run/test/{}.conf", number++);
    std::ofstream(path_) << text;
}

std::vector<std::string> daemon_command(const std::vector<std::string>& arguments) {
    std::vector<std::string> argv{daemon_program()};
    append(argv, options_for_all(arguments));
    append(argv, arguments);
    return argv;
}

Output daemon(const std::vector<std::string>& arguments, milliseconds patience) {
    return run({.argv = daemon_command(arguments)}, patience);
}

Output daemon_on(std::string_view config, std::vector<std::string> arguments, milliseconds patience) {
    const ConfigFile file(config);
    append(arguments, {"-f", file.path()});
    return daemon(arguments, patience);
}

TeamUnderTest::TeamUnderTest(std::string_view config, const std::vector<std::string>& arguments,
                             std::string device, const NetNs* in)
    : device_(std::move(device)), in_(in), config_(config) {
    start(arguments);
}

TeamUnderTest::~TeamUnderTest() {
    if (process_ && process_->running()) kill();
    if (testing::Test::HasFailure()) fmt::print("---- the daemon's log of {}\n{}----\n", device_, log());
}

TeamUnderTest::TeamUnderTest(std::string_view config, Later /*tag*/, std::string device)
    : device_(std::move(device)), config_(config) {}

void TeamUnderTest::run(const std::vector<std::string>& arguments, WatchedCalls* calls) {
    earlier_log_ = log();
    auto words = arguments;
    append(words, {"-f", config_.path()});
    process_.reset();
    process_.emplace(Process::start({.argv = daemon_command(words), .in = in_, .watched = calls}));
}

bool TeamUnderTest::try_to_start(WatchedCalls& calls, const std::vector<std::string>& arguments) {
    run(arguments, &calls);
    for (const auto start = SteadyClock::now(); !answers(1s); std::this_thread::sleep_for(poll_interval())) {
        if (!process_->running()) return false;
        if (since(start) > patient(long_enough))
            throw SetupError("the daemon does not answer; its log:\n" + log());
    }
    return true;
}

void TeamUnderTest::start(const std::vector<std::string>& arguments) {
    run(arguments, nullptr);
    for (const auto start = SteadyClock::now(); !answers(1s); std::this_thread::sleep_for(poll_interval()))
        if (!process_->running() || since(start) > patient(long_enough))
            throw SetupError(fmt::format("{} {}; its log:\n{}", daemon_program(),
                                         process_->running() ? "does not answer" : "ended at once", log()));
}

void TeamUnderTest::kill() {
    process_->signal(SIGKILL);
    process_->wait(patient(long_enough));
}

std::optional<int> TeamUnderTest::stop(int signal) {
    process_->signal(signal);
    return process_->wait(patient(long_enough));
}

void TeamUnderTest::signal(int number) const { process_->signal(number); }
bool TeamUnderTest::running() { return process_->running(); }

std::string TeamUnderTest::log() const {
    return process_ ? earlier_log_ + process_->out() + process_->err() : earlier_log_;
}

bool TeamUnderTest::answers(milliseconds patience) const {
    const auto socket = ControlSocket::to(device_);
    return socket && checked_state(payload_of(socket->ask("StateDump", {}, patience)));
}

std::optional<std::string> TeamUnderTest::ask(std::string_view method,
                                              const std::vector<std::string>& arguments) const {
    const auto socket = ControlSocket::to(device_);
    auto answer = socket ? payload_of(socket->ask(method, arguments)) : std::nullopt;
    return method == "StateDump" ? checked_state(std::move(answer)) : answer;
}

std::string TeamUnderTest::item(const std::string& path) const {
    return ask("StateItemValueGet", {path}).value_or("");
}

void TeamUnderTest::set_item(const std::string& path, const std::string& value) const {
    const auto done = teamdctl({"state", "item", "set", path, value});
    if (done.status != 0) throw SetupError(fmt::format("state item set {} {}: {}", path, value, done.err));
}

testing::AssertionResult TeamUnderTest::await_item(const std::string& path, const std::string& value,
                                                   milliseconds patience) const {
    const auto came = becomes(value, [&] { return item(path); }, patience);
    return came ? came : testing::AssertionFailure() << path << ": " << came.message();
}

testing::AssertionResult TeamUnderTest::await_link(const std::string& port, bool up,
                                                   milliseconds patience) const {
    auto came = await_item(link_item(port), up ? "true" : "false", patience);
    if (came) ask("StateDump");
    return came;
}

bool TeamUnderTest::link_is_up(const std::string& port) const { return item(link_item(port)) == "true"; }

Output TeamUnderTest::teamdctl(const std::vector<std::string>& words,
                               const std::vector<std::string>& options) const {
    return control("teamdctl", device_, in_, words, options);
}

Output TeamUnderTest::teamoctl(const std::vector<std::string>& words,
                               const std::vector<std::string>& options) const {
    return control(teamoctl_program(), device_, in_, words, options);
}

} // namespace teamo::test
