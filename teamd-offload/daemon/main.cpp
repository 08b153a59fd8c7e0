// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The daemon: reads options and configuration, runs one team in its loop, and stops it.
#include "bus/units.h"
#include "control/metrics_text.h"
#include "daemon/context/options.h"
#include "daemon/control_server.h"
#include "daemon/dbus_server.h"
#include "daemon/dry_run.h"
#include "daemon/process.h"
#include "daemon/team/ignored_settings.h"
#include "daemon/team/team.h"
#include "kernel/bpf/load_program.h"
#include "kernel/files/files.h"
#include "kernel/netlink/netlink_socket.h"
#include "json/parse.h"

#include <malloc.h>
#include <sched.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <new>
#include <string_view>

namespace teamo {
namespace {

constexpr int success = 0, failure = 1, runtime_failure = 2; // teamd's exit statuses
// sysexits.h, EX_TEMPFAIL: the same start may succeed in a moment (the unit does not try again after 1).
constexpr int try_again = 75;

constexpr const char* run_directory = "/run/teamd";
constexpr std::chrono::seconds kill_patience{30}, metrics_interval{10};
constexpr std::array handled_signals{SIGTERM, SIGINT, SIGQUIT, SIGHUP};

/// Memory was refused: ends as by kill -9, so that packets pass on and the next daemon adopts the team.
/// Before std::bad_alloc is thrown: std::variant of g++ 12 crashes if the copy of a string or a vector in it
/// throws, because its destructor takes the missing value for one of them (_Never_valueless_alt).
[[noreturn]] void end_without_memory() {
    constexpr std::string_view last_words = "teamd-offload: out of memory; exiting. The kernel continues to "
                                            "forward packets, and the next start takes the team over\n";
    static_cast<void>(!::write(STDERR_FILENO, last_words.data(), last_words.size()));
    ::_exit(try_again);
}

/// Logs why the daemon cannot start. Returns its exit status.
int refused(const Log& log, const Error& error, std::string_view id = message_id::none) {
    log(Level::error, error.text, id);
    return is_passing(error) ? try_again : failure;
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

std::string usual_pid_path(std::string_view team) { return fmt::format("{}/{}.pid", run_directory, team); }

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

/// -k and -e.
int ask_running(const Options& options, std::string_view text, Log& log) {
    const auto name = name_of_team(options, text);
    if (!name) return refused(log, name.error());
    log.set_team(*name);
    const auto path = options.pid_file.value_or(usual_pid_path(*name));
    if (options.command == Options::Command::kill) {
        const auto killed = kill_by(path, kill_patience);
        if (!killed) log(Level::error, killed.error().text);
        return killed ? success : failure;
    }
    if (running_by(path)) return success;
    if (::access(path.c_str(), R_OK) < 0 && errno == EACCES) log(Level::error, path + ": Permission denied");
    return failure;
}

/// As teamd without `device`: the first "team%d" that is free.
Result<std::string> free_team_name() {
    auto control = TEAMO_TRY(LinkControl::open());
    const auto links = TEAMO_TRY(control.read_all());
    for (int number = 0;; ++number)
        if (auto name = fmt::format("team{}", number);
            find_named(links, name) == nullptr && find_team(links, name) == nullptr)
            return name;
}

/// A team's state in one line, for the log and systemctl status.
std::string describe(const TeamStatus& status) {
    const auto carrying = std::ranges::count_if(status.ports, &PortStatus::transmits);
    auto line = fmt::format("{} over {} ({}), {} of {} ports carry", name_of(status.runner), status.datapath,
                            status.device_kind, carrying, status.ports.size());
    if (status.link.speed) line += fmt::format(", {} Mbit/s", *status.link.speed);
    if (status.active_port) line += fmt::format(", active {}", *status.active_port);
    return line;
}

/// The loop of one running team, until a signal or a failure ends it.
class Run {
public:
    Run(const Options& options, Log& log, PidFile& pid_file)
        : options_(options), log_(log), pid_file_(pid_file) {}

    /// `parent`: see daemonize().
    int run(Configuration configuration, UniqueFd parent);

private:
    Result<> start(Configuration configuration);
    Result<> open_team();
    Result<> attach();
    void follow_bond();
    Result<> serve(const std::string& device, const ControlServer::Answer& answer);
    void notify_status();
    void reload();
    Result<> begin_metrics();
    void write_metrics();
    void end(int status) { sd_event_exit(loop_.get(), status); }

    const Options& options_;
    Log& log_;
    PidFile& pid_file_;
    EventLoop loop_;
    std::vector<Signal> signals_;
    Configuration configuration_;        ///< of the next team
    std::unique_ptr<Team> team_;         ///< nullptr: there is no bond to attach to
    std::unique_ptr<Observer> awaiting_; ///< sees when there is one
    std::optional<Deferred> bond_changed_;
    bool lost_bond_ = false;
    bool ending_ = false;
    // Destroyed before the team that they refer to.
    std::unique_ptr<ControlServer> server_;
    std::unique_ptr<DbusServer> dbus_;
    std::optional<Timer> metrics_timer_;
    LogOnce metrics_failure_;
};

Result<> Run::start(Configuration configuration) {
    loop_ = TEAMO_TRY(make_loop());
    for (const int number : handled_signals) {
        const auto stop = [this, number] {
            if (number == SIGHUP) return reload();
            log_(Level::info, fmt::format("signal {}, stopping", number));
            end(success);
        };
        signals_.push_back(TEAMO_TRY(Signal::make(loop_.get(), number, stop)));
    }
    configuration_ = std::move(configuration);
    bond_changed_ = TEAMO_TRY(Deferred::make(loop_.get(), Priority::timer, [this] { follow_bond(); }));
    TEAMO_TRY(configuration_.team.attach ? attach() : open_team());
    const auto& device = configuration_.team.device;
    const auto answer = [this, &device](const control::Request& request) -> control::Reply {
        if (team_) return team_->answer(request);
        return control::Refusal{.code = "NoSuchDev",
                                .message = fmt::format("{} is not there; the daemon waits for it.", device)};
    };
    auto served = pid_file_.write();
    if (served) served = serve(device, answer);
    if (served) served = begin_metrics();
    if (!served && team_) team_->abandon();
    return served;
}

Result<> Run::open_team() {
    const auto failed = [this](const Error& error) {
        log_(configuration_.team.attach ? Level::notice : Level::error, error.text);
        if (!configuration_.team.attach) return end(runtime_failure);
        lost_bond_ = true;
        bond_changed_->soon();
    };
    team_ = TEAMO_TRY(
        Team::start(configuration_, options_, log_, loop_.get(), [this] { notify_status(); }, failed));
    return {};
}

/// As soon as there is a bond of that name.
Result<> Run::attach() {
    if (!awaiting_) {
        awaiting_ = TEAMO_TRY(Observer::make(log_, [this] { bond_changed_->soon(); }));
        TEAMO_TRY(awaiting_->listen(loop_.get()));
    }
    if (find_named(awaiting_->links(), configuration_.team.device) == nullptr) return {};
    auto opened = open_team();
    if (opened) {
        awaiting_.reset();
        return opened;
    }
    lost_bond_ = false; // of the team that could not start
    if (opened.error().number != ENODEV) return opened;
    log_(Level::notice, opened.error().text); // it was removed meanwhile; there may be another one
    awaiting_->catch_up();
    bond_changed_->soon();
    return {};
}

/// The bond is gone, or there is a new device.
void Run::follow_bond() {
    if (std::exchange(lost_bond_, false)) {
        configuration_ = team_->configuration(); // a reload may have changed it
        team_->stop();
        team_.reset();
    }
    if (team_ || ending_) return;
    if (const auto done = attach(); !done) end(refused(log_, done.error()));
    notify_status();
}

/// The bus name last: it tells NetworkManager that the team can be used.
Result<> Run::serve(const std::string& device, const ControlServer::Answer& answer) {
    const auto path = fmt::format("{}/{}.sock", run_directory, device);
    if (options_.usock) server_ = TEAMO_TRY(ControlServer::listen(loop_.get(), path, log_, answer));
    if (options_.dbus) dbus_ = TEAMO_TRY(DbusServer::open(loop_.get(), device, log_, answer));
    return {};
}

Result<> Run::begin_metrics() {
    if (!options_.metrics_file) return {};
    metrics_timer_ = TEAMO_TRY(Timer::make(loop_.get(), [this] { write_metrics(); }));
    write_metrics();
    return {};
}

/// Whole or not at all, because the reader may come at any time.
void Run::write_metrics() {
    metrics_timer_->about(metrics_interval);
    if (!team_) return; // as of a daemon that does not run
    const auto state = team_->state();
    metrics_failure_(log_, Level::warning, "metrics: ",
                     replace_file(*options_.metrics_file, control::metrics_text({&state, 1}), 0644));
}

/// For systemctl status; not while the team is starting or stopping.
void Run::notify_status() {
    if (ending_) return;
    if (!team_ && !awaiting_) return;
    if (!team_)
        return static_cast<void>(
            sd_notifyf(0, "STATUS=waits for bond %s", configuration_.team.device.c_str()));
    const auto summary = team_->summary();
    sd_notifyf(0, "STATUS=%s", describe(summary).c_str());
    if (dbus_) dbus_->follow(summary);
}

/// teamd catches SIGHUP too, without an effect.
void Run::reload() {
    const auto& file = options_.config_file;
    auto text = file ? within("configuration", read_file(*file))
                     : fail(ENOENT, "there is no configuration file to read again (option -f)");
    if (text && !team_) text = fail(ENODEV, "there is no bond to attach to");
    if (!text)
        return log_(Level::error, fmt::format("nothing is changed: {}", text.error().text),
                    message_id::config_refused);
    sd_notify(0, "RELOADING=1");
    static_cast<void>(team_->answer(control::ConfigReload{.file = *file, .text = std::move(*text)}));
    sd_notify(0, "READY=1");
}

int Run::run(Configuration configuration, UniqueFd parent) {
    // Blocked first, so that a signal during the start waits for the loop.
    sigset_t mask;
    sigemptyset(&mask);
    for (const int number : handled_signals)
        sigaddset(&mask, number);
    ::sigprocmask(SIG_BLOCK, &mask, nullptr);
    ::signal(SIGPIPE, SIG_IGN);

    if (const auto started = start(std::move(configuration)); !started) {
        const int status = refused(log_, started.error());
        report_start(std::move(parent), status);
        return status;
    }
    sd_event_set_watchdog(loop_.get(), 1);
    sd_notify(0, "READY=1");
    notify_status();
    log_(Level::info,
         team_ ? describe(team_->summary()) : fmt::format("waits for bond {}", configuration_.team.device));
    report_start(std::move(parent), success);
    if (options_.daemonize) log_.go_to_background();
    const int status = sd_event_loop(loop_.get());
    ending_ = true;
    sd_notify(0, "STOPPING=1");
    server_.reset();
    dbus_.reset();
    const bool restarts = is_unit_restarting();
    // Metrics that grow old raise an alert, so only a stop removes them.
    if (options_.metrics_file && status == success && !restarts) remove_file(*options_.metrics_file);
    // The daemon that starts next adopts the team.
    if (team_ && restarts) team_->keep_devices();
    if (team_) team_->stop();
    return status < 0 ? runtime_failure : status;
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

/// `options`: with the path of the PID file.
int run_team(const Options& options, Configuration configuration, Log& log) {
    // The kernel's team driver works without BPF; NetworkManager's unit does not allow it.
    const auto choice = options.datapath.value_or(configuration.team.datapath);
    const bool needs_bpf =
        choice == DatapathChoice::bpf || choice == DatapathChoice::bond || configuration.team.attach;
    if (const auto may = check_capabilities(needs_bpf); !may) return refused(log, may.error());
    auto parent = options.daemonize ? daemonize() : UniqueFd();
    if (!parent) return refused(log, parent.error());
    if (::mkdir(run_directory, 0750) < 0 && errno != EEXIST)
        return refused(log, fail_errno(errno, run_directory).value());
    auto pid_file = PidFile::take(*options.pid_file);
    if (!pid_file) return refused(log, pid_file.error());
    raise_priority();
    give_large_blocks_back();
    return Run(options, log, *pid_file).run(std::move(configuration), std::move(*parent));
}

/// Prints what a start would complain of, whatever devices there are.
int check(const ConfigurationRead& read, std::string_view file, const Options& options) {
    for (const auto& diagnostic : read.diagnostics)
        std::puts(text_of(diagnostic, file).c_str()); // fmt::print() throws if nobody reads
    if (read.has_errors()) return failure;
    const auto& team = read.configuration->team;
    const auto tls = check_device_tls(options.datapath.value_or(team.datapath), team);
    if (!tls) std::puts(fmt::format("{}: error: {}", file, tls.error().text).c_str());
    return tls ? success : failure;
}

int main(Options options) {
    Log log("teamd-offload", options.log_output);
    const auto text = configuration_text(options, log);
    if (!text) return refused(log, text.error());
    if (options.command == Options::Command::kill || options.command == Options::Command::check_running)
        return ask_running(options, *text, log);
    const auto file = options.config_text ? "-c" : options.config_file.value_or("-c"); // for messages
    auto read = read_configuration(*text, options.team_device, options.attach);
    if (options.command == Options::Command::check_configuration) return check(read, file, options);
    auto accepted = accept(std::move(read), file);
    if (!accepted) return refused(log, accepted.error(), message_id::config_refused);
    for (const auto& warning : accepted->warnings)
        log(Level::warning, warning);
    auto& configuration = accepted->configuration;
    if (configuration.team.device.empty() && configuration.team.attach)
        return refused(log, {EINVAL, "attach to which bond? Name it with -t, or by the key \"device\""});
    if (configuration.team.device.empty()) {
        auto name = free_team_name();
        if (!name) return refused(log, name.error());
        configuration.team.device = std::move(*name);
        configuration.document.set("device", configuration.team.device);
    }
    log.set_team(configuration.team.device);
    log.set_debug(std::max(options.debug, configuration.team.debug_level) > 0);
    hear_libbpf([&log](std::string_view line) { log(Level::debug, line); });
    // Absolute, since a daemon in the background changes to /.
    if (options.metrics_file)
        options.metrics_file = std::filesystem::absolute(*options.metrics_file).string();
    if (options.config_text) options.config_file.reset();
    if (options.config_file) options.config_file = std::filesystem::absolute(*options.config_file).string();
    options.pid_file =
        std::filesystem::absolute(options.pid_file.value_or(usual_pid_path(configuration.team.device)))
            .string();
    if (options.command == Options::Command::dry_run) {
        const auto done = dry_run(configuration, options);
        if (!done) log(Level::error, done.error().text);
        return done ? success : failure;
    }
    for (const auto& sentence : ignored_settings(configuration))
        log(Level::warning, sentence);
    if (options.zmq_address) log(Level::warning, "ZeroMQ support is not compiled-in.");
    configuration.team.debug_level = std::max(options.debug, configuration.team.debug_level);
    return run_team(options, std::move(configuration), log);
}

} // namespace
} // namespace teamo

int main(int argc, char** argv) {
    std::set_new_handler(teamo::end_without_memory);
    const auto options = teamo::parse_options(argc, argv);
    if (const auto* status = std::get_if<int>(&options)) return *status;
    return teamo::main(std::get<teamo::Options>(options));
}
