// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The daemon: reads options and configuration, runs one team or all of a folder in its loop, and stops them.
#include "bus/units.h"
#include "control/client.h"
#include "daemon/context/options.h"
#include "daemon/dry_run.h"
#include "daemon/fleet.h"
#include "daemon/main_loop.h"
#include "daemon/team/ignored_settings.h"
#include "daemon/team_run.h"
#include "kernel/bpf/load_program.h"
#include "kernel/files/files.h"
#include "kernel/files/process_files.h"
#include "kernel/netlink/netlink_socket.h"
#include "json/parse.h"

#include <malloc.h>
#include <sched.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <cstdio>
#include <new>
#include <string_view>

namespace teamo {
namespace {

constexpr std::chrono::seconds kill_patience{30};

/// Memory was refused: ends as by kill -9, so that packets pass on and the next daemon adopts the team.
/// Before std::bad_alloc is thrown: std::variant of g++ 12 crashes if the copy of a string or a vector in it
/// throws, because its destructor takes the missing value for one of them (_Never_valueless_alt).
[[noreturn]] void end_without_memory() {
    constexpr std::string_view last_words = "teamd-offload: out of memory; exiting. The kernel continues to "
                                            "forward packets, and the next start takes the team over\n";
    static_cast<void>(!::write(STDERR_FILENO, last_words.data(), last_words.size()));
    ::_exit(try_again);
}

/// teamd: -c wins over -f, and without either the configuration is {}.
Result<std::string> configuration_text(Options& options, const Log& log) {
    if (options.config_text && options.config_file)
        log(Level::warning, "Command line config is present, ignoring given config file.");
    if (options.config_text || !options.config_file) return options.config_text.value_or("{}");
    auto text = read_file(*options.config_file);
    if (!text && text.error().number == ENOENT && options.or_attach) {
        log(Level::notice, fmt::format("there is no {}: attaching to a bond", *options.config_file));
        options.attach = true;
        return "{}";
    }
    return text ? text : within("configuration", std::move(text.error()));
}

/// For -k and -e, which need no more of a configuration that may be wrong by now.
Result<std::string> name_of_team(const Options& options, std::string_view text) {
    auto name = options.team_device;
    if (name.empty()) {
        const auto document = json::parse(text);
        if (!document) return fail(EINVAL, "configuration: " + document.error().text);
        const auto* device = document->find("device");
        if (device != nullptr && device->string() != nullptr) name = *device->string();
    }
    if (name.empty()) return fail(EINVAL, "Team device name not specified.");
    if (name.find('/') != std::string::npos)
        return fail(EINVAL, fmt::format("\"{}\" is not a valid device name", name));
    return name;
}

/// The process that has this PID file, if it runs all teams.
std::optional<pid_t> runs_all(const std::string& path) {
    const auto all = running_by(all_pid_path);
    return all && all == running_by(path) ? all : std::nullopt;
}

/// -k and -e.
int ask_running(const Options& options, std::string_view text, Log& log) {
    const auto name = name_of_team(options, text);
    if (!name) return log_refusal(log, name.error());
    log.set_team(*name);
    const auto path = options.pid_file.value_or(usual_pid_path(*name));
    if (options.command == Options::Command::kill) {
        if (const auto all = runs_all(path)) {
            log(Level::error, fmt::format("process {} runs all teams; remove the team's file, and systemctl "
                                          "reload teamd-offload",
                                          *all));
            return could_not_start;
        }
        const auto killed = kill_by(path, kill_patience);
        if (!killed) log(Level::error, killed.error().text);
        return killed ? ended_well : could_not_start;
    }
    if (running_by(path)) return ended_well;
    if (::access(path.c_str(), R_OK) < 0 && errno == EACCES) log(Level::error, path + ": Permission denied");
    return could_not_start;
}

/// For systemctl status.
void notify_status(const std::string& line) { sd_notifyf(0, "STATUS=%s", line.c_str()); }

/// One team, until a signal or a failure ends it. `parent`: see daemonize().
int serve(Prepared prepared, PidFile pid_file, Log& log, UniqueFd parent) {
    const bool daemonizes = prepared.options.daemonize;
    const auto name = prepared.configuration.team.device;
    std::unique_ptr<ProcessParts> shared;
    std::unique_ptr<TeamRun> team;
    bool runs = false;
    const auto refuse = [&](const Error& error) {
        const int status = log_refusal(log, error);
        report_start(std::move(parent), status);
        return status;
    };
    auto loop = MainLoop::make(log, [&team] {
        team->reload();
        MainLoop::report_ready();
    });
    if (!loop) return refuse(loop.error());
    auto known = ProcessParts::make(log, loop->get());
    if (!known) return refuse(known.error());
    shared = std::move(*known);
    auto started = TeamRun::start(std::move(prepared), std::move(pid_file), log, loop->get(), *shared,
                                  {.changed =
                                       [&] {
                                           if (runs) notify_status(team->describe());
                                       },
                                   .ended = [&loop](int status) { loop->end(status); }});
    if (!started) return refuse(started.error());
    team = std::move(*started);
    runs = true;
    shared->sockets.drop_rest();
    MainLoop::report_ready();
    notify_status(team->describe());
    log(Level::info, team->describe());
    report_start(std::move(parent), ended_well);
    if (daemonizes) log.go_to_background();
    const int status = loop->run();
    runs = false;
    const bool restarts = is_unit_restarting();
    if (restarts) shared->sockets.keep_all();
    const bool is_awaited = LockFile::is_held(next_path(name)).value_or(false);
    team->stop(restarts || is_awaited, status == ended_well);
    return status;
}

/// The teams of all files of a folder, until a signal ends it.
int serve_all(const Options& options, Log& log) {
    auto pid_file = PidFile::take(all_pid_path);
    if (!pid_file) return log_refusal(log, pid_file.error());
    if (const auto written = pid_file->write(); !written) return log_refusal(log, written.error());
    std::unique_ptr<Fleet> fleet;
    bool runs = false, ready = false;
    auto loop = MainLoop::make(log, [&] {
        ready = false;
        fleet->scan();
    });
    if (!loop) return log_refusal(log, loop.error());
    auto made = Fleet::make(options, log, loop->get(), [&] {
        if (!runs || !fleet->is_settled()) return;
        const auto line = fleet->describe();
        notify_status(line);
        if (std::exchange(ready, true)) return;
        ::malloc_trim(0); // libbpf has taken much for each team
        MainLoop::report_ready();
        log(Level::info, line);
    });
    if (!made) return log_refusal(log, made.error());
    fleet = std::move(*made);
    runs = true;
    const int status = loop->run();
    runs = false;
    fleet->stop(is_unit_restarting(), status == ended_well);
    return status;
}

/// Runs at SCHED_RR, so that CPU load does not delay a failover: it lasts several times as long otherwise.
/// Best effort: needs CAP_SYS_NICE. The unit sets it after the start, and allows no such request. Threads
/// and forked processes do not inherit it.
void raise_priority() {
    constexpr int wanted = SCHED_RR | SCHED_RESET_ON_FORK;
    if (::sched_getscheduler(0) == wanted) return;
    const sched_param lowest{.sched_priority = 1};
    static_cast<void>(::sched_setscheduler(0, wanted, &lowest));
}

/// By default glibc keeps large blocks for the next time once it has freed some (mallopt(3), dynamic mmap
/// threshold), and libbpf reads 11 MB of the kernel's types for each program that traces the kernel. The
/// block that libnl takes for each datagram must stay below: getting it from the kernel each time, and giving
/// it back, takes a quarter of what a team at rest needs.
void give_large_blocks_back() {
    constexpr int bytes = 2 * largest_datagram;
    static_cast<void>(::mallopt(M_MMAP_THRESHOLD, bytes));
    static_cast<void>(::mallopt(M_TRIM_THRESHOLD, bytes));
}

Result<> make_run_directory() {
    if (::mkdir(run_directory, 0750) < 0 && errno != EEXIST) return fail_errno(errno, run_directory);
    return {};
}

/// A start for one team takes it from the process that runs all, which may be about to take it or to leave
/// it. ETIMEDOUT: it did not in time.
Result<PidFile> take_team(const Prepared& prepared) {
    constexpr std::chrono::seconds patience{5};
    const auto& path = *prepared.options.pid_file;
    const auto deadline = Clock::now() + patience;
    while (true) {
        const auto before = running_by(all_pid_path);
        auto taken = PidFile::take(path);
        if (taken || taken.error().number != EEXIST) return taken;
        const auto all = running_by(all_pid_path), owner = running_by(path);
        const bool is_alone = owner && owner != before && owner != all;
        if (is_alone || (!before && !all)) return taken;
        if (Clock::now() > deadline)
            return fail(ETIMEDOUT, "the process that runs all teams does not hand this one over");
        // Refused by nobody; without an answer it is about to begin or to end.
        if (auto client = control::Client::connect(prepared.configuration.team.device, run_directory))
            static_cast<void>(client->text(control::HandOver{}));
    }
}

int run_team(Prepared prepared, Log& log) {
    const auto& options = prepared.options;
    const auto& team = prepared.configuration.team;
    // The kernel's team driver works without BPF; NetworkManager's unit does not allow it.
    const bool needs_bpf =
        team.datapath == DatapathChoice::bpf || team.datapath == DatapathChoice::bond || team.attach;
    if (const auto may = check_capabilities(needs_bpf); !may) return log_refusal(log, may.error());
    auto parent = options.daemonize ? daemonize() : UniqueFd();
    if (!parent) return log_refusal(log, parent.error());
    if (const auto made = make_run_directory(); !made) return log_refusal(log, made.error());
    auto pid_file = take_team(prepared);
    if (!pid_file) return log_refusal(log, pid_file.error());
    raise_priority();
    give_large_blocks_back();
    return serve(std::move(prepared), std::move(*pid_file), log, std::move(*parent));
}

int run_all(const Options& options, Log& log) {
    log.set_debug(options.debug > 0);
    if (options.zmq_address) log(Level::warning, "ZeroMQ support is not compiled-in.");
    raise_descriptor_limit(); // some forty for each team
    if (const auto may = check_capabilities(/*needs_bpf=*/true); !may) return log_refusal(log, may.error());
    if (const auto made = make_run_directory(); !made) return log_refusal(log, made.error());
    raise_priority();
    give_large_blocks_back();
    return serve_all(options, log);
}

/// Prints what a start would complain of, whatever devices there are.
int check(const ConfigurationRead& read, std::string_view file) {
    for (const auto& diagnostic : read.diagnostics)
        std::puts(text_of(diagnostic, file).c_str()); // fmt::print() throws if nobody reads
    return read.has_errors() ? could_not_start : ended_well;
}

int main(Options options) {
    Log log("teamd-offload", options.log_output);
    hear_libbpf([&log](std::string_view line) { log(Level::debug, line); });
    if (options.all) return run_all(options, log);
    const auto text = configuration_text(options, log);
    if (!text) return log_refusal(log, text.error());
    if (options.command == Options::Command::kill || options.command == Options::Command::check_running)
        return ask_running(options, *text, log);
    if (options.command == Options::Command::check_configuration) {
        const auto file = options.config_text ? "-c" : options.config_file.value_or("-c"); // for messages
        return check(read_configuration(*text, options.team_device, options.attach, options.datapath), file);
    }
    auto prepared = prepare(options, *text, log);
    if (!prepared) return log_refusal(log, prepared.error(), message_id::config_refused);
    if (options.command == Options::Command::dry_run) {
        const auto done = dry_run(prepared->configuration, prepared->options);
        if (!done) log(Level::error, done.error().text);
        return done ? ended_well : could_not_start;
    }
    if (options.zmq_address) log(Level::warning, "ZeroMQ support is not compiled-in.");
    return run_team(std::move(*prepared), log);
}

} // namespace
} // namespace teamo

int main(int argc, char** argv) {
    std::set_new_handler(teamo::end_without_memory);
    const auto options = teamo::parse_options(argc, argv);
    if (const auto* status = std::get_if<int>(&options)) return *status;
    return teamo::main(std::get<teamo::Options>(options));
}
