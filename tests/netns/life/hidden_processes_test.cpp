// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A daemon to which /proc shows no process with more rights, as by ProtectProc=invisible of the unit.
//
// lab: HiddenProcesses.* by none: the datapath does not matter
#include "daemon/process.h"
#include "kernel/files/process_files.h"
#include "netns/configs.h"
#include "runtime/shared_files.h"
#include "support/daemon/process.h"

#include <gmock/gmock.h>
#include <grp.h>
#include <sys/capability.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <functional>

namespace teamo::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* pid_path = "/run/teamd/team0.pid";
constexpr gid_t group_of_unit = 12345;

std::string content_of(const std::string& path) { return read_file(path).value_or("none"); }

/// A process with this name, and the PID file of team0 with its PID.
class NamedProcess {
public:
    explicit NamedProcess(const std::string& name) : process_(start("/run/test/" + name)) {
        fs::create_directories("/run/teamd");
        std::ofstream(pid_path) << text();
    }
    ~NamedProcess() { fs::remove(pid_path); }
    NamedProcess(const NamedProcess&) = delete;
    NamedProcess& operator=(const NamedProcess&) = delete;
    pid_t pid() const { return process_.pid(); }
    std::string text() const { return fmt::format("{}\n", pid()); }

private:
    static Process start(const std::string& program) {
        fs::create_directories("/run/test");
        fs::copy_file("/bin/sleep", program, fs::copy_options::overwrite_existing);
        auto process = Process::start({.argv = {program, "600"}});
        const auto name = fs::path(program).filename().native() + "\n";
        const auto comm = fmt::format("/proc/{}/comm", process.pid());
        if (!eventually(name, [&] { return content_of(comm) == name; })) throw SetupError(name);
        return process;
    }
    Process process_;
};

/// The daemon with the group and the capabilities of the unit.
std::vector<std::string> hardened(const std::vector<std::string>& arguments) {
    const std::string four = "-all,+net_admin,+net_raw,+bpf,+perfmon";
    std::vector<std::string> words{
        "unshare", "--mount", "sh", "-c", R"(mount -t proc -o hidepid=invisible proc /proc && exec "$@")",
        "sh"};
    for (const auto& word : {"setpriv", "--clear-groups"})
        words.emplace_back(word);
    words.push_back(fmt::format("--regid={}", group_of_unit));
    words.push_back("--bounding-set=" + four);
    words.push_back("--inh-caps=" + four);
    const auto command = daemon_command(arguments);
    words.insert(words.end(), command.begin(), command.end());
    return words;
}

/// Runs `check` in a process from which others are hidden, and which has these capabilities alone.
bool in_hiding(const std::vector<cap_value_t>& capabilities, const std::function<bool()>& check) {
    const auto child = ::fork();
    if (child == 0) {
        const auto set = cap_init();
        for (const auto flag : {CAP_PERMITTED, CAP_EFFECTIVE})
            cap_set_flag(set, flag, static_cast<int>(capabilities.size()), capabilities.data(), CAP_SET);
        const bool hidden = ::unshare(CLONE_NEWNS) == 0 &&
                            ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                            ::mount("proc", "/proc", "proc", 0, "hidepid=invisible") == 0 &&
                            ::setgroups(0, nullptr) == 0 && ::setgid(group_of_unit) == 0 &&
                            cap_set_proc(set) == 0 && !fs::exists(fmt::format("/proc/{}", ::getppid()));
        ::_exit(hidden && check() ? 0 : 1);
    }
    int status = 1;
    return ::waitpid(child, &status, 0) == child && status == 0;
}

TEST(HiddenProcesses, running_teamd_keeps_team_and_file) {
    const Cabling wires(2, FarSide::open);
    const ConfigFile config(loadbalance(2));
    const NamedProcess teamd("teamd");
    const auto refused = run({.argv = hardened({"-f", config.path()})});
    EXPECT_EQ(1, refused.status);
    EXPECT_THAT(refused.err, HasSubstr(fmt::format("Daemon already running on PID {}.", teamd.pid())));
    EXPECT_EQ(teamd.text(), content_of(pid_path));
}

TEST(HiddenProcesses, reused_pid_blocks_no_start) {
    const Cabling wires(2, FarSide::open);
    const ConfigFile config(loadbalance(2));
    const NamedProcess other("other");
    auto running = Process::start({.argv = hardened({"-f", config.path()})});
    EXPECT_TRUE(eventually("the team", [] { return ControlSocket::to("team0").has_value(); }))
        << running.err();
    EXPECT_EQ(fmt::format("{}\n", running.pid()), content_of(pid_path));
    running.signal(SIGTERM);
    EXPECT_EQ(0, running.wait(long_enough)) << running.err();
    EXPECT_FALSE(fs::exists(pid_path));
}

/// Without CAP_NET_ADMIN nothing shows the name of the process.
TEST(HiddenProcesses, unknown_process_keeps_its_file_until_team_is_ours) {
    const NamedProcess unknown("teamd");
    EXPECT_TRUE(in_hiding({}, [&] {
        const auto taken = PidFile::take(pid_path);
        return taken && content_of(pid_path) == unknown.text();
    }));
    EXPECT_EQ(unknown.text(), content_of(pid_path)) << "the start failed";
    EXPECT_TRUE(in_hiding({}, [&] {
        auto taken = PidFile::take(pid_path);
        return taken && taken->write() && content_of(pid_path) == fmt::format("{}\n", ::getpid());
    }));
    EXPECT_FALSE(fs::exists(pid_path));
}

TEST(HiddenProcesses, claims_of_another_team_count) {
    const NamedProcess daemon("teamd-offload");
    const std::string folder = "/run/test/claims";
    fs::create_directories(folder);
    const PortClaim eth3{.port = "eth3", .cpus = {1}, .irqs = {}, .load = 1, .standby = false};
    std::ofstream(folder + "/team1.cpus") << text_of(
        TeamClaims{.pid = daemon.pid(),
                   .start_time = read_start_time(fmt::format("/proc/{}", daemon.pid())).value_or(0),
                   .ports = {eth3}});
    const auto counted = [&] { return CpuClaims(folder).others({"team0"}).size() == 1; };
    EXPECT_TRUE(counted());
    EXPECT_TRUE(in_hiding({CAP_NET_ADMIN}, counted));
}

} // namespace
} // namespace teamo::test
